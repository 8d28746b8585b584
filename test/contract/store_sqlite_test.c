#include "sqlite_place.h"

int main(void)
{
    return store_contract_run(&sqlite_backend);
}
