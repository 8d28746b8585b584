/* Checks how a PostgreSQL is set up, then what the store needs of it. */
#include <inttypes.h>
#include <string.h>

#include "pg_server.h"
#include "service/doctor_kv.h"
#include "text/tr.h"

enum {
    OLD_S = 300, /* of a transaction: what changes since can't be cleared away */
    DEAD_ROWS = 200000,
};

static bool is_off(const char *setting)
{
    return strcmp(setting, "off") == 0;
}

/* What may be lost when it crashes, or when a replica takes its place. */
static void tell_commits(struct report *report, const struct pg_server *server)
{
    if (is_off(server->fsync))
        report_add(report, CHECK_WARN, "commits", TR("set fsync = on"),
                   "fsync is off: a crash of the machine can lose all data");
    else if (is_off(server->synchronous_commit))
        report_add(report, CHECK_OK, "commits", NULL,
                   "synchronous_commit is off, which peal raises to local for itself");
    else if (server->replicas && !*server->standbys)
        report_add(report, CHECK_WARN, "commits",
                   TR("set synchronous_standby_names, or count on a halt after a fail-over "
                      "(docs/RELIABILITY.md)"),
                   "%" PRId64 " replicas, and no commit waits for them: one that is promoted can "
                   "lack the last ones",
                   server->replicas);
    else if (*server->standbys)
        report_add(report, CHECK_OK, "commits", NULL, "synchronous, %s; %" PRId64 " replicas",
                   server->standbys, server->replicas);
    else
        report_add(report, CHECK_OK, "commits", NULL, "on disk, no replicas");
}

static void tell_room(struct report *report, const struct pg_server *server)
{
    doctor_connections(report, server->connections, server->most_connections,
                       TR("raise max_connections: each node takes two, and two for a history"));
    bool is_kept = is_off(server->autovacuum) || server->dead_rows > DEAD_ROWS;
    report_add(report, is_kept ? CHECK_WARN : CHECK_OK, "tables",
               is_kept ? TR("set autovacuum = on; VACUUM the tables of the schema") : NULL,
               "%" PRId64 " kB in schema %s (format %" PRId64 "), %" PRId64
               " dead rows, autovacuum %s",
               server->bytes / 1000, server->schema, server->format, server->dead_rows,
               server->autovacuum);
    if (server->oldest_s >= OLD_S)
        report_add(report, CHECK_WARN, "transactions",
                   TR("end it (SELECT * FROM pg_stat_activity ORDER BY xact_start): tables grow "
                      "meanwhile"),
                   "the oldest is open for %" PRId64 " s", server->oldest_s);
    else
        report_add(report, CHECK_OK, "transactions", NULL, "none is open for long");
}

static void tell_server(struct report *report, const struct pg_server *server)
{
    report_add(report, CHECK_OK, "PostgreSQL", NULL, "%s, round trip %.1f ms", server->version,
               (double)server->round_trip_us / 1000);
    tell_commits(report, server);
    tell_room(report, server);
    doctor_clock(report, server->clock_ms);
}

/* It was opened before: that makes the tables, and finds a pooler that can't be used. */
static enum status tell(struct report *report, const struct agent_config *config, struct loop *loop,
                        struct kv_client *client, struct strbuf *why)
{
    struct pg_server server;
    (void)loop;
    (void)client;
    enum status st = pg_server_look(config->store.whole, &server, why);
    if (st == OK)
        tell_server(report, &server);
    return st;
}

void doctor_postgres(struct report *report, const struct agent_config *config)
{
    static const struct doctor_kind kind = {
        .name = "PostgreSQL",
        .when_refused = TR("see its log, and docs/CLUSTER.md"),
        .when_slow = TR("PostgreSQL waits for its disk, or for a synchronous replica"),
        .tell = tell,
    };
    doctor_opened(report, config, &kind);
}
