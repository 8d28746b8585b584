#include "mongo_place.h"

int main(void)
{
    if (!mongo_place_start())
        return 77;
    int failed = history_contract_run(&mongo_backend);
    mongo_server_remove(&mongo_server);
    return failed;
}
