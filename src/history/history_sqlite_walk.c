/* Walks over ids, newest first. An index gives ids in order only for one state, or one state of one
 * job; so each of those is a stream of its own, and the streams are merged. This way the first page
 * of any filter by job, state and time costs a few seeks, however long the history is.
 *
 * Time: an id says when its run was made, which is within seconds of its tick unless the run is a
 * stray; so a span of ticks is a span of ids, plus the strays in it, which have an index by tick.
 */
#include <stdlib.h>
#include <string.h>

#include "history_sqlite.h"

struct walk_stream {
    sqlite3_stmt *stmt;
    enum record_table table;
    enum walk_shape shape;
    struct id id; /* the next one */
};

/* ?1: ids below; ?2: ids from; ?3: state; ?4: job; ?5, ?6: ticks from and below. */
static const char *const sql[TABLES][WALK_SHAPES] = {
    [TABLE_RUNS] =
        {
            [WALK_ALL] = "SELECT id FROM runs WHERE id < ?1 AND id >= ?2 ORDER BY id DESC",
            [WALK_STATE] = "SELECT id FROM runs INDEXED BY runs_state"
                           " WHERE state = ?3 AND id < ?1 AND id >= ?2 ORDER BY id DESC",
            [WALK_JOB_STATE] = "SELECT id FROM runs INDEXED BY runs_job"
                               " WHERE job = ?4 AND state = ?3 AND id < ?1 AND id >= ?2"
                               " ORDER BY id DESC",
            [WALK_STRAY] = "SELECT id FROM runs INDEXED BY runs_stray"
                           " WHERE stray = 1 AND tick_ms >= ?5 AND tick_ms < ?6 AND id < ?1"
                           " ORDER BY id DESC",
        },
    [TABLE_ENTRIES] =
        {
            [WALK_ALL] = "SELECT id FROM entries WHERE id < ?1 AND id >= ?2 ORDER BY id DESC",
            [WALK_STATE] = "SELECT id FROM entries INDEXED BY entries_state"
                           " WHERE state = ?3 AND id < ?1 AND id >= ?2 ORDER BY id DESC",
            [WALK_JOB_STATE] = "SELECT id FROM entries INDEXED BY entries_job"
                               " WHERE job = ?4 AND state = ?3 AND id < ?1 AND id >= ?2"
                               " ORDER BY id DESC",
            [WALK_STRAY] = "SELECT id FROM entries INDEXED BY entries_stray"
                           " WHERE stray = 1 AND to_ms >= ?5 AND from_ms < ?6 AND id < ?1"
                           " ORDER BY id DESC",
        },
};

/* ---- statements: a walk over a job needs one for each state ---- */

