#include "bare_sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare_sql.h"
#include "rows.h"

struct bare_sqlite {
    sqlite3 *db;
    sqlite3_stmt *insert, *find_job, *add_job;
    sqlite3_stmt *queries[2]; /* of runs and of entries */
    const void *key;          /* of the queries */
};

static void check(struct bare_sqlite *bare, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
        bench_fail("bare SQLite", sqlite3_errmsg(bare->db));
}

static void run_sql(struct bare_sqlite *bare, const char *sql)
{
    check(bare, sqlite3_exec(bare->db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(struct bare_sqlite *bare, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    check(bare, sqlite3_prepare_v2(bare->db, sql, -1, &stmt, NULL));
    return stmt;
}

static void copy_schema(struct bare_sqlite *bare, const char *like)
{
    sqlite3_stmt *stmt = prepare(bare, "ATTACH ?1 AS model");
    sqlite3_bind_text(stmt, 1, like, -1, SQLITE_STATIC);
    check(bare, sqlite3_step(stmt));
    sqlite3_finalize(stmt);
    stmt = prepare(bare, "SELECT sql FROM model.sqlite_master WHERE sql IS NOT NULL"
                         " ORDER BY type = 'index'");
    while (sqlite3_step(stmt) == SQLITE_ROW)
        run_sql(bare, (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(bare, "DETACH model");
}

static void prepare_writing(struct bare_sqlite *bare)
{
    bare->insert = prepare(
        bare, "INSERT INTO runs (id, job, ended_ms, stray, state, reason, cause, tick_ms, attempt,"
              " node, nonce, fence, job_revision, not_before_ms, claimed_ms, started_ms,"
              " finished_ms, exit_code, term_signal, user_ms, system_ms, max_rss_kb, output_bytes,"
              " output_truncated, \"by\", detail) VALUES (?1, ?2, ?3, ?26, ?4, ?5, ?6, ?7, ?8, ?9,"
              " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)");
    bare->find_job = prepare(bare, "SELECT key FROM jobs WHERE uid = ?1 AND name = ?2");
    bare->add_job = prepare(bare, "INSERT INTO jobs (uid, name) VALUES (?1, ?2)");
}

/* ---- from open to free ---- */

struct bare_sqlite *bare_sqlite_open(const char *path)
{
    struct bare_sqlite *bare = calloc(1, sizeof(*bare));
    if (!bare || sqlite3_open(path, &bare->db) != SQLITE_OK)
        bench_fail("cannot be opened", path);
    run_sql(bare, "PRAGMA cache_size = -4096");
    return bare;
}

struct bare_sqlite *bare_sqlite_new(const char *path, const char *like)
{
    struct bare_sqlite *bare = bare_sqlite_open(path);
    run_sql(bare, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                  "PRAGMA synchronous = FULL");
    copy_schema(bare, like);
    prepare_writing(bare);
    return bare;
}

void bare_sqlite_free(struct bare_sqlite *bare)
{
    sqlite3_finalize(bare->insert);
    sqlite3_finalize(bare->find_job);
    sqlite3_finalize(bare->add_job);
    sqlite3_finalize(bare->queries[0]);
    sqlite3_finalize(bare->queries[1]);
    sqlite3_close(bare->db);
    free(bare);
}

/* ---- writing ---- */

static int64_t key_of(struct bare_sqlite *bare, const struct id *uid, const char *name)
{
    sqlite3_stmt *const steps[] = {bare->find_job, bare->add_job};
    int64_t key = 0;
    for (size_t i = 0; i < 2 && !key; i++) {
        sqlite3_bind_blob(steps[i], 1, uid->bytes, 16, SQLITE_STATIC);
        sqlite3_bind_text(steps[i], 2, name, -1, SQLITE_STATIC);
        int rc = sqlite3_step(steps[i]);
        check(bare, rc);
        if (rc == SQLITE_ROW)
            key = sqlite3_column_int64(steps[i], 0);
        else if (i == 1)
            key = sqlite3_last_insert_rowid(bare->db);
        sqlite3_reset(steps[i]);
    }
    return key;
}

static void insert_run(struct bare_sqlite *bare, const struct run *run, int64_t key, int stray)
{
    sqlite3_stmt *stmt = bare->insert;
    const int64_t numbers[] = {run->finished_ms, run->state,   run->reason,
                               run->cause,       run->tick_ms, run->attempt};
    const int64_t more[] = {(int64_t)run->nonce, run->fence,           run->job_revision,
                            run->not_before_ms,  run->claimed_ms,      run->started_ms,
                            run->finished_ms,    run->exit_code,       run->term_signal,
                            run->user_ms,        run->system_ms,       run->max_rss_kb,
                            run->output_bytes,   run->output_truncated};
    sqlite3_bind_blob(stmt, 1, run->id.bytes, 16, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, key);
    for (int k = 0; k < 6; k++)
        sqlite3_bind_int64(stmt, 3 + k, numbers[k]);
    sqlite3_bind_text(stmt, 9, run->node, -1, SQLITE_STATIC);
    for (int k = 0; k < 14; k++)
        sqlite3_bind_int64(stmt, 10 + k, more[k]);
    sqlite3_bind_text(stmt, 24, run->by, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 25, run->detail, -1, SQLITE_STATIC);
    sqlite3_bind_int(stmt, 26, stray);
    check(bare, sqlite3_step(stmt));
    sqlite3_reset(stmt);
}

void bare_sqlite_insert(void *context, const struct run *runs, size_t count)
{
    struct bare_sqlite *bare = context;
    run_sql(bare, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < count; i++)
        insert_run(bare, &runs[i], key_of(bare, &runs[i].job_uid, runs[i].job_name), 0);
    run_sql(bare, "COMMIT");
}

/* ---- filling ---- */

/* Indexes are made much faster of what is there. Their words are kept in a table meanwhile. */
static void drop_indexes(struct bare_sqlite *bare)
{
    struct strbuf sql;
    strbuf_init(&sql);
    run_sql(bare, "CREATE TEMP TABLE indexes AS SELECT name, sql FROM sqlite_master"
                  " WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('runs', 'entries')");
    sqlite3_stmt *stmt = prepare(bare, "SELECT name FROM indexes");
    while (sqlite3_step(stmt) == SQLITE_ROW)
        strbuf_addf(&sql, "DROP INDEX %s;", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(bare, sql.text);
    strbuf_release(&sql);
}

static void make_indexes(struct bare_sqlite *bare)
{
    struct strbuf sql;
    strbuf_init(&sql);
    sqlite3_stmt *stmt = prepare(bare, "SELECT sql FROM indexes");
    while (sqlite3_step(stmt) == SQLITE_ROW)
        strbuf_addf(&sql, "%s;", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(bare, sql.text);
    strbuf_release(&sql);
}

static void fill_entries(struct bare_sqlite *bare, uint32_t runs)
{
    sqlite3_stmt *stmt = prepare(bare, "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7,"
                                       " ?8, '', ?9)");
    for (uint32_t n = 0; n < runs; n += ENTRY_EVERY) {
        struct ledger_entry entry = row_make_entry(n);
        const int64_t numbers[] = {row_job(n) + 1, (int64_t)entry.state, entry.recorded_ms,
                                   entry.reason,   entry.from_ms,        entry.to_ms,
                                   entry.count,    entry.recorded_ms};
        sqlite3_bind_blob(stmt, 1, entry.id.bytes, 16, SQLITE_STATIC);
        for (int i = 0; i < 8; i++)
            sqlite3_bind_int64(stmt, 2 + i, numbers[i]);
        check(bare, sqlite3_step(stmt));
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
}

void bare_sqlite_fill(const char *path, uint32_t runs)
{
    struct bare_sqlite *bare = bare_sqlite_open(path);
    run_sql(bare, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                  "PRAGMA cache_size = -400000; PRAGMA temp_store = FILE");
    prepare_writing(bare);
    drop_indexes(bare);
    run_sql(bare, "BEGIN");
    for (uint32_t job = 0; job < JOBS; job++) {
        char name[64];
        struct id uid = row_job_uid(job);
        row_job_name(job, name);
        if (key_of(bare, &uid, name) != job + 1)
            bench_fail(path, "is not empty");
    }
    for (uint32_t n = 0; n < runs; n++) {
        struct run run = row_make(n);
        insert_run(bare, &run, row_job(n) + 1, row_stray_class(&run));
    }
    fill_entries(bare, runs);
    make_indexes(bare);
    run_sql(bare, "COMMIT; PRAGMA journal_mode = WAL");
    bare_sqlite_free(bare);
}

/* ---- reading ---- */

static void prepare_queries(struct bare_sqlite *bare, const void *key,
                            const struct history_query *query)
{
    static const char *const tables[] = {"runs", "entries"};
    if (bare->key == key)
        return;
    bare->key = key;
    for (int i = 0; i < 2; i++) {
        struct strbuf sql;
        strbuf_init(&sql);
        sqlite3_finalize(bare->queries[i]);
        bare->queries[i] = NULL;
        bare_sql(query, tables[i], "LIKE", &sql);
        if (i == 0 || bare_asks_entries(query))
            bare->queries[i] = prepare(bare, sql.text);
        strbuf_release(&sql);
    }
}

static int place_of(sqlite3_stmt *stmt, enum bare_param param)
{
    const char name[] = {'$', (char)('0' + (int)param), '\0'};
    return sqlite3_bind_parameter_index(stmt, name);
}

static void bind_query(sqlite3_stmt *stmt, const struct history_query *query)
{
    const struct {
        enum bare_param param;
        const char *text;
    } texts[] = {{BARE_JOB, query->job_name}, {BARE_NODE, query->node}};
    const struct {
        enum bare_param param;
        int64_t number;
    } numbers[] = {{BARE_SINCE, query->since_ms},
                   {BARE_UNTIL, query->until_ms},
                   {BARE_DURATION, query->min_duration_ms}};
    char text[128];
    snprintf(text, sizeof(text), "%%%s%%", query->text ? query->text : "");
    for (size_t i = 0; i < 2; i++)
        sqlite3_bind_text(stmt, place_of(stmt, texts[i].param), texts[i].text, -1,
                          SQLITE_TRANSIENT);
    for (size_t i = 0; i < 3; i++)
        sqlite3_bind_int64(stmt, place_of(stmt, numbers[i].param), numbers[i].number);
    sqlite3_bind_text(stmt, place_of(stmt, BARE_TEXT), text, -1, SQLITE_TRANSIENT);
    sqlite3_bind_blob(stmt, place_of(stmt, BARE_BEFORE), query->before.bytes, 16, SQLITE_TRANSIENT);
}

size_t bare_sqlite_query(void *context, const void *key, const struct history_query *query,
                         struct id *ret_last)
{
    struct bare_sqlite *bare = context;
    struct bare_page page = {.count = 0};
    prepare_queries(bare, key, query);
    for (int i = 0; i < 2 && bare->queries[i]; i++) {
        sqlite3_stmt *stmt = bare->queries[i];
        bind_query(stmt, query);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            for (int k = 0; k < sqlite3_column_count(stmt); k++)
                (void)sqlite3_column_blob(stmt, k);
            memcpy(page.ids[page.count++].bytes, sqlite3_column_blob(stmt, 0), 16);
        }
        check(bare, sqlite3_reset(stmt));
    }
    return bare_page_end(&page, query->limit, ret_last);
}
