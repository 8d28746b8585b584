/* The store of many nodes, in Redis: the contract of a store. */
#include <stdio.h>
#include <stdlib.h>

#include "kv/store_kv.h"
#include "redis_lab.h"
#include "store_contract.h"

/* A deadline of requests that a busy machine doesn't pass: for tests in which the server is always
 * there. */
enum { PATIENT_MS = 30000 };

static struct loop *loop;
static struct loop_timer *tick;

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void turn(void)
{
    loop_timer_set(tick, 100);
    loop_run_once(loop);
}

static void make_place(char place[128])
{
    static int places;
    snprintf(place, 128, "/test/%d", places++);
}

static enum status open_node(const char *place, const char *node, struct store_wake wake,
                             struct store **ret)
{
    struct store_kv_config config = {.client = redis_lab_client(loop, &redis_lab, "", PATIENT_MS),
                                     .prefix = place,
                                     .node = node};
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_kv_open(loop, &config, wake, ret, &why);
    if (st != OK)
        printf("%s: %s\n", status_text(st), why.text);
    strbuf_release(&why);
    return st;
}

static enum status open_first(const char *place, struct store_wake wake, struct store **ret)
{
    return open_node(place, "node-1", wake, ret);
}

static enum status open_other(struct store *first, const char *place, struct store_wake wake,
                              struct store **ret)
{
    (void)first;
    return open_node(place, "node-2", wake, ret);
}

static enum status reopen(const char *place, struct store_wake wake, struct store **store)
{
    *store = store_free(*store);
    return open_first(place, wake, store);
}

static void remove_place(const char *place)
{
    (void)place; /* it goes with the server */
}

int main(void)
{
    static const struct store_backend backend = {
        .name = "Redis",
        .make_place = make_place,
        .open = open_first,
        .reopen = reopen,
        .open_other = open_other,
        .remove_place = remove_place,
        .durable = true,
        .turn = turn,
    };
    redis_lab_start();
    if (loop_new(&loop) != OK || loop_timer_new(loop, on_tick, NULL, &tick) != OK)
        abort();
    int failed = store_contract_run(&backend);
    loop_timer_free(tick);
    loop_free(loop);
    redis_lab_stop();
    return failed;
}
