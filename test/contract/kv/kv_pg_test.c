/* The contract of keys in PostgreSQL, and what only it has. */
#include "kv_contract.h"
#include "pg_place.h"

static struct kv_client *open_client(struct loop *loop)
{
    return pg_place_client(loop, NULL, 20000);
}

static void kill_server(void)
{
    postgres_server_kill(&pg_server);
}

static void restart(void)
{
    postgres_server_restart(&pg_server);
}

int main(void)
{
    static const struct kv_backend backend = {"keys in PostgreSQL", open_client, kill_server,
                                              restart};
    pg_place_start();
    int failed = kv_contract_run(&backend);
    pg_place_stop();
    return failed;
}
