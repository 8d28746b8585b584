/* Opens a connection in a thread of its own, since libpq looks names up and goes through a dozen
 * questions on the way: the session's settings, whether a pooler stands between, the tables, what
 * the server has kept of what was seen before. It hands over a connection that is ready for jobs.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "hash.h"
#include "pg_internal.h"

enum {
    CONNECT_MS = 3000,
    ANSWER_MS = 5000,
    MIGRATE_MS = 60000,
    RECHECK_MS = 5000, /* for which others may compare what a new primary has kept */
    RECHECK_POLL_MS = 50,
};

extern const char pg_schema_1_sql[], pg_schema_2_sql[];

/* What makes each format out of the one before. */
static const char *const schema_steps[PG_FORMAT] = {pg_schema_1_sql, pg_schema_2_sql};

struct pg_opening {
    pthread_t thread;
    int stop_fd, done_fd;
    const struct pg_address *address;
    enum pg_role role;
    struct pg_memory memory;
    /* the thread's, until it is over */
    PGconn *conn;
    struct pg_facts facts;
    enum status status;
    struct strbuf why;
    bool is_taken;
};

static const struct {
    const char *name, *sql;
} statements[PG_STATEMENTS] = {
    [PG_READ] = {"read", "SELECT * FROM kv_read_1($1::int[], $2::bool[], $3::int[], $4::bytea[], "
                         "$5::int[], $6::int[], $7::bigint[], $8::int[], $9::int[], $10::bytea[], "
                         "$11::bytea[], $12::bigint[], $13::int[], $14::bigint[], $15::int[])"},
    [PG_TXN] = {"txn", "SELECT * FROM kv_txn_1($1::int[], $2::bool[], $3::int[], $4::bytea[], "
                       "$5::int[], $6::int[], $7::bigint[], $8::int[], $9::int[], $10::bytea[], "
                       "$11::bytea[], $12::bigint[], $13::int[], $14::bigint[], $15::int[], "
                       "$16::int[], $17::int[], $18::bytea[], $19::bytea[], $20::bigint[], "
                       "$21::int[], $22::int[], $23::bytea[], $24::bytea[], $25::bigint, "
                       "$26::bigint, $27::int)"},
    [PG_LIST] = {"list",
                 "SELECT f.rev, f.incarnation, kv.key, kv.value, kv.create_rev, kv.mod_rev, "
                 "kv.version, kv.lease FROM kv_feed f LEFT JOIN kv ON kv.key >= $1::bytea "
                 "AND kv.key < $2::bytea WHERE f.one ORDER BY kv.key"},
    [PG_GRANT] = {"grant", "WITH made AS (INSERT INTO kv_leases (id, ttl_ms, timeline) VALUES "
                           "($1::bigint, $2::bigint, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
                           ") ON CONFLICT (id) DO UPDATE SET beats = kv_leases.beats + 1, at = "
                           "clock_timestamp()) "
                           "SELECT true, rev, incarnation FROM kv_feed WHERE one"},
    [PG_REVOKE] = {"revoke", "SELECT * FROM kv_revoke_1($1::bigint, $2::bigint, $3::bigint, "
                             "$4::int = 1)"},
    [PG_CHANGES] = {"changes",
                    "SELECT f.rev, f.incarnation, o.rev, c.rev, c.tag, c.keys, c.vals, "
                    "c.creates, c.versions, c.leases FROM kv_feed f CROSS JOIN kv_floor "
                    "o LEFT JOIN LATERAL (SELECT * FROM kv_changes h WHERE h.rev > "
                    "$1::bigint ORDER BY h.rev LIMIT 200) c ON true WHERE f.one AND o.one "
                    "ORDER BY c.rev"},
    [PG_BEAT] = {"beat", "UPDATE kv_leases SET beats = beats + 1, at = clock_timestamp() WHERE "
                         "id = $1::bigint "
                         "RETURNING id, ttl_ms"},
    [PG_LEASES] = {"leases", "SELECT f.rev, f.incarnation, l.id, l.ttl_ms, l.beats, (extract(epoch "
                             "FROM clock_timestamp() - l.at) * 1000)::bigint FROM kv_feed f "
                             "LEFT JOIN kv_leases l ON true WHERE f.one"},
    [PG_COMPACT] = {"compact", "SELECT kv_compact_1(max(c.rev)) FROM kv_changes c WHERE c.rev < "
                               "$1::bigint AND c.at < now() - interval '10 minutes'"},
    [PG_UNBLOCK] =
        {"unblock",
         "SELECT count(pg_terminate_backend(a.pid)) FROM pg_locks l JOIN "
         "pg_stat_activity a ON a.pid = l.pid WHERE l.relation = "
         "'kv_feed'::regclass AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND l.granted "
         "AND a.wait_event = 'ClientRead' AND a.state_change < now() - "
         "interval '1 second' AND a.application_name LIKE 'peal kv %'"},
};

