/* Rows of the database as values. What is beyond the range of its column makes a row unreadable. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sqlite/store_sqlite.h"
#include "words.h"

static const int64_t ms_max = INT64_C(1) << 53; /* some 285,000 years */

/* A row that is read column by column. */
struct row {
    sqlite3_stmt *stmt;
    bool is_bad;
};

static int64_t within(struct row *row, int column, int64_t least, int64_t most)
{
    int64_t number = sqlite3_column_int64(row->stmt, column);
    bool is_within = number >= least && number <= most;
    row->is_bad |= !is_within;
    return is_within ? number : least;
}

static int64_t read_ms(struct row *row, int column)
{
    return within(row, column, -ms_max, ms_max);
}

static int read_int(struct row *row, int column)
{
    return (int)within(row, column, INT_MIN, INT_MAX);
}

static unsigned read_word(struct row *row, int column)
{
    return (unsigned)within(row, column, 0, WORD_NUMBERS - 1);
}

/* An id that tells what the row is. */
static void read_key(struct row *row, int column, struct id *ret)
{
    sqlite_read_id(row->stmt, column, ret);
    row->is_bad |= sqlite3_column_bytes(row->stmt, column) != (int)sizeof(ret->bytes);
}

void sqlite_read_id(sqlite3_stmt *stmt, int column, struct id *ret)
{
    const void *bytes = sqlite3_column_blob(stmt, column);
    *ret = (struct id){{0}};
    if (bytes && sqlite3_column_bytes(stmt, column) == (int)sizeof(ret->bytes))
        memcpy(ret->bytes, bytes, sizeof(ret->bytes));
}

static void read_owner(sqlite3_stmt *stmt, int column, struct incarnation *ret)
{
    sqlite_read_id(stmt, column, &ret->instance);
    ret->home = (uint64_t)sqlite3_column_int64(stmt, column + 1);
}

void sqlite_read_text(sqlite3_stmt *stmt, int column, char *text, size_t size)
{
    const unsigned char *value = sqlite3_column_text(stmt, column);
    snprintf(text, size, "%s", value ? (const char *)value : "");
}

bool sqlite_read_job(sqlite3_stmt *stmt, struct job_row *ret)
{
    struct row row = {stmt, false};
    char gaps[REWIND_GAPS_TEXT];
    read_key(&row, 0, &ret->uid);
    ret->revision = within(&row, 1, 0, ms_max);
    ret->cursor_ms = read_ms(&row, 2);
    sqlite_read_id(stmt, 3, &ret->last.run_id);
    ret->last.started_ms = read_ms(&row, 4);
    ret->last.ended_ms = read_ms(&row, 5);
    ret->last.state = (enum run_state)read_word(&row, 6);
    ret->last.succeeded_ms = read_ms(&row, 7);
    ret->rewinds.count = within(&row, 8, 0, ms_max);
    ret->rewinds.high_ms = read_ms(&row, 9);
    sqlite_read_text(stmt, 10, gaps, sizeof(gaps));
    row.is_bad |= !rewinds_read_gaps(&ret->rewinds, gaps);
    ret->paused = sqlite3_column_int(stmt, 11);
    ret->deleted = sqlite3_column_int(stmt, 12);
    return !row.is_bad;
}

bool sqlite_read_run(sqlite3_stmt *stmt, struct run_row *ret)
{
    struct row row = {stmt, false};
    struct run *run = &ret->run;
    *ret = (struct run_row){.seq = sqlite3_column_int64(stmt, RUN_COLUMN_COUNT)};
    read_key(&row, 0, &run->id);
    read_key(&row, 1, &run->job_uid);
    sqlite_read_text(stmt, 2, run->job_name, sizeof(run->job_name));
    run->tick_ms = read_ms(&row, 3);
    run->attempt = read_int(&row, 4);
    run->cause = (enum run_cause)read_word(&row, 5);
    run->state = (enum run_state)read_word(&row, 6);
    run->reason = (enum run_reason)read_word(&row, 7);
    sqlite_read_text(stmt, 8, run->node, sizeof(run->node));
    run->nonce = (uint64_t)sqlite3_column_int64(stmt, 9);
    run->fence = sqlite3_column_int64(stmt, 10);
    run->job_revision = within(&row, 11, 0, ms_max);
    run->not_before_ms = read_ms(&row, 12);
    run->claimed_ms = read_ms(&row, 13);
    run->started_ms = read_ms(&row, 14);
    run->finished_ms = read_ms(&row, 15);
    run->exit_code = read_int(&row, 16);
    run->term_signal = read_int(&row, 17);
    run->user_ms = read_ms(&row, 18);
    run->system_ms = read_ms(&row, 19);
    run->max_rss_kb = read_ms(&row, 20);
    run->output_bytes = read_ms(&row, 21);
    run->output_truncated = sqlite3_column_int(stmt, 22);
    sqlite_read_text(stmt, 23, run->by, sizeof(run->by));
    sqlite_read_text(stmt, 24, run->detail, sizeof(run->detail));
    ret->kill_reason = (enum run_reason)read_word(&row, 25);
    sqlite_read_text(stmt, 26, ret->kill_by, sizeof(ret->kill_by));
    read_owner(stmt, 27, &run->owner);
    sqlite_read_text(stmt, 29, run->traceparent, sizeof(run->traceparent));
    return !row.is_bad;
}

bool sqlite_read_entry(sqlite3_stmt *stmt, struct ledger_entry *ret)
{
    struct row row = {stmt, false};
    read_key(&row, 0, &ret->id);
    read_key(&row, 1, &ret->job_uid);
    sqlite_read_text(stmt, 2, ret->job_name, sizeof(ret->job_name));
    ret->from_ms = read_ms(&row, 3);
    ret->to_ms = read_ms(&row, 4);
    ret->count = within(&row, 5, 0, ms_max);
    ret->state = (enum run_state)read_word(&row, 6);
    ret->reason = (enum run_reason)read_word(&row, 7);
    sqlite_read_text(stmt, 8, ret->detail, sizeof(ret->detail));
    ret->recorded_ms = read_ms(&row, 9);
    sqlite_read_text(stmt, 10, ret->node, sizeof(ret->node));
    read_owner(stmt, 11, &ret->owner);
    return !row.is_bad;
}
