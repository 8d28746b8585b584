/* An etcd of three members whose leader can be killed, and the bare client beside it. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cluster_bench.h"
#include "etcd.h"
#include "etcd_retry.h"
#include "etcd_server.h"

enum { MEMBERS = 3 };

struct look {
    bool is_answered, leads;
};

static void on_status(void *context, const struct kv_result *result)
{
    struct look *look = context;
    look->is_answered = true;
    look->leads = result->status == OK && etcd_member_of(result)->leader_id == result->server_id;
}

static bool leads(struct loop *loop, const struct etcd_member *member)
{
    const char *const endpoints[] = {member->endpoint};
    struct etcd_client_config config = {.endpoints = endpoints, .endpoint_count = 1};
    struct kv_client *client;
    struct look look = {0};
    if (etcd_client_new(loop, &config, &client, NULL) != OK ||
        etcd_status(client, &(struct kv_reply){on_status, &look, 0}, NULL) != OK)
        die("memory");
    while (!look.is_answered)
        loop_run_once(loop);
    kv_client_free(client);
    return look.leads;
}

static void kill_leader(struct etcd_cluster *cluster)
{
    struct loop *loop;
    if (loop_new(&loop) != OK)
        die("memory");
    for (int i = 0; i < MEMBERS; i++) {
        if (leads(loop, &cluster->members[i])) {
            etcd_member_kill(cluster, i);
            break;
        }
    }
    loop_free(loop);
}

int run_members(char **argv)
{
    struct etcd_cluster cluster = {.count = MEMBERS, .is_durable = true};
    char byte;
    (void)argv;
    if (!etcd_cluster_available()) {
        printf("none\n");
        return 0;
    }
    etcd_cluster_start(&cluster);
    for (int i = 0; i < MEMBERS; i++)
        printf("%s127.0.0.1:%d", i ? "," : "", cluster.members[i].client_port);
    printf("\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        kill_leader(&cluster);
    etcd_cluster_remove(&cluster);
    return 0;
}

int measure_retry(char **argv)
{
    struct etcd_retry_gap gap = etcd_retry_until_eof(argv[0]);
    printf("%.3f\n", (double)gap.gap_ms / 1000);
    return 0;
}
