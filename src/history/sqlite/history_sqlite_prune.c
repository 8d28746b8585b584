/* Retention: the operations of struct prune_driver. */
#include <stdio.h>

#include "sqlite/history_sqlite.h"

enum {
    STEP_PIECES = 128,     /* rows of output in one step, at most 64 KiB each */
    STEP_CELLS = 500,      /* rows of statistics in one step */
    FREE_PAGES_KEPT = 256, /* left in the file for the next appends */
};

static enum status begin(struct history_link *link)
{
    return database_do(database_of(link), SQL_BEGIN_WRITE);
}

static enum status commit(struct history_link *link)
{
    return database_do(database_of(link), SQL_COMMIT);
}

/* ---- finding rows ---- */

static enum status find_old(struct history_link *link, enum record_table table,
                            const struct id *uid, const struct id *below, int64_t before_ms,
                            struct prune_rows *ret)
{
    enum statement of_job = before_ms ? SQL_ENDED : SQL_OLDER;
    sqlite3_stmt *stmt;
    enum status st = database_statement(database_of(link), table,
                                        id_is_zero(uid) ? SQL_ALL_ENDED : of_job, &stmt);
    if (st != OK)
        return st;
    if (!id_is_zero(uid))
        bind_id(stmt, 1, uid);
    bind_id(stmt, 2, below);
    sqlite3_bind_int(stmt, 3, PRUNE_ROWS);
    if (before_ms)
        sqlite3_bind_int64(stmt, 4, before_ms);
    while (ret->count < PRUNE_ROWS && (st = statement_row(stmt)) == OK)
        ret->ids[ret->count++] = column_id(stmt, 0);
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status find_nth(struct history_link *link, enum record_table table,
                            const struct id *uid, int64_t nth, struct id *ret)
{
    struct history_query query = {.job_uid = *uid};
    struct walk walk;
    struct id id = {{0}};
    enum record_table found_in;
    bool can_match;
    enum status st = walk_open_table(&walk, database_of(link), &query, table);
    if (st != OK)
        return st;
    for (int64_t i = 0; i < nth && st == OK; i++)
        st = walk_next(&walk, &found_in, &id, &can_match);
    walk_close(&walk);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    *ret = st == OK ? id : (struct id){{0}};
    return OK;
}

static enum status read_is_step(struct database *database, const struct id *run_id, bool *ret)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_IS_STEP, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, run_id);
    st = statement_row(stmt);
    *ret = st == OK && sqlite3_column_int(stmt, 0);
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}

/* The newest runs below an id, each with the size of its kept output, or with is_step. */
static enum status find_newest(struct database *database, const struct id *uid,
                               const struct id *below, bool with_bytes, struct prune_rows *ret)
{
    struct history_query query = {.job_uid = *uid, .before = *below};
    struct walk walk;
    enum record_table table;
    bool can_match;
    enum status st = walk_open_table(&walk, database, &query, TABLE_RUNS);
    if (st != OK)
        return st;
    while (ret->count < PRUNE_ROWS && st == OK) {
        struct id *id = &ret->ids[ret->count];
        st = walk_next(&walk, &table, id, &can_match);
        if (st == OK && with_bytes)
            st = read_kept_bytes(database, id, &ret->output_bytes[ret->count]);
        else if (st == OK)
            st = read_is_step(database, id, &ret->is_step[ret->count]);
        ret->count += st == OK;
    }
    walk_close(&walk);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status find_bytes(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret)
{
    return find_newest(database_of(link), uid, below, true, ret);
}

static enum status find_kinds(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret)
{
    return find_newest(database_of(link), uid, below, false, ret);
}

/* ---- removing ---- */

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

/* Stops early after STEP_PIECES rows of output, which bounds the length of the step. */
static enum status remove_rows(struct history_link *link, enum record_table table,
                               const struct prune_rows *rows, int64_t *removed, size_t *ret_count)
{
    struct database *database = database_of(link);
    int gone, pieces = 0;
    enum status st = OK;
    size_t i = 0;
    for (; i < rows->count && st == OK && pieces < STEP_PIECES; i++) {
        st = delete_by_id(database, table, SQL_DELETE, &rows->ids[i], &gone);
        *removed += st == OK ? gone : 0;
        if (st != OK || table != TABLE_RUNS)
            continue;
        st = delete_by_id(database, TABLE_RUNS, SQL_DELETE_OUTPUT, &rows->ids[i], &gone);
        pieces += st == OK ? gone : 0;
    }
    *ret_count = i;
    return st;
}

/* The next larger uid; E_NOT_FOUND: there is none. */
static enum status next_uid(struct database *database, enum statement which, const struct id *after,
                            struct id *ret)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, which, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, after);
    st = statement_row(stmt);
    if (st == OK)
        *ret = column_id(stmt, 0);
    sqlite3_reset(stmt);
    return st;
}

