/* Walks over ids, newest first. An index returns ids in order only within one value of the columns
 * before the id, so each value is a stream of its own, and the streams are merged. A page then
 * costs a few seeks, however long the history is. history_sqlite_ways.c chooses the streams. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "sqlite/history_sqlite.h"

struct walk_stream {
    sqlite3_stmt *stmt;
    enum record_table table;
    enum walk_shape shape;
    struct id id;   /* the current id */
    bool can_match; /* whether the row can match, by what the index holds */
};

#define BOUNDS " id < ?1 AND id >= ?2 ORDER BY id DESC"

/* can_match() reads the second column, if there is one.
 * ?1: ids below; ?2: ids from; ?3: a state, class or reason; ?4: a job's key; ?5: a node.
 * `@` is the table. SQLite uses a partial index only if the query repeats its condition. */
static const char *const sql[WALK_SHAPES] = {
    [WALK_ALL] = "SELECT id FROM @ WHERE" BOUNDS,
    [WALK_STATE] = "SELECT id FROM @ INDEXED BY @_state WHERE state = ?3 AND" BOUNDS,
    [WALK_JOB_STATE] = "SELECT id FROM @ INDEXED BY @_job WHERE job = ?4 AND state = ?3 AND" BOUNDS,
    [WALK_NODE_STATE] =
        "SELECT id FROM @ INDEXED BY @_node WHERE node = ?5 AND state = ?3 AND" BOUNDS,
    [WALK_LASTING] = "SELECT id, finished_ms - started_ms FROM @ INDEXED BY @_lasting"
                     " WHERE " SQLITE_LASTING " = ?3 AND " SQLITE_LASTS " AND" BOUNDS,
    [WALK_REASON] =
        "SELECT id FROM @ INDEXED BY @_reason WHERE reason = ?3 AND reason <> 0 AND" BOUNDS,
    [WALK_DETAIL] = "SELECT id, detail FROM @ INDEXED BY @_detail WHERE detail <> '' AND" BOUNDS,
    [WALK_STRAY] = "SELECT id FROM @ INDEXED BY @_stray WHERE stray = ?3 AND stray <> 0 AND" BOUNDS,
};

/* ---- pool of statements: a walk over a job needs one for each state ---- */

static enum status prepare(struct database *database, enum record_table table,
                           enum walk_shape shape, sqlite3_stmt **ret)
{
    struct strbuf text;
    strbuf_init(&text);
    for (const char *p = sql[shape]; *p; p++) {
        if (*p == '@')
            strbuf_adds(&text, table_names[table]);
        else
            strbuf_addc(&text, *p);
    }
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = sqlite_status(
            sqlite3_prepare_v3(database->db, text.text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL));
    strbuf_release(&text);
    return st;
}

static enum status borrow(struct database *database, enum record_table table, enum walk_shape shape,
                          sqlite3_stmt **ret)
{
    struct walk_pool *pool = &database->walks[table][shape];
    if (!pool->count)
        return prepare(database, table, shape, ret);
    *ret = pool->idle[--pool->count];
    return OK;
}

static void give_back(struct database *database, struct walk_stream *stream)
{
    struct walk_pool *pool = &database->walks[stream->table][stream->shape];
    if (pool->count == WALK_IDLE_MAX) {
        sqlite3_finalize(stream->stmt);
        return;
    }
    sqlite3_reset(stream->stmt);
    sqlite3_clear_bindings(stream->stmt);
    pool->idle[pool->count++] = stream->stmt;
}

/* ---- streams ---- */

/* Whether the row can match, by the index alone. Another stream may return the same row. */
static bool can_match(const struct walk *walk, const struct walk_stream *stream)
{
    const char *detail;
    if (stream->shape == WALK_LASTING)
        return sqlite3_column_int64(stream->stmt, 1) >= walk->query->min_duration_ms;
    if (stream->shape != WALK_DETAIL)
        return true;
    detail = (const char *)sqlite3_column_text(stream->stmt, 1);
    return detail && strcasestr(detail, walk->query->text);
}

/* Moves to the next id; E_NOT_FOUND at the end. */
static enum status advance(const struct walk *walk, struct walk_stream *stream)
{
    enum status st = statement_row(stream->stmt);
    if (st != OK)
        return st;
    stream->id = column_id(stream->stmt, 0);
    stream->can_match = can_match(walk, stream);
    return OK;
}

/* The ids of the span that are below the query's cursor. */
static void bind_span(sqlite3_stmt *stmt, const struct history_query *query,
                      const struct id_span *span)
{
    bool from_cursor = !id_is_zero(&query->before) && id_compare(&query->before, &span->below) < 0;
    bind_id(stmt, 1, from_cursor ? &query->before : &span->below);
    bind_id(stmt, 2, &span->from);
}

enum status walk_add(struct walk *walk, const struct walk_part *part)
{
    struct walk_stream stream = {.table = part->table, .shape = part->shape};
    enum status st = array_grow(&walk->streams, walk->count, sizeof(*walk->streams));
    if (st == OK)
        st = borrow(walk->database, part->table, part->shape, &stream.stmt);
    if (st != OK)
        return st;
    bind_span(stream.stmt, walk->query, &part->span);
    sqlite3_bind_int(stream.stmt, 3, part->value);
    if (part->shape == WALK_JOB_STATE)
        sqlite3_bind_int64(stream.stmt, 4, part->job);
    if (part->shape == WALK_NODE_STATE)
        sqlite3_bind_text(stream.stmt, 5, walk->query->node, -1, SQLITE_STATIC);
    st = advance(walk, &stream);
    if (st == OK)
        walk->streams[walk->count++] = stream;
    else
        give_back(walk->database, &stream);
    return st == E_NOT_FOUND ? OK : st;
}

/* The stream with the newest id. An id in several streams is the current one of each of them. */
static struct walk_stream *newest_of(const struct walk *walk)
{
    struct walk_stream *newest = &walk->streams[0];
    for (size_t i = 1; i < walk->count; i++) {
        if (id_compare(&walk->streams[i].id, &newest->id) > 0)
            newest = &walk->streams[i];
    }
    return newest;
}

static enum status step(struct walk *walk, struct walk_stream *stream)
{
    enum status st = advance(walk, stream);
    if (st != E_NOT_FOUND)
        return st;
    give_back(walk->database, stream);
    *stream = walk->streams[--walk->count];
    return OK;
}

enum status walk_next(struct walk *walk, enum record_table *ret_table, struct id *ret_id,
                      bool *ret_can_match)
{
    while (walk->count) {
        struct walk_stream *newest = newest_of(walk), found = *newest;
        bool is_new = id_compare(&found.id, &walk->last) != 0;
        enum status st = step(walk, newest);
        if (st != OK)
            return st;
        if (!is_new)
            continue;
        if (found.can_match)
            walk->last = found.id;
        *ret_id = found.id;
        *ret_table = found.table;
        *ret_can_match = found.can_match;
        return OK;
    }
    return E_NOT_FOUND;
}

void walk_close(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        give_back(walk->database, &walk->streams[i]);
    free(walk->streams);
    walk->streams = NULL;
    walk->count = 0;
}
