/* What a new connection is asked before it can carry statements: the session's settings, whether a
 * pooler stands between, the tables. */
#include "pg_connect.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "hash.h"
#include "pg_words.h"

enum {
    CONNECT_MS = 3000,
    ANSWER_MS = 5000,
    MIGRATE_MS = 60000,
};

extern const char pg_schema_1_sql[], pg_schema_2_sql[];

/* What makes each format out of the one before. */
static const char *const schema_steps[PG_FORMAT] = {pg_schema_1_sql, pg_schema_2_sql};

struct pg_connecting {
    pthread_t thread;
    int stop_fd, done_fd;
    struct pg_target target;
    /* the thread's, until it is over */
    PGconn *conn;
    enum status status;
    struct strbuf why;
    bool is_taken;
};

/* ---- asking ---- */

/* Waits for the socket; false: it is to stop, or too late. */
static bool wait_for(struct pg_connecting *connecting, PGconn *conn, bool to_write,
                     int64_t deadline_ms)
{
    struct pollfd fds[] = {
        {.fd = PQsocket(conn), .events = (short)(to_write ? POLLOUT : POLLIN)},
        {.fd = connecting->stop_fd, .events = POLLIN},
    };
    int64_t left_ms = deadline_ms - clock_now().boot.ms;
    int ready = left_ms > 0 ? poll(fds, 2, (int)left_ms) : 0;
    return (ready > 0 && !fds[1].revents) || (ready < 0 && errno == EINTR);
}

static enum status fail(struct pg_connecting *connecting, enum status st, const char *message)
{
    strbuf_reset(&connecting->why);
    pg_explain(connecting->target.address, message, &connecting->why);
    return st;
}

static enum status fail_by(struct pg_connecting *connecting, PGconn *conn, const PGresult *result)
{
    enum status st = E_UNREACHABLE;
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (state && pg_judge(state, &st) != PG_REFUSED)
        st = E_UNREACHABLE;
    return fail(connecting, st, state ? PQresultErrorMessage(result) : PQerrorMessage(conn));
}

/* The last result of a query, or of several in one text. NULL: *ret_status says why. */
static PGresult *ask_within(struct pg_connecting *connecting, PGconn *conn, const char *sql,
                            int64_t wait_ms, enum status *ret_status)
{
    int64_t deadline_ms = clock_now().boot.ms + wait_ms;
    PGresult *kept = NULL, *result;
    *ret_status = OK;
    if (!PQsendQuery(conn, sql)) {
        *ret_status = fail_by(connecting, conn, NULL);
        return NULL;
    }
    do {
        int unsent;
        while ((unsent = PQflush(conn)) > 0 || PQisBusy(conn)) {
            if (!wait_for(connecting, conn, unsent > 0, deadline_ms)) {
                *ret_status = fail(connecting, E_UNREACHABLE, "it does not answer");
                PQclear(kept);
                return NULL;
            }
            if (!PQconsumeInput(conn))
                break;
        }
        result = PQgetResult(conn);
        if (result) {
            PQclear(kept);
            kept = result;
            if (PQresultStatus(kept) == PGRES_FATAL_ERROR && *ret_status == OK)
                *ret_status = fail_by(connecting, conn, kept);
        }
    } while (result);
    if (*ret_status == OK && !kept)
        *ret_status = fail_by(connecting, conn, NULL);
    if (*ret_status != OK) {
        PQclear(kept);
        return NULL;
    }
    return kept;
}

static enum status tell(struct pg_connecting *connecting, const char *sql, int64_t wait_ms)
{
    enum status st;
    PQclear(ask_within(connecting, connecting->conn, sql, wait_ms, &st));
    return st;
}

