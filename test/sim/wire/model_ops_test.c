/* Random operations through the client, and everything that comes back, as text. Built twice: with
 * a real etcd behind it (model_ops_real) and with the simulated one (model_ops_sim); the two must
 * print the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_admin.h"
#include "kv_lease.h"
#include "kv_txn.h"
#include "kv_watch.h"
#include "model_place.h"

enum { KEYS = 12, LEASES = 3, DEPTH = 3 };

struct ops {
    struct loop *loop;
    struct kv_client *client;
    uint64_t random;
    int64_t revision, base; /* the newest that was seen; what the first was */
    int64_t leases[LEASES]; /* 0: none */
    bool is_answered;
    struct kv_watch *watch;
    int64_t watched; /* up to which revision */
    bool watch_ended;
};

static int64_t below(struct ops *ops, int64_t limit)
{
    uint64_t z = ops->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)limit);
}

/* ---- what comes back ---- */

static int lease_name(const struct ops *ops, int64_t id)
{
    for (int i = 0; i < LEASES; i++)
        if (id && ops->leases[i] == id)
            return i + 1;
    return id ? 9 : 0;
}

static void print_kv(const struct ops *ops, const struct kv_pair *kv)
{
    printf(" %.*s=%.*s/c%" PRId64 "/m%" PRId64 "/v%" PRId64 "/l%d", (int)kv->key.length,
           (const char *)kv->key.data, (int)kv->value.length, (const char *)kv->value.data,
           kv->create_revision ? kv->create_revision - ops->base : 0,
           kv->mod_revision ? kv->mod_revision - ops->base : 0, kv->version,
           lease_name(ops, kv->lease));
}

static void print_op(const struct ops *ops, const struct kv_op_result *op)
{
    static const char *const names[] = {"range", "put", "delete", "txn"};
    printf(" [%s", names[op->kind]);
    if (op->kind == KV_OP_TXN) {
        printf(" %s", op->txn.succeeded ? "then" : "else");
        for (size_t i = 0; i < op->txn.op_count; i++)
            print_op(ops, &op->txn.ops[i]);
    } else {
        printf(" %" PRId64 "%s", op->count, op->more ? "+" : "");
        for (size_t i = 0; i < op->kv_count; i++)
            print_kv(ops, &op->kvs[i]);
    }
    printf("]");
}

static void on_answer(void *context, const struct kv_result *result)
{
    struct ops *ops = context;
    ops->is_answered = true;
    printf(" -> %s %d", status_text(result->status), result->code);
    if (result->status == OK) {
        if (!ops->base)
            ops->base = result->revision - 1;
        ops->revision = result->revision;
        printf(" r%" PRId64, result->revision - ops->base);
        print_op(ops, &result->op);
    }
    printf("\n");
}

static void on_leased(void *context, const struct kv_result *result)
{
    struct ops *ops = context;
    on_answer(context, result);
    if (result->lease.id && result->lease.ttl_s > 0)
        for (int i = 0; i < LEASES; i++)
            if (!ops->leases[i]) {
                ops->leases[i] = result->lease.id;
                printf("lease %d: %" PRId64 " s\n", i + 1, result->lease.ttl_s);
                return;
            }
}

static void wait(struct ops *ops, enum status st)
{
    if (st != OK) {
        printf(" -> not sent: %s\n", status_text(st));
        return;
    }
    ops->is_answered = false;
    while (!ops->is_answered)
        loop_run_once(ops->loop);
}

/* ---- requests ---- */

static struct kv_bytes a_key(struct ops *ops, char *buffer)
{
    int64_t number = below(ops, KEYS);
    snprintf(buffer, 16, "k/%c%s", (char)('a' + number / 3),
             number % 3 == 0   ? ""
             : number % 3 == 1 ? "x"
                               : "y/z");
    return kv_text(buffer);
}

