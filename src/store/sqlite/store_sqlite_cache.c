/* The tables of rules.h with what the rules have read and written lately kept in memory: the rows
 * of jobs, each with all of its runs, and the fence. A run is looked up, counted and read again at
 * every step of its life, which would be more than half of the statements that it costs.
 *
 * No other process writes the database, so what is kept is what is there. Every write goes to the
 * database as well, at once, but for the fence, which is written once for each transaction. A
 * transaction that fails empties the cache, and so does a second without requests. What can't be
 * kept, for want of memory, because a row can't be read, or because a job has very many runs, is
 * asked of the database as before. */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "columns.h"
#include "sqlite/store_sqlite.h"

enum {
    JOBS_MAX = 32768, /* then it is emptied */
    RUNS_MAX = 64,    /* of a job; one with more is not kept */
};

struct cached_run {
    struct run_row row;
    TAILQ_ENTRY(cached_run) link;
};

TAILQ_HEAD(cached_runs, cached_run);

struct cached_job {
    struct id uid;
    struct job_row row;
    bool has_row;            /* `row` is there */
    bool has_runs;           /* so are all of its runs ... */
    bool is_hopeless;        /* ... or can't be */
    struct cached_runs runs; /* by their seq */
    unsigned run_count;
};

static const struct table_type jobs_type = {.key_at = offsetof(struct cached_job, uid),
                                            .key_size = sizeof(struct id)};
static const struct table_type runs_type = {.key_at = offsetof(struct cached_run, row.run.id),
                                            .key_size = sizeof(struct id)};

void sqlite_cache_init(struct sqlite_cache *cache)
{
    *cache = (struct sqlite_cache){.has_fence = false};
    table_init(&cache->jobs, &jobs_type);
    table_init(&cache->runs, &runs_type);
}

static void drop_run(struct sqlite_cache *cache, struct cached_job *job, struct cached_run *run)
{
    table_remove(&cache->runs, run);
    TAILQ_REMOVE(&job->runs, run, link);
    job->run_count--;
    free(run);
}

static void give_up_runs(struct sqlite_cache *cache, struct cached_job *job)
{
    struct cached_run *next, *run = TAILQ_FIRST(&job->runs);
    for (; run; run = next) {
        next = TAILQ_NEXT(run, link);
        table_remove(&cache->runs, run);
        free(run);
    }
    TAILQ_INIT(&job->runs);
    job->run_count = 0;
    job->has_runs = false;
    job->is_hopeless = true;
}

void sqlite_cache_clear(struct sqlite_cache *cache)
{
    table_release_items(&cache->runs);
    table_release_items(&cache->jobs);
    sqlite_cache_init(cache);
}

void sqlite_cache_trim(struct sqlite_cache *cache)
{
    if (cache->jobs.count > JOBS_MAX)
        sqlite_cache_clear(cache);
}

static struct sqlite_db *db_of(struct tables *tables)
{
    return (struct sqlite_db *)tables;
}

/* ---- jobs ---- */

static struct cached_job *find_job(const struct sqlite_db *db, const struct id *uid)
{
    return table_find(&db->cache.jobs, uid);
}

/* NULL: out of memory. */
static struct cached_job *job_of(struct sqlite_db *db, const struct id *uid)
{
    struct cached_job *job = find_job(db, uid);
    if (job)
        return job;
    job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->uid = *uid;
    TAILQ_INIT(&job->runs);
    if (table_insert(&db->cache.jobs, job) == OK)
        return job;
    free(job);
    return NULL;
}

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    struct cached_job *job = find_job(db_of(tables), uid);
    if (job && job->has_row) {
        *ret = job->row;
        return OK;
    }
    enum status st = sqlite_tables_ops.get_job(tables, uid, ret);
    if (st == OK && (job = job_of(db_of(tables), uid))) {
        job->row = *ret;
        job->has_row = true;
    }
    return st;
}

static enum status find_name(struct tables *tables, const char *name, struct id *ret)
{
    return sqlite_tables_ops.find_name(tables, name, ret);
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct cached_job *job = find_job(db_of(tables), &row->uid);
    if (job)
        job->has_row = false;
    return sqlite_tables_ops.put_job(tables, row, name, json);
}

