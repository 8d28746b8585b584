#include "etcd_place.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct etcd_place etcd_place = {.config = {.node = "node-1"}};

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

void etcd_place_turn(void)
{
    loop_timer_set(etcd_place.tick, 100);
    loop_run_once(etcd_place.loop);
}

void etcd_place_new_loop(void)
{
    if (loop_new(&etcd_place.loop) != OK ||
        loop_timer_new(etcd_place.loop, on_tick, NULL, &etcd_place.tick) != OK)
        abort();
}

void etcd_place_free_loop(void)
{
    loop_timer_free(etcd_place.tick);
    loop_free(etcd_place.loop);
}

void etcd_place_start(int members)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        exit(77);
    }
    etcd_place.cluster.count = members;
    etcd_cluster_start(&etcd_place.cluster);
    etcd_place_new_loop();
}

void etcd_place_stop(void)
{
    etcd_place_free_loop();
    etcd_cluster_remove(&etcd_place.cluster);
}

static struct kv_client *new_client(int64_t deadline_ms)
{
    struct etcd_client_config config = etcd_place.client;
    struct kv_client *client;
    config.endpoints = etcd_place.cluster.endpoints;
    config.endpoint_count = (size_t)etcd_place.cluster.count;
    config.deadline_ms = deadline_ms;
    if (etcd_client_new(etcd_place.loop, &config, &client, NULL) != OK)
        abort();
    return client;
}

struct kv_client *etcd_place_client(void)
{
    return new_client(ETCD_PATIENT_MS);
}

/* ---- the backend ---- */

static void make_place(char place[128])
{
    snprintf(place, 128, "/test/%d", etcd_place.places++);
}

enum status etcd_place_open_node(const char *place, const char *node, struct store_wake wake,
                                 struct store **ret)
{
    struct store_kv_config config = etcd_place.config;
    struct strbuf why;
    config.client = new_client(etcd_place.client.deadline_ms);
    config.prefix = place;
    config.node = node;
    strbuf_init(&why);
    enum status st = store_kv_open(etcd_place.loop, &config, wake, ret, &why);
    if (st != OK)
        printf("%s: %s\n", status_text(st), why.text);
    strbuf_release(&why);
    return st;
}

enum status etcd_place_open(const char *place, struct store_wake wake, struct store **ret)
{
    return etcd_place_open_node(place, etcd_place.config.node, wake, ret);
}

static enum status open_other(struct store *first, const char *place, struct store_wake wake,
                              struct store **ret)
{
    (void)first;
    return etcd_place_open_node(place, "node-2", wake, ret);
}

static enum status reopen(const char *place, struct store_wake wake, struct store **store)
{
    *store = store_free(*store);
    return etcd_place_open(place, wake, store);
}

static void remove_place(const char *place)
{
    (void)place; /* it goes with the server */
}

const struct store_backend etcd_backend = {
    .name = "etcd",
    .make_place = make_place,
    .open = etcd_place_open,
    .reopen = reopen,
    .open_other = open_other,
    .remove_place = remove_place,
    .durable = true,
    .turn = etcd_place_turn,
};