/* The first row's columns as numbers, as many as there are. */
static enum status ask_numbers(struct pg_connecting *connecting, PGconn *conn, const char *sql,
                               int64_t *numbers, int count)
{
    enum status st;
    PGresult *result = ask_within(connecting, conn, sql, ANSWER_MS, &st);
    if (!result)
        return st;
    bool is_there = PQntuples(result) > 0 && PQnfields(result) == count;
    for (int i = 0; is_there && i < count; i++)
        numbers[i] = strtoll(PQgetvalue(result, 0, i), NULL, 10);
    PQclear(result);
    return is_there ? OK : fail(connecting, E_UNREACHABLE, "an answer is not as expected");
}

/* ---- the connection ---- */

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static enum status connect_to(struct pg_connecting *connecting, PGconn **ret)
{
    char name[PG_APPLICATION_SIZE];
    const char *keys[] = {"connect_timeout",     "keepalives_idle",
                          "keepalives_interval", "keepalives_count",
                          "tcp_user_timeout",    "target_session_attrs",
                          "application_name",    "dbname",
                          "client_encoding",     NULL};
    const char *values[] = {"3",         "5",          "2",  "3",
                            "2000",      "read-write", name, connecting->target.address->conninfo,
                            "SQL_ASCII", NULL};
    pg_application_name(connecting->target.client_id, name);
    PGconn *conn = *ret = PQconnectStartParams(keys, values, 1);
    int64_t deadline_ms = clock_now().boot.ms + CONNECT_MS;
    if (!conn)
        return E_NOMEM;
    if (PQstatus(conn) == CONNECTION_BAD)
        return fail(connecting, E_UNREACHABLE, PQerrorMessage(conn));
    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (!wait_for(connecting, conn, next == PGRES_POLLING_WRITING, deadline_ms))
            return fail(connecting, E_UNREACHABLE, "no connection in time");
        next = PQconnectPoll(conn);
        if (next == PGRES_POLLING_FAILED)
            return fail(connecting, E_UNREACHABLE, PQerrorMessage(conn));
    }
    return PQsetnonblocking(conn, 1) == 0 ? OK : E_NOMEM;
}

static enum status set_session(struct pg_connecting *connecting)
{
    struct strbuf sql;
    strbuf_init(&sql);
    strbuf_addf(&sql,
                "SET client_min_messages = error; SET search_path = %s; SET jit = off; "
                "SET lock_timeout = 1000; SET statement_timeout = 30000; "
                "SET idle_in_transaction_session_timeout = 5000; SET enable_seqscan = off; "
                "SET enable_hashjoin = off; SET enable_mergejoin = off; "
                "SET plan_cache_mode = force_generic_plan; SET bytea_output = hex; "
                "SELECT set_config('synchronous_commit', 'local', false) "
                "WHERE current_setting('synchronous_commit') = 'off';",
                connecting->target.address->schema);
    if (PQserverVersion(connecting->conn) >= 140000)
        strbuf_adds(&sql, " SET client_connection_check_interval = 1000;");
    enum status st = strbuf_status(&sql);
    if (st == OK)
        st = tell(connecting, sql.text, ANSWER_MS);
    strbuf_release(&sql);
    return st;
}

/* Behind a pooler that gives each transaction another session, nothing of a session lasts: neither
 * settings, nor prepared statements, nor LISTEN. A second connection, in a transaction of its own,
 * then gets the session that this one has just used. */
static enum status refuse_pooler(struct pg_connecting *connecting)
{
    static const char pid_sql[] = "SELECT pg_backend_pid()";
    PGconn *other = NULL;
    int64_t mine = 0, others = 0, again = 0;
    enum status st = ask_numbers(connecting, connecting->conn, pid_sql, &mine, 1);
    if (st != OK || mine == PQbackendPID(connecting->conn))
        return st;
    st = connect_to(connecting, &other);
    if (st == OK) {
        PQclear(ask_within(connecting, other, "BEGIN", ANSWER_MS, &st));
        if (st == OK)
            st = ask_numbers(connecting, other, pid_sql, &others, 1);
        if (st == OK && others != mine)
            st = ask_numbers(connecting, connecting->conn, pid_sql, &again, 1);
    }
    PQfinish(other);
    if (st == OK && (others == mine || again != mine)) {
        strbuf_reset(&connecting->why);
        strbuf_addf(&connecting->why,
                    "%s: a pooler there gives each transaction another session; use one in session "
                    "mode (PgBouncer: pool_mode = session), or the server itself",
                    connecting->target.address->name);
        return E_INVALID;
    }
    return st;
}