static enum status add_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct cached_job *job = find_job(db_of(tables), &row->uid);
    if (job)
        job->has_row = false;
    return sqlite_tables_ops.add_job(tables, row, name, json);
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct cached_job *job = find_job(db_of(tables), &row->uid);
    if (job) {
        job->row.cursor_ms = row->cursor_ms;
        job->row.rewinds = row->rewinds;
        job->row.last = row->last;
    }
    return sqlite_tables_ops.move_job(tables, row);
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct cached_job *job = find_job(db_of(tables), uid);
    if (job)
        job->has_row = false;
    return sqlite_tables_ops.remove_job(tables, uid);
}

/* ---- runs ---- */

/* Behind those with a smaller seq. False: out of memory, or there are too many. */
static bool keep_run(struct sqlite_db *db, struct cached_job *job, const struct run_row *row)
{
    struct cached_run *run = job->run_count < RUNS_MAX ? malloc(sizeof(*run)) : NULL;
    if (!run)
        return false;
    run->row = *row;
    if (table_insert(&db->cache.runs, run) != OK) {
        free(run);
        return false;
    }
    struct cached_run *before;
    TAILQ_FOREACH_REVERSE(before, &job->runs, cached_runs, link)
    {
        if (before->row.seq < row->seq)
            break;
    }
    if (before)
        TAILQ_INSERT_AFTER(&job->runs, before, run, link);
    else
        TAILQ_INSERT_HEAD(&job->runs, run, link);
    job->run_count++;
    return true;
}

/* Reads all runs of the job. E_NOT_FOUND: they can't be kept. */
static enum status load_runs(struct sqlite_db *db, struct cached_job *job)
{
    struct run_row row;
    sqlite3_stmt *stmt = db->stmts[SQL_RUNS_OF_JOB];
    sqlite3_bind_blob(stmt, 1, job->uid.bytes, sizeof(job->uid.bytes), SQLITE_STATIC);
    enum status st = sqlite_first_row(db, SQL_RUNS_OF_JOB);
    for (; st == OK; st = sqlite_first_row(db, SQL_RUNS_OF_JOB)) {
        if (sqlite_read_run(stmt, &row) && keep_run(db, job, &row))
            continue;
        sqlite3_reset(stmt);
        give_up_runs(&db->cache, job);
        return E_NOT_FOUND;
    }
    if (st != E_NOT_FOUND)
        return st;
    job->has_runs = true;
    return OK;
}

/* *ret is the job, with all of its runs; NULL: they are not kept. */
static enum status with_runs(struct sqlite_db *db, const struct id *job_uid,
                             struct cached_job **ret)
{
    struct cached_job *job = job_of(db, job_uid);
    enum status st = job && !job->has_runs && !job->is_hopeless ? load_runs(db, job) : OK;
    *ret = job && job->has_runs ? job : NULL;
    return st == E_NOT_FOUND ? OK : st;
}

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    struct cached_job *job;
    const struct cached_run *run = table_find(&db_of(tables)->cache.runs, id);
    if (run) {
        *ret = run->row;
        return OK;
    }
    enum status st = sqlite_tables_ops.get_run(tables, id, ret);
    return st == OK ? with_runs(db_of(tables), &ret->run.job_uid, &job) : st;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct id *ret)
{
    struct cached_job *job;
    const struct cached_run *run;
    enum status st = with_runs(db_of(tables), job_uid, &job);
    if (st != OK)
        return st;
    if (!job)
        return sqlite_tables_ops.find_run(tables, job_uid, tick_ms, attempt, part, ret);
    TAILQ_FOREACH (run, &job->runs, link) {
        if (!run_row_is(&run->row, tick_ms, attempt, part))
            continue;
        *ret = run->row.run.id;
        return OK;
    }
    return E_NOT_FOUND;
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    struct cached_job *job;
    const struct cached_run *run;
    enum status st = with_runs(db_of(tables), job_uid, &job);
    if (st != OK)
        return st;
    if (!job)
        return sqlite_tables_ops.count_open(tables, job_uid, ret_open, ret_queued);
    *ret_open = *ret_queued = 0;
    TAILQ_FOREACH (run, &job->runs, link) {
        *ret_open += state_is_open(run->row.run.state);
        *ret_queued += run_row_is_queued(&run->row);
    }
    return OK;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             int after_part, struct run_row *ret)
{
    struct cached_job *job;
    const struct cached_run *run;
    enum status st = with_runs(db_of(tables), job_uid, &job);
    if (st != OK)
        return st;
    if (!job)
        return sqlite_tables_ops.next_open(tables, job_uid, after_seq, after_part, ret);
    TAILQ_FOREACH (run, &job->runs, link) {
        if (!run_row_is_after(&run->row, after_seq, after_part) ||
            !state_is_open(run->row.run.state))
            continue;
        *ret = run->row;
        return OK;
    }
    return E_NOT_FOUND;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    struct cached_job *job;
    const struct cached_run *run;
    enum status st = with_runs(db_of(tables), job_uid, &job);
    if (st != OK)
        return st;
    if (!job)
        return sqlite_tables_ops.oldest_queued(tables, job_uid, ret);
    TAILQ_FOREACH (run, &job->runs, link) {
        if (!run_row_is_queued(&run->row))
            continue;
        *ret = run->row;
        return OK;
    }
    return E_NOT_FOUND;
}

