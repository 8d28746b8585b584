/* Claims, and whole runs, per second through the store in etcd, PostgreSQL or Redis, beside a bare
 * loop over the same client which sends the same number of transactions with the same number of
 * compares and writes, but plans nothing, keeps no mirror and hears no watch. Four transactions are
 * in flight at most, as in the store. One server, whose writes reach the disk; both are measured by
 * turns. What a run takes of a processor in the client and in the server is printed, too: on a
 * machine that others use, it says more than the rates.
 *
 *     store_kv_bench etcd|postgres|redis
 *                                  a table
 *     store_kv_bench etcd|postgres|redis claims BATCH COUNT
 *                                  claims alone, BATCH at a time, COUNT requests in flight: ours
 *                                  and the bare client's a second, as two words
 *     store_kv_bench etcd|postgres|redis count ours|bare claims|runs MANY
 *                                  so many, 100 at a time, 8 in flight, and nothing else: what one
 *                                  takes of a processor in the client and in the server. Also for
 *                                  callgrind, which counts the same whoever else is busy: what
 *                                  twice as many take more is what these have taken */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "etcd.h"
#include "etcd_server.h"
#include "kv/store_kv.h"
#include "kv_txn.h"
#include "lanes.h"
#include "pg.h"
#include "postgres_server.h"
#include "redis.h"
#include "redis_server.h"

enum { JOBS = 40000, JOBS_COUNTED = 8000, IN_FLIGHT = 4, VALUE = 150, ROUNDS = 5 };

static const struct lanes_end round_end = {1.0, INT64_MAX};

/* ---- bare ---- */

struct bare {
    struct loop *loop;
    struct kv_client *client;
    struct kv_txn *txn;
    int steps; /* 1: claims alone */
    uint64_t nested;
    double until_s;
    int64_t most;     /* that are begun */
    size_t in_flight; /* now */
    int64_t done, begun;
};

/* Some runs, taken one step further at a time. */
struct bare_lane {
    struct bare *bare;
    uint64_t first;
    int step;
};

static uint64_t next_number = 1;

static struct kv_bytes key_of(char text[64], const char *kind, uint64_t number)
{
    snprintf(text, 64, "/bare/%s/%026llu", kind, (unsigned long long)number);
    return kv_text(text);
}

static void add_run(struct kv_txn *txn, uint64_t number, int step)
{
    static const char bytes[VALUE] = {1};
    char text[64];
    const struct kv_bytes value = {bytes, VALUE}, small = {bytes, 40};
    kv_txn_begin(txn);
    if (step == 0 || step == 2)
        kv_txn_if_mod_revision(txn, key_of(text, "cursors", number), KV_GREATER, -1);
    if (step > 0)
        kv_txn_if_mod_revision(txn, key_of(text, "runs", number), KV_GREATER, 0);
    if (step == 1)
        kv_txn_if_mod_revision(txn, key_of(text, "jobs", number), KV_EQUAL, 0);
    if (step == 0 || step == 2)
        kv_txn_put(txn,
                   &(struct kv_put){.key = key_of(text, "cursors", number % JOBS), .value = small});
    if (step < 3)
        kv_txn_put(txn, &(struct kv_put){.key = key_of(text, "runs", number), .value = value});
    else
        kv_txn_delete(txn, &(struct kv_delete){.key = key_of(text, "runs", number)});
    kv_txn_end(txn);
}

static void send_step(struct bare_lane *lane);

static void on_sent(void *context, const struct kv_result *result)
{
    struct bare_lane *lane = context;
    struct bare *bare = lane->bare;
    bare->in_flight--;
    if (result->status != OK || !result->op.txn.ops[0].txn.succeeded)
        die(result->message);
    lane->step = (lane->step + 1) % bare->steps;
    if (lane->step == 0)
        bare->done += (int64_t)bare->nested;
    if (lane->step > 0 || (bare->begun < bare->most && now_s() < bare->until_s))
        send_step(lane);
}

static void send_step(struct bare_lane *lane)
{
    struct bare *bare = lane->bare;
    if (lane->step == 0) {
        lane->first = next_number;
        next_number += bare->nested;
        bare->begun += (int64_t)bare->nested;
    }
    kv_txn_reset(bare->txn);
    for (uint64_t i = 0; i < bare->nested; i++)
        add_run(bare->txn, lane->first + i, lane->step);
    if (kv_txn_send(bare->client, bare->txn, &(struct kv_reply){on_sent, lane, 30000}, NULL) != OK)
        die("send");
    bare->in_flight++;
}

static double measure_bare(struct bare *bare, uint64_t nested, int in_flight, int steps,
                           struct lanes_end end)
{
    struct bare_lane lanes[IN_FLIGHT];
    double start = now_s();
    bare->steps = steps;
    bare->nested = nested;
    bare->done = bare->begun = 0;
    bare->until_s = start + end.seconds;
    bare->most = end.runs;
    for (int i = 0; i < in_flight; i++) {
        lanes[i] = (struct bare_lane){.bare = bare};
        send_step(&lanes[i]);
    }
    while (bare->in_flight > 0)
        loop_run_once(bare->loop);
    return (double)bare->done / (now_s() - start);
}

