/* One connection. The client enforces a time-out on every statement, so that a stopped server or a
 * network that drops packets is noticed. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "postgres/history_postgres_internal.h"

void link_init(struct postgres_link *link, const struct place *place, enum link_use use,
               int stop_fd)
{
    *link = (struct postgres_link){.place = place, .use = use, .stop_fd = stop_fd};
}

void link_close(struct postgres_link *link)
{
    PQfinish(link->conn);
    link->conn = NULL;
    link->base.is_up = false;
    memset(link->prepared, 0, sizeof(link->prepared));
    schema_forget_months(link);
}

/* ---- failures ---- */

static enum status lose(struct postgres_link *link, const char *message)
{
    strbuf_reset(&link->base.words);
    link->sqlstate[0] = '\0';
    enum status st = explain_away(link->place, message, &link->base.words);
    link_close(link);
    return st;
}

enum status link_refuse(struct postgres_link *link, enum status st, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_reset(&link->base.words);
    strbuf_addf(&link->base.words, "PostgreSQL at %s: ", link->place->at.name);
    strbuf_addv(&link->base.words, format, args);
    va_end(args);
    link_close(link);
    return st;
}

/* Whether the session is unusable. 08: the connection is lost; 57P: the server is shutting down;
 * 42P01, 3F000 and 26000: tables, the schema or prepared statements are gone. */
static bool is_void(const struct postgres_link *link, const char *state)
{
    static const char *const states[] = {"08", "57P", "42P01", "3F000", "26000"};
    bool found = !state || PQstatus(link->conn) == CONNECTION_BAD;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]) && !found; i++)
        found = strncmp(state, states[i], strlen(states[i])) == 0;
    return found;
}

/* Handles an error that the server returned. */
static enum status fail(struct postgres_link *link, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (is_void(link, state))
        return lose(link, message ? message : PQerrorMessage(link->conn));
    snprintf(link->sqlstate, sizeof(link->sqlstate), "%.5s", state);
    strbuf_reset(&link->base.words);
    return explain_failure(link->place, state, message ? message : "no message", &link->base.words);
}

/* ---- waiting ---- */

static int timeout_ms(const struct postgres_link *link)
{
    const struct history_server_limits *limits = &link->place->limits;
    return link->use == LINK_WRITES ? limits->write_ms : limits->read_ms;
}

/* Waits until the socket is readable, or writable if `to_write`. */
static enum status wait_for_socket(struct postgres_link *link, bool to_write, int64_t deadline_ms)
{
    struct pollfd fds[] = {
        {.fd = PQsocket(link->conn), .events = (short)(POLLIN | (to_write ? POLLOUT : 0))},
        {.fd = link->stop_fd, .events = POLLIN},
    };
    int64_t left_ms = deadline_ms - clock_now().boot.ms;
    int ready = left_ms > 0 ? poll(fds, 2, (int)left_ms) : 0;
    if (ready < 0 && errno == EINTR)
        return OK;
    if (ready <= 0)
        return lose(link, "it does not answer in time");
    if (fds[1].revents)
        return lose(link, "peal is closing");
    return OK;
}

/* Receives the answer to what was sent: the last result, or the first error. */
static enum status receive(struct postgres_link *link, PGresult **ret)
{
    /* Longer than statement_timeout, so that normally the server reports the time-out. */
    int64_t deadline_ms = clock_now().boot.ms + timeout_ms(link) + 1000;
    PGresult *kept = NULL;
    for (;;) {
        int unsent = PQflush(link->conn);
        enum status st = OK;
        if (unsent < 0)
            st = lose(link, PQerrorMessage(link->conn));
        else if (unsent || PQisBusy(link->conn)) {
            st = wait_for_socket(link, unsent > 0, deadline_ms);
            if (st == OK && !PQconsumeInput(link->conn))
                st = lose(link, PQerrorMessage(link->conn));
        } else {
            PGresult *result = PQgetResult(link->conn);
            if (!result)
                break;
            bool failed = kept && PQresultStatus(kept) == PGRES_FATAL_ERROR;
            PQclear(failed ? result : kept);
            kept = failed ? kept : result;
        }
        if (st != OK) {
            PQclear(kept);
            return st;
        }
    }
    ExecStatusType status = PQresultStatus(kept);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
        *ret = kept;
        return OK;
    }
    enum status st = kept ? fail(link, kept) : lose(link, PQerrorMessage(link->conn));
    PQclear(kept);
    return st;
}

/* ---- statements ---- */

enum status link_command(struct postgres_link *link, const char *sql, PGresult **ret)
{
    PGresult *result = NULL;
    if (!PQsendQuery(link->conn, sql))
        return lose(link, PQerrorMessage(link->conn));
    enum status st = receive(link, &result);
    if (st != OK)
        return st;
    if (ret)
        *ret = result;
    else
        PQclear(result);
    return OK;
}