const char *pg_statement_name(enum pg_statement statement)
{
    return statements[statement].name;
}

/* ---- asking ---- */

/* Waits for the socket; false: it is to stop, or too late. */
static bool wait_for(struct pg_opening *opening, PGconn *conn, bool to_write, int64_t deadline_ms)
{
    struct pollfd fds[] = {
        {.fd = PQsocket(conn), .events = (short)(to_write ? POLLOUT : POLLIN)},
        {.fd = opening->stop_fd, .events = POLLIN},
    };
    int64_t left_ms = deadline_ms - clock_now().boot.ms;
    int ready = left_ms > 0 ? poll(fds, 2, (int)left_ms) : 0;
    return (ready > 0 && !fds[1].revents) || (ready < 0 && errno == EINTR);
}

static enum status fail(struct pg_opening *opening, enum status st, const char *message)
{
    strbuf_reset(&opening->why);
    pg_explain(opening->address, message, &opening->why);
    return st;
}

static enum status fail_by(struct pg_opening *opening, PGconn *conn, const PGresult *result)
{
    enum status st = E_UNREACHABLE;
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    if (state && pg_judge(state, &st) != PG_REFUSED)
        st = E_UNREACHABLE;
    return fail(opening, st, state ? PQresultErrorMessage(result) : PQerrorMessage(conn));
}

