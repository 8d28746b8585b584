#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster_bench.h"
#include "etcd.h"
#include "etcd_server.h"
#include "kv/store_kv.h"

static const struct {
    const char *name;
    int arguments; /* at least */
    int (*run)(char **argv);
} parts[] = {
    {"etcd", 0, run_etcd},       {"jobs", 6, make_jobs},        {"engine", 4, measure_engine},
    {"list", 2, measure_list},   {"starts", 3, measure_starts}, {"soak", 3, soak_node},
    {"members", 0, run_members}, {"retry", 1, measure_retry},   {"first", 2, measure_first},
};

_Noreturn void die(const char *what)
{
    fprintf(stderr, "cluster_bench: %s%s%s\n", what, errno ? ": " : "",
            errno ? strerror(errno) : "");
    exit(1);
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct store *open_store(const char *etcd, const char *prefix, const char *node, struct loop *loop,
                         struct store_wake wake)
{
    char endpoint[128], full_prefix[128];
    snprintf(endpoint, sizeof(endpoint), "http://%s", etcd);
    snprintf(full_prefix, sizeof(full_prefix), "/%s", prefix);
    const char *endpoints[] = {endpoint};
    const struct etcd_client_config client = {.endpoints = endpoints, .endpoint_count = 1};
    struct store_kv_config config = {.prefix = full_prefix, .node = node};
    struct store *store;
    struct strbuf why;
    strbuf_init(&why);
    if (etcd_client_new(loop, &client, &config.client, NULL) != OK ||
        store_kv_open(loop, &config, wake, &store, &why) != OK)
        die(why.text);
    strbuf_release(&why);
    return store;
}

int run_etcd(char **argv)
{
    struct etcd_cluster cluster = {.count = 1, .is_durable = true};
    char byte;
    (void)argv;
    if (!etcd_cluster_available()) {
        printf("none\n");
        return 0;
    }
    etcd_cluster_start(&cluster);
    printf("127.0.0.1:%d\n", cluster.members[0].client_port);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    etcd_cluster_remove(&cluster);
    return 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strcmp(parts[i].name, argv[1]) == 0 && argc >= parts[i].arguments + 2)
            return parts[i].run(argv + 2);
    }
    fprintf(stderr, "usage: cluster_bench PART ARGUMENT...; see cluster_bench.h\n");
    return 2;
}
