/* Pages of rows, and logs. Each request is one transaction, which sees a consistent snapshot. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "sqlite/history_sqlite.h"

/* The budget of one search, some hundredths of a second: an id from an index, a row loaded. */
enum { COST_MAX = 40 * 1000, COST_OF_ID = 1, COST_OF_ROW = 10 };

/* ---- pages ---- */

/* Adds a matching row to the page; if the page is full, sets `more` and the cursor. */
static void take_row(struct history_read *page, const struct history_row *row)
{
    if (!history_query_matches(&page->query, row))
        return;
    page->more = page->count == page->query.limit;
    if (page->more)
        page->next = *history_row_id(&page->rows[page->count - 1]);
    else
        page->rows[page->count++] = *row;
}

/* The cursor for a next page that begins with this id, which another stream may still return. */
static struct id just_above(struct id id)
{
    for (size_t i = sizeof(id.bytes); i-- > 0 && !++id.bytes[i];)
        continue;
    return id;
}

static enum status fill_page(struct database *database, struct walk *walk,
                             struct history_read *page)
{
    enum status st = OK;
    struct history_row *row = calloc(1, sizeof(*row));
    if (!row)
        return E_NOMEM;
    for (int cost = 0; !page->more && st == OK;) {
        enum record_table table;
        struct id id;
        bool can_match = false;
        st = walk_next(walk, &table, &id, &can_match);
        if (st == OK && can_match)
            st = load_row(database, table, &id, row);
        if (st == OK && can_match)
            take_row(page, row);
        cost += can_match ? COST_OF_ROW : COST_OF_ID;
        if (st == OK && !page->more && cost >= COST_MAX) {
            page->more = true;
            page->next = can_match ? id : just_above(id);
        }
    }
    free(row);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status read_page(struct database *database, struct history_read *read)
{
    struct history_read page = {.query = read->query};
    struct walk walk;
    page.rows = calloc(page.query.limit, sizeof(*page.rows));
    if (!page.rows)
        return E_NOMEM;
    enum status st = walk_open(&walk, database, &page.query);
    if (st == OK) {
        st = fill_page(database, &walk, &page);
        walk_close(&walk);
    }
    if (st != OK) {
        history_read_release(&page);
        return st;
    }
    read->rows = page.rows;
    read->count = page.count;
    read->more = page.more;
    read->next = page.next;
    return OK;
}

/* ---- logs ---- */

enum status read_kept_bytes(struct database *database, const struct id *run_id, int64_t *ret)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_KEPT_BYTES, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, run_id);
    st = statement_row(stmt);
    *ret = st == OK ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

/* Reads only the requested bytes of the piece, not the whole blob. */
static enum status read_part(struct database *database, int64_t key, size_t skip, size_t length,
                             void **ret)
{
    sqlite3_blob *blob = NULL;
    char *bytes = malloc(length ? length : 1);
    if (!bytes)
        return E_NOMEM;
    int rc = SQLITE_OK;
    if (length)
        rc = sqlite3_blob_open(database->db, "main", "output", "bytes", key, 0, &blob);
    if (length && rc == SQLITE_OK)
        rc = sqlite3_blob_read(blob, bytes, (int)length, (int)skip);
    sqlite3_blob_close(blob);
    if (rc != SQLITE_OK) {
        free(bytes);
        return sqlite_status(rc);
    }
    *ret = bytes;
    return OK;
}

static enum status add_part(struct database *database, sqlite3_stmt *stmt, struct history_log *log)
{
    int64_t start = sqlite3_column_int64(stmt, 0);
    size_t skip, length;
    void *bytes = NULL;
    if (!history_log_part(log, start, (size_t)sqlite3_column_int64(stmt, 4), &skip, &length))
        return OK;
    if (array_grow(&log->chunks, log->count, sizeof(*log->chunks)) != OK)
        return E_NOMEM;
    enum status st = read_part(database, sqlite3_column_int64(stmt, 5), skip, length, &bytes);
    if (st != OK)
        return st;
    log->chunks[log->count++] = (struct output_chunk){
        .stream = output_stream_of(sqlite3_column_int(stmt, 1)),
        .at_ms = sqlite3_column_int64(stmt, 2),
        .gap_bytes = skip ? 0 : sqlite3_column_int64(stmt, 3),
        .bytes = bytes,
        .length = length,
    };
    return OK;
}

static enum status read_parts(struct database *database, struct history_log *log)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_OUTPUT_FROM, &stmt);
    if (st != OK)
        return st;
    int64_t end = log->kept_bytes;
    if (log->offset <= end && (uint64_t)(end - log->offset) > log->limit)
        end = log->offset + (int64_t)log->limit;
    bind_id(stmt, 1, &log->run_id);
    sqlite3_bind_int64(stmt, 2, log->offset);
    sqlite3_bind_int64(stmt, 3, end);
    while ((st = statement_row(stmt)) == OK) {
        st = add_part(database, stmt, log);
        if (st != OK)
            break;
    }
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status read_log(struct database *database, struct history_log *answer)
{
    struct history_row *row = calloc(1, sizeof(*row));
    if (!row)
        return E_NOMEM;
    enum status st = load_row(database, TABLE_RUNS, &answer->run_id, row);
    answer->found = st == OK;
    if (st == OK) {
        answer->run = row->run;
        st = read_kept_bytes(database, &answer->run_id, &answer->kept_bytes);
    }
    free(row);
    if (st == OK && answer->limit)
        st = read_parts(database, answer);
    return st == E_NOT_FOUND ? OK : st;
}

enum status sqlite_read_request(struct history_link *link, struct history_request *request)
{
    struct database *database = database_of(link);
    enum status st = database_do(database, SQL_BEGIN_READ);
    if (st != OK)
        return st;
    if (request->kind == HISTORY_READ)
        st = read_page(database, history_request_of(request, history_read));
    else if (request->kind == HISTORY_STATS)
        st = stats_read(database, history_request_of(request, history_stats));
    else if (request->kind == HISTORY_CHANGES)
        st = changes_read(database, history_request_of(request, history_changes));
    else
        st = read_log(database, history_request_of(request, history_log));
    /* A failed COMMIT is harmless: the transaction wrote nothing. */
    if (st == OK)
        (void)sqlite3_exec(database->db, "COMMIT", NULL, NULL, NULL);
    return st;
}
