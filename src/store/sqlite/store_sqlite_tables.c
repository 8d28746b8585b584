/* The tables of rules.h as SQL. */
#include <stdio.h>
#include <string.h>

#include "sqlite/store_sqlite.h"

/* Binding can only fail for want of memory, and SQLite's own copies are not asked for: what is
 * bound lives until the statement is done. */
static void bind_id(sqlite3_stmt *stmt, int at, const struct id *id)
{
    sqlite3_bind_blob(stmt, at, id->bytes, sizeof(id->bytes), SQLITE_STATIC);
}

static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

/* Two parameters. */
static void bind_owner(sqlite3_stmt *stmt, int at, const struct incarnation *owner)
{
    bind_id(stmt, at, &owner->instance);
    sqlite3_bind_int64(stmt, at + 1, (int64_t)owner->home);
}

static sqlite3_stmt *with_id(struct sqlite_db *t, enum sql which, const struct id *id)
{
    bind_id(t->stmts[which], 1, id);
    return t->stmts[which];
}

/* ---- jobs ---- */

static void bind_job(sqlite3_stmt *stmt, const struct job_row *row)
{
    bind_id(stmt, 1, &row->uid);
    sqlite3_bind_int64(stmt, 3, row->cursor_ms);
    bind_id(stmt, 4, &row->last.run_id);
    sqlite3_bind_int64(stmt, 5, row->last.started_ms);
    sqlite3_bind_int64(stmt, 6, row->last.ended_ms);
    sqlite3_bind_int(stmt, 7, (int)row->last.state);
    sqlite3_bind_int64(stmt, 8, row->last.succeeded_ms);
    sqlite3_bind_int64(stmt, 9, row->rewinds.count);
    sqlite3_bind_int64(stmt, 10, row->rewinds.high_ms);
    char gaps[REWIND_GAPS_TEXT];
    rewinds_write_gaps(&row->rewinds, gaps);
    sqlite3_bind_text(stmt, 11, gaps, -1, SQLITE_TRANSIENT);
}

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_GET_JOB, uid);
    enum status st = sqlite_first_row(t, SQL_GET_JOB);
    if (st == OK && !sqlite_read_job(stmt, ret))
        st = E_SET_ASIDE;
    sqlite3_reset(stmt);
    return st;
}

static enum status find_name(struct tables *tables, const char *name, struct id *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = t->stmts[SQL_FIND_NAME];
    bind_text(stmt, 1, name);
    enum status st = sqlite_first_row(t, SQL_FIND_NAME);
    if (st == OK)
        sqlite_read_id(stmt, 0, ret);
    sqlite3_reset(stmt);
    return st;
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = t->stmts[SQL_PUT_JOB];
    bind_job(stmt, row);
    sqlite3_bind_int64(stmt, 2, row->revision);
    sqlite3_bind_int(stmt, 12, row->paused);
    sqlite3_bind_int(stmt, 13, row->deleted);
    bind_text(stmt, 14, name);
    enum status st = sqlite_finish(t, SQL_PUT_JOB);
    if (st != OK)
        return st;
    stmt = with_id(t, SQL_PUT_DEFINITION, &row->uid);
    bind_text(stmt, 2, json);
    return sqlite_finish(t, SQL_PUT_DEFINITION);
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    bind_job(t->stmts[SQL_MOVE_JOB], row);
    return sqlite_finish(t, SQL_MOVE_JOB);
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    with_id(t, SQL_REMOVE_JOB, uid);
    with_id(t, SQL_REMOVE_DEFINITION, uid);
    enum status st = sqlite_finish(t, SQL_REMOVE_JOB);
    return st == OK ? sqlite_finish(t, SQL_REMOVE_DEFINITION) : st;
}

/* ---- runs ---- */

