#include "pg_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pg_internal.h"

static PGconn *connect_to(const char *conninfo)
{
    const char *const keys[] = {"connect_timeout",  "tcp_user_timeout", "target_session_attrs",
                                "application_name", "dbname",           NULL};
    const char *const values[] = {"3", "3000", "read-write", "peal doctor", conninfo, NULL};
    return PQconnectdbParams(keys, values, 1);
}

/* NULL: *why. */
static PGresult *ask(PGconn *conn, const struct pg_address *address, const char *sql,
                     struct strbuf *why)
{
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        return result;
    pg_explain(address, PQerrorMessage(conn), why);
    PQclear(result);
    return NULL;
}

static enum status look_at_settings(PGconn *conn, const struct pg_address *address,
                                    struct pg_server *ret, struct strbuf *why)
{
    static const char sql[] =
        "SELECT current_setting('server_version'), current_setting('fsync'), "
        "current_setting('synchronous_commit'), current_setting('autovacuum'), "
        "current_setting('synchronous_standby_names'), "
        "(SELECT count(*) FROM pg_stat_replication), "
        "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), "
        "current_setting('max_connections')::int - "
        "current_setting('superuser_reserved_connections')::int, "
        "(SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::bigint FROM "
        "pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend')";
    PGresult *result = ask(conn, address, sql, why);
    if (!result)
        return E_UNREACHABLE;
    snprintf(ret->version, sizeof(ret->version), "%.*s",
             (int)strcspn(PQgetvalue(result, 0, 0), " "), PQgetvalue(result, 0, 0));
    snprintf(ret->fsync, sizeof(ret->fsync), "%s", PQgetvalue(result, 0, 1));
    snprintf(ret->synchronous_commit, sizeof(ret->synchronous_commit), "%s",
             PQgetvalue(result, 0, 2));
    snprintf(ret->autovacuum, sizeof(ret->autovacuum), "%s", PQgetvalue(result, 0, 3));
    snprintf(ret->standbys, sizeof(ret->standbys), "%s", PQgetvalue(result, 0, 4));
    ret->replicas = strtoll(PQgetvalue(result, 0, 5), NULL, 10);
    ret->connections = strtoll(PQgetvalue(result, 0, 6), NULL, 10);
    ret->most_connections = strtoll(PQgetvalue(result, 0, 7), NULL, 10);
    ret->oldest_s = strtoll(PQgetvalue(result, 0, 8), NULL, 10);
    PQclear(result);
    return OK;
}

static enum status look_at_tables(PGconn *conn, const struct pg_address *address,
                                  struct pg_server *ret, struct strbuf *why)
{
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT coalesce(sum(pg_total_relation_size(relid)), 0)::bigint, "
             "coalesce(sum(n_dead_tup), 0)::bigint, (SELECT format FROM %s.kv_feed WHERE one) "
             "FROM pg_stat_user_tables WHERE schemaname = '%s' AND relname LIKE 'kv%%'",
             address->schema, address->schema);
    PGresult *result = ask(conn, address, sql, why);
    if (!result)
        return E_UNREACHABLE;
    ret->bytes = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    ret->dead_rows = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
    ret->format = strtoll(PQgetvalue(result, 0, 2), NULL, 10);
    snprintf(ret->schema, sizeof(ret->schema), "%s", address->schema);
    PQclear(result);
    return OK;
}

/* The quickest of some: the least is known of when the server looked at its clock in the others. */
static enum status look_at_clock(PGconn *conn, const struct pg_address *address,
                                 struct pg_server *ret, struct strbuf *why)
{
    static const char sql[] = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    for (int i = 0; i < 5; i++) {
        struct now before = clock_now();
        int64_t before_us = clock_boot_us();
        PGresult *result = ask(conn, address, sql, why);
        int64_t took_us = clock_boot_us() - before_us;
        if (!result)
            return E_UNREACHABLE;
        if (i == 0 || took_us < ret->round_trip_us) {
            ret->round_trip_us = took_us;
            ret->clock_ms =
                strtoll(PQgetvalue(result, 0, 0), NULL, 10) - before.wall.ms - took_us / 2000;
        }
        PQclear(result);
    }
    return OK;
}

enum status pg_server_look(const char *url, struct pg_server *ret, struct strbuf *why)
{
    struct pg_address address;
    struct pg_server server = {.bytes = 0};
    enum status st = pg_address_read(url, "the address", &address, why);
    if (st != OK)
        return st;
    PGconn *conn = connect_to(address.conninfo);
    if (PQstatus(conn) != CONNECTION_OK) {
        pg_explain(&address, PQerrorMessage(conn), why);
        st = E_UNREACHABLE;
    }
    if (st == OK)
        st = look_at_settings(conn, &address, &server, why);
    if (st == OK)
        st = look_at_tables(conn, &address, &server, why);
    if (st == OK)
        st = look_at_clock(conn, &address, &server, why);
    PQfinish(conn);
    pg_address_release(&address);
    if (st == OK)
        *ret = server;
    return st;
}
