#include "bare_postgres.h"

#include <endian.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare_sql.h"
#include "rows.h"

enum { COPY_ROWS = 2000, TYPE_INT = 20, TYPE_TEXT = 25, TYPE_ID = 2950 };

struct bare_postgres {
    PGconn *conn;
    const void *key; /* of the prepared statements */
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

/* ---- COPY ---- */

static void add_id(struct strbuf *text, const struct id *id)
{
    for (size_t i = 0; i < sizeof(id->bytes); i++)
        strbuf_addf(text, "%02x", id->bytes[i]);
}

static void add_numbers(struct strbuf *text, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_addf(text, "\t%" PRId64, numbers[i]);
}

#define RUN_COLUMNS                                                                                \
    "id, job, ended_ms, tick_ms, nonce, fence, job_revision, not_before_ms, claimed_ms,"           \
    " started_ms, finished_ms, user_ms, system_ms, max_rss_kb, output_bytes, attempt, exit_code,"  \
    " term_signal, state, reason, cause, stray, output_truncated, node, \"by\", detail,"           \
    " traceparent"

static void add_run(struct strbuf *text, const struct run *run)
{
    const int64_t numbers[] = {row_job((uint32_t)run->fence) + 1,
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
                               (int64_t)run->cause,
                               row_stray_class(run)};
    add_id(text, &run->id);
    add_numbers(text, numbers, sizeof(numbers) / sizeof(numbers[0]));
    strbuf_addf(text, "\tf\t%s\t%s\t%s\t%s\n", run->node, run->by, run->detail, run->traceparent);
}

#define ENTRY_COLUMNS                                                                              \
    "id, job, ended_ms, from_ms, to_ms, count, recorded_ms, state, reason, stray, detail"

static void add_entry(struct strbuf *text, uint32_t number)
{
    struct ledger_entry entry = row_make_entry(number);
    const int64_t numbers[] = {row_job(number) + 1,  entry.recorded_ms,     entry.from_ms,
                               entry.to_ms,          entry.count,           entry.recorded_ms,
                               (int64_t)entry.state, (int64_t)entry.reason, 0};
    add_id(text, &entry.id);
    add_numbers(text, numbers, sizeof(numbers) / sizeof(numbers[0]));
    strbuf_adds(text, "\t\n");
}

static void send_rows(struct bare_postgres *bare, struct strbuf *text)
{
    if (PQputCopyData(bare->conn, text->text, (int)text->length) != 1)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    strbuf_release(text);
}

static void end_copy(struct bare_postgres *bare)
{
    if (PQputCopyEnd(bare->conn, NULL) != 1)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    PQclear(check(bare, PQgetResult(bare->conn)));
    while (PQgetResult(bare->conn))
        continue;
}

/* ---- from new to free ---- */

static void add_jobs(struct bare_postgres *bare, const char *schema)
{
    char sql[128];
    struct strbuf text;
    strbuf_init(&text);
    for (uint32_t job = 0; job < JOBS; job++) {
        char name[64];
        struct id uid = row_job_uid(job);
        row_job_name(job, name);
        strbuf_addf(&text, "%u\t", (unsigned)job + 1);
        add_id(&text, &uid);
        strbuf_addf(&text, "\t%s\n", name);
    }
    snprintf(sql, sizeof(sql), "COPY %s.jobs (key, uid, name) FROM STDIN", schema);
    run_sql(bare, sql);
    send_rows(bare, &text);
    end_copy(bare);
}

struct bare_postgres *bare_postgres_open(const char *url)
{
    struct bare_postgres *bare = calloc(1, sizeof(*bare));
    if (!bare)
        bench_fail("bare PostgreSQL", "out of memory");
    bare->conn = PQconnectdb(url);
    if (PQstatus(bare->conn) != CONNECTION_OK)
        bench_fail("bare PostgreSQL", PQerrorMessage(bare->conn));
    run_sql(bare, "SET client_min_messages = warning; SET jit = off; SET search_path = peal");
    return bare;
}

struct bare_postgres *bare_postgres_new(const char *url)
{
    struct bare_postgres *bare = bare_postgres_open(url);
    run_sql(bare, "DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare;"
                  "CREATE TABLE bare.runs (LIKE peal.runs INCLUDING ALL);"
                  "CREATE TABLE bare.jobs (LIKE peal.jobs INCLUDING ALL); SET search_path = bare");
    add_jobs(bare, "bare");
    add_jobs(bare, "peal");
    return bare;
}

void bare_postgres_free(struct bare_postgres *bare)
{
    PQfinish(bare->conn);
    free(bare);
}

void bare_postgres_use_peal(struct bare_postgres *bare)
{
    run_sql(bare, "DROP SCHEMA bare CASCADE; SET search_path = peal");
}

/* ---- writing ---- */

void bare_postgres_insert(void *context, const struct run *runs, size_t count)
{
    struct bare_postgres *bare = context;
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < count; i++)
        add_run(&text, &runs[i]);
    run_sql(bare, "COPY runs (" RUN_COLUMNS ") FROM STDIN");
    send_rows(bare, &text);
    end_copy(bare);
}

