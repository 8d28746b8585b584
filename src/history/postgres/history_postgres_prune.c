/* Retention: the operations of struct prune_driver. Expired months are dropped as partitions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

enum {
    STEP_JOBS = 100,
    STEP_CELLS = 1000, /* rows of statistics in one step */
};

/* ---- months ---- */

/* The next month that has partitions; E_NOT_FOUND: none. */
static enum status next_month(struct postgres_link *link, int after, int *ret)
{
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    params_int(&params, after / 12 * 100 + (after ? after % 12 + 1 : 0)); /* 202711 */
    enum status st = link_run(link, TABLE_RUNS, SQL_MONTHS, &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    bool found = PQntuples(result) > 0;
    if (found) {
        int64_t number = result_int(result, 0, 0);
        *ret = (int)(number / 100 * 12 + number % 100 - 1);
    }
    PQclear(result);
    return found ? OK : E_NOT_FOUND;
}

/* The number of rows of a month, and of those among them that are not expired. */
static enum status count_rows(struct postgres_link *link, const char *name, int64_t before_ms,
                              int64_t *ret_rows, int64_t *ret_later)
{
    char sql[512];
    PGresult *result = NULL;
    snprintf(sql, sizeof(sql),
             "SELECT count(*), count(*) FILTER (WHERE ended_ms >= %lld) FROM"
             " (SELECT ended_ms FROM runs_%s UNION ALL SELECT ended_ms FROM entries_%s) u",
             (long long)before_ms, name, name);
    enum status st = link_command(link, sql, &result);
    if (st != OK)
        return st;
    *ret_rows = atoll(PQgetvalue(result, 0, 0));
    *ret_later = atoll(PQgetvalue(result, 0, 1));
    PQclear(result);
    return OK;
}

/* Drops the partitions of a month if all rows are expired. The lock keeps writers out between count
 * and drop; readers wait only for the drop. If the lock or the count times out, later phases remove
 * the rows one by one. */
static enum status drop_month(struct postgres_link *link, int month, int64_t before_ms,
                              int64_t *removed)
{
    char name[16];
    int64_t rows = 0, later = 0;
    month_name(month, name);
    enum status st = link_commandf(link,
                                   "BEGIN; SET LOCAL lock_timeout = 1000;"
                                   "LOCK TABLE runs_%s, entries_%s, output_%s"
                                   " IN SHARE ROW EXCLUSIVE MODE",
                                   name, name, name);
    if (st == OK)
        st = count_rows(link, name, before_ms, &rows, &later);
    if (st == OK && !later)
        st = link_commandf(link, "DROP TABLE runs_%s, entries_%s, output_%s", name, name, name);
    if (st == OK)
        st = link_command(link, "COMMIT", NULL);
    if (st == OK && !later) {
        *removed += rows;
        schema_forget_months(link);
    }
    if (st == E_CONFLICT || st == E_BUSY) {
        link_roll_back(link);
        return OK;
    }
    return st;
}

/* place->number is the last month that was checked. */
static enum status drop_months(struct history_link *link, int64_t before_ms,
                               struct prune_place *place, int64_t *removed, bool *ret_done)
{
    int month = 0;
    enum status st = next_month(link_of(link), (int)place->number, &month);
    *ret_done = st == E_NOT_FOUND || (st == OK && month_start_ms(month + 1) > before_ms);
    if (*ret_done)
        return OK;
    place->number = month;
    return st == OK ? drop_month(link_of(link), month, before_ms, removed) : st;
}

/* ---- finding rows ---- */

/* Adds the keys of a job as an array. */
static enum status add_keys(struct postgres_link *link, const struct id *uid, struct params *params)
{
    int count = 0;
    params_array(params, ARRAY_INT);
    enum status st = postgres_find_keys(link, uid, NULL, params, &count);
    params_array_end(params);
    return st;
}

/* Runs a statement that returns ids, and optionally the size of each run's kept output. */
static enum status find_rows(struct postgres_link *link, enum record_table table,
                             enum statement which, const struct params *params,
                             struct prune_rows *ret)
{
    PGresult *result = NULL;
    enum status st = link_run(link, table, which, params, &result);
    if (st != OK)
        return st;
    for (int i = 0; i < PQntuples(result) && i < PRUNE_ROWS; i++) {
        bool has_bytes = PQnfields(result) > 1 && !PQgetisnull(result, i, 1);
        ret->ids[i] = result_id(result, i, 0);
        ret->output_bytes[i] = has_bytes ? result_int(result, i, 1) : 0;
        ret->count++;
    }
    PQclear(result);
    return OK;
}

static enum status find_nth(struct history_link *link, enum record_table table,
                            const struct id *uid, int64_t nth, struct id *ret)
{
    struct params params;
    struct prune_rows rows = {.count = 0};
    struct id beyond_all;
    memset(beyond_all.bytes, 255, sizeof(beyond_all.bytes));
    params_init(&params);
    enum status st = add_keys(link_of(link), uid, &params);
    params_id(&params, &beyond_all);
    params_int(&params, nth);
    if (st == OK)
        st = find_rows(link_of(link), table, SQL_OLDEST_KEPT, &params, &rows);
    params_release(&params);
    if (st == OK)
        *ret = rows.count ? rows.ids[0] : (struct id){{0}};
    return st;
}

static enum status find_old(struct history_link *link, enum record_table table,
                            const struct id *uid, const struct id *below, int64_t before_ms,
                            struct prune_rows *ret)
{
    struct params params;
    bool is_one = !id_is_zero(uid);
    enum statement which = !before_ms ? SQL_OLDER : is_one ? SQL_ENDED : SQL_ENDED_ALL;
    params_init(&params);
    enum status st = is_one ? add_keys(link_of(link), uid, &params) : OK;
    params_id(&params, below);
    params_int(&params, PRUNE_ROWS);
    if (before_ms)
        params_int(&params, before_ms);
    if (st == OK)
        st = find_rows(link_of(link), table, which, &params, ret);
    params_release(&params);
    return st;
}

static enum status find_bytes(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret)
{
    struct params params;
    bool is_one = !id_is_zero(uid);
    params_init(&params);
    enum status st = is_one ? add_keys(link_of(link), uid, &params) : OK;
    params_id(&params, below);
    params_int(&params, PRUNE_ROWS);
    if (st == OK)
        st = find_rows(link_of(link), TABLE_RUNS, is_one ? SQL_BYTES : SQL_BYTES_ALL, &params, ret);
    params_release(&params);
    return st;
}

static enum status find_kinds(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret)
{
    struct params params;
    params_init(&params);
    enum status st = add_keys(link_of(link), uid, &params);
    params_id(&params, below);
    params_int(&params, PRUNE_ROWS);
    if (st == OK)
        st = find_rows(link_of(link), TABLE_RUNS, SQL_KINDS, &params, ret);
    params_release(&params);
    for (size_t i = 0; st == OK && i < ret->count; i++)
        ret->is_step[i] = ret->output_bytes[i] != 0;
    return st;
}

/* ---- removing ---- */

/* Runs a statement and returns the number of rows it changed. */
static enum status count_gone(struct postgres_link *link, enum record_table table,
                              enum statement which, const struct params *params, int64_t *ret)
{
    PGresult *result = NULL;
    enum status st = link_run(link, table, which, params, &result);
    *ret = st == OK ? atoll(PQcmdTuples(result)) : 0;
    PQclear(result);
    return st;
}

static enum status remove_rows(struct history_link *link, enum record_table table,
                               const struct prune_rows *rows, int64_t *removed, size_t *ret_count)
{
    struct params ids;
    int64_t gone = 0;
    params_init(&ids);
    params_array(&ids, ARRAY_ID);
    for (size_t i = 0; i < rows->count; i++)
        params_add_id(&ids, &rows->ids[i]);
    params_array_end(&ids);
    enum status st = link_command(link_of(link), "BEGIN", NULL);
    if (st == OK)
        st = count_gone(link_of(link), table, SQL_DELETE, &ids, &gone);
    if (st == OK && table == TABLE_RUNS)
        st = link_do(link_of(link), TABLE_RUNS, SQL_DELETE_OUTPUT, &ids);
    if (st == OK)
        st = link_command(link_of(link), "COMMIT", NULL);
    params_release(&ids);
    *removed += st == OK ? gone : 0;
    *ret_count = rows->count;
    return st;
}

static enum status next_job(struct history_link *link, const struct id *after, struct id *ret)
{
    struct params params;
    struct prune_rows jobs = {.count = 0};
    params_init(&params);
    params_id(&params, after);
    enum status st = find_rows(link_of(link), TABLE_RUNS, SQL_NEXT_JOB_UID, &params, &jobs);
    params_release(&params);
    if (st == OK && jobs.count)
        *ret = jobs.ids[0];
    return st == OK && !jobs.count ? E_NOT_FOUND : st;
}

/* The advisory lock keeps out appends, which might add a row to a job that is being dropped. */
static enum status drop_jobs(struct history_link *link, const struct id *uid,
                             struct prune_place *place, bool *ret_done)
{
    struct params params;
    struct prune_rows last = {.count = 0};
    bool is_one = !id_is_zero(uid);
    enum status st = link_command(link_of(link),
                                  "BEGIN; SELECT pg_advisory_xact_lock(1885692268,"
                                  " hashtext(current_schema() || ' jobs'))",
                                  NULL);
    params_init(&params);
    params_id(&params, is_one ? uid : &place->uid);
    if (!is_one)
        params_int(&params, STEP_JOBS);
    if (st == OK)
        st = find_rows(link_of(link), TABLE_RUNS, is_one ? SQL_DROP_JOB : SQL_DROP_JOBS, &params,
                       &last);
    params_release(&params);
    if (last.count)
        place->uid = last.ids[0];
    *ret_done = !last.count;
    return st == OK ? link_command(link_of(link), "COMMIT", NULL) : st;
}

static enum status remove_stats(struct history_link *link, const struct id *uid, int64_t hour,
                                struct prune_place *place, bool *ret_done)
{
    struct params params;
    int64_t gone;
    bool is_one = !id_is_zero(uid);
    (void)place;
    params_init(&params);
    params_int(&params, hour);
    params_int(&params, STEP_CELLS);
    if (is_one)
        params_id(&params, uid);
    enum status st = count_gone(link_of(link), TABLE_RUNS,
                                is_one ? SQL_DELETE_JOB_STATS : SQL_DELETE_STATS, &params, &gone);
    params_release(&params);
    *ret_done = gone < STEP_CELLS;
    return st;
}

static enum status remove_changes(struct history_link *link, int64_t before_ms, int64_t *removed,
                                  bool *ret_done)
{
    struct params params;
    struct id below = history_id_at(before_ms);
    int64_t gone;
    params_init(&params);
    params_id(&params, &below);
    params_int(&params, PRUNE_ROWS);
    enum status st = count_gone(link_of(link), TABLE_CHANGES, SQL_DELETE_CHANGES, &params, &gone);
    params_release(&params);
    *removed += gone;
    *ret_done = gone < PRUNE_ROWS;
    return st;
}

const struct prune_driver postgres_prune_driver = {
    .drop_old = drop_months,
    .next_job = next_job,
    .find_nth = find_nth,
    .find_old = find_old,
    .find_bytes = find_bytes,
    .find_kinds = find_kinds,
    .remove = remove_rows,
    .drop_jobs = drop_jobs,
    .remove_stats = remove_stats,
    .remove_changes = remove_changes,
};