/* The last result of a query, or of several in one text. NULL: *ret_status says why. */
static PGresult *ask_within(struct pg_opening *opening, PGconn *conn, const char *sql,
                            int64_t wait_ms, enum status *ret_status)
{
    int64_t deadline_ms = clock_now().boot.ms + wait_ms;
    PGresult *kept = NULL, *result;
    *ret_status = OK;
    if (!PQsendQuery(conn, sql)) {
        *ret_status = fail_by(opening, conn, NULL);
        return NULL;
    }
    do {
        int unsent;
        while ((unsent = PQflush(conn)) > 0 || PQisBusy(conn)) {
            if (!wait_for(opening, conn, unsent > 0, deadline_ms)) {
                *ret_status = fail(opening, E_UNREACHABLE, "it does not answer");
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
                *ret_status = fail_by(opening, conn, kept);
        }
    } while (result);
    if (*ret_status == OK && !kept)
        *ret_status = fail_by(opening, conn, NULL);
    if (*ret_status != OK) {
        PQclear(kept);
        return NULL;
    }
    return kept;
}

static enum status tell(struct pg_opening *opening, const char *sql, int64_t wait_ms)
{
    enum status st;
    PQclear(ask_within(opening, opening->conn, sql, wait_ms, &st));
    return st;
}

/* The first row's columns as numbers, as many as there are. */
static enum status ask_numbers(struct pg_opening *opening, PGconn *conn, const char *sql,
                               int64_t *numbers, int count)
{
    enum status st;
    PGresult *result = ask_within(opening, conn, sql, ANSWER_MS, &st);
    if (!result)
        return st;
    bool is_there = PQntuples(result) > 0 && PQnfields(result) == count;
    for (int i = 0; is_there && i < count; i++)
        numbers[i] = strtoll(PQgetvalue(result, 0, i), NULL, 10);
    PQclear(result);
    return is_there ? OK : fail(opening, E_UNREACHABLE, "an answer is not as expected");
}

/* ---- the connection ---- */

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static enum status connect_to(struct pg_opening *opening, PGconn **ret)
{
    char name[64];
    const char *keys[] = {"connect_timeout",     "keepalives_idle",
                          "keepalives_interval", "keepalives_count",
                          "tcp_user_timeout",    "target_session_attrs",
                          "application_name",    "dbname",
                          "client_encoding",     NULL};
    const char *values[] = {"3",         "5",          "2",  "3",
                            "2000",      "read-write", name, opening->address->conninfo,
                            "SQL_ASCII", NULL};
    snprintf(name, sizeof(name), "peal kv %016" PRIx64, opening->memory.client_id);
    PGconn *conn = *ret = PQconnectStartParams(keys, values, 1);
    int64_t deadline_ms = clock_now().boot.ms + CONNECT_MS;
    if (!conn)
        return E_NOMEM;
    if (PQstatus(conn) == CONNECTION_BAD)
        return fail(opening, E_UNREACHABLE, PQerrorMessage(conn));
    PQsetNoticeReceiver(conn, ignore_notice, NULL);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (!wait_for(opening, conn, next == PGRES_POLLING_WRITING, deadline_ms))
            return fail(opening, E_UNREACHABLE, "no connection in time");
        next = PQconnectPoll(conn);
        if (next == PGRES_POLLING_FAILED)
            return fail(opening, E_UNREACHABLE, PQerrorMessage(conn));
    }
    return PQsetnonblocking(conn, 1) == 0 ? OK : E_NOMEM;
}

static enum status set_session(struct pg_opening *opening)
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
                opening->address->schema);
    if (PQserverVersion(opening->conn) >= 140000)
        strbuf_adds(&sql, " SET client_connection_check_interval = 1000;");
    enum status st = strbuf_status(&sql);
    if (st == OK)
        st = tell(opening, sql.text, ANSWER_MS);
    strbuf_release(&sql);
    return st;
}

/* Behind a pooler that gives each transaction another session, nothing of a session lasts: neither
 * settings, nor prepared statements, nor LISTEN. A second connection, in a transaction of its own,
 * then gets the session that this one has just used. */
static enum status refuse_pooler(struct pg_opening *opening)
{
    static const char pid_sql[] = "SELECT pg_backend_pid()";
    PGconn *other = NULL;
    int64_t mine = 0, others = 0, again = 0;
    enum status st = ask_numbers(opening, opening->conn, pid_sql, &mine, 1);
    opening->facts.backend_pid = (int)mine;
    if (st != OK || mine == PQbackendPID(opening->conn))
        return st;
    st = connect_to(opening, &other);
    if (st == OK) {
        PQclear(ask_within(opening, other, "BEGIN", ANSWER_MS, &st));
        if (st == OK)
            st = ask_numbers(opening, other, pid_sql, &others, 1);
        if (st == OK && others != mine)
            st = ask_numbers(opening, opening->conn, pid_sql, &again, 1);
    }
    PQfinish(other);
    if (st == OK && (others == mine || again != mine)) {
        strbuf_reset(&opening->why);
        strbuf_addf(&opening->why,
                    "%s: a pooler there gives each transaction another session; use one in session "
                    "mode (PgBouncer: pool_mode = session), or the server itself",
                    opening->address->name);
        return E_INVALID;
    }
    return st;
}

/* ---- the tables ---- */