/* ---- the store ---- */

static void run_loop(void *context)
{
    loop_run_once(context);
}

/* One of them. */
struct server {
    const struct kind *kind;
    struct etcd_cluster etcd;
    struct postgres_server postgres;
    struct redis_server redis;
};

static bool start_etcd(struct server *server)
{
    if (!etcd_cluster_available())
        return false;
    etcd_cluster_start(&server->etcd);
    return true;
}

static void remove_etcd(struct server *server)
{
    etcd_cluster_remove(&server->etcd);
}

static enum status open_etcd(const struct server *server, struct loop *loop, struct kv_client **ret)
{
    const struct etcd_client_config etcd = {.endpoints = server->etcd.endpoints,
                                            .endpoint_count = 1};
    return etcd_client_new(loop, &etcd, ret, NULL);
}

static bool start_postgres(struct server *server)
{
    if (!postgres_server_available())
        return false;
    postgres_server_start(&server->postgres);
    return true;
}

static void remove_postgres(struct server *server)
{
    postgres_server_remove(&server->postgres);
}

static enum status open_postgres(const struct server *server, struct loop *loop,
                                 struct kv_client **ret)
{
    char url[256];
    struct parse_error error;
    postgres_server_url(&server->postgres, "", url);
    return pg_client_new(loop, &(struct kv_server){.url = url}, ret, &error);
}

static bool start_redis(struct server *server)
{
    if (!redis_server_available())
        return false;
    redis_server_start(&server->redis);
    return true;
}

static void remove_redis(struct server *server)
{
    redis_server_remove(&server->redis);
}

static enum status open_redis(const struct server *server, struct loop *loop,
                              struct kv_client **ret)
{
    char url[256];
    struct parse_error error;
    redis_server_url(&server->redis, "", url);
    return redis_client_new(loop, &(struct kv_server){.url = url}, ret, &error);
}

static pid_t pid_of_etcd(const struct server *server)
{
    return server->etcd.members[0].pid;
}

static pid_t pid_of_postgres(const struct server *server)
{
    return server->postgres.pid;
}

static pid_t pid_of_redis(const struct server *server)
{
    return server->redis.pid;
}

static const struct kind {
    const char *name;
    bool (*start)(struct server *server);
    void (*remove)(struct server *server);
    enum status (*open)(const struct server *server, struct loop *loop, struct kv_client **ret);
    pid_t (*pid)(const struct server *server);
} kinds[] = {
    {"etcd", start_etcd, remove_etcd, open_etcd, pid_of_etcd},
    {"postgres", start_postgres, remove_postgres, open_postgres, pid_of_postgres},
    {"redis", start_redis, remove_redis, open_redis, pid_of_redis},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static struct kv_client *new_client(const struct server *server, struct loop *loop)
{
    struct kv_client *client = NULL;
    if (server->kind->open(server, loop, &client) != OK)
        die("client");
    return client;
}

static struct store *open_store(struct loop *loop, const struct server *server)
{
    struct store_kv_config config = {.client = new_client(server, loop), .node = "node-1"};
    struct store *store = NULL;
    struct strbuf why;
    strbuf_init(&why);
    if (store_kv_open(loop, &config, (struct store_wake){0}, &store, &why) != OK)
        die(why.text);
    strbuf_release(&why);
    return store;
}

/* ---- what it takes of a processor, whoever else wants that ---- */

struct cpu {
    double client_s, server_s;
};

/* Of the first thread of a process. */
static double process_s(pid_t pid)
{
    char path[64];
    double ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%lf", &ns) != 1)
        ns = 0;
    if (file)
        fclose(file);
    return ns / 1e9;
}

static pid_t parent_of(const char *pid)
{
    char path[64];
    int parent = 0;
    snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

/* Of a process and of those that it has started. */
static double family_s(pid_t pid)
{
    double all_s = process_s(pid);
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == pid)
            all_s += process_s(atoi(entry->d_name));
    if (folder)
        closedir(folder);
    return all_s;
}

static struct cpu cpu_now(pid_t server)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct cpu){.client_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
                        .server_s = family_s(server)};
}

/* What one thing takes, in microseconds. */
static void add_cost(struct cpu *cost, struct cpu before, struct cpu after, double done)
{
    cost->client_s += (after.client_s - before.client_s) * 1e6 / done / ROUNDS;
    cost->server_s += (after.server_s - before.server_s) * 1e6 / done / ROUNDS;
}

struct rates {
    double ours, limit; /* a second */
    struct cpu our_cost, limit_cost;
};