enum status link_commandf(struct postgres_link *link, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = link_command(link, text.text, NULL);
    strbuf_release(&text);
    return st;
}

static enum status prepare(struct postgres_link *link, enum record_table table,
                           enum statement which, const char *name, const struct params *params)
{
    struct strbuf text;
    PGresult *result = NULL;
    strbuf_init(&text);
    statement_text(table, which, &text);
    enum status st = strbuf_status(&text);
    if (st == OK && !PQsendPrepare(link->conn, name, text.text, params->count, params->types))
        st = lose(link, PQerrorMessage(link->conn));
    if (st == OK)
        st = receive(link, &result);
    PQclear(result);
    strbuf_release(&text);
    if (st == OK)
        link->prepared[table][which] = true;
    return st;
}

enum status link_run(struct postgres_link *link, enum record_table table, enum statement which,
                     const struct params *params, PGresult **ret)
{
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
    char name[16];
    enum status st = strbuf_status(&params->bytes);
    snprintf(name, sizeof(name), "s%d_%d", (int)table, (int)which);
    if (st == OK && !link->prepared[table][which])
        st = prepare(link, table, which, name, params);
    if (st != OK)
        return st;
    for (int i = 0; i < params->count; i++) {
        bool is_null = params->length[i] == SIZE_MAX;
        values[i] = is_null ? NULL : params->bytes.text + params->at[i];
        lengths[i] = is_null ? 0 : (int)params->length[i];
        formats[i] = 1;
    }
    if (!PQsendQueryPrepared(link->conn, name, params->count, values, lengths, formats, 1))
        return lose(link, PQerrorMessage(link->conn));
    return receive(link, ret);
}

enum status link_do(struct postgres_link *link, enum record_table table, enum statement which,
                    const struct params *params)
{
    PGresult *result = NULL;
    enum status st = link_run(link, table, which, params, &result);
    PQclear(result);
    return st;
}

/* Keeps base.words about the failure that led here. */
void link_roll_back(struct postgres_link *link)
{
    if (!link->conn || PQtransactionStatus(link->conn) == PQTRANS_IDLE)
        return;
    PGresult *result = NULL;
    if (!PQsendQuery(link->conn, "ROLLBACK") || receive(link, &result) != OK)
        link_close(link);
    PQclear(result);
}

/* ---- opening ---- */

/* The settings make the planner walk along the index with the fewest rows to examine, wherever they
 * are on disk. synchronous_commit = off is raised to local: a commit must be on disk. */
static void session_text(const struct postgres_link *link, struct strbuf *text)
{
    strbuf_addf(text, "SET search_path = %s; SET statement_timeout = %d; SET lock_timeout = %d;",
                link->place->at.schema, timeout_ms(link), timeout_ms(link));
    strbuf_adds(text, "SET idle_in_transaction_session_timeout = 60000;"
                      "SET enable_seqscan = off; SET enable_bitmapscan = off;"
                      "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;"
                      "SET seq_page_cost = 0.001; SET random_page_cost = 0.001;"
                      "SET max_parallel_workers_per_gather = 0; SET client_min_messages = warning;"
                      "SET plan_cache_mode = force_generic_plan;"
                      "SELECT set_config('synchronous_commit', 'local', false)"
                      " WHERE current_setting('synchronous_commit') = 'off'");
}

/* Without a receiver, libpq prints notices to standard error. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static enum status connect_to_server(struct postgres_link *link)
{
    char connect_s[16];
    const char *const keys[] = {"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                "keepalives_count", "tcp_user_timeout", "application_name",
                                "dbname",           "client_encoding",  NULL};
    const char *const values[] = {
        connect_s, "10", "5", "3", "15000", "peal", link->place->at.conninfo, "UTF8", NULL};
    snprintf(connect_s, sizeof(connect_s), "%d", link->place->limits.connect_s);
    link->conn = PQconnectdbParams(keys, values, 1);
    if (!link->conn)
        return E_NOMEM;
    if (PQstatus(link->conn) != CONNECTION_OK || PQsetnonblocking(link->conn, 1) != 0)
        return lose(link, PQerrorMessage(link->conn));
    PQsetNoticeReceiver(link->conn, ignore_notice, NULL);
    struct strbuf text;
    strbuf_init(&text);
    session_text(link, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = link_command(link, text.text, NULL);
    strbuf_release(&text);
    return st;
}

enum status link_open(struct history_link *base)
{
    struct postgres_link *link = link_of(base);
    enum status st = connect_to_server(link);
    if (st == OK)
        st = schema_ensure(link);
    if (st != OK)
        link_close(link);
    return st;
}
