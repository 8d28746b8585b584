/* Retention, job by job, in short steps, as many at once as an append may wait for:
 *
 *     NEXT_JOB -> RUNS -> ENTRIES -> JOB_ITSELF -> NEXT_JOB -> ... -> BYTES -> STATS -> CHANGES ->
 *     VACUUM
 *
 * RUNS, ENTRIES, BYTES, STATS and CHANGES are repeated until nothing is left to remove. */
#include "sqlite/history_sqlite.h"

#include "clock.h"

enum {
    TURN_MS = 10, /* what is removed in that time is one transaction */
    STEP_ROWS = 200,
    STEP_PIECES = 128,     /* of output, at most 64 KiB each */
    STEP_CELLS = 500,      /* of statistics */
    FREE_PAGES_KEPT = 256, /* for what comes next */
};

/* ---- removing ---- */

struct victims {
    struct id ids[STEP_ROWS];
    size_t count;
};

static enum status find_victims(struct database *database, enum record_table table,
                                enum statement which, const struct id *uid, const struct id *below,
                                int64_t before_ms, struct victims *victims)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, table, which, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, uid);
    bind_id(stmt, 2, below);
    sqlite3_bind_int(stmt, 3, STEP_ROWS - (int)victims->count);
    if (which == SQL_ENDED)
        sqlite3_bind_int64(stmt, 4, before_ms);
    while (victims->count < STEP_ROWS && (st = statement_row(stmt)) == OK)
        victims->ids[victims->count++] = column_id(stmt, 0);
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status delete_by_id(struct database *database, enum record_table table,
                                enum statement which, const struct id *id, int *ret_rows)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, table, which, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, id);
    st = statement_done(stmt);
    if (st == OK)
        *ret_rows = sqlite3_changes(database->db);
    return st;
}

/* Stops early when a lot of output went with them: *ret_done is how many were dealt with. */
static enum status remove_victims(struct database *database, enum record_table table,
                                  const struct victims *victims, int64_t *removed, size_t *ret_done)
{
    int rows, pieces = 0;
    int64_t gone = 0;
    enum status st = OK;
    size_t i = 0;
    for (; i < victims->count && st == OK && pieces < STEP_PIECES; i++) {
        st = delete_by_id(database, table, SQL_DELETE, &victims->ids[i], &rows);
        gone += st == OK ? rows : 0;
        if (st != OK || table != TABLE_RUNS)
            continue;
        st = delete_by_id(database, TABLE_RUNS, SQL_DELETE_OUTPUT, &victims->ids[i], &rows);
        pieces += st == OK ? rows : 0;
    }
    if (st == OK) {
        *removed += gone;
        *ret_done = i;
    }
    return st;
}

/* ---- what goes ---- */

/* The id of the oldest that is among the newest keep_runs; the zero id, which nothing is older
 * than, when there are no more than that. */
static enum status find_oldest_kept(struct database *database, enum record_table table,
                                    const struct id *uid, int64_t keep, struct id *ret)
{
    struct history_query query = {.job_uid = *uid};
    struct walk walk;
    struct id oldest = {{0}};
    enum record_table found_in;
    bool can_match;
    enum status st = walk_open_table(&walk, database, &query, table);
    if (st != OK)
        return st;
    for (int64_t i = 0; i < keep && st == OK; i++)
        st = walk_next(&walk, &found_in, &oldest, &can_match);
    walk_close(&walk);
    if (st == E_NOT_FOUND)
        oldest = (struct id){{0}};
    else if (st != OK)
        return st;
    *ret = oldest;
    return OK;
}

/* *ret_done: nothing of the table is left to remove. What ended before a time was made before it;
 * that spares looking at everything newer. */
static enum status prune_table(struct database *database, const struct history_prune *prune,
                               struct pruning *at, enum record_table table, bool *ret_done)
{
    struct victims victims = {.count = 0};
    size_t done;
    enum status st = OK;
    if (prune->keep_runs && id_is_zero(&at->oldest))
        st = find_oldest_kept(database, table, &at->uid, prune->keep_runs, &at->oldest);
    if (st == OK && !id_is_zero(&at->oldest))
        st = find_victims(database, table, SQL_OLDER, &at->uid, &at->oldest, 0, &victims);
    if (st == OK && !victims.count && prune->before_ms) {
        struct id below = history_id_at(prune->before_ms);
        st = find_victims(database, table, SQL_ENDED, &at->uid, &below, prune->before_ms, &victims);
    }
    if (st == OK && victims.count)
        st = remove_victims(database, table, &victims, &at->removed,
                            &done); /* the rest: next time */
    if (st == OK)
        *ret_done = !victims.count;
    return st;
}

/* ---- by bytes ---- */

static enum status kept_bytes(struct database *database, const struct id *run_id, int64_t *ret)
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

/* Looks at the next runs of the job, or of all, and removes those of them that go. */
static enum status prune_bytes(struct database *database, const struct history_prune *prune,
                               struct pruning *at, bool *ret_done)
{
    struct history_query query = {.job_uid = prune->job_uid,
                                  .before = byte_count_below(&at->bytes)};
    struct victims victims = {.count = 0};
    struct byte_count before[STEP_ROWS]; /* each of them */
    struct walk walk;
    enum record_table table;
    struct id id;
    bool can_match;
    int64_t bytes;
    size_t done = 0;
    *ret_done = !prune->keep_bytes;
    if (*ret_done)
        return OK;
    enum status st = walk_open_table(&walk, database, &query, TABLE_RUNS);
    for (int i = 0; i < STEP_ROWS && st == OK; i++) {
        st = walk_next(&walk, &table, &id, &can_match);
        if (st == OK)
            st = kept_bytes(database, &id, &bytes);
        before[victims.count] = at->bytes;
        if (st == OK && byte_count_goes(&at->bytes, prune->keep_bytes, &id, bytes))
            victims.ids[victims.count++] = id;
    }
    walk_close(&walk);
    *ret_done = st == E_NOT_FOUND;
    if (st == E_NOT_FOUND)
        st = OK;
    if (st == OK && victims.count)
        st = remove_victims(database, TABLE_RUNS, &victims, &at->removed, &done);
    if (st == OK && done < victims.count) {
        at->bytes = before[done]; /* the rest: next time */
        *ret_done = false;
    }
    return st;
}

