/* Appends: one transaction each. */
#include <stdlib.h>
#include <string.h>

#include "history_sqlite.h"

enum {
    PIECE_BYTES = 64 * 1024, /* of output in one row */
    PIECE_MS = 1000,         /* between the reads of what is put together */
};

/* ---- output ---- */

/* Chunks are gathered into pieces, which are rows. */
struct piece {
    struct output_chunk chunk; /* its bytes are not used */
    int64_t start;
    int seq;
    bool begun;
    size_t length;
    char bytes[PIECE_BYTES];
};

static enum status flush_piece(struct database *database, const struct id *run_id,
                               struct piece *piece)
{
    sqlite3_stmt *stmt;
    if (!piece->begun)
        return OK;
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
    st = statement_done(stmt);
    piece->start += (int64_t)piece->length;
    piece->seq++;
    piece->length = 0;
    piece->begun = false;
    return st;
}

static bool fits(const struct piece *piece, const struct output_chunk *chunk)
{
    return piece->begun && piece->chunk.stream == chunk->stream && !chunk->gap_bytes &&
           chunk->at_ms - piece->chunk.at_ms <= PIECE_MS && chunk->at_ms >= piece->chunk.at_ms;
}

static enum status add_chunk(struct database *database, const struct id *run_id,
                             struct piece *piece, const struct output_chunk *chunk)
{
    enum status st = OK;
    if (!fits(piece, chunk)) {
        st = flush_piece(database, run_id, piece);
        piece->chunk = *chunk;
        piece->begun = true;
    }
    const char *bytes = chunk->bytes;
    for (size_t left = chunk->length; left && st == OK;) {
        if (piece->length == PIECE_BYTES) {
            st = flush_piece(database, run_id, piece);
            piece->chunk = *chunk;
            piece->chunk.gap_bytes = 0;
            piece->begun = true;
        }
        size_t room = PIECE_BYTES - piece->length;
        size_t length = left < room ? left : room;
        memcpy(piece->bytes + piece->length, bytes, length);
        piece->length += length;
        bytes += length;
        left -= length;
    }
    return st;
}

static enum status write_output(struct database *database, const struct history_record *record,
                                struct piece *piece)
{
    enum status st = OK;
    piece->start = 0;
    piece->seq = 0;
    piece->length = 0;
    piece->begun = false;
    for (size_t i = 0; i < record->chunk_count && st == OK; i++)
        st = add_chunk(database, &record->run->id, piece, &record->chunks[i]);
    return st == OK ? flush_piece(database, &record->run->id, piece) : st;
}

static enum status delete_output(struct database *database, const struct id *run_id)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_DELETE_OUTPUT, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, run_id);
    return statement_done(stmt);
}

/* ---- records ---- */

/* The key of the job under this name; a new one if it has none yet. */
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

/* INSERT or UPDATE; *ret_changed: whether there was a row to write. */
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

static enum status write_record(struct database *database, const struct history_record *record,
                                struct piece *piece)
{
    struct history_row row = {.is_entry = record->entry != NULL};
    bool is_new = false, changed;
    int64_t job;
    enum status st;
    if (record->entry) {
        row.entry = *record->entry;
        st = key_of_job(database, &row.entry.job_uid, row.entry.job_name, &job);
    } else {
        row.run = *record->run;
        st = key_of_job(database, &row.run.job_uid, row.run.job_name, &job);
    }
    if (st == OK)
        st = put_row(database, SQL_INSERT, &row, job, &is_new);
    changed = st == OK && is_new;
    if (st == OK && !is_new)
        st = put_row(database, SQL_UPDATE, &row, job, &changed);
    if (st != OK || !changed || !record->chunk_count)
        return st;
    if (!is_new)
        st = delete_output(database, &row.run.id);
    return st == OK ? write_output(database, record, piece) : st;
}

enum status write_append(struct database *database, const struct history_append *append)
{
    if (!history_append_is_valid(append))
        return E_INVALID;
    struct piece *piece = malloc(sizeof(*piece));
    if (!piece)
        return E_NOMEM;
    enum status st = database_do(database, SQL_BEGIN_WRITE);
    for (size_t i = 0; i < append->count && st == OK; i++)
        st = write_record(database, &append->records[i], piece);
    if (st == OK)
        st = database_do(database, SQL_COMMIT);
    free(piece);
    return st;
}
