/* Checks how a Redis is set up, then what the store needs of it. */
#include <inttypes.h>

#include "clock.h"
#include "redis_report.h"
#include "service/doctor_kv.h"
#include "text/tr.h"

enum { OPEN_MS = 5000, TURN_MS = 20 };

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
    bool is_full = server->most_memory && server->memory > server->most_memory / 10 * 8;
    if (server->most_memory)
        report_add(
            report, is_full ? CHECK_WARN : CHECK_OK, "memory",
            is_full ? TR("raise maxmemory: when it is full, nothing new can be stored") : NULL,
            "%" PRId64 " of %" PRId64 " kB", server->memory / 1000, server->most_memory / 1000);
    else
        report_add(report, CHECK_OK, "memory", NULL, "%" PRId64 " kB, no limit",
                   server->memory / 1000);
    doctor_connections(report, server->clients, server->most_clients,
                       TR("raise maxclients: each node takes two"));
}

static void tell_server(struct report *report, const struct redis_report *redis)
{
    report_add(report, CHECK_OK, "Redis", NULL, "%s", redis->server.name);
    tell_loss(report, redis_info_loss(&redis->server));
    tell_replicas(report, redis);
    tell_room(report, &redis->server);
    doctor_clock(report, redis->clock_ms);
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

static enum status tell(struct report *report, const struct agent_config *config, struct loop *loop,
                        struct kv_client *client, struct strbuf *why)
{
    struct redis_report redis;
    (void)config;
    (void)why;
    if (!wait_for_report(loop, client, &redis))
        return E_UNREACHABLE;
    tell_server(report, &redis);
    return OK;
}

void doctor_redis(struct report *report, const struct agent_config *config)
{
    static const struct doctor_kind kind = {
        .name = "Redis",
        .when_refused = TR("see its log, and docs/CLUSTER.md"),
        .when_slow = TR("Redis waits for its disk, or for a replica"),
        .tell = tell,
    };
    doctor_opened(report, config, &kind);
}