/* ---- the tables ---- */

/* 0: there are none. */
static enum status look_for_format(struct pg_connecting *connecting, int64_t *ret)
{
    char look[256];
    int64_t is_there = 0;
    snprintf(look, sizeof(look),
             "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
             "c.relnamespace WHERE n.nspname = '%s' AND c.relname = 'kv_feed'",
             connecting->target.address
                 ->schema); /* to_regclass may answer from a cache of before the lock */
    *ret = 0;
    enum status st = ask_numbers(connecting, connecting->conn, look, &is_there, 1);
    return st == OK && is_there ? ask_numbers(connecting, connecting->conn,
                                              "SELECT format FROM kv_feed WHERE one", ret, 1)
                                : st;
}

/* In one transaction, while nodes of older formats go on. */
static enum status step_schema(struct pg_connecting *connecting, int64_t format)
{
    const char *schema = connecting->target.address->schema;
    struct strbuf sql;
    strbuf_init(&sql);
    if (format == 0)
        strbuf_addf(&sql,
                    "DO $do$ BEGIN IF to_regnamespace('%s') IS NULL THEN CREATE SCHEMA %s; END IF; "
                    "END $do$;",
                    schema, schema);
    for (; format < PG_FORMAT; format++)
        strbuf_adds(&sql, schema_steps[format]);
    enum status st = strbuf_status(&sql);
    if (st == OK)
        st = tell(connecting, sql.text, MIGRATE_MS);
    strbuf_release(&sql);
    return st;
}

static enum status make_schema(struct pg_connecting *connecting)
{
    char begin[128];
    int64_t format;
    enum status st = look_for_format(connecting, &format);
    if (st != OK || format >= PG_FORMAT)
        return st;
    snprintf(begin, sizeof(begin), "BEGIN; SELECT pg_advisory_xact_lock(%" PRId64 ");",
             (int64_t)(hash_text(0, connecting->target.address->schema) >> 1));
    st = tell(connecting, begin, MIGRATE_MS);
    if (st == OK) /* somebody else may have been faster */
        st = look_for_format(connecting, &format);
    if (st == OK && format < PG_FORMAT)
        st = step_schema(connecting, format);
    return st == OK ? tell(connecting, "COMMIT", ANSWER_MS) : st;
}

static enum status check_format(struct pg_connecting *connecting)
{
    int64_t formats[2] = {0, 0};
    enum status st = ask_numbers(connecting, connecting->conn,
                                 "SELECT format, least FROM kv_feed WHERE one", formats, 2);
    if (st != OK || formats[1] <= PG_FORMAT)
        return st;
    strbuf_reset(&connecting->why);
    strbuf_addf(&connecting->why,
                "%s: the tables in schema %s are of a newer peal (format %" PRId64
                "; this one knows %d): upgrade this node, or restore the backup from before",
                connecting->target.address->name, connecting->target.address->schema, formats[0],
                PG_FORMAT);
    return E_VERSION;
}