static struct rates measure(struct lanes *lanes, struct bare *bare, pid_t server, int batch,
                            int count, int steps)
{
    struct rates rates = {0};
    for (int i = 0; i < ROUNDS; i++) {
        struct cpu start = cpu_now(server);
        double at_s = now_s();
        double rate = measure_bare(bare, batch < 100 ? (uint64_t)batch : 100,
                                   count < IN_FLIGHT ? count : IN_FLIGHT, steps, round_end);
        struct cpu between = cpu_now(server);
        double between_s = now_s();
        rates.limit += rate / ROUNDS;
        add_cost(&rates.limit_cost, start, between, rate * (between_s - at_s));
        rate = lanes_measure(lanes, batch, count, steps, round_end);
        rates.ours += rate / ROUNDS;
        add_cost(&rates.our_cost, between, cpu_now(server), rate * (now_s() - between_s));
    }
    return rates;
}

static void run_row(struct lanes *lanes, struct bare *bare, pid_t server, const char *name,
                    int batch, int count, int steps)
{
    struct rates rates = measure(lanes, bare, server, batch, count, steps);
    const struct cpu *ours = &rates.our_cost, *limit = &rates.limit_cost;
    printf(
        "%-36s %8.0f /s   bare client %8.0f /s   ratio %.2f   CPU %3.0f + %3.0f us, bare %3.0f + "
        "%3.0f\n",
        name, rates.ours, rates.limit, rates.ours / rates.limit, ours->client_s, ours->server_s,
        limit->client_s, limit->server_s);
    fflush(stdout);
}

static void run_table(struct lanes *lanes, struct bare *bare, pid_t server)
{
    run_row(lanes, bare, server, "runs, one by one", 1, 1, LANE_STEPS);
    run_row(lanes, bare, server, "runs, 100 at a time", 100, 1, LANE_STEPS);
    run_row(lanes, bare, server, "runs, 100 at a time, 8 in flight", 100, 8, LANE_STEPS);
    run_row(lanes, bare, server, "runs, 500 at a time, 8 in flight", 500, 8, LANE_STEPS);
    run_row(lanes, bare, server, "claims, one by one", 1, 1, 1);
    run_row(lanes, bare, server, "claims, 100 at a time, 8 in flight", 100, 8, 1);
}

static void run_claims(struct lanes *lanes, struct bare *bare, pid_t server, char **argv)
{
    int batch = atoi(argv[0]), count = atoi(argv[1]);
    if (batch < 1 || count < 1 || count > LANES_MAX)
        die("claims: how many?");
    struct rates rates = measure(lanes, bare, server, batch, count, 1);
    printf("%.0f %.0f\n", rates.ours, rates.limit);
}

static void run_count(struct lanes *lanes, struct bare *bare, pid_t server, char **argv)
{
    enum { BATCH = 100, COUNT = 8 };
    bool is_ours = strcmp(argv[0], "ours") == 0;
    int steps = strcmp(argv[1], "runs") == 0 ? LANE_STEPS : 1;
    const struct lanes_end end = {3600, atoll(argv[2])};
    struct cpu before = cpu_now(server);
    if (is_ours)
        lanes_measure(lanes, BATCH, COUNT, steps, end);
    else
        measure_bare(bare, BATCH, IN_FLIGHT, steps, end);
    struct cpu after = cpu_now(server);
    printf("CPU %.2f + %.2f us\n", (after.client_s - before.client_s) * 1e6 / (double)end.runs,
           (after.server_s - before.server_s) * 1e6 / (double)end.runs);
}

int main(int argc, char **argv)
{
    struct server server = {.etcd = {.count = 1, .is_durable = true},
                            .postgres = {.is_durable = true}};
    bool only_claims = argc == 5 && strcmp(argv[2], "claims") == 0;
    bool only_count = argc == 6 && strcmp(argv[2], "count") == 0;
    server.kind = argc > 1 ? find_kind(argv[1]) : NULL;
    if ((argc != 2 && !only_claims && !only_count) || !server.kind)
        die("usage: store_kv_bench etcd|postgres|redis [claims BATCH COUNT | count ours|bare "
            "claims|runs MANY]");
    signal(SIGPIPE, SIG_IGN);
    if (!server.kind->start(&server)) {
        printf("not available: there is no %s here\n", argv[1]);
        return 0;
    }
    struct bare bare = {0};
    if (loop_new(&bare.loop) != OK || kv_txn_new(&bare.txn) != OK)
        die("out of memory");
    bare.client = new_client(&server, bare.loop);
    struct store *store = open_store(bare.loop, &server);
    struct lanes lanes = {.store = store, .wait = run_loop, .context = bare.loop};
    lanes_put_jobs(&lanes, only_count ? JOBS_COUNTED : JOBS);
    pid_t pid = server.kind->pid(&server);
    if (only_claims)
        run_claims(&lanes, &bare, pid, argv + 3);
    else if (only_count)
        run_count(&lanes, &bare, pid, argv + 3);
    else
        run_table(&lanes, &bare, pid);
    lanes_release(&lanes);
    store_free(store);
    kv_client_free(bare.client);
    kv_txn_free(bare.txn);
    loop_free(bare.loop);
    server.kind->remove(&server);
    return 0;
}
