/* Checks how a Redis is set up, then what the store needs of it. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "clock.h"
#include "node_store.h"
#include "redis_report.h"
#include "service/doctor_kv.h"
#include "text/tr.h"

enum {
    CLOCK_MS = 500, /* as between nodes */
    OPEN_MS = 5000,
    TURN_MS = 20,
    FREE_CONNECTIONS = 4, /* two nodes more */
};

/* What is left when it stops. */
static void tell_loss(struct report *report, enum redis_loss loss)
{
    switch (loss) {
    case REDIS_LOSES_NOTHING:
        report_add(report, CHECK_OK, "changes", NULL,
                   "on disk before they are acknowledged (appendfsync always), never evicted");
        break;
    case REDIS_HAS_NO_AOF:
        report_add(report, CHECK_WARN, "changes",
                   TR("CONFIG SET appendonly yes and appendfsync always (docs/RELIABILITY.md)"),
                   "it keeps no append-only file: what it acknowledged is lost when it stops");
        break;
    case REDIS_FSYNC_UNKNOWN:
        report_add(report, CHECK_WARN, "changes",
                   TR("let this user ask CONFIG GET appendfsync (ACL SETUSER)"),
                   "it does not say how it writes its append-only file");
        break;
    case REDIS_FSYNC_LATE:
        report_add(report, CHECK_WARN, "changes",
                   TR("CONFIG SET appendfsync always (docs/RELIABILITY.md)"),
                   "acknowledged before they are on disk: lost when the machine fails");
        break;
    case REDIS_EVICTS:
        report_add(report, CHECK_WARN, "changes",
                   TR("CONFIG SET maxmemory-policy noeviction (docs/RELIABILITY.md)"),
                   "it removes keys when its memory is full");
        break;
    }
}

/* What is left when a replica takes its place. */
static void tell_replicas(struct report *report, const struct redis_report *redis)
{
    if (redis->server.replicas > redis->waits)
        report_add(report, CHECK_WARN, "replicas",
                   TR("leave out replicas=N, or count on a halt after a fail-over "
                      "(docs/RELIABILITY.md)"),
                   "%d, and changes wait for %d: one that is promoted can lack the last ones",
                   redis->server.replicas, redis->waits);
    else if (redis->server.replicas < redis->waits)
        report_add(report, CHECK_FAIL, "replicas",
                   TR("start those that are missing, or name another replicas=N"),
                   "%d, and changes wait for %d: nothing starts meanwhile", redis->server.replicas,
                   redis->waits);
    else
        report_add(report, CHECK_OK, "replicas", NULL, "%d, and changes wait for all of them",
                   redis->waits);
}

static void tell_room(struct report *report, const struct redis_info *server)
{
    int64_t left = server->most_clients - server->clients;
    bool is_full = server->most_memory && server->memory > server->most_memory / 10 * 8;
    if (server->most_memory)
        report_add(
            report, is_full ? CHECK_WARN : CHECK_OK, "memory",
            is_full ? TR("raise maxmemory: when it is full, nothing new can be stored") : NULL,
            "%" PRId64 " of %" PRId64 " kB", server->memory / 1000, server->most_memory / 1000);
    else
        report_add(report, CHECK_OK, "memory", NULL, "%" PRId64 " kB, no limit",
                   server->memory / 1000);
    report_add(report, left < FREE_CONNECTIONS ? CHECK_WARN : CHECK_OK, "connections",
               left < FREE_CONNECTIONS ? TR("raise maxclients: each node takes two") : NULL,
               "%" PRId64 " of %" PRId64 " are used", server->clients, server->most_clients);
}

static void tell_server(struct report *report, const struct redis_report *redis)
{
    report_add(report, CHECK_OK, "Redis", NULL, "%s", redis->server.name);
    tell_loss(report, redis_info_loss(&redis->server));
    tell_replicas(report, redis);
    tell_room(report, &redis->server);
    bool is_near = redis->clock_ms > -CLOCK_MS && redis->clock_ms < CLOCK_MS;
    report_add(report, is_near ? CHECK_OK : CHECK_WARN, "its clock",
               is_near ? NULL : TR("let chrony or systemd-timesyncd set it"),
               "%+lld ms from this machine's", (long long)redis->clock_ms);
}

static void on_timer(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

/* Whether it was opened in time. */
static bool wait_for_report(struct loop *loop, struct kv_client *client, struct redis_report *ret)
{
    int64_t until_ms = clock_now().boot.ms + OPEN_MS;
    struct loop_timer *timer;
    if (loop_timer_new(loop, on_timer, NULL, &timer) != OK)
        return false;
    while (!redis_client_report(client, ret) && clock_now().boot.ms < until_ms) {
        loop_timer_set(timer, TURN_MS);
        loop_run_once(loop);
    }
    loop_timer_free(timer);
    return redis_client_report(client, ret);
}

/* Tried first, as a node does it: that says why it can't be used. */
void doctor_redis(struct report *report, const struct agent_config *config)
{
    const struct doctor_server needs = {
        .prefix = config->store.prefix,
        .when_refused = TR("see its log, and docs/CLUSTER.md"),
        .when_slow = TR("Redis waits for its disk, or for a replica"),
    };
    struct redis_report redis;
    struct strbuf why;
    struct loop *loop = NULL;
    struct kv_client *client = NULL;
    strbuf_init(&why);
    signal(SIGPIPE, SIG_IGN);
    const struct store_access access = agent_config_store(config);
    enum status st = node_store_try(&access, &why);
    if (st == OK)
        st = loop_new(&loop);
    if (st == OK)
        st = node_kv_open(&access, loop, 0, &client, &why);
    if (st == OK && !wait_for_report(loop, client, &redis))
        st = E_UNREACHABLE;
    if (st == OK) {
        tell_server(report, &redis);
        doctor_kv(report, loop, client, &needs);
    } else {
        report_add(report, CHECK_FAIL, "Redis", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    }
    kv_client_free(client);
    loop_free(loop);
    strbuf_release(&why);
}
