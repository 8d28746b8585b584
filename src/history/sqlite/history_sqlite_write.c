/* Appends: one transaction for each call. */
#include <stdlib.h>
#include <string.h>

#include "sqlite/history_sqlite.h"

/* ---- output ---- */

static enum status put_piece(void *context, const struct id *run_id, const struct piece *piece)
{
    struct database *database = context;
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_ADD_OUTPUT, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, run_id);
    sqlite3_bind_int64(stmt, 2, piece->start);
    sqlite3_bind_int(stmt, 3, piece->seq);
    sqlite3_bind_int(stmt, 4, (int)piece->chunk.stream);
    sqlite3_bind_int64(stmt, 5, piece->chunk.at_ms);
    sqlite3_bind_int64(stmt, 6, piece->chunk.gap_bytes);
    sqlite3_bind_blob(stmt, 7, piece->bytes, (int)piece->length, SQLITE_STATIC);
    return statement_done(stmt);
}

static enum status delete_output(struct database *database, const struct id *run_id)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_REPLACE_OUTPUT, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, run_id);
    return statement_done(stmt);
}

/* ---- records ---- */

/* The key of the job's uid and name in the table jobs; inserts a row if there is none. */
static enum status key_of_job(struct database *database, const struct id *uid, const char *name,
                              int64_t *ret)
{
    sqlite3_stmt *find, *add;
    enum status st = database_statement(database, TABLE_RUNS, SQL_FIND_JOB, &find);
    if (st != OK)
        return st;
    bind_id(find, 1, uid);
    sqlite3_bind_text(find, 2, name, -1, SQLITE_STATIC);
    st = statement_row(find);
    if (st == OK)
        *ret = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    if (st != E_NOT_FOUND)
        return st;

    st = database_statement(database, TABLE_RUNS, SQL_ADD_JOB, &add);
    if (st != OK)
        return st;
    bind_id(add, 1, uid);
    sqlite3_bind_text(add, 2, name, -1, SQLITE_STATIC);
    st = statement_done(add);
    if (st == OK)
        *ret = sqlite3_last_insert_rowid(database->db);
    return st;
}

/* Runs SQL_INSERT or SQL_UPDATE; *ret_changed: whether it wrote a row. */
static enum status put_row(struct database *database, enum statement which,
                           const struct history_row *row, int64_t job, bool *ret_changed)
{
    sqlite3_stmt *stmt;
    enum status st =
        database_statement(database, row->is_entry ? TABLE_ENTRIES : TABLE_RUNS, which, &stmt);
    if (st != OK)
        return st;
    bind_row(stmt, row, job);
    st = statement_done(stmt);
    if (st == OK)
        *ret_changed = sqlite3_changes(database->db) > 0;
    return st;
}

/* Replaces the stored row if history_row_gives_way allows it; *ret_changed: whether it did. */
static enum status replace(struct database *database, const struct history_row *row, int64_t job,
                           struct stats_changes *changes, bool *ret_changed)
{
    struct history_row *old = malloc(sizeof(*old));
    if (!old)
        return E_NOMEM;
    enum status st =
        load_row(database, row->is_entry ? TABLE_ENTRIES : TABLE_RUNS, history_row_id(row), old);
    *ret_changed = false;
    if (st == OK && history_row_gives_way(old, row))
        st = put_row(database, SQL_UPDATE, row, job, ret_changed);
    if (st == OK && *ret_changed) {
        stats_changes_add(changes, old, -1);
        stats_changes_add(changes, row, 1);
    }
    free(old);
    return st;
}

static enum status write_record(struct database *database, const struct history_record *record,
                                struct piece *piece, struct stats_changes *changes)
{
    struct history_row row = {.is_entry = false};
    const struct piece_sink sink = {put_piece, database};
    bool is_new = false, changed;
    int64_t job;
    if (record->change)
        return changes_write(database, record->change);
    row_of_record(record, &row);
    enum status st =
        key_of_job(database, history_row_job_uid(&row), history_row_job_name(&row), &job);
    if (st == OK)
        st = put_row(database, SQL_INSERT, &row, job, &is_new);
    changed = st == OK && is_new;
    if (changed)
        stats_changes_add(changes, &row, 1);
    if (st == OK && !is_new)
        st = replace(database, &row, job, changes, &changed);
    if (st != OK || !changed || !record_has_pieces(record, is_new))
        return st;
    if (!is_new)
        st = delete_output(database, &row.run.id);
    return st == OK ? pieces_make(record, is_new, piece, &sink) : st;
}

enum status sqlite_append(struct history_link *link, const struct history_append *append)
{
    struct database *database = database_of(link);
    struct stats_changes changes = {0};
    struct piece *piece = NULL;
    enum status st = stats_changes_reserve(&changes, 2 * append->count);
    if (st == OK) {
        piece = malloc(sizeof(*piece));
        st = piece ? database_do(database, SQL_BEGIN_WRITE) : E_NOMEM;
    }
    for (size_t i = 0; i < append->count && st == OK; i++)
        st = write_record(database, &append->records[i], piece, &changes);
    stats_changes_merge(&changes);
    if (st == OK)
        st = stats_write(database, &changes);
    if (st == OK)
        st = database_do(database, SQL_COMMIT);
    free(piece);
    stats_changes_release(&changes);
    return st;
}