/* Parameters 7 to 29, which SQL_ADD_RUN and SQL_SET_RUN share. */
static void bind_run(sqlite3_stmt *stmt, const struct run *run, enum run_reason kill_reason,
                     const char *kill_by)
{
    sqlite3_bind_int(stmt, 7, (int)run->state);
    sqlite3_bind_int(stmt, 8, (int)run->reason);
    bind_text(stmt, 9, run->node);
    sqlite3_bind_int64(stmt, 10, (int64_t)run->nonce);
    sqlite3_bind_int64(stmt, 11, run->fence);
    sqlite3_bind_int64(stmt, 12, run->job_revision);
    sqlite3_bind_int64(stmt, 13, run->not_before_ms);
    sqlite3_bind_int64(stmt, 14, run->claimed_ms);
    sqlite3_bind_int64(stmt, 15, run->started_ms);
    sqlite3_bind_int64(stmt, 16, run->finished_ms);
    sqlite3_bind_int(stmt, 17, run->exit_code);
    sqlite3_bind_int(stmt, 18, run->term_signal);
    sqlite3_bind_int64(stmt, 19, run->user_ms);
    sqlite3_bind_int64(stmt, 20, run->system_ms);
    sqlite3_bind_int64(stmt, 21, run->max_rss_kb);
    sqlite3_bind_int64(stmt, 22, run->output_bytes);
    sqlite3_bind_int(stmt, 23, run->output_truncated);
    bind_text(stmt, 24, run->by);
    bind_text(stmt, 25, run->detail);
    sqlite3_bind_int(stmt, 26, (int)kill_reason);
    bind_text(stmt, 27, kill_by);
    bind_owner(stmt, 28, &run->owner);
}

/* E_SET_ASIDE: it can't be read, but for ret->seq. */
static enum status first_run(struct sqlite_db *t, enum sql which, struct run_row *ret)
{
    enum status st = sqlite_first_row(t, which);
    if (st == OK && !sqlite_read_run(t->stmts[which], ret))
        st = E_SET_ASIDE;
    sqlite3_reset(t->stmts[which]);
    return st;
}

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    with_id(t, SQL_GET_RUN, id);
    enum status st = first_run(t, SQL_GET_RUN, ret);
    return st == E_SET_ASIDE ? E_NOT_FOUND : st;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, struct id *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_FIND_RUN, job_uid);
    sqlite3_bind_int64(stmt, 2, tick_ms);
    sqlite3_bind_int(stmt, 3, attempt);
    enum status st = sqlite_first_row(t, SQL_FIND_RUN);
    if (st == OK)
        sqlite_read_id(stmt, 0, ret);
    sqlite3_reset(stmt);
    return st;
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_COUNT_OPEN, job_uid);
    enum status st = sqlite_first_row(t, SQL_COUNT_OPEN);
    if (st == OK) {
        *ret_open = sqlite3_column_int64(stmt, 0);
        *ret_queued = sqlite3_column_int64(stmt, 1);
    }
    sqlite3_reset(stmt);
    return st;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             struct run_row *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    enum status st = E_SET_ASIDE;
    while (st == E_SET_ASIDE) {
        sqlite3_bind_int64(with_id(t, SQL_NEXT_OPEN, job_uid), 2, after_seq);
        st = first_run(t, SQL_NEXT_OPEN, ret);
        after_seq = ret->seq;
    }
    return st;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    with_id(t, SQL_OLDEST_QUEUED, job_uid);
    enum status st = first_run(t, SQL_OLDEST_QUEUED, ret);
    return st == E_SET_ASIDE ? E_NOT_FOUND : st;
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_ADD_RUN, &run->id);
    bind_id(stmt, 2, &run->job_uid);
    bind_text(stmt, 3, run->job_name);
    sqlite3_bind_int64(stmt, 4, run->tick_ms);
    sqlite3_bind_int(stmt, 5, run->attempt);
    sqlite3_bind_int(stmt, 6, (int)run->cause);
    bind_run(stmt, run, REASON_NONE, "");
    bind_text(stmt, 30, run->traceparent);
    return sqlite_finish(t, SQL_ADD_RUN);
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    bind_run(t->stmts[SQL_SET_RUN], &row->run, row->kill_reason, row->kill_by);
    sqlite3_bind_int64(t->stmts[SQL_SET_RUN], 30, row->seq);
    return sqlite_finish(t, SQL_SET_RUN);
}

