/* What etcd and its client can do with nothing of peal above them. */
#include <stdio.h>
#include <string.h>

#include "cluster_bench.h"
#include "etcd.h"
#include "kv_txn.h"

enum { BATCH = 100, IN_FLIGHT = 4, VALUE = 150 };

struct bare {
    struct loop *loop;
    struct kv_client *client;
    struct kv_txn *txn;
    double until_s;
    size_t sent, done;
    unsigned long number;
    bool is_listed;
    size_t bytes;
};

static void open_client(struct bare *bare, const char *etcd)
{
    static char endpoint[128];
    static const char *const endpoints[] = {endpoint};
    snprintf(endpoint, sizeof(endpoint), "http://%s", etcd);
    struct etcd_client_config config = {.endpoints = endpoints, .endpoint_count = 1};
    if (loop_new(&bare->loop) != OK || kv_txn_new(&bare->txn) != OK ||
        etcd_client_new(bare->loop, &config, &bare->client, NULL) != OK)
        die("memory");
}

static void close_client(struct bare *bare)
{
    kv_client_free(bare->client);
    kv_txn_free(bare->txn);
    loop_free(bare->loop);
}

/* ---- transactions ---- */

static void add_transaction(struct kv_txn *txn, unsigned long number)
{
    static const char bytes[VALUE] = {1};
    char cursor[64], run[64];
    snprintf(cursor, sizeof(cursor), "/bare/cursors/%020lu", number);
    snprintf(run, sizeof(run), "/bare/runs/%020lu", number);
    kv_txn_begin(txn);
    kv_txn_if_version(txn, kv_text(cursor), KV_GREATER, -1);
    kv_txn_put(txn, &(struct kv_put){kv_text(cursor), {bytes, 40}, 0, false});
    kv_txn_put(txn, &(struct kv_put){kv_text(run), {bytes, VALUE}, 0, false});
    kv_txn_end(txn);
}

static void send_next(struct bare *bare);

static void on_done(void *context, const struct kv_result *result)
{
    struct bare *bare = context;
    if (result->status != OK)
        die(result->message);
    bare->done++;
    send_next(bare);
}

static void send_next(struct bare *bare)
{
    if (now_s() >= bare->until_s)
        return;
    kv_txn_reset(bare->txn);
    for (int i = 0; i < BATCH; i++)
        add_transaction(bare->txn, bare->number++ % 40000);
    bare->sent++;
    if (kv_txn_send(bare->client, bare->txn, &(struct kv_reply){on_done, bare, 30000}, NULL) != OK)
        die("memory");
}

double bare_transactions(const char *etcd, double seconds)
{
    struct bare bare = {0};
    open_client(&bare, etcd);
    double start_s = now_s();
    bare.until_s = start_s + seconds;
    for (int i = 0; i < IN_FLIGHT; i++)
        send_next(&bare);
    while (bare.done < bare.sent)
        loop_run_once(bare.loop);
    double rate = (double)bare.done * BATCH / (now_s() - start_s);
    close_client(&bare);
    return rate;
}

/* ---- listing ---- */

static void on_page(void *context, const struct kv_result *result)
{
    struct bare *bare = context;
    if (result->status != OK)
        die(result->message);
    for (size_t i = 0; i < result->op.kv_count; i++)
        bare->bytes += result->op.kvs[i].value.length;
    bare->is_listed = !result->op.more;
}

int measure_list(char **argv)
{
    struct bare bare = {0};
    struct kv_list *list;
    char prefix[128];
    snprintf(prefix, sizeof(prefix), "/%s/", argv[1]);
    open_client(&bare, argv[0]);
    double start_s = now_s();
    if (kv_list(bare.client, &(struct kv_range){.key = kv_text(prefix), .prefix = true},
                &(struct kv_reply){on_page, &bare, 30000}, &list) != OK)
        die("memory");
    while (!bare.is_listed)
        loop_run_once(bare.loop);
    double took_s = now_s() - start_s;
    if (!bare.bytes)
        die("there is nothing");
    printf("%.3f\n", took_s);
    close_client(&bare);
    return 0;
}