/* Indexes are made much faster of what is there. */
static void drop_indexes(struct bare_postgres *bare)
{
    run_sql(bare, "CREATE TEMP TABLE defs AS SELECT indexrelid::regclass::text AS name,"
                  " replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS def FROM pg_index"
                  " WHERE indrelid IN ('runs'::regclass, 'entries'::regclass)"
                  " AND NOT indisprimary;"
                  "DO $$ DECLARE d record; BEGIN FOR d IN SELECT * FROM defs LOOP"
                  " EXECUTE 'DROP INDEX ' || d.name; END LOOP; END $$");
}

static void make_indexes(struct bare_postgres *bare)
{
    run_sql(bare, "SET maintenance_work_mem = '512MB';"
                  "DO $$ DECLARE d record; BEGIN FOR d IN SELECT * FROM defs LOOP"
                  " EXECUTE d.def; END LOOP; END $$");
    run_sql(bare, "VACUUM (ANALYZE) runs, entries, jobs");
}

void bare_postgres_fill(struct bare_postgres *bare, uint32_t first, uint32_t runs, uint32_t but)
{
    struct strbuf text;
    strbuf_init(&text);
    drop_indexes(bare);
    run_sql(bare, "COPY runs (" RUN_COLUMNS ") FROM STDIN");
    for (uint32_t n = first; n < runs; n++) {
        struct run run = row_make(n);
        if (n % but)
            add_run(&text, &run);
        if (n % COPY_ROWS == 0 && text.length)
            send_rows(bare, &text);
    }
    if (text.length)
        send_rows(bare, &text);
    end_copy(bare);
    run_sql(bare, "COPY entries (" ENTRY_COLUMNS ") FROM STDIN");
    for (uint32_t n = 0; n < runs; n += ENTRY_EVERY)
        add_entry(&text, n);
    send_rows(bare, &text);
    end_copy(bare);
    make_indexes(bare);
}

/* ---- reading ---- */

static const char *const tables[] = {"runs", "entries"};

static void prepare_queries(struct bare_postgres *bare, const void *key,
                            const struct history_query *query)
{
    static const Oid types[BARE_PARAMS] = {TYPE_TEXT, TYPE_TEXT, TYPE_TEXT, TYPE_INT,
                                           TYPE_INT,  TYPE_INT,  TYPE_ID};
    if (bare->key == key)
        return;
    bare->key = key;
    bare->prepared++;
    run_sql(bare, "SET statement_timeout = '3s'");
    for (int i = 0; i < 1 + bare_asks_entries(query); i++) {
        char name[32];
        struct strbuf sql;
        strbuf_init(&sql);
        bare_sql(query, tables[i], "ILIKE", &sql);
        snprintf(name, sizeof(name), "%s_%d", tables[i], bare->prepared);
        PQclear(check(bare, PQprepare(bare->conn, name, sql.text, BARE_PARAMS, types)));
        strbuf_release(&sql);
    }
}

static bool is_given_up(PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool given_up = state && strcmp(state, "57014") == 0; /* the statement's timeout */
    if (given_up)
        PQclear(result);
    return given_up;
}

size_t bare_postgres_query(void *context, const void *key, const struct history_query *query,
                           struct id *ret_last)
{
    struct bare_postgres *bare = context;
    struct bare_page page = {.count = 0};
    char text[128];
    uint64_t numbers[] = {htobe64((uint64_t)query->since_ms), htobe64((uint64_t)query->until_ms),
                          htobe64((uint64_t)query->min_duration_ms)};
    const char *const values[BARE_PARAMS] = {query->job_name,
                                             query->node,
                                             text,
                                             (char *)&numbers[0],
                                             (char *)&numbers[1],
                                             (char *)&numbers[2],
                                             (const char *)query->before.bytes};
    static const int formats[BARE_PARAMS] = {0, 0, 0, 1, 1, 1, 1};
    static const int lengths[BARE_PARAMS] = {0, 0, 0, 8, 8, 8, 16};
    snprintf(text, sizeof(text), "%%%s%%", query->text ? query->text : "");
    prepare_queries(bare, key, query);
    for (int i = 0; i < 1 + bare_asks_entries(query); i++) {
        char name[32];
        snprintf(name, sizeof(name), "%s_%d", tables[i], bare->prepared);
        PGresult *result =
            PQexecPrepared(bare->conn, name, BARE_PARAMS, values, lengths, formats, 1);
        if (is_given_up(result))
            return SIZE_MAX;
        check(bare, result);
        for (int row = 0; row < PQntuples(result); row++)
            memcpy(page.ids[page.count++].bytes, PQgetvalue(result, row, 0), 16);
        PQclear(result);
    }
    return bare_page_end(&page, query->limit, ret_last);
}