static enum status borrow(struct database *database, enum record_table table, enum walk_shape shape,
                          sqlite3_stmt **ret)
{
    struct walk_pool *pool = &database->walks[table][shape];
    if (pool->count) {
        *ret = pool->idle[--pool->count];
        return OK;
    }
    return sqlite_status(sqlite3_prepare_v3(database->db, sql[table][shape], -1,
                                            SQLITE_PREPARE_PERSISTENT, ret, NULL));
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

/* Moves to the next id; E_NOT_FOUND at the end. */
static enum status advance(struct walk_stream *stream)
{
    enum status st = statement_row(stream->stmt);
    if (st == OK)
        stream->id = column_id(stream->stmt, 0);
    return st;
}

static enum status reserve(struct walk *walk)
{
    if (walk->count < walk->capacity)
        return OK;
    size_t capacity = walk->capacity ? walk->capacity * 2 : 8;
    struct walk_stream *streams = realloc(walk->streams, capacity * sizeof(*streams));
    if (!streams)
        return E_NOMEM;
    walk->streams = streams;
    walk->capacity = capacity;
    return OK;
}

/* The ids and ticks that a query allows. */
static void bind_bounds(sqlite3_stmt *stmt, enum walk_shape shape,
                        const struct history_query *query)
{
    static const uint8_t beyond_all[sizeof(struct id) + 1] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    struct id before = query->before, from = {{0}};
    if (query->since_ms)
        from = history_id_at(query->since_ms - STRAY_MS);
    if (query->until_ms && shape != WALK_STRAY) {
        struct id until = history_id_at(query->until_ms + STRAY_MS + 1);
        if (id_is_zero(&before) || id_compare(&until, &before) < 0)
            before = until;
    }
    if (id_is_zero(&before))
        sqlite3_bind_blob(stmt, 1, beyond_all, sizeof(beyond_all), SQLITE_STATIC);
    else
        bind_id(stmt, 1, &before);
    if (shape != WALK_STRAY) {
        bind_id(stmt, 2, &from);
        return;
    }
    sqlite3_bind_int64(stmt, 5, query->since_ms ? query->since_ms : INT64_MIN);
    sqlite3_bind_int64(stmt, 6, query->until_ms ? query->until_ms : INT64_MAX);
}

static enum status add_stream(struct walk *walk, const struct history_query *query,
                              enum record_table table, enum walk_shape shape, int state,
                              int64_t job)
{
    struct walk_stream stream = {.table = table, .shape = shape};
    enum status st = reserve(walk);
    if (st == OK)
        st = borrow(walk->database, table, shape, &stream.stmt);
    if (st != OK)
        return st;
    bind_bounds(stream.stmt, shape, query);
    if (shape == WALK_STATE || shape == WALK_JOB_STATE)
        sqlite3_bind_int(stream.stmt, 3, state);
    if (shape == WALK_JOB_STATE)
        sqlite3_bind_int64(stream.stmt, 4, job);
    st = advance(&stream);
    if (st == OK)
        walk->streams[walk->count++] = stream;
    else
        give_back(walk->database, &stream);
    return st == E_NOT_FOUND ? OK : st;
}

/* ---- which streams ---- */

static enum status add_states(struct walk *walk, const struct history_query *query,
                              enum record_table table, enum walk_shape shape, int64_t job)
{
    unsigned states = table_states(table, query);
    enum status st = OK;
    for (int state = 0; state < RUN_STATES && st == OK; state++) {
        if (states >> state & 1)
            st = add_stream(walk, query, table, shape, state, job);
    }
    return st;
}

/* A job that was renamed has several keys, and so has a name that was given to several jobs. */
static enum status add_jobs(struct walk *walk, const struct history_query *query,
                            enum record_table table)
{
    bool by_uid = !id_is_zero(&query->job_uid);
    sqlite3_stmt *stmt;
    enum status st = database_statement(walk->database, TABLE_RUNS,
                                        by_uid ? SQL_KEYS_BY_UID : SQL_KEYS_BY_NAME, &stmt);
    if (st != OK)
        return st;
    if (by_uid)
        bind_id(stmt, 1, &query->job_uid);
    else
        sqlite3_bind_text(stmt, 1, query->job_name, -1, SQLITE_STATIC);
    while ((st = statement_row(stmt)) == OK) {
        const char *name = (const char *)sqlite3_column_text(stmt, 2);
        if (by_uid && query->job_name && (!name || strcmp(name, query->job_name) != 0))
            continue;
        st = add_states(walk, query, table, WALK_JOB_STATE, sqlite3_column_int64(stmt, 0));
        if (st != OK)
            break;
    }
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status add_table(struct walk *walk, const struct history_query *query,
                             enum record_table table)
{
    enum status st = OK;
    if (query->since_ms || query->until_ms)
        st = add_stream(walk, query, table, WALK_STRAY, 0, 0);
    if (st != OK)
        return st;
    if (!id_is_zero(&query->job_uid) || query->job_name)
        return add_jobs(walk, query, table);
    if (query->states)
        return add_states(walk, query, table, WALK_STATE, 0);
    return add_stream(walk, query, table, WALK_ALL, 0, 0);
}

enum status walk_open(struct walk *walk, struct database *database,
                      const struct history_query *query)
{
    *walk = (struct walk){.database = database};
    enum status st = add_table(walk, query, TABLE_RUNS);
    if (st == OK && query->with_entries && !query->node && !query->min_duration_ms)
        st = add_table(walk, query, TABLE_ENTRIES);
    if (st != OK)
        walk_close(walk);
    return st;
}

enum status walk_open_table(struct walk *walk, struct database *database,
                            const struct history_query *query, enum record_table table)
{
    *walk = (struct walk){.database = database};
    enum status st = add_table(walk, query, table);
    if (st != OK)
        walk_close(walk);
    return st;
}

enum status walk_next(struct walk *walk, enum record_table *ret_table, struct id *ret_id,
                      bool *ret_stray_walk)
{
    if (!walk->count)
        return E_NOT_FOUND;
    struct walk_stream *newest = &walk->streams[0];
    for (size_t i = 1; i < walk->count; i++) {
        if (id_compare(&walk->streams[i].id, &newest->id) > 0)
            newest = &walk->streams[i];
    }
    struct walk_stream found = *newest;
    enum status st = advance(newest);
    if (st == E_NOT_FOUND) {
        give_back(walk->database, newest);
        *newest = walk->streams[--walk->count];
    } else if (st != OK) {
        return st;
    }
    *ret_table = found.table;
    *ret_id = found.id;
    *ret_stray_walk = found.shape == WALK_STRAY;
    return OK;
}

void walk_close(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        give_back(walk->database, &walk->streams[i]);
    free(walk->streams);
    *walk = (struct walk){.database = walk->database};
}
