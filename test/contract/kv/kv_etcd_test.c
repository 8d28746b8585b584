/* The contract of keys in etcd. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "etcd.h"
#include "etcd_server.h"
#include "kv_contract.h"

static struct etcd_cluster cluster = {.count = 1};

static struct kv_client *open_client(struct loop *loop)
{
    const struct etcd_client_config config = {
        .endpoints = cluster.endpoints, .endpoint_count = 1, .deadline_ms = 20000};
    struct kv_client *client;
    if (etcd_client_new(loop, &config, &client, NULL) != OK)
        abort();
    return client;
}

static void kill_server(void)
{
    etcd_member_kill(&cluster, 0);
}

static void restart(void)
{
    etcd_member_restart(&cluster, 0, true);
}

int main(void)
{
    static const struct kv_backend backend = {"keys in etcd", open_client, kill_server, restart};
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN);
    etcd_cluster_start(&cluster);
    int failed = kv_contract_run(&backend);
    etcd_cluster_remove(&cluster);
    return failed;
}