/* ---- steps ---- */

/* E_NOT_FOUND: that was the last one. */
static enum status next_job(struct database *database, const struct history_prune *prune,
                            struct pruning *at)
{
    bool first = id_is_zero(&at->uid);
    if (!prune->keep_runs && !prune->before_ms)
        return E_NOT_FOUND; /* nothing of any is to go */
    if (!id_is_zero(&prune->job_uid)) {
        at->uid = prune->job_uid;
        return first ? OK : E_NOT_FOUND;
    }
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_NEXT_JOB_UID, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &at->uid);
    st = statement_row(stmt);
    if (st == OK)
        at->uid = column_id(stmt, 0);
    sqlite3_reset(stmt);
    return st;
}

/* Statistics outlive the rows of their job, so that they are gone through by themselves; the zero
 * uid, of all jobs together, comes first. */
static enum status prune_stats(struct database *database, const struct history_prune *prune,
                               struct pruning *at, bool *ret_done)
{
    int cells = 0;
    sqlite3_stmt *stmt;
    int64_t hour = stats_prune_hour(prune);
    if (!hour) {
        *ret_done = true;
        return OK;
    }
    enum status st = stats_delete(database, &at->uid, hour, STEP_CELLS, &cells);
    if (st != OK || cells == STEP_CELLS)
        return st;
    if (!id_is_zero(&prune->job_uid)) {
        *ret_done = true;
        return OK;
    }
    st = database_statement(database, TABLE_RUNS, SQL_NEXT_STATS_UID, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &at->uid);
    st = statement_row(stmt);
    if (st == OK)
        at->uid = column_id(stmt, 0);
    sqlite3_reset(stmt);
    *ret_done = st == E_NOT_FOUND;
    return st == E_NOT_FOUND ? OK : st;
}

static enum status prune_changes(struct database *database, const struct history_prune *prune,
                                 struct pruning *at, bool *ret_done)
{
    int rows = 0;
    enum status st = OK;
    if (prune->changes_before_ms && id_is_zero(&prune->job_uid))
        st = changes_delete(database, prune->changes_before_ms, STEP_ROWS, &rows);
    at->removed += rows;
    *ret_done = rows < STEP_ROWS;
    return st;
}

static enum status vacuum(struct database *database, struct pruning *at, bool *ret_done)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_FREE_PAGES, &stmt);
    if (st == OK)
        st = statement_row(stmt);
    if (st != OK)
        return st;
    int64_t free_pages = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    bool stuck = at->free_pages && free_pages >= at->free_pages;
    at->free_pages = free_pages;
    if (free_pages <= 2 * FREE_PAGES_KEPT || stuck) {
        *ret_done = true;
        return OK;
    }
    return database_do(database, SQL_VACUUM);
}

static enum status prune_step(struct database *database, struct history_prune *prune,
                              struct pruning *at, bool *ret_finished)
{
    bool done = false;
    int rows;
    enum status st = OK;
    switch (at->phase) {
    case PRUNE_NEXT_JOB:
        st = next_job(database, prune, at);
        at->phase = PRUNE_RUNS;
        if (st == E_NOT_FOUND)
            at->phase = PRUNE_BYTES;
        return st == E_NOT_FOUND ? OK : st;
    case PRUNE_RUNS:
    case PRUNE_ENTRIES:
        st = prune_table(database, prune, at, at->phase == PRUNE_RUNS ? TABLE_RUNS : TABLE_ENTRIES,
                         &done);
        if (done) {
            at->phase = at->phase == PRUNE_RUNS ? PRUNE_ENTRIES : PRUNE_JOB_ITSELF;
            at->oldest = (struct id){{0}};
        }
        return st;
    case PRUNE_JOB_ITSELF:
        at->phase = PRUNE_NEXT_JOB;
        return delete_by_id(database, TABLE_RUNS, SQL_DROP_JOB, &at->uid, &rows);
    case PRUNE_BYTES:
        st = prune_bytes(database, prune, at, &done);
        if (done) {
            at->phase = PRUNE_STATS;
            at->uid = prune->job_uid;
        }
        return st;
    case PRUNE_STATS:
        st = prune_stats(database, prune, at, &done);
        if (done)
            at->phase = PRUNE_CHANGES;
        return st;
    case PRUNE_CHANGES:
        st = prune_changes(database, prune, at, &done);
        if (done)
            at->phase = PRUNE_VACUUM;
        return st;
    case PRUNE_VACUUM:
        st = vacuum(database, at, &done);
        if (done) {
            prune->removed = at->removed;
            *ret_finished = true;
        }
        return st;
    }
    return st;
}

enum status prune_turn(struct database *database, struct history_prune *prune, struct pruning *at,
                       bool *ret_finished)
{
    int64_t until_ms = clock_now().boot.ms + TURN_MS;
    bool finished = false;
    enum status st = database_do(database, SQL_BEGIN_WRITE);
    while (st == OK && !finished && clock_now().boot.ms < until_ms)
        st = prune_step(database, prune, at, &finished);
    if (st == OK)
        st = database_do(database, SQL_COMMIT);
    if (st == OK)
        *ret_finished = finished;
    return st;
}