/* 0: there are none. */
static enum status look_for_format(struct pg_opening *opening, int64_t *ret)
{
    char look[256];
    int64_t is_there = 0;
    snprintf(look, sizeof(look),
             "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
             "c.relnamespace WHERE n.nspname = '%s' AND c.relname = 'kv_feed'",
             opening->address->schema); /* to_regclass may answer from a cache of before the lock */
    *ret = 0;
    enum status st = ask_numbers(opening, opening->conn, look, &is_there, 1);
    return st == OK && is_there
               ? ask_numbers(opening, opening->conn, "SELECT format FROM kv_feed WHERE one", ret, 1)
               : st;
}

/* In one transaction, while nodes of older formats go on. */
static enum status step_schema(struct pg_opening *opening, int64_t format)
{
    const char *schema = opening->address->schema;
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
        st = tell(opening, sql.text, MIGRATE_MS);
    strbuf_release(&sql);
    return st;
}

static enum status make_schema(struct pg_opening *opening)
{
    char begin[128];
    int64_t format;
    enum status st = look_for_format(opening, &format);
    if (st != OK || format >= PG_FORMAT)
        return st;
    snprintf(begin, sizeof(begin), "BEGIN; SELECT pg_advisory_xact_lock(%" PRId64 ");",
             (int64_t)(hash_text(0, opening->address->schema) >> 1));
    st = tell(opening, begin, MIGRATE_MS);
    if (st == OK) /* somebody else may have been faster */
        st = look_for_format(opening, &format);
    if (st == OK && format < PG_FORMAT)
        st = step_schema(opening, format);
    return st == OK ? tell(opening, "COMMIT", ANSWER_MS) : st;
}

static enum status check_format(struct pg_opening *opening)
{
    int64_t formats[2] = {0, 0};
    enum status st = ask_numbers(opening, opening->conn,
                                 "SELECT format, least FROM kv_feed WHERE one", formats, 2);
    if (st != OK || formats[1] <= PG_FORMAT)
        return st;
    strbuf_reset(&opening->why);
    strbuf_addf(&opening->why,
                "%s: the tables in schema %s are of a newer peal (format %" PRId64
                "; this one knows %d): upgrade this node, or restore the backup from before",
                opening->address->name, opening->address->schema, formats[0], PG_FORMAT);
    return E_VERSION;
}

static enum status prepare(struct pg_opening *opening)
{
    struct strbuf sql;
    enum status st = OK;
    strbuf_init(&sql);
    for (int i = 0; i < PG_STATEMENTS && st == OK; i++) {
        int64_t deadline_ms = clock_now().boot.ms + ANSWER_MS;
        PGresult *result = NULL;
        if (!PQsendPrepare(opening->conn, statements[i].name, statements[i].sql, 0, NULL))
            st = fail_by(opening, opening->conn, NULL);
        while (st == OK && (PQflush(opening->conn) > 0 || PQisBusy(opening->conn))) {
            if (!wait_for(opening, opening->conn, false, deadline_ms))
                st = fail(opening, E_UNREACHABLE, "it does not answer");
            else if (!PQconsumeInput(opening->conn))
                st = fail_by(opening, opening->conn, NULL);
        }
        if (st == OK)
            result = PQgetResult(opening->conn);
        if (st == OK && PQresultStatus(result) != PGRES_COMMAND_OK)
            st = fail_by(opening, opening->conn, result);
        PQclear(result);
        while (st == OK && (result = PQgetResult(opening->conn)))
            PQclear(result);
    }
    strbuf_release(&sql);
    return st;
}

/* ---- whose data, and what is left of them ---- */