static struct kv_range a_range(struct ops *ops, char *key, char *end)
{
    static const int64_t limits[] = {0, 0, 1, 2, 5};
    struct kv_range range = {.key = a_key(ops, key)};
    int64_t shape = below(ops, 4);
    if (shape == 0)
        range.prefix = true;
    else if (shape == 1)
        range.end = a_key(ops, end);
    else if (shape == 2)
        range.key = kv_text("k/"), range.prefix = true;
    range.limit = limits[below(ops, 5)];
    range.sort = (enum kv_sort)below(ops, 6);
    range.keys_only = below(ops, 5) == 0;
    range.count_only = below(ops, 8) == 0;
    if (below(ops, 4) == 0 && ops->base)
        range.revision = ops->revision - below(ops, 12) + below(ops, 3);
    if (range.revision < 0)
        range.revision = 0;
    if (below(ops, 6) == 0 && ops->base)
        range.max_create_revision = ops->revision - below(ops, 10);
    if (range.max_create_revision < 0)
        range.max_create_revision = 0;
    return range;
}

static struct kv_put a_put(struct ops *ops, char *key, char *value)
{
    snprintf(value, 16, "%c%c", (char)('0' + below(ops, 4)), (char)('0' + below(ops, 3)));
    struct kv_put put = {.key = a_key(ops, key), .value = kv_text(value)};
    if (below(ops, 4) == 0)
        put.lease = ops->leases[below(ops, LEASES)];
    if (below(ops, 40) == 0)
        put.lease = 4711; /* there is none */
    put.want_previous = below(ops, 2);
    return put;
}

static struct kv_delete a_delete(struct ops *ops, char *key, char *end)
{
    struct kv_delete delete = {.key = a_key(ops, key), .want_previous = below(ops, 2)};
    if (below(ops, 6) == 0)
        delete.prefix = true;
    else if (below(ops, 6) == 0)
        delete.end = a_key(ops, end);
    return delete;
}

static void add_compares(struct ops *ops, struct kv_txn *txn)
{
    char key[16];
    for (int64_t count = below(ops, 3); count > 0; count--) {
        enum kv_relation relation = (enum kv_relation)below(ops, 4);
        struct kv_bytes bytes = a_key(ops, key);
        switch (below(ops, 3)) {
        case 0:
            kv_txn_if_version(txn, bytes, relation, below(ops, 4));
            break;
        case 1:
            kv_txn_if_mod_revision(txn, bytes, relation,
                                   below(ops, 2) ? 0 : ops->revision - below(ops, 9));
            break;
        default:
            kv_txn_if_lease(txn, bytes, relation, ops->leases[below(ops, LEASES)]);
            break;
        }
    }
}

static void add_ops(struct ops *ops, struct kv_txn *txn, int depth)
{
    char key[16], other[16];
    for (int64_t count = below(ops, 4); count > 0; count--) {
        int64_t what = below(ops, depth < DEPTH ? 10 : 7);
        if (what < 3) {
            struct kv_put put = a_put(ops, key, other);
            kv_txn_put(txn, &put);
        } else if (what < 5) {
            struct kv_range range = a_range(ops, key, other);
            kv_txn_range(txn, &range);
        } else if (what < 7) {
            struct kv_delete delete = a_delete(ops, key, other);
            kv_txn_delete(txn, &delete);
        } else {
            kv_txn_begin(txn);
            add_compares(ops, txn);
            add_ops(ops, txn, depth + 1);
            kv_txn_else(txn);
            add_ops(ops, txn, depth + 1);
            kv_txn_end(txn);
        }
    }
}

static void a_txn(struct ops *ops, const struct kv_reply *reply)
{
    struct kv_txn *txn;
    if (kv_txn_new(&txn) != OK)
        abort();
    printf("txn");
    add_compares(ops, txn);
    add_ops(ops, txn, 1);
    kv_txn_else(txn);
    add_ops(ops, txn, 1);
    wait(ops, kv_txn_send(ops->client, txn, reply, NULL));
    kv_txn_free(txn);
}

