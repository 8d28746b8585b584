#include <stdio.h>

#include "postgres_place.h"

int main(void)
{
    if (!postgres_server_available()) {
        puts("there is no PostgreSQL server here");
        return 77;
    }
    postgres_server_start(&postgres_server);
    int failed = history_contract_run(&postgres_backend);
    postgres_server_remove(&postgres_server);
    return failed;
}