/* E_NOT_FOUND: there was nothing to remove. */
static enum status remove_by_id(struct sqlite_db *t, enum sql which, const struct id *id)
{
    with_id(t, which, id);
    enum status st = sqlite_finish(t, which);
    return st == OK && sqlite3_changes(t->handle) == 0 ? E_NOT_FOUND : st;
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    return remove_by_id(t, SQL_REMOVE_ENDED_RUN, id);
}

/* ---- the rest ---- */

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_ADD_ENTRY, &entry->id);
    bind_id(stmt, 2, &entry->job_uid);
    bind_text(stmt, 3, entry->job_name);
    sqlite3_bind_int64(stmt, 4, entry->from_ms);
    sqlite3_bind_int64(stmt, 5, entry->to_ms);
    sqlite3_bind_int64(stmt, 6, entry->count);
    sqlite3_bind_int(stmt, 7, (int)entry->state);
    sqlite3_bind_int(stmt, 8, (int)entry->reason);
    bind_text(stmt, 9, entry->detail);
    sqlite3_bind_int64(stmt, 10, entry->recorded_ms);
    bind_text(stmt, 11, entry->node);
    bind_owner(stmt, 12, &entry->owner);
    return sqlite_finish(t, SQL_ADD_ENTRY);
}

static enum status remove_entry(struct tables *tables, const struct id *id)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    return remove_by_id(t, SQL_REMOVE_ENTRY, id);
}

static enum status next_fence(struct tables *tables, int64_t *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    enum status st = sqlite_first_row(t, SQL_NEXT_FENCE);
    if (st == OK)
        *ret = sqlite3_column_int64(t->stmts[SQL_NEXT_FENCE], 0);
    sqlite3_reset(t->stmts[SQL_NEXT_FENCE]);
    return st;
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    bind_text(t->stmts[SQL_SET_META], 1, meta->key);
    bind_text(t->stmts[SQL_SET_META], 2, meta->value);
    return sqlite_finish(t, SQL_SET_META);
}

static enum status set_drain(struct tables *tables, const struct store_drain *drain)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    if (!drain->drained) {
        bind_text(t->stmts[SQL_REMOVE_DRAIN], 1, drain->node);
        return sqlite_finish(t, SQL_REMOVE_DRAIN);
    }
    bind_text(t->stmts[SQL_ADD_DRAIN], 1, drain->node);
    bind_text(t->stmts[SQL_ADD_DRAIN], 2, drain->by);
    return sqlite_finish(t, SQL_ADD_DRAIN);
}

static sqlite3_stmt *with_doc(struct sqlite_db *t, enum sql which, const char *kind,
                              const char *name)
{
    bind_text(t->stmts[which], 1, kind);
    bind_text(t->stmts[which], 2, name);
    return t->stmts[which];
}

static enum status get_doc(struct tables *tables, const char *kind, const char *name,
                           int64_t *ret_revision)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_doc(t, SQL_GET_DOC, kind, name);
    enum status st = sqlite_first_row(t, SQL_GET_DOC);
    if (st == OK)
        *ret_revision = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return st;
}

static enum status put_doc(struct tables *tables, const struct store_doc *doc)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    enum sql which = doc->json ? SQL_PUT_DOC : SQL_REMOVE_DOC;
    sqlite3_stmt *stmt = with_doc(t, which, doc->kind, doc->name);
    if (doc->json) {
        sqlite3_bind_int64(stmt, 3, doc->revision);
        bind_text(stmt, 4, doc->json);
    }
    return sqlite_finish(t, which);
}

const struct tables_ops sqlite_tables_ops = {
    .get_job = get_job,
    .hold_job = get_job,
    .find_name = find_name,
    .put_job = put_job,
    .move_job = move_job,
    .remove_job = remove_job,
    .get_run = get_run,
    .find_run = find_run,
    .count_open = count_open,
    .next_open = next_open,
    .oldest_queued = oldest_queued,
    .add_run = add_run,
    .set_run = set_run,
    .remove_ended_run = remove_ended_run,
    .add_entry = add_entry,
    .remove_entry = remove_entry,
    .next_fence = next_fence,
    .set_meta = set_meta,
    .set_drain = set_drain,
    .get_doc = get_doc,
    .put_doc = put_doc,
};
