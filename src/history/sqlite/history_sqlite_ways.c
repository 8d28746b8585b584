/* Chooses the index for a query. Job, state, node, duration and text each have indexes that end in
 * the id. A query with several filters has several ways to walk, each over rows of which some do
 * not match. A short probe finds the way with the fewest rows: it reaches the smallest id.
 *
 * A time span needs no index of its own, see history_columns.h: each way is bounded by the ids of
 * the span, and streams of strays outside it are added. */
#include <string.h>

#include "sqlite/history_sqlite.h"

enum way { WAY_ALL, WAY_STATES, WAY_LASTING, WAY_TEXT, WAY_NODE, WAY_JOBS, WAYS };

enum {
    PROBE_IDS = 100,     /* length of the probe along each way */
    TEXT_JOBS_MAX = 200, /* jobs with the text in their names; with more, WAY_TEXT is not used */
};

/* ---- the streams of each way ---- */

static enum status add_states(struct walk *walk, enum record_table table, enum walk_shape shape,
                              int64_t job)
{
    unsigned states = table_states(table, walk->query);
    struct walk_part part = {table, shape, query_ids(walk->query), 0, job};
    enum status st = OK;
    for (part.value = 0; part.value < RUN_STATES && st == OK; part.value++) {
        if (states >> part.value & 1)
            st = walk_add(walk, &part);
    }
    return st;
}

