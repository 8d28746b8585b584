#include "bare_postgres.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

struct bare_postgres {
    PGconn *conn;
    const struct filter *filter; /* of the prepared statement */
    int prepared;
};

static PGresult *check(struct bare_postgres *bare, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    return result;
}

static void run_sql(struct bare_postgres *bare, const char *sql)
{
    PQclear(check(bare, PQexec(bare->conn, sql)));
}

struct bare_postgres *bare_postgres_new(const char *url)
{
    struct bare_postgres *bare = calloc(1, sizeof(*bare));
    if (!bare)
        bench_fail("bare PostgreSQL", "out of memory");
    bare->conn = PQconnectdb(url);
    if (PQstatus(bare->conn) != CONNECTION_OK)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    run_sql(bare, "SET client_min_messages = warning; SET jit = off;"
                  "DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare;"
                  "CREATE TABLE bare.runs (LIKE peal.runs INCLUDING ALL); SET search_path = bare");
    return bare;
}

void bare_postgres_free(struct bare_postgres *bare)
{
    PQfinish(bare->conn);
    free(bare);
}

void bare_postgres_read_peal(struct bare_postgres *bare)
{
    run_sql(bare, "SET search_path = peal; ANALYZE runs; ANALYZE jobs");
}

static void add_run(struct strbuf *text, const struct run *run)
{
    for (size_t i = 0; i < sizeof(run->id.bytes); i++)
        strbuf_addf(text, "%02x", run->id.bytes[i]);
    const int64_t numbers[] = {atoi(run->job_name + sizeof("nightly-report-") - 1),
                               run->finished_ms,
                               run->tick_ms,
                               (int64_t)run->nonce,
                               run->fence,
                               run->job_revision,
                               run->not_before_ms,
                               run->claimed_ms,
                               run->started_ms,
                               run->finished_ms,
                               run->user_ms,
                               run->system_ms,
                               run->max_rss_kb,
                               run->output_bytes,
                               run->attempt,
                               run->exit_code,
                               run->term_signal,
                               (int64_t)run->state,
                               (int64_t)run->reason,
                               (int64_t)run->cause};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        strbuf_addf(text, "\t%" PRId64, numbers[i]);
    strbuf_addf(text, "\tf\tf\t%s\t%s\t%s\t%s\n", run->node, run->by, run->detail,
                run->traceparent);
}

void bare_postgres_insert(void *context, const struct run *runs, size_t count)
{
    struct bare_postgres *bare = context;
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < count; i++)
        add_run(&text, &runs[i]);
    run_sql(bare, "COPY runs FROM STDIN");
    if (PQputCopyData(bare->conn, text.text, (int)text.length) != 1 ||
        PQputCopyEnd(bare->conn, NULL) != 1)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    PQclear(check(bare, PQgetResult(bare->conn)));
    while (PQgetResult(bare->conn))
        continue;
    strbuf_release(&text);
}

#define SELECT     "SELECT runs.*, uid, name FROM runs JOIN jobs ON key = job WHERE "
#define NEWEST     " ORDER BY id DESC LIMIT 51"
#define IN_SPAN    "tick_ms >= $2::bigint AND tick_ms < $3::bigint"
#define OF_JOB     "job = (SELECT key FROM jobs WHERE name = $1::text)"
#define HAS_FAILED "state = 6"

static void prepare_query(struct bare_postgres *bare, const struct filter *filter)
{
    char sql[512], name[16];
    if (bare->filter == filter)
        return;
    snprintf(sql, sizeof(sql), SELECT "($1::text, $2::bigint, $3::bigint) IS NOT NULL%s%s%s" NEWEST,
             filter->by_job ? " AND " OF_JOB : "", filter->by_state ? " AND " HAS_FAILED : "",
             filter->by_time ? " AND " IN_SPAN : "");
    snprintf(name, sizeof(name), "q%d", ++bare->prepared);
    PQclear(check(bare, PQprepare(bare->conn, name, sql, 3, NULL)));
    bare->filter = filter;
}

size_t bare_postgres_query(void *context, const struct filter *filter, const char *job,
                           int64_t from_ms, int64_t to_ms)
{
    struct bare_postgres *bare = context;
    char from[32], to[32], name[16];
    const char *const values[] = {job, from, to};
    prepare_query(bare, filter);
    snprintf(name, sizeof(name), "q%d", bare->prepared);
    snprintf(from, sizeof(from), "%" PRId64, from_ms);
    snprintf(to, sizeof(to), "%" PRId64, to_ms);
    PGresult *result = check(bare, PQexecPrepared(bare->conn, name, 3, values, NULL, NULL, 1));
    size_t rows = (size_t)PQntuples(result);
    PQclear(result);
    return rows;
}
