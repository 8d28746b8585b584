/* Checks how a PostgreSQL is set up, then what the store needs of it. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "node_store.h"
#include "pg_server.h"
#include "service/doctor_kv.h"
#include "text/tr.h"

enum {
    CLOCK_MS = 500, /* as between nodes */
    OLD_S = 300,    /* of a transaction: what changes since can't be cleared away */
    DEAD_ROWS = 200000,
    FREE_CONNECTIONS = 4, /* two nodes more */
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
    int64_t left = server->most_connections - server->connections;
    report_add(report, left < FREE_CONNECTIONS ? CHECK_WARN : CHECK_OK, "connections",
               left < FREE_CONNECTIONS
                   ? TR("raise max_connections: each node takes two, and two for a history")
                   : NULL,
               "%" PRId64 " of %" PRId64 " are used", server->connections,
               server->most_connections);
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
    bool is_near = server->clock_ms > -CLOCK_MS && server->clock_ms < CLOCK_MS;
    report_add(report, is_near ? CHECK_OK : CHECK_WARN, "its clock",
               is_near ? NULL : TR("let chrony or systemd-timesyncd set it"),
               "%+lld ms from this machine's", (long long)server->clock_ms);
}

/* Opened first, as a node does it: that makes the tables, and finds a pooler that can't be used. */
void doctor_postgres(struct report *report, const struct agent_config *config)
{
    const struct doctor_server needs = {
        .prefix = config->store.prefix,
        .when_refused = TR("see its log, and docs/CLUSTER.md"),
        .when_slow = TR("PostgreSQL waits for its disk, or for a synchronous replica"),
    };
    struct pg_server server;
    struct strbuf why;
    struct loop *loop = NULL;
    struct kv_client *client = NULL;
    strbuf_init(&why);
    signal(SIGPIPE, SIG_IGN);
    const struct store_access access = agent_config_store(config);
    enum status st = node_store_try(&access, &why);
    if (st == OK)
        st = pg_server_look(config->store.whole, &server, &why);
    if (st == OK)
        st = loop_new(&loop);
    if (st == OK)
        st = node_kv_open(&access, loop, 0, &client, &why);
    if (st == OK) {
        tell_server(report, &server);
        doctor_kv(report, loop, client, &needs);
    } else {
        report_add(report, CHECK_FAIL, "PostgreSQL", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    }
    kv_client_free(client);
    loop_free(loop);
    strbuf_release(&why);
}
