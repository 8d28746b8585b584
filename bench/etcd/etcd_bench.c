/* Claims per second through the client, singly and in nested batches, beside the same requests
 * prebuilt and fired without a look at the answers: what this machine and this etcd can do. A claim
 * is one compare and two puts of 200 bytes. Both are measured in the same run, alternately. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bare.h"
#include "etcd.h"
#include "etcd.pb-c.h"
#include "etcd_server.h"
#include "kv_txn.h"
#include "transport/grpc_frame.h"

enum {
    VALUE = 200,
    ROUNDS = 3,
    BATCH = 100,
    SINGLES_MAX = 8000, /* prebuilt for one round */
    BATCHES_MAX = 400,
};

#define ROUND_S 0.7

static const struct {
    size_t claims_per_call, in_flight;
    double known[2]; /* measured before with one and three members, for comparison */
} rows[] = {
    {1, 1, {1800, 700}},    {1, 16, {5900, 2400}},      {1, 64, {6400, 3100}},
    {1, 256, {6900, 3500}}, {BATCH, 1, {22000, 13000}}, {BATCH, 4, {32000, 16000}},
};

struct bench {
    struct etcd_cluster cluster;
    struct loop *loop;
    struct kv_client *client;
    struct kv_txn *txn;
    size_t claims_per_call;
    size_t sent, done, won;
    double until_s;
};

struct measure {
    double claims, seconds, cpu_s;
};

static unsigned long next_key; /* never used twice in a run */
static char value_bytes[VALUE];

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "etcd_bench: %s: %s\n", what, why);
    exit(1);
}

/* ---- through the client ---- */

static void add_claim(struct kv_txn *txn)
{
    char cursor[32], run[32];
    unsigned long number = next_key++;
    snprintf(cursor, sizeof(cursor), "cursors/%010lu", number);
    snprintf(run, sizeof(run), "runs/%010lu", number);
    kv_txn_if_version(txn, kv_text(cursor), KV_EQUAL, 0);
    kv_txn_put(txn, &(struct kv_put){kv_text(cursor), {value_bytes, VALUE}, 0, false});
    kv_txn_put(txn, &(struct kv_put){kv_text(run), {value_bytes, VALUE}, 0, false});
}

static void send_next(struct bench *bench);

static void on_done(void *context, const struct kv_result *result)
{
    struct bench *bench = context;
    if (result->status != OK)
        die(status_text(result->status), result->message);
    if (bench->claims_per_call == 1)
        bench->won += result->op.txn.succeeded;
    else
        for (size_t i = 0; i < result->op.txn.op_count; i++)
            bench->won += result->op.txn.ops[i].txn.succeeded;
    bench->done++;
    send_next(bench);
}

static void send_next(struct bench *bench)
{
    if (clock_s(CLOCK_MONOTONIC) >= bench->until_s)
        return;
    kv_txn_reset(bench->txn);
    if (bench->claims_per_call == 1)
        add_claim(bench->txn);
    for (size_t i = 0; bench->claims_per_call > 1 && i < bench->claims_per_call; i++) {
        kv_txn_begin(bench->txn);
        add_claim(bench->txn);
        kv_txn_end(bench->txn);
    }
    bench->sent++;
    if (kv_txn_send(bench->client, bench->txn, &(struct kv_reply){on_done, bench, 30000}, NULL) !=
        OK)
        die("send", "no memory");
}

static struct measure run_client(struct bench *bench, size_t row)
{
    double start_s = clock_s(CLOCK_MONOTONIC), cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    bench->claims_per_call = rows[row].claims_per_call;
    bench->sent = bench->done = bench->won = 0;
    bench->until_s = start_s + ROUND_S;
    for (size_t i = 0; i < rows[row].in_flight; i++)
        send_next(bench);
    while (bench->done < bench->sent)
        loop_run_once(bench->loop);
    if (bench->won != bench->done * bench->claims_per_call)
        die("claims", "some were not won");
    return (struct measure){(double)bench->won, clock_s(CLOCK_MONOTONIC) - start_s,
                            clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s};
}

/* ---- bare ---- */

struct bare_claim {
    Etcdpb__Compare compare;
    Etcdpb__RequestOp ops[2];
    Etcdpb__PutRequest puts[2];
    Etcdpb__TxnRequest txn;
    Etcdpb__RequestOp as_op;
    Etcdpb__Compare *compares[1];
    Etcdpb__RequestOp *op_list[2];
    char keys[2][32];
};

