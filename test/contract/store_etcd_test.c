/* The contract with a real etcd, one prefix per test; and what only many nodes and long times
 * show. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd_server.h"
#include "store_etcd.h"
#include "store_world.h"

/* cmocka gives a backend no context. */
static struct {
    struct etcd_cluster cluster;
    struct loop *loop;
    struct loop_timer *tick;
    int places;
} server;

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void turn(void)
{
    loop_timer_set(server.tick, 100);
    loop_run_once(server.loop);
}

static void start_server(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        exit(77);
    }
    server.cluster.count = 1;
    etcd_cluster_start(&server.cluster);
    if (loop_new(&server.loop) != OK ||
        loop_timer_new(server.loop, on_tick, NULL, &server.tick) != OK)
        abort();
}

static void stop_server(void)
{
    loop_timer_free(server.tick);
    loop_free(server.loop);
    etcd_cluster_remove(&server.cluster);
}

/* ---- the backend ---- */

static void make_place(char place[128])
{
    snprintf(place, 128, "/test/%d", server.places++);
}

static enum status open_etcd(const char *place, struct store_wake wake, struct store **ret)
{
    struct store_etcd_config config = {.endpoints = server.cluster.endpoints,
                                       .endpoint_count = 1,
                                       .prefix = place,
                                       .node = "node-1"};
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_etcd_open(server.loop, &config, wake, ret, &why);
    if (st != OK)
        printf("%s: %s\n", status_text(st), why.text);
    strbuf_release(&why);
    return st;
}

static enum status reopen_etcd(const char *place, struct store_wake wake, struct store **store)
{
    *store = store_free(*store);
    return open_etcd(place, wake, store);
}

static void remove_place(const char *place)
{
    (void)place; /* it goes with the server */
}

static const struct store_backend backend = {
    .name = "etcd",
    .make_place = make_place,
    .open = open_etcd,
    .reopen = reopen_etcd,
    .remove_place = remove_place,
    .durable = true,
    .turn = turn,
};

int main(void)
{
    start_server();
    int failed = store_contract_run(&backend);
    stop_server();
    return failed;
}