static enum status read_facts(struct pg_opening *opening)
{
    struct pg_facts *facts = &opening->facts;
    enum status st;
    PGresult *result = ask_within(
        opening, opening->conn,
        "SELECT f.rev, f.incarnation, o.rev, left(pg_walfile_name(pg_current_wal_lsn()), 8), "
        "(SELECT system_identifier FROM pg_control_system()), "
        "(SELECT oid FROM pg_database WHERE datname = current_database()) "
        "FROM kv_feed f, kv_floor o WHERE f.one AND o.one",
        ANSWER_MS, &st);
    if (!result)
        return st;
    if (PQntuples(result) != 1) {
        PQclear(result);
        return fail(opening, E_CORRUPT, "kv_feed or kv_floor has no row");
    }
    facts->rev = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    facts->incarnation = strtoll(PQgetvalue(result, 0, 1), NULL, 10);
    facts->floor = strtoll(PQgetvalue(result, 0, 2), NULL, 10);
    snprintf(facts->timeline, sizeof(facts->timeline), "%s", PQgetvalue(result, 0, 3));
    facts->system_id =
        hash_text(hash_text(hash_text(0, PQgetvalue(result, 0, 4)), PQgetvalue(result, 0, 5)),
                  opening->address->schema);
    PQclear(result);
    return OK;
}

/* Is the change that was seen last still there? A pruned one says nothing. */
static enum status compare(struct pg_opening *opening)
{
    const struct kv_mark *mark = &opening->memory.mark;
    struct pg_facts *facts = &opening->facts;
    char sql[256];
    enum status st;
    if (!mark->revision || mark->incarnation != facts->incarnation)
        return OK; /* nothing is remembered, or somebody else has noticed */
    snprintf(sql, sizeof(sql), "SELECT tag FROM kv_changes WHERE rev = %" PRId64, mark->revision);
    PGresult *result = ask_within(opening, opening->conn, sql, ANSWER_MS, &st);
    if (!result)
        return st;
    bool is_pruned = PQntuples(result) == 0 && facts->rev >= mark->revision;
    bool is_same = PQntuples(result) && strtoll(PQgetvalue(result, 0, 0), NULL, 10) == mark->tag;
    PQclear(result);
    if (is_pruned || is_same)
        return OK;
    snprintf(sql, sizeof(sql),
             "UPDATE kv_feed SET incarnation = %" PRId64 " WHERE one AND incarnation = %" PRId64,
             kv_random(), facts->incarnation);
    st = tell(opening, sql, ANSWER_MS);
    return st == OK ? read_facts(opening) : st;
}

/* What the connection before has sent may still be done by its server process. */
static enum status end_predecessor(struct pg_opening *opening)
{
    char sql[400];
    int64_t left = 1;
    if (!opening->memory.old_backend_pid)
        return OK;
    snprintf(sql, sizeof(sql),
             "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = %d AND pid "
             "<> pg_backend_pid() AND application_name = 'peal kv %016" PRIx64 "'",
             opening->memory.old_backend_pid, opening->memory.client_id);
    for (int i = 0; i < 100; i++) {
        enum status st = ask_numbers(opening, opening->conn, sql, &left, 1);
        if (st != OK || !left)
            return st;
        poll(&(struct pollfd){.fd = opening->stop_fd, .events = POLLIN}, 1, 20);
    }
    return fail(opening, E_UNREACHABLE, "a server process of before does not end");
}

/* On another timeline commits may be missing that only other nodes have seen. They get the time to
 * compare; who finds something draws a new incarnation, which is read at the end. */
static enum status wait_for_others(struct pg_opening *opening)
{
    struct pg_memory *memory = &opening->memory;
    struct strbuf sql;
    int64_t left = 1, until_ms = clock_now().boot.ms + RECHECK_MS;
    enum status st = OK;
    if (!memory->timeline[0] || strcmp(memory->timeline, opening->facts.timeline) == 0)
        return OK;
    strbuf_init(&sql);
    for (size_t i = 0; i < memory->own_lease_count; i++)
        strbuf_addf(&sql, "UPDATE kv_leases SET timeline = '%s' WHERE id = %" PRId64 ";",
                    opening->facts.timeline, memory->own_leases[i]);
    strbuf_addf(&sql, "SELECT count(*) FROM kv_leases WHERE timeline <> '%s'",
                opening->facts.timeline);
    st = strbuf_status(&sql);
    while (st == OK && left && clock_now().boot.ms < until_ms) {
        st = ask_numbers(opening, opening->conn, sql.text, &left, 1);
        struct pollfd stop = {.fd = opening->stop_fd, .events = POLLIN};
        if (st == OK && left && poll(&stop, 1, RECHECK_POLL_MS) > 0)
            st = fail(opening, E_UNREACHABLE, "it is to stop");
    }
    strbuf_release(&sql);
    return st == OK ? read_facts(opening) : st;
}