static enum status each_grouped(struct tables *tables,
                                bool (*visit)(void *context, const struct run_row *row),
                                void *context)
{
    return sqlite_tables_ops.each_grouped(tables, visit, context);
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct sqlite_db *db = db_of(tables);
    struct cached_job *job = find_job(db, &run->job_uid);
    enum status st = sqlite_tables_ops.add_run(tables, run);
    if (st != OK || !job || !job->has_runs)
        return st;
    struct run_row row = {.seq = sqlite3_last_insert_rowid(db->handle), .run = *run};
    if (!keep_run(db, job, &row))
        give_up_runs(&db->cache, job);
    return OK;
}

/* What the database does not update, either, stays. */
static void keep_identity(struct run *run, const struct run *before)
{
    const struct column_set columns = run_columns(IN_SQLITE | IDENTITY, 0);
    for (const struct column *column = NULL; (column = column_next(&columns, column));)
        memcpy((char *)run + column->offset, column_field(column, before), column->size);
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    struct cached_run *run = table_find(&db_of(tables)->cache.runs, &row->run.id);
    if (run) {
        struct run before = run->row.run;
        run->row = *row;
        keep_identity(&run->row.run, &before);
    }
    return sqlite_tables_ops.set_run(tables, row);
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct sqlite_db *db = db_of(tables);
    enum status st = sqlite_tables_ops.remove_ended_run(tables, id);
    struct cached_run *run = st == OK ? table_find(&db->cache.runs, id) : NULL;
    struct cached_job *job = run ? find_job(db, &run->row.run.job_uid) : NULL;
    if (job)
        drop_run(&db->cache, job, run);
    return st;
}

/* ---- the rest ---- */

static enum status next_fence(struct tables *tables, int64_t *ret)
{
    struct sqlite_cache *cache = &db_of(tables)->cache;
    enum status st = OK;
    if (!cache->has_fence)
        st = sqlite_tables_ops.next_fence(tables, &cache->fence);
    else
        cache->fence++;
    cache->is_fence_ahead |= cache->has_fence;
    cache->has_fence = st == OK;
    *ret = cache->fence;
    return st;
}

enum status sqlite_cache_write(struct sqlite_db *db)
{
    if (!db->cache.is_fence_ahead)
        return OK;
    db->cache.is_fence_ahead = false;
    sqlite3_bind_int64(db->stmts[SQL_SET_FENCE], 1, db->cache.fence);
    return sqlite_finish(db, SQL_SET_FENCE);
}

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    return sqlite_tables_ops.add_entry(tables, entry);
}

static enum status remove_entry(struct tables *tables, const struct id *id)
{
    return sqlite_tables_ops.remove_entry(tables, id);
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    return sqlite_tables_ops.set_meta(tables, meta);
}

static enum status set_drain(struct tables *tables, const struct store_drain *drain)
{
    return sqlite_tables_ops.set_drain(tables, drain);
}

static enum status get_doc(struct tables *tables, const char *kind, const char *name,
                           int64_t *ret_revision)
{
    return sqlite_tables_ops.get_doc(tables, kind, name, ret_revision);
}

static enum status put_doc(struct tables *tables, const struct store_doc *doc)
{
    return sqlite_tables_ops.put_doc(tables, doc);
}

const struct tables_ops sqlite_cached_ops = TABLES_OPS(get_job, add_job, NULL, NULL, NULL);