static void make_claim(struct bare_claim *claim)
{
    unsigned long number = next_key++;
    snprintf(claim->keys[0], sizeof(claim->keys[0]), "cursors/%010lu", number);
    snprintf(claim->keys[1], sizeof(claim->keys[1]), "runs/%010lu", number);
    etcdpb__compare__init(&claim->compare);
    claim->compare.key.data = (uint8_t *)claim->keys[0];
    claim->compare.key.len = strlen(claim->keys[0]);
    claim->compare.operand_case = ETCDPB__COMPARE__OPERAND_VERSION;
    claim->compares[0] = &claim->compare;
    etcdpb__txn_request__init(&claim->txn);
    for (int i = 0; i < 2; i++) {
        etcdpb__put_request__init(&claim->puts[i]);
        claim->puts[i].key.data = (uint8_t *)claim->keys[i];
        claim->puts[i].key.len = strlen(claim->keys[i]);
        claim->puts[i].value.data = (uint8_t *)value_bytes;
        claim->puts[i].value.len = VALUE;
        etcdpb__request_op__init(&claim->ops[i]);
        claim->ops[i].request_case = ETCDPB__REQUEST_OP__REQUEST_PUT;
        claim->ops[i].put = &claim->puts[i];
        claim->op_list[i] = &claim->ops[i];
    }
    claim->txn.compare = claim->compares;
    claim->txn.n_compare = 1;
    claim->txn.success = claim->op_list;
    claim->txn.n_success = 2;
    etcdpb__request_op__init(&claim->as_op);
    claim->as_op.request_case = ETCDPB__REQUEST_OP__REQUEST_TXN;
    claim->as_op.txn = &claim->txn;
}

static struct bare_request make_request(size_t claims_per_call)
{
    static struct bare_claim claims[BATCH];
    Etcdpb__TxnRequest outer = ETCDPB__TXN_REQUEST__INIT;
    Etcdpb__RequestOp *ops[BATCH];
    for (size_t i = 0; i < claims_per_call; i++) {
        make_claim(&claims[i]);
        ops[i] = &claims[i].as_op;
    }
    outer.success = ops;
    outer.n_success = claims_per_call;
    const Etcdpb__TxnRequest *message = claims_per_call == 1 ? &claims[0].txn : &outer;
    size_t length = etcdpb__txn_request__get_packed_size(message);
    struct bare_request request = {malloc(GRPC_PREFIX + length), GRPC_PREFIX + length};
    if (!request.bytes)
        die("request", "no memory");
    grpc_prefix_write(request.bytes, length);
    etcdpb__txn_request__pack(message, request.bytes + GRPC_PREFIX);
    return request;
}

static struct measure run_bare(struct bench *bench, size_t row)
{
    static struct bare_request requests[SINGLES_MAX];
    size_t count = rows[row].claims_per_call == 1 ? SINGLES_MAX : BATCHES_MAX;
    for (size_t i = 0; i < count; i++)
        requests[i] = make_request(rows[row].claims_per_call);
    double start_s = clock_s(CLOCK_MONOTONIC), cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    size_t done = bare_run(bench->cluster.members[0].client_port, requests, count,
                           rows[row].in_flight, start_s + ROUND_S);
    struct measure measure = {(double)(done * rows[row].claims_per_call),
                              clock_s(CLOCK_MONOTONIC) - start_s,
                              clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s};
    for (size_t i = 0; i < count; i++)
        free(requests[i].bytes);
    return measure;
}

/* ---- the table ---- */

static void add(struct measure *sum, struct measure more)
{
    sum->claims += more.claims;
    sum->seconds += more.seconds;
    sum->cpu_s += more.cpu_s;
}

static void run_row(struct bench *bench, size_t row)
{
    struct measure client = {0}, bare = {0};
    run_client(bench, row); /* warm up */
    for (int i = 0; i < ROUNDS; i++) {
        add(&client, run_client(bench, row));
        add(&bare, run_bare(bench, row));
    }
    double rate = client.claims / client.seconds, limit = bare.claims / bare.seconds;
    double calls = client.claims / (double)rows[row].claims_per_call;
    printf("%7zu %9zu %10.0f %10.0f %6.2f %12.1f %12.1f %10.0f\n", rows[row].claims_per_call,
           rows[row].in_flight, rate, limit, rate / limit, client.cpu_s / calls * 1e6,
           bare.cpu_s / (bare.claims / (double)rows[row].claims_per_call) * 1e6,
           rows[row].known[bench->cluster.count > 1]);
    fflush(stdout);
}

static void run_cluster(int members)
{
    struct bench bench = {.cluster = {.count = members, .is_durable = true}};
    etcd_cluster_start(&bench.cluster);
    struct etcd_client_config config = {.endpoints = bench.cluster.endpoints,
                                        .endpoint_count = (size_t)members};
    if (loop_new(&bench.loop) != OK || kv_txn_new(&bench.txn) != OK ||
        etcd_client_new(bench.loop, &config, &bench.client, NULL) != OK)
        die("client", "no memory");
    printf("%d member%s\n%7s %9s %10s %10s %6s %12s %12s %10s\n", members, members > 1 ? "s" : "",
           "a call", "in flight", "claims/s", "bare", "ratio", "CPU us/call", "bare CPU us",
           "known");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run_row(&bench, i);
    kv_client_free(bench.client);
    kv_txn_free(bench.txn);
    loop_free(bench.loop);
    etcd_cluster_remove(&bench.cluster);
}

int main(void)
{
    if (!etcd_cluster_available()) {
        printf("not available: there is no etcd here; Debian has it in etcd-server\n");
        return 0;
    }
    signal(SIGPIPE, SIG_IGN);
    memset(value_bytes, 'v', VALUE);
    run_cluster(1);
    run_cluster(3);
    return 0;
}
