#include "bare.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bare {
    sqlite3 *db;
    sqlite3_stmt *insert, *find_job, *add_job, *query;
    const struct filter *filter; /* of the query */
};

static void check(struct bare *bare, int rc)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
        return;
    fprintf(stderr, "history_bench: bare SQLite: %s\n", sqlite3_errmsg(bare->db));
    exit(1);
}

static void run_sql(struct bare *bare, const char *sql)
{
    check(bare, sqlite3_exec(bare->db, sql, NULL, NULL, NULL));
}

static void copy_schema(struct bare *bare, const char *like)
{
    sqlite3_stmt *stmt;
    check(bare, sqlite3_prepare_v2(bare->db, "ATTACH ?1 AS model", -1, &stmt, NULL));
    sqlite3_bind_text(stmt, 1, like, -1, SQLITE_STATIC);
    check(bare, sqlite3_step(stmt));
    sqlite3_finalize(stmt);
    check(bare, sqlite3_prepare_v2(bare->db,
                                   "SELECT sql FROM model.sqlite_master WHERE sql IS NOT NULL"
                                   " ORDER BY type = 'index'",
                                   -1, &stmt, NULL));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        run_sql(bare, (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(bare, "DETACH model");
}

struct bare *bare_open(const char *path)
{
    struct bare *bare = calloc(1, sizeof(*bare));
    if (!bare || sqlite3_open(path, &bare->db) != SQLITE_OK) {
        fprintf(stderr, "history_bench: cannot open %s\n", path);
        exit(1);
    }
    return bare;
}

struct bare *bare_new(const char *path, const char *like)
{
    struct bare *bare = bare_open(path);
    run_sql(bare, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                  "PRAGMA synchronous = FULL; PRAGMA cache_size = -4096;");
    copy_schema(bare, like);
    check(bare,
          sqlite3_prepare_v2(
              bare->db,
              "INSERT INTO runs (id, job, ended_ms, stray, state, reason, cause, tick_ms,"
              " attempt, node, nonce, fence, job_revision, not_before_ms, claimed_ms, started_ms,"
              " finished_ms, exit_code, term_signal, user_ms, system_ms, max_rss_kb,"
              " output_bytes, output_truncated, \"by\", detail) VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6,"
              " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,"
              " ?24, ?25)",
              -1, &bare->insert, NULL));
    check(bare, sqlite3_prepare_v2(bare->db, "SELECT key FROM jobs WHERE uid = ?1 AND name = ?2",
                                   -1, &bare->find_job, NULL));
    check(bare, sqlite3_prepare_v2(bare->db, "INSERT INTO jobs (uid, name) VALUES (?1, ?2)", -1,
                                   &bare->add_job, NULL));
    return bare;
}

void bare_free(struct bare *bare)
{
    sqlite3_finalize(bare->insert);
    sqlite3_finalize(bare->find_job);
    sqlite3_finalize(bare->add_job);
    sqlite3_finalize(bare->query);
    sqlite3_close(bare->db);
    free(bare);
}

static int64_t key_of(struct bare *bare, const struct run *run)
{
    sqlite3_stmt *const steps[] = {bare->find_job, bare->add_job};
    int64_t key = 0;
    for (size_t i = 0; i < 2 && !key; i++) {
        sqlite3_bind_blob(steps[i], 1, run->job_uid.bytes, 16, SQLITE_STATIC);
        sqlite3_bind_text(steps[i], 2, run->job_name, -1, SQLITE_STATIC);
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

void bare_insert(void *context, const struct run *runs, size_t count)
{
    struct bare *bare = context;
    sqlite3_stmt *stmt = bare->insert;
    run_sql(bare, "BEGIN IMMEDIATE");
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &runs[i];
        const int64_t numbers[] = {run->finished_ms, run->state,   run->reason,
                                   run->cause,       run->tick_ms, run->attempt};
        const int64_t more[] = {(int64_t)run->nonce, run->fence,           run->job_revision,
                                run->not_before_ms,  run->claimed_ms,      run->started_ms,
                                run->finished_ms,    run->exit_code,       run->term_signal,
                                run->user_ms,        run->system_ms,       run->max_rss_kb,
                                run->output_bytes,   run->output_truncated};
        sqlite3_bind_blob(stmt, 1, run->id.bytes, 16, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 2, key_of(bare, run));
        for (int k = 0; k < 6; k++)
            sqlite3_bind_int64(stmt, 3 + k, numbers[k]);
        sqlite3_bind_text(stmt, 9, run->node, -1, SQLITE_STATIC);
        for (int k = 0; k < 14; k++)
            sqlite3_bind_int64(stmt, 10 + k, more[k]);
        sqlite3_bind_text(stmt, 24, run->by, -1, SQLITE_STATIC);
        sqlite3_bind_text(stmt, 25, run->detail, -1, SQLITE_STATIC);
        check(bare, sqlite3_step(stmt));
        sqlite3_reset(stmt);
    }
    run_sql(bare, "COMMIT");
}

#define SELECT     "SELECT runs.*, uid, name FROM runs JOIN jobs ON key = job WHERE "
#define NEWEST     " ORDER BY id DESC LIMIT 51"
#define IN_SPAN    "tick_ms >= ?2 AND tick_ms < ?3"
#define OF_JOB     "job = (SELECT key FROM jobs WHERE name = ?1)"
#define HAS_FAILED "state = 6"

static void prepare_query(struct bare *bare, const struct filter *filter)
{
    char sql[512];
    if (bare->filter == filter)
        return;
    snprintf(sql, sizeof(sql), SELECT "1%s%s%s" NEWEST, filter->by_job ? " AND " OF_JOB : "",
             filter->by_state ? " AND " HAS_FAILED : "", filter->by_time ? " AND " IN_SPAN : "");
    sqlite3_finalize(bare->query);
    check(bare, sqlite3_prepare_v2(bare->db, sql, -1, &bare->query, NULL));
    bare->filter = filter;
}

size_t bare_query(void *context, const struct filter *filter, const char *job, int64_t from_ms,
                  int64_t to_ms)
{
    struct bare *bare = context;
    size_t rows = 0;
    prepare_query(bare, filter);
    sqlite3_stmt *stmt = bare->query;
    if (filter->by_job)
        sqlite3_bind_text(stmt, 1, job, -1, SQLITE_STATIC);
    if (filter->by_time) {
        sqlite3_bind_int64(stmt, 2, from_ms);
        sqlite3_bind_int64(stmt, 3, to_ms);
    }
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            (void)sqlite3_column_blob(stmt, i);
        rows++;
    }
    check(bare, sqlite3_reset(stmt));
    return rows;
}
