/* Retention, in steps so short that an append never waits long:
 *
 *     MONTHS -> RUNS -> ENTRIES -> (NEXT_JOB -> RUNS -> ENTRIES)... -> BYTES -> JOBS ->
 *     STATS -> CHANGES
 *
 * Months that are too old go as a whole. Then come the rows of all jobs, or of the one that is
 * asked for, by age; then each job's, by count; then those with too much output. All are repeated
 * until nothing is left to remove.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

enum {
    STEP_ROWS = 200,
    STEP_JOBS = 100,
    STEP_CELLS = 1000, /* of statistics */
    CONFLICTS_MAX = 5, /* of one step */
};

/* ---- months ---- */

/* E_NOT_FOUND: there is none left. */
static enum status next_month(struct link *link, int after, int *ret)
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

/* How many rows a month has, and how many of them ended too late to go. */
static enum status count_rows(struct link *link, const char *name, int64_t before_ms,
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

/* Nobody can add to it between the look and the drop, and readers wait for the drop alone. If it
 * cannot be had, or is so large that the look takes too long, its rows go one by one. */
static enum status drop_month(struct link *link, int month, int64_t before_ms, int64_t *removed)
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

static enum status prune_months(struct link *link, const struct history_prune *prune,
                                struct pruning *at, bool *ret_done)
{
    int month = 0;
    if (!prune->before_ms || !id_is_zero(&prune->job_uid)) {
        *ret_done = true;
        return OK;
    }
    enum status st = next_month(link, at->month, &month);
    if (st == E_NOT_FOUND || (st == OK && month_start_ms(month + 1) > prune->before_ms)) {
        *ret_done = true;
        return OK;
    }
    if (st != OK)
        return st;
    at->month = month;
    return drop_month(link, month, prune->before_ms, &at->removed);
}

/* ---- rows ---- */

/* The ids that a statement answers, as the elements of an array. */
static enum status find_victims(struct link *link, enum record_table table, enum statement which,
                                const struct params *given, struct params *ids, int *ret_count)
{
    PGresult *result = NULL;
    enum status st = link_run(link, table, which, given, &result);
    if (st != OK)
        return st;
    *ret_count = PQntuples(result);
    params_array(ids, ARRAY_ID);
    for (int i = 0; i < *ret_count; i++) {
        struct id id = result_id(result, i, 0);
        params_add_id(ids, &id);
    }
    params_array_end(ids);
    PQclear(result);
    return OK;
}

static enum status remove_victims(struct link *link, enum record_table table,
                                  const struct params *ids, int64_t *removed)
{
    PGresult *result = NULL;
    enum status st = link_command(link, "BEGIN", NULL);
    if (st == OK)
        st = link_run(link, table, SQL_DELETE, ids, &result);
    int64_t gone = st == OK ? atoll(PQcmdTuples(result)) : 0;
    PQclear(result);
    if (st == OK && table == TABLE_RUNS)
        st = link_do(link, TABLE_RUNS, SQL_DELETE_OUTPUT, ids);
    if (st == OK)
        st = link_command(link, "COMMIT", NULL);
    if (st == OK)
        *removed += gone;
    return st;
}

/* The id of the oldest that is among the newest keep_runs; the zero id, which nothing is older
 * than, when there are no more than that. */
static enum status find_oldest_kept(struct link *link, enum record_table table,
                                    const struct id *uid, int64_t keep, struct id *ret)
{
    struct params params;
    PGresult *result = NULL;
    struct id beyond_all;
    int keys = 0;
    params_init(&params);
    params_array(&params, ARRAY_INT);
    enum status st = postgres_find_keys(link, uid, NULL, &params, &keys);
    params_array_end(&params);
    memset(beyond_all.bytes, 255, sizeof(beyond_all.bytes));
    params_id(&params, &beyond_all);
    params_int(&params, keep);
    if (st == OK)
        st = link_run(link, table, SQL_OLDEST_KEPT, &params, &result);
    params_release(&params);
    if (st == OK)
        *ret = PQntuples(result) ? result_id(result, 0, 0) : (struct id){{0}};
    PQclear(result);
    return st;
}

/* What of a job, or of all, goes next: by age, or if `oldest` is given, by count. What ended before
 * a time was made before it; that spares looking at everything newer. */
static enum status find_next(struct link *link, const struct history_prune *prune,
                             enum record_table table, const struct id *uid, const struct id *oldest,
                             struct params *ids, int *ret_count)
{
    struct params params;
    struct id below = oldest ? *oldest : history_id_at(prune->before_ms);
    enum statement which = oldest ? SQL_OLDER : id_is_zero(uid) ? SQL_ENDED_ALL : SQL_ENDED;
    enum status st = OK;
    int keys = 0;
    params_init(&params);
    if (which != SQL_ENDED_ALL) {
        params_array(&params, ARRAY_INT);
        st = postgres_find_keys(link, uid, NULL, &params, &keys);
        params_array_end(&params);
    }
    params_id(&params, &below);
    params_int(&params, STEP_ROWS);
    if (!oldest)
        params_int(&params, prune->before_ms);
    if (st == OK)
        st = find_victims(link, table, which, &params, ids, ret_count);
    params_release(&params);
    return st;
}

/* *ret_done: nothing of the table is left to remove. */
static enum status prune_table(struct link *link, const struct history_prune *prune,
                               struct pruning *at, enum record_table table, bool *ret_done)
{
    struct params ids;
    int count = 0;
    bool by_count = prune->keep_runs && !id_is_zero(&at->uid);
    bool by_age = prune->before_ms && (id_is_zero(&at->uid) || !id_is_zero(&prune->job_uid));
    enum status st = OK;
    params_init(&ids);
    if (by_age)
        st = find_next(link, prune, table, &at->uid, NULL, &ids, &count);
    if (st == OK && !count && by_count && id_is_zero(&at->oldest))
        st = find_oldest_kept(link, table, &at->uid, prune->keep_runs, &at->oldest);
    if (st == OK && !count && by_count && !id_is_zero(&at->oldest)) {
        params_release(&ids);
        st = find_next(link, prune, table, &at->uid, &at->oldest, &ids, &count);
    }
    if (st == OK && count)
        st = remove_victims(link, table, &ids, &at->removed);
    params_release(&ids);
    if (st == OK)
        *ret_done = !count;
    return st;
}

/* ---- by bytes ---- */

static enum status find_bytes(struct link *link, const struct history_prune *prune,
                              const struct pruning *at, PGresult **ret)
{
    struct params params;
    struct id below = byte_count_below(&at->bytes);
    bool one = !id_is_zero(&prune->job_uid);
    int keys = 0;
    enum status st = OK;
    params_init(&params);
    if (one) {
        params_array(&params, ARRAY_INT);
        st = postgres_find_keys(link, &prune->job_uid, NULL, &params, &keys);
        params_array_end(&params);
    }
    params_id(&params, &below);
    params_int(&params, STEP_ROWS);
    if (st == OK)
        st = link_run(link, TABLE_RUNS, one ? SQL_BYTES : SQL_BYTES_ALL, &params, ret);
    params_release(&params);
    return st;
}

/* Looks at the next runs of the job, or of all, and removes those of them that go. */
static enum status prune_bytes(struct link *link, const struct history_prune *prune,
                               struct pruning *at, bool *ret_done)
{
    struct params ids;
    PGresult *result = NULL;
    int count = 0;
    *ret_done = !prune->keep_bytes;
    if (*ret_done)
        return OK;
    enum status st = find_bytes(link, prune, at, &result);
    if (st != OK)
        return st;
    params_init(&ids);
    params_array(&ids, ARRAY_ID);
    for (int i = 0; i < PQntuples(result); i++) {
        struct id id = result_id(result, i, 0);
        int64_t bytes = PQgetisnull(result, i, 1) ? 0 : result_int(result, i, 1);
        if (byte_count_goes(&at->bytes, prune->keep_bytes, &id, bytes)) {
            params_add_id(&ids, &id);
            count++;
        }
    }
    params_array_end(&ids);
    *ret_done = PQntuples(result) < STEP_ROWS;
    PQclear(result);
    if (count)
        st = remove_victims(link, TABLE_RUNS, &ids, &at->removed);
    params_release(&ids);
    return st;
}

/* ---- jobs ---- */

/* E_NOT_FOUND: that was the last one. */
static enum status next_job(struct link *link, const struct history_prune *prune,
                            struct pruning *at)
{
    struct params params;
    PGresult *result = NULL;
    if (!id_is_zero(&prune->job_uid) || !prune->keep_runs)
        return E_NOT_FOUND;
    params_init(&params);
    params_id(&params, &at->uid);
    enum status st = link_run(link, TABLE_RUNS, SQL_NEXT_JOB_UID, &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    bool found = PQntuples(result) > 0;
    if (found)
        at->uid = result_id(result, 0, 0);
    PQclear(result);
    return found ? OK : E_NOT_FOUND;
}

/* Jobs that have no rows any more. The lock keeps out those who would add the first. */
static enum status drop_jobs(struct link *link, const struct history_prune *prune,
                             struct pruning *at, bool *ret_done)
{
    struct params params;
    PGresult *result = NULL;
    bool one = !id_is_zero(&prune->job_uid);
    *ret_done = true;
    if (!at->removed)
        return OK;
    enum status st = link_command(link,
                                  "BEGIN; SELECT pg_advisory_xact_lock(1885692268,"
                                  " hashtext(current_schema() || ' jobs'))",
                                  NULL);
    params_init(&params);
    params_id(&params, one ? &prune->job_uid : &at->dropped);
    if (!one)
        params_int(&params, STEP_JOBS);
    if (st == OK)
        st = link_run(link, TABLE_RUNS, one ? SQL_DROP_JOB : SQL_DROP_JOBS, &params, &result);
    params_release(&params);
    if (st == OK && !one && PQntuples(result)) {
        at->dropped = result_id(result, 0, 0);
        *ret_done = false;
    }
    PQclear(result);
    return st == OK ? link_command(link, "COMMIT", NULL) : st;
}

static enum status prune_stats(struct link *link, const struct history_prune *prune, bool *ret_done)
{
    struct params params;
    PGresult *result = NULL;
    int64_t hour = stats_prune_hour(prune);
    bool one = !id_is_zero(&prune->job_uid);
    *ret_done = true;
    if (!hour)
        return OK;
    params_init(&params);
    params_int(&params, hour);
    params_int(&params, STEP_CELLS);
    if (one)
        params_id(&params, &prune->job_uid);
    enum status st =
        link_run(link, TABLE_RUNS, one ? SQL_DELETE_JOB_STATS : SQL_DELETE_STATS, &params, &result);
    params_release(&params);
    if (st == OK)
        *ret_done = atoll(PQcmdTuples(result)) < STEP_CELLS;
    PQclear(result);
    return st;
}

static enum status prune_changes(struct link *link, const struct history_prune *prune,
                                 struct pruning *at, bool *ret_done)
{
    int rows = 0;
    enum status st = OK;
    if (prune->changes_before_ms && id_is_zero(&prune->job_uid))
        st = postgres_delete_changes(link, prune->changes_before_ms, STEP_ROWS, &rows);
    at->removed += rows;
    *ret_done = rows < STEP_ROWS;
    return st;
}

/* ---- steps ---- */

static enum status take_step(struct link *link, struct history_prune *prune, struct pruning *at,
                             bool *ret_finished)
{
    bool done = false;
    enum status st = OK;
    switch (at->phase) {
    case PRUNE_MONTHS:
        st = prune_months(link, prune, at, &done);
        if (done) {
            at->phase = PRUNE_RUNS;
            at->uid = prune->job_uid;
        }
        return st;
    case PRUNE_RUNS:
    case PRUNE_ENTRIES:
        st = prune_table(link, prune, at, at->phase == PRUNE_RUNS ? TABLE_RUNS : TABLE_ENTRIES,
                         &done);
        if (done) {
            at->phase = at->phase == PRUNE_RUNS ? PRUNE_ENTRIES : PRUNE_NEXT_JOB;
            at->oldest = (struct id){{0}};
        }
        return st;
    case PRUNE_NEXT_JOB:
        st = next_job(link, prune, at);
        at->phase = st == E_NOT_FOUND ? PRUNE_BYTES : PRUNE_RUNS;
        return st == E_NOT_FOUND ? OK : st;
    case PRUNE_BYTES:
        st = prune_bytes(link, prune, at, &done);
        if (done)
            at->phase = PRUNE_JOBS;
        return st;
    case PRUNE_JOBS:
        st = drop_jobs(link, prune, at, &done);
        if (done)
            at->phase = PRUNE_STATS;
        return st;
    case PRUNE_STATS:
        st = prune_stats(link, prune, &done);
        if (st == OK && done)
            at->phase = PRUNE_CHANGES;
        return st;
    case PRUNE_CHANGES:
        st = prune_changes(link, prune, at, &done);
        if (st == OK && done) {
            prune->removed = at->removed;
            *ret_finished = true;
        }
        return st;
    }
    return st;
}

enum status postgres_prune_step(struct link *link, struct history_prune *prune, struct pruning *at,
                                bool *ret_finished)
{
    struct pruning before = *at;
    enum status st = take_step(link, prune, at, ret_finished);
    if (st != OK)
        link_roll_back(link);
    if (st != E_CONFLICT || before.conflicts == CONFLICTS_MAX) {
        at->conflicts = 0;
        return st;
    }
    *at = before; /* the same step again */
    at->conflicts++;
    return OK;
}