/* Adds the streams of the jobs that `stmt` finds; its columns are key, uid and name. */
static enum status add_jobs(struct walk *walk, enum record_table table, sqlite3_stmt *stmt)
{
    const struct history_query *query = walk->query;
    enum status st;
    while ((st = statement_row(stmt)) == OK) {
        const char *name = (const char *)sqlite3_column_text(stmt, 2);
        if (query->job_name && (!name || strcmp(name, query->job_name) != 0))
            continue;
        st = add_states(walk, table, WALK_JOB_STATE, sqlite3_column_int64(stmt, 0));
        if (st != OK)
            break;
    }
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

/* A renamed job has several keys, and so has a name that several jobs have had. */
static enum status add_asked_jobs(struct walk *walk, enum record_table table)
{
    const struct history_query *query = walk->query;
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
    return add_jobs(walk, table, stmt);
}

static enum status find_text_jobs(struct walk *walk, int limit, sqlite3_stmt **ret)
{
    enum status st = database_statement(walk->database, TABLE_RUNS, SQL_KEYS_BY_TEXT, ret);
    if (st != OK)
        return st;
    sqlite3_bind_text(*ret, 1, walk->query->text, -1, SQLITE_STATIC);
    sqlite3_bind_int(*ret, 2, limit);
    return OK;
}

/* Streams for a text in the job's name, in the reason's name or in the detail. */
static enum status add_text(struct walk *walk, enum record_table table)
{
    const char *text = walk->query->text;
    struct walk_part part = {table, WALK_DETAIL, query_ids(walk->query), 0, 0};
    sqlite3_stmt *stmt;
    enum status st = find_text_jobs(walk, TEXT_JOBS_MAX, &stmt);
    if (st == OK)
        st = add_jobs(walk, table, stmt);
    if (st == OK)
        st = walk_add(walk, &part);
    part.shape = WALK_REASON;
    for (part.value = 1; part.value < REASONS && st == OK; part.value++) {
        if (strcasestr(run_reason_name((enum run_reason)part.value), text))
            st = walk_add(walk, &part);
    }
    return st;
}

static enum status add_lasting(struct walk *walk, enum record_table table)
{
    struct walk_part part = {table, WALK_LASTING, query_ids(walk->query), 0, 0};
    enum status st = OK;
    part.value = lasting_class(walk->query->min_duration_ms);
    for (; part.value < LASTING_CLASSES && st == OK; part.value++)
        st = walk_add(walk, &part);
    return st;
}

static enum status add_way(struct walk *walk, enum record_table table, enum way way)
{
    const struct walk_part all = {table, WALK_ALL, query_ids(walk->query), 0, 0};
    switch (way) {
    case WAY_STATES:
        return add_states(walk, table, WALK_STATE, 0);
    case WAY_LASTING:
        return add_lasting(walk, table);
    case WAY_TEXT:
        return add_text(walk, table);
    case WAY_NODE:
        return add_states(walk, table, WALK_NODE_STATE, 0);
    case WAY_JOBS:
        return add_asked_jobs(walk, table);
    case WAY_ALL:
    case WAYS:
        break;
    }
    return walk_add(walk, &all);
}

static enum status add_strays(struct walk *walk, enum record_table table)
{
    struct walk_part part = {.table = table, .shape = WALK_STRAY};
    enum status st = OK;
    for (int stray = -STRAY_BOTH; stray <= STRAY_BOTH && st == OK; stray++) {
        part.value = stray == -STRAY_BOTH ? STRAY_BOTH : stray;
        if (stray_ids(walk->query, stray, &part.span))
            st = walk_add(walk, &part);
    }
    return st;
}

/* ---- choosing the way ---- */

/* Whether too many jobs have the text in their names for a stream per job and state. */
static enum status has_many_jobs(struct walk *walk, bool *ret)
{
    sqlite3_stmt *stmt;
    int count = 0;
    enum status st = find_text_jobs(walk, TEXT_JOBS_MAX + 1, &stmt);
    while (st == OK && (st = statement_row(stmt)) == OK)
        count++;
    *ret = count > TEXT_JOBS_MAX;
    return st == E_NOT_FOUND ? OK : st;
}

/* The ways that can answer the query, as 1 << enum way. */
static enum status find_ways(struct walk *walk, unsigned *ret)
{
    const struct history_query *query = walk->query;
    unsigned ways = 0;
    bool many = true;
    enum status st = query->text ? has_many_jobs(walk, &many) : OK;
    if (!id_is_zero(&query->job_uid) || query->job_name)
        ways |= 1u << WAY_JOBS;
    if (query->node)
        ways |= 1u << WAY_NODE;
    if (query->states && !ways) /* the indexes by job and by node include the state */
        ways |= 1u << WAY_STATES;
    if (!many)
        ways |= 1u << WAY_TEXT;
    if (lasting_class(query->min_duration_ms) >= 0)
        ways |= 1u << WAY_LASTING;
    *ret = ways ? ways : 1u << WAY_ALL;
    return st;
}

/* The id that a way reaches after PROBE_IDS steps; zero: it ended before. */
static enum status probe(const struct walk *walk, enum way way, struct id *ret)
{
    struct walk trial = {.database = walk->database, .query = walk->query};
    struct id id = {{0}};
    enum record_table table;
    bool can_match;
    enum status st = add_way(&trial, TABLE_RUNS, way);
    for (int i = 0; i < PROBE_IDS && st == OK; i++)
        st = walk_next(&trial, &table, &id, &can_match);
    walk_close(&trial);
    if (st == E_NOT_FOUND)
        id = (struct id){{0}};
    *ret = id;
    return st == E_NOT_FOUND ? OK : st;
}

static enum status choose_way(struct walk *walk, enum way *ret)
{
    struct id lowest;
    unsigned ways;
    bool first = true;
    enum status st = find_ways(walk, &ways);
    for (int way = WAYS - 1; way >= 0 && st == OK; way--) {
        struct id id = {{0}};
        if (!(ways >> way & 1))
            continue;
        if (ways != 1u << way) /* a single way needs no probe */
            st = probe(walk, (enum way)way, &id);
        if (first || id_compare(&id, &lowest) < 0) {
            lowest = id;
            *ret = (enum way)way;
        }
        first = false;
    }
    return st;
}

/* ---- walks ---- */

static enum status add_table(struct walk *walk, enum record_table table, enum way way)
{
    enum status st = add_way(walk, table, way);
    return st == OK ? add_strays(walk, table) : st;
}

static enum status open_walk(struct walk *walk, bool runs, bool entries)
{
    enum way way = WAY_ALL;
    enum status st = choose_way(walk, &way);
    if (st == OK && runs)
        st = add_table(walk, TABLE_RUNS, way);
    if (st == OK && entries)
        st = add_table(walk, TABLE_ENTRIES, way);
    if (st != OK)
        walk_close(walk);
    return st;
}

enum status walk_open(struct walk *walk, struct database *database,
                      const struct history_query *query)
{
    *walk = (struct walk){.database = database, .query = query};
    return open_walk(walk, true, query->with_entries && !query->node && !query->min_duration_ms);
}

enum status walk_open_table(struct walk *walk, struct database *database,
                            const struct history_query *query, enum record_table table)
{
    *walk = (struct walk){.database = database, .query = query};
    return open_walk(walk, table == TABLE_RUNS, table == TABLE_ENTRIES);
}