static enum status prepare(struct pg_connecting *connecting)
{
    enum status st = OK;
    for (int i = 0; i < PG_STATEMENTS && st == OK; i++) {
        int64_t deadline_ms = clock_now().boot.ms + ANSWER_MS;
        PGresult *result = NULL;
        if (!PQsendPrepare(connecting->conn, pg_statement_name((enum pg_statement)i),
                           pg_statement_sql((enum pg_statement)i), 0, NULL))
            st = fail_by(connecting, connecting->conn, NULL);
        while (st == OK && (PQflush(connecting->conn) > 0 || PQisBusy(connecting->conn))) {
            if (!wait_for(connecting, connecting->conn, false, deadline_ms))
                st = fail(connecting, E_UNREACHABLE, "it does not answer");
            else if (!PQconsumeInput(connecting->conn))
                st = fail_by(connecting, connecting->conn, NULL);
        }
        if (st == OK)
            result = PQgetResult(connecting->conn);
        if (st == OK && PQresultStatus(result) != PGRES_COMMAND_OK)
            st = fail_by(connecting, connecting->conn, result);
        PQclear(result);
        while (st == OK && (result = PQgetResult(connecting->conn)))
            PQclear(result);
    }
    return st;
}

/* ---- all of it ---- */

static enum status open_all(struct pg_connecting *connecting)
{
    enum status st = connect_to(connecting, &connecting->conn);
    if (st == OK)
        st = refuse_pooler(connecting);
    if (st == OK)
        st = set_session(connecting);
    if (st == OK)
        st = make_schema(connecting);
    if (st == OK)
        st = check_format(connecting);
    if (st == OK)
        st = prepare(connecting);
    if (st == OK && connecting->target.listens) {
        char sql[128];
        snprintf(sql, sizeof(sql), "LISTEN peal_kv_%s", connecting->target.address->schema);
        st = tell(connecting, sql, ANSWER_MS);
    }
    if (st == OK && !PQenterPipelineMode(connecting->conn))
        st = fail(connecting, E_UNREACHABLE, "no pipeline");
    return st;
}

static void *run(void *context)
{
    struct pg_connecting *connecting = context;
    connecting->status = open_all(connecting);
    uint64_t one = 1;
    if (write(connecting->done_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
        abort(); /* a counter of 1 can't be full */
    return NULL;
}

/* Signals are the program's own thread's. */
static bool start_thread(struct pg_connecting *connecting)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&connecting->thread, NULL, run, connecting) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

enum status pg_connecting_new(const struct pg_target *target, struct pg_connecting **ret,
                              int *ret_fd)
{
    struct pg_connecting *connecting = calloc(1, sizeof(*connecting));
    if (!connecting)
        return E_NOMEM;
    connecting->target = *target;
    strbuf_init(&connecting->why);
    connecting->stop_fd = eventfd(0, EFD_CLOEXEC);
    connecting->done_fd = eventfd(0, EFD_CLOEXEC);
    if (connecting->stop_fd < 0 || connecting->done_fd < 0 || !start_thread(connecting)) {
        if (connecting->stop_fd >= 0)
            close(connecting->stop_fd);
        if (connecting->done_fd >= 0)
            close(connecting->done_fd);
        free(connecting);
        return E_NOMEM;
    }
    *ret = connecting;
    *ret_fd = connecting->done_fd;
    return OK;
}

enum status pg_connecting_take(struct pg_connecting *connecting, PGconn **ret, struct strbuf *why)
{
    pthread_join(connecting->thread, NULL);
    connecting->is_taken = true;
    strbuf_reset(why);
    if (connecting->why.length)
        strbuf_adds(why, connecting->why.text);
    if (connecting->status == OK) {
        *ret = connecting->conn;
        connecting->conn = NULL;
    }
    return connecting->status;
}

struct pg_connecting *pg_connecting_free(struct pg_connecting *connecting)
{
    uint64_t one = 1;
    if (!connecting)
        return NULL;
    if (!connecting->is_taken) {
        if (write(connecting->stop_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
            abort();
        pthread_join(connecting->thread, NULL);
    }
    PQfinish(connecting->conn);
    close(connecting->stop_fd);
    close(connecting->done_fd);
    strbuf_release(&connecting->why);
    free(connecting);
    return NULL;
}