static void a_lease(struct ops *ops)
{
    struct kv_reply reply = {on_leased, ops, 0};
    int64_t which = below(ops, LEASES);
    if (!ops->leases[which]) {
        printf("grant");
        wait(ops, kv_lease_grant(ops->client, below(ops, 2) ? 1 : 600, &reply, NULL));
        return;
    }
    reply.done = on_answer;
    printf("revoke %d", (int)which + 1);
    wait(ops, kv_lease_revoke(ops->client, ops->leases[which], &reply, NULL));
    if (below(ops, 2)) {
        printf("again");
        wait(ops, kv_lease_revoke(ops->client, ops->leases[which], &reply, NULL));
    }
    ops->leases[which] = 0;
}

/* ---- watches ---- */

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct ops *ops = context;
    for (size_t i = 0; i < notice->event_count; i++) {
        const struct kv_event *event = &notice->events[i];
        printf("  %s", event->is_delete ? "gone" : "told");
        print_kv(ops, &event->kv);
        printf(" before");
        print_kv(ops, &event->previous);
        printf("\n");
        ops->watched = event->kv.mod_revision;
    }
    if (notice->kind == KV_WATCH_COMPACTED) {
        printf("  compacted %" PRId64 "\n", notice->compact_revision - ops->base);
        ops->watch_ended = true;
    }
}

/* All that happened since some revision, up to a last put. */
static void a_watch(struct ops *ops)
{
    struct kv_reply reply = {on_answer, ops, 0};
    struct kv_watch_config config = {
        .key = kv_text("k/"), .prefix = true, .want_previous = below(ops, 2)};
    config.start_revision = ops->revision - below(ops, 40);
    if (config.start_revision <= ops->base)
        config.start_revision = ops->base + 1;
    ops->watch_ended = false;
    ops->watched = 0;
    printf("watch from %" PRId64 "\nmark", config.start_revision - ops->base);
    wait(ops, kv_put(ops->client, &(struct kv_put){.key = kv_text("k/a")}, &reply, NULL));
    if (kv_watch_new(ops->client, &config, on_notice, ops, &ops->watch) != OK)
        abort();
    while (!ops->watch_ended && ops->watched < ops->revision)
        loop_run_once(ops->loop);
    ops->watch = kv_watch_free(ops->watch);
}

static void step(struct ops *ops)
{
    struct kv_reply reply = {on_answer, ops, 0};
    char key[16], other[16];
    int64_t what = below(ops, 100);
    if (what < 30) {
        struct kv_put put = a_put(ops, key, other);
        printf("put");
        wait(ops, kv_put(ops->client, &put, &reply, NULL));
    } else if (what < 40) {
        struct kv_delete delete = a_delete(ops, key, other);
        printf("delete");
        wait(ops, kv_delete(ops->client, &delete, &reply, NULL));
    } else if (what < 55) {
        struct kv_range range = a_range(ops, key, other);
        printf("range");
        wait(ops, kv_range(ops->client, &range, &reply, NULL));
    } else if (what < 85) {
        a_txn(ops, &reply);
    } else if (what < 92) {
        a_lease(ops);
    } else if (what < 96) {
        printf("compact");
        wait(ops, etcd_compact(ops->client, ops->revision - below(ops, 20), true, &reply, NULL));
    } else {
        a_watch(ops);
    }
}

int main(int argc, char **argv)
{
    const char *endpoint;
    struct parse_error error;
    if (argc != 3)
        return 2;
    struct ops ops = {.random = strtoull(argv[1], NULL, 10), .loop = model_place_open(&endpoint)};
    if (!ops.loop)
        return 77;
    struct etcd_client_config config = {
        .endpoints = &endpoint, .endpoint_count = 1, .deadline_ms = 20000};
    if (etcd_client_new(ops.loop, &config, &ops.client, &error) != OK)
        return 1;
    printf("begin");
    struct kv_reply reply = {on_answer, &ops, 0};
    wait(&ops, kv_put(ops.client, &(struct kv_put){.key = kv_text("k/a")}, &reply, NULL));
    for (long count = strtol(argv[2], NULL, 10); count > 0; count--)
        step(&ops);
    kv_client_free(ops.client);
    model_place_close(ops.loop);
    return 0;
}