static enum status next_job(struct history_link *link, const struct id *after, struct id *ret)
{
    return next_uid(database_of(link), SQL_NEXT_JOB_UID, after, ret);
}

static enum status drop_jobs(struct history_link *link, const struct id *uid,
                             struct prune_place *place, bool *ret_done)
{
    int gone;
    enum status st = OK;
    if (id_is_zero(uid))
        st = next_job(link, &place->uid, &place->uid);
    else
        place->uid = *uid;
    *ret_done = st == E_NOT_FOUND || !id_is_zero(uid);
    if (st == OK)
        st = delete_by_id(database_of(link), TABLE_RUNS, SQL_DROP_JOB, &place->uid, &gone);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status delete_cells(struct database *database, const struct id *uid, int64_t hour,
                                int *ret_cells)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_DELETE_STATS, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, uid);
    sqlite3_bind_int64(stmt, 2, hour);
    sqlite3_bind_int(stmt, 3, STEP_CELLS);
    st = statement_done(stmt);
    *ret_cells = sqlite3_changes(database->db);
    return st;
}

/* Statistics outlive the rows of their job, so the uids come from the table stats itself; the zero
 * uid, of all jobs together, is the first. */
static enum status remove_stats(struct history_link *link, const struct id *uid, int64_t hour,
                                struct prune_place *place, bool *ret_done)
{
    int cells = 0;
    bool is_one = !id_is_zero(uid);
    enum status st = delete_cells(database_of(link), is_one ? uid : &place->uid, hour, &cells);
    if (st != OK || cells == STEP_CELLS)
        return st;
    if (!is_one)
        st = next_uid(database_of(link), SQL_NEXT_STATS_UID, &place->uid, &place->uid);
    *ret_done = is_one || st == E_NOT_FOUND;
    return st == E_NOT_FOUND ? OK : st;
}

static enum status remove_changes(struct history_link *link, int64_t before_ms, int64_t *removed,
                                  bool *ret_done)
{
    struct id below = history_id_at(before_ms);
    sqlite3_stmt *stmt;
    enum status st =
        database_statement(database_of(link), TABLE_CHANGES, SQL_DELETE_CHANGES, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &below);
    sqlite3_bind_int(stmt, 2, PRUNE_ROWS);
    st = statement_done(stmt);
    if (st != OK)
        return st;
    int gone = sqlite3_changes(database_of(link)->db);
    *removed += gone;
    *ret_done = gone < PRUNE_ROWS;
    return OK;
}

/* place->number is the count of free pages before the last step; no progress ends the phase. */
static enum status shrink(struct history_link *link, struct prune_place *place, bool *ret_done)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database_of(link), TABLE_RUNS, SQL_FREE_PAGES, &stmt);
    if (st == OK)
        st = statement_row(stmt);
    if (st != OK)
        return st;
    int64_t free_pages = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    bool stuck = place->number && free_pages >= place->number;
    place->number = free_pages;
    *ret_done = free_pages <= 2 * FREE_PAGES_KEPT || stuck;
    return *ret_done ? OK : database_do(database_of(link), SQL_VACUUM);
}

const struct prune_driver sqlite_prune_driver = {
    .begin = begin,
    .commit = commit,
    .next_job = next_job,
    .find_nth = find_nth,
    .find_old = find_old,
    .find_bytes = find_bytes,
    .find_kinds = find_kinds,
    .remove = remove_rows,
    .drop_jobs = drop_jobs,
    .remove_stats = remove_stats,
    .remove_changes = remove_changes,
    .shrink = shrink,
};
