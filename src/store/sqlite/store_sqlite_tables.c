/* The tables of rules.h as SQL. */
#include <stdio.h>
#include <string.h>

#include "sqlite/store_sqlite.h"

/* Binding without copies (SQLITE_STATIC) can't fail: the values live until the statement is
 * done. */
static void bind_id(sqlite3_stmt *stmt, int at, const struct id *id)
{
    sqlite3_bind_blob(stmt, at, id->bytes, sizeof(id->bytes), SQLITE_STATIC);
}

static void bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static sqlite3_stmt *with_id(struct sqlite_db *t, enum sql which, const struct id *id)
{
    bind_id(t->stmts[which], 1, id);
    return t->stmts[which];
}

/* ---- jobs ---- */

static void bind_gaps(sqlite3_stmt *stmt, int at, const struct rewinds *rewinds)
{
    char gaps[REWIND_GAPS_TEXT];
    rewinds_write_gaps(rewinds, gaps);
    sqlite3_bind_text(stmt, at, gaps, -1, SQLITE_TRANSIENT);
}

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_GET_JOB, uid);
    enum status st = sqlite_first_row(t, SQL_GET_JOB);
    if (st == OK && !sqlite_read_job(stmt, ret, NULL))
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

static enum status write_row(struct sqlite_db *t, enum sql which, const struct job_row *row,
                             const char *name)
{
    sqlite3_stmt *stmt = t->stmts[which];
    int next = sqlite_bind_row(stmt, STORED_JOBS, row);
    bind_gaps(stmt, next, &row->rewinds);
    bind_text(stmt, next + 1, name);
    return sqlite_finish(t, which);
}

static enum status write_definition(struct sqlite_db *t, const struct id *uid, const char *json)
{
    bind_text(with_id(t, SQL_PUT_DEFINITION, uid), 2, json);
    return sqlite_finish(t, SQL_PUT_DEFINITION);
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    enum status st = write_row(t, SQL_PUT_JOB, row, name);
    return st == OK ? write_definition(t, &row->uid, json) : st;
}

/* The keys of the table are its uid and, of those that are not deleted, its name. */
static enum status add_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    enum status st = write_row(t, SQL_ADD_JOB, row, name);
    if (st == OK && sqlite3_changes(t->handle) == 0)
        st = E_CONFLICT;
    return st == OK ? write_definition(t, &row->uid, json) : st;
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = t->stmts[SQL_MOVE_JOB];
    int next = sqlite_bind_changes(stmt, STORED_JOBS, row);
    bind_gaps(stmt, next, &row->rewinds);
    bind_id(stmt, next + 1, &row->uid);
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
                            int attempt, int part, struct id *ret)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = with_id(t, SQL_FIND_RUN, job_uid);
    sqlite3_bind_int64(stmt, 2, tick_ms);
    sqlite3_bind_int(stmt, 3, attempt);
    sqlite3_bind_int(stmt, 4, part);
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
                             int after_part, struct run_row *ret)
{
    (void)after_part; /* each has its own seq */
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

/* By their states: begun and claimed before due. */
static enum status each_grouped(struct tables *tables,
                                bool (*visit)(void *context, const struct run_row *row),
                                void *context)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    struct run_row row;
    bool go_on = true;
    enum status st = OK;
    while (go_on && (st = sqlite_first_row(t, SQL_GROUPED)) == OK)
        go_on = !sqlite_read_run(t->stmts[SQL_GROUPED], &row) || visit(context, &row);
    sqlite3_reset(t->stmts[SQL_GROUPED]);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    (void)sqlite_bind_row(t->stmts[SQL_ADD_RUN], STORED_RUNS, run);
    return sqlite_finish(t, SQL_ADD_RUN);
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    struct sqlite_db *t = (struct sqlite_db *)tables;
    sqlite3_stmt *stmt = t->stmts[SQL_SET_RUN];
    int next = sqlite_bind_changes(stmt, STORED_RUNS, &row->run);
    sqlite3_bind_int(stmt, next, (int)row->kill_reason);
    bind_text(stmt, next + 1, row->kill_by);
    sqlite3_bind_int64(stmt, next + 2, row->seq);
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
    (void)sqlite_bind_row(t->stmts[SQL_ADD_ENTRY], STORED_ENTRIES, entry);
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

const struct tables_ops sqlite_tables_ops = TABLES_OPS(get_job, add_job, NULL, NULL, NULL);