static enum status open_all(struct pg_opening *opening)
{
    enum status st = connect_to(opening, &opening->conn);
    if (st == OK)
        st = refuse_pooler(opening);
    if (st == OK)
        st = set_session(opening);
    if (st == OK)
        st = make_schema(opening);
    if (st == OK)
        st = check_format(opening);
    if (st == OK)
        st = read_facts(opening);
    if (st == OK)
        st = compare(opening);
    if (st == OK && opening->role == PG_CALLS)
        st = end_predecessor(opening);
    if (st == OK && opening->role == PG_CALLS)
        st = wait_for_others(opening);
    if (st == OK)
        st = prepare(opening);
    if (st == OK && opening->role == PG_STREAM) {
        char sql[128];
        snprintf(sql, sizeof(sql), "LISTEN peal_kv_%s", opening->address->schema);
        st = tell(opening, sql, ANSWER_MS);
    }
    if (st == OK && !PQenterPipelineMode(opening->conn))
        st = fail(opening, E_UNREACHABLE, "no pipeline");
    return st;
}

static void *run(void *context)
{
    struct pg_opening *opening = context;
    opening->status = open_all(opening);
    uint64_t one = 1;
    if (write(opening->done_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
        abort(); /* a counter of 1 can't be full */
    return NULL;
}

/* Signals are the program's own thread's. */
static bool start_thread(struct pg_opening *opening)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&opening->thread, NULL, run, opening) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

enum status pg_opening_new(const struct pg_address *address, enum pg_role role,
                           const struct pg_memory *memory, struct pg_opening **ret, int *ret_fd)
{
    struct pg_opening *opening = calloc(1, sizeof(*opening));
    if (!opening)
        return E_NOMEM;
    opening->address = address;
    opening->role = role;
    opening->memory = *memory;
    strbuf_init(&opening->why);
    opening->stop_fd = eventfd(0, EFD_CLOEXEC);
    opening->done_fd = eventfd(0, EFD_CLOEXEC);
    if (opening->stop_fd < 0 || opening->done_fd < 0 || !start_thread(opening)) {
        if (opening->stop_fd >= 0)
            close(opening->stop_fd);
        if (opening->done_fd >= 0)
            close(opening->done_fd);
        free(opening);
        return E_NOMEM;
    }
    *ret = opening;
    *ret_fd = opening->done_fd;
    return OK;
}

enum status pg_opening_take(struct pg_opening *opening, PGconn **ret, struct pg_facts *facts,
                            struct strbuf *why)
{
    pthread_join(opening->thread, NULL);
    opening->is_taken = true;
    strbuf_reset(why);
    if (opening->why.length)
        strbuf_adds(why, opening->why.text);
    if (opening->status == OK) {
        *ret = opening->conn;
        *facts = opening->facts;
        opening->conn = NULL;
    }
    return opening->status;
}

struct pg_opening *pg_opening_free(struct pg_opening *opening)
{
    uint64_t one = 1;
    if (!opening)
        return NULL;
    if (!opening->is_taken) {
        if (write(opening->stop_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
            abort();
        pthread_join(opening->thread, NULL);
    }
    PQfinish(opening->conn);
    close(opening->stop_fd);
    close(opening->done_fd);
    strbuf_release(&opening->why);
    free(opening);
    return NULL;
}
