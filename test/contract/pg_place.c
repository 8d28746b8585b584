#include "pg_place.h"

#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "pg.h"

struct postgres_server pg_server;

void pg_place_start(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!postgres_server_available()) {
        printf("skipped: there is no PostgreSQL here; Debian has it in postgresql\n");
        exit(77);
    }
    postgres_server_start(&pg_server);
}

void pg_place_stop(void)
{
    postgres_server_remove(&pg_server);
}

struct kv_client *pg_place_client(struct loop *loop, const char *schema, int64_t deadline_ms)
{
    char url[256], more[96];
    struct kv_client *client;
    struct parse_error error;
    snprintf(more, sizeof(more), "schema=%s", schema ? schema : "peal");
    postgres_server_url(&pg_server, more, url);
    const struct kv_server server = {.url = url, .deadline_ms = deadline_ms};
    if (pg_client_new(loop, &server, &client, &error) != OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return client;
}

void pg_place_sql(const char *sql, char answer[256])
{
    char url[256];
    postgres_server_url(&pg_server, "", url);
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s\n", sql, PQerrorMessage(conn));
        abort();
    }
    if (answer)
        snprintf(answer, 256, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(conn);
}
