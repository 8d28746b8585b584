#include "postgres_place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "history_server_contract.h"
#include "postgres/history_postgres.h"

enum { CONNECT_S = 2 };

struct postgres_server postgres_server;

void postgres_place_url(const char *place, char url[256])
{
    char more[160];
    snprintf(more, sizeof(more), "schema=%s", place);
    postgres_server_url(&postgres_server, more, url);
}

void postgres_place_sql(const char *place, const char *sql, char answer[128])
{
    char url[256], text[1024];
    postgres_server_url(&postgres_server, "", url);
    PGconn *conn = PQconnectdb(url);
    snprintf(text, sizeof(text), "SET client_min_messages = error; SET search_path = %s; %s", place,
             sql);
    PGresult *result = PQexec(conn, text);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    if (answer)
        snprintf(answer, 128, "%s", PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(conn);
}

static void make_place(char place[128])
{
    static int number;
    snprintf(place, 128, "place_%d", ++number);
}

static enum status open_postgres(const char *place, struct history_wake wake, struct history **ret)
{
    static const struct history_server_limits limits = {.connect_s = CONNECT_S,
                                                        .write_ms = 3000,
                                                        .read_ms = 3000,
                                                        .retry_first_ms = 20,
                                                        .retry_last_ms = 200};
    char url[256];
    struct strbuf why;
    strbuf_init(&why);
    postgres_place_url(place, url);
    enum status st = history_postgres_open(url, &limits, wake, ret, &why);
    if (st != OK)
        print_message("%s\n", why.text);
    strbuf_release(&why);
    return st;
}

static void remove_place(const char *place)
{
    char sql[192];
    snprintf(sql, sizeof(sql), "DROP SCHEMA IF EXISTS %s CASCADE", place);
    postgres_place_sql("public", sql, NULL);
}

static void restart(void)
{
    postgres_server_restart(&postgres_server);
}

static void kill_server(void)
{
    postgres_server_kill(&postgres_server);
}

static void pause_server(void)
{
    postgres_server_pause(&postgres_server);
}

static void resume(void)
{
    postgres_server_resume(&postgres_server);
}

static const struct history_server server = {
    .restart = restart,
    .kill = kill_server,
    .pause = pause_server,
    .resume = resume,
    .silent_words = "does not answer in time",
    .connect_ms = 1000 * CONNECT_S,
    .writers = 4,
    .rounds = 40,
    .swaps_whole = true,
};

const struct history_backend postgres_backend = {
    .name = "history in PostgreSQL",
    .make_place = make_place,
    .open = open_postgres,
    .remove_place = remove_place,
    .durable = true,
    .server = &server,
};
