/* The store without a disk: hash tables and lists. The plainest backend, to read the others
 * against. Out of memory in the middle of a request leaves that request half done; nothing else can
 * fail here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "hash.h"
#include "rules.h"
#include "table.h"

struct memory_run {
    struct run_row row;
    TAILQ_ENTRY(memory_run) of_job; /* in the order of making */
};

TAILQ_HEAD(run_list, memory_run);

/* Stays when it is purged, for the runs that it still has. */
struct memory_job {
    struct job_row row;
    char *name, *json;
    bool purged;
    struct run_list runs;
};

enum { METAS = 8 };

struct store_memory {
    struct store base;
    struct tables tables;
    struct store_wake wake;
    struct table jobs;  /* by uid */
    struct table names; /* the same jobs by name, those that are not deleted */
    struct table runs, entries;
    struct store_set_meta metas[METAS];
    size_t meta_count;
    int64_t last_seq, last_fence;
    struct store_request *waiting, **waiting_end;
    bool loaded, closing;
    struct feed feed;
    struct feed_item *held;
};

/* ---- the tables' keys ---- */

static uint64_t id_hash(const struct id *id)
{
    return hash_bytes(0, id->bytes, sizeof(id->bytes));
}

static uint64_t job_hash(const void *item)
{
    return id_hash(&((const struct memory_job *)item)->row.uid);
}

static bool job_has_uid(const void *item, const void *key)
{
    return id_compare(&((const struct memory_job *)item)->row.uid, key) == 0;
}

static uint64_t name_hash(const void *item)
{
    return hash_text(0, ((const struct memory_job *)item)->name);
}

static bool job_has_name(const void *item, const void *key)
{
    return strcmp(((const struct memory_job *)item)->name, key) == 0;
}

static uint64_t run_hash(const void *item)
{
    return id_hash(&((const struct memory_run *)item)->row.run.id);
}

static bool run_has_id(const void *item, const void *key)
{
    return id_compare(&((const struct memory_run *)item)->row.run.id, key) == 0;
}

static uint64_t entry_hash(const void *item)
{
    return id_hash(&((const struct ledger_entry *)item)->id);
}

static bool entry_has_id(const void *item, const void *key)
{
    return id_compare(&((const struct ledger_entry *)item)->id, key) == 0;
}

static const struct table_type jobs_type = {job_hash, job_has_uid};
static const struct table_type names_type = {name_hash, job_has_name};
static const struct table_type runs_type = {run_hash, run_has_id};
static const struct table_type entries_type = {entry_hash, entry_has_id};

static struct store_memory *of_tables(struct tables *tables)
{
    return (struct store_memory *)((char *)tables - offsetof(struct store_memory, tables));
}

static struct memory_job *find_job(struct tables *tables, const struct id *uid)
{
    return table_find(&of_tables(tables)->jobs, id_hash(uid), uid);
}

static struct memory_run *find_run_by_id(struct tables *tables, const struct id *id)
{
    return table_find(&of_tables(tables)->runs, id_hash(id), id);
}

/* ---- jobs ---- */

static enum status get_job(struct tables *tables, const struct id *uid, struct job_row *ret)
{
    const struct memory_job *job = find_job(tables, uid);
    if (!job || job->purged)
        return E_NOT_FOUND;
    *ret = job->row;
    return OK;
}

static enum status find_name(struct tables *tables, const char *name, struct id *ret)
{
    const struct memory_job *job = table_find(&of_tables(tables)->names, hash_text(0, name), name);
    if (!job)
        return E_NOT_FOUND;
    *ret = job->row.uid;
    return OK;
}

static struct memory_job *add_job(struct store_memory *store, const struct id *uid)
{
    struct memory_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->row.uid = *uid;
    job->row.deleted = true; /* in no table of names yet */
    TAILQ_INIT(&job->runs);
    if (table_insert(&store->jobs, job) != OK) {
        free(job);
        return NULL;
    }
    return job;
}

static enum status put_job(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json)
{
    struct store_memory *store = of_tables(tables);
    struct memory_job *job = find_job(tables, &row->uid);
    char *new_name = strdup(name), *new_json = strdup(json);
    if (!job)
        job = add_job(store, &row->uid);
    if (!job || !new_name || !new_json) {
        free(new_name);
        free(new_json);
        return E_NOMEM;
    }
    if (!job->row.deleted)
        table_remove(&store->names, job);
    free(job->name);
    free(job->json);
    job->name = new_name;
    job->json = new_json;
    job->row = *row;
    job->purged = false;
    return row->deleted ? OK : table_insert(&store->names, job);
}

static enum status move_job(struct tables *tables, const struct job_row *row)
{
    struct memory_job *job = find_job(tables, &row->uid);
    job->row.cursor_ms = row->cursor_ms;
    job->row.last = row->last;
    return OK;
}

static enum status remove_job(struct tables *tables, const struct id *uid)
{
    struct memory_job *job = find_job(tables, uid);
    if (!job->row.deleted)
        table_remove(&of_tables(tables)->names, job);
    job->row = (struct job_row){.uid = *uid, .deleted = true};
    job->purged = true;
    return OK;
}

/* ---- runs ---- */

static enum status get_run(struct tables *tables, const struct id *id, struct run_row *ret)
{
    const struct memory_run *run = find_run_by_id(tables, id);
    if (!run)
        return E_NOT_FOUND;
    *ret = run->row;
    return OK;
}

static enum status find_run(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, struct id *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run->row.run.tick_ms == tick_ms && run->row.run.attempt == attempt) {
            *ret = run->row.run.id;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status count_open(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued)
{
    const struct memory_run *run;
    *ret_open = *ret_queued = 0;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        *ret_open += state_is_open(run->row.run.state);
        *ret_queued += run->row.run.state == RUN_QUEUED;
    }
    return OK;
}

static enum status next_open(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             struct run_row *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run->row.seq > after_seq && state_is_open(run->row.run.state)) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status oldest_queued(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &find_job(tables, job_uid)->runs, of_job) {
        if (run->row.run.state == RUN_QUEUED) {
            *ret = run->row;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

static enum status add_run(struct tables *tables, const struct run *run)
{
    struct store_memory *store = of_tables(tables);
    if (find_run_by_id(tables, &run->id))
        return E_INVALID;
    struct memory_run *new = calloc(1, sizeof(*new));
    if (!new)
        return E_NOMEM;
    new->row.run = *run;
    new->row.seq = ++store->last_seq;
    if (table_insert(&store->runs, new) != OK) {
        free(new);
        return E_NOMEM;
    }
    TAILQ_INSERT_TAIL(&find_job(tables, &run->job_uid)->runs, new, of_job);
    return OK;
}

static enum status set_run(struct tables *tables, const struct run_row *row)
{
    find_run_by_id(tables, &row->run.id)->row = *row;
    return OK;
}

static enum status remove_ended_run(struct tables *tables, const struct id *id)
{
    struct memory_run *run = find_run_by_id(tables, id);
    if (!run || state_is_open(run->row.run.state))
        return E_NOT_FOUND;
    table_remove(&of_tables(tables)->runs, run);
    TAILQ_REMOVE(&find_job(tables, &run->row.run.job_uid)->runs, run, of_job);
    free(run);
    return OK;
}

/* ---- the rest ---- */

static enum status add_entry(struct tables *tables, const struct ledger_entry *entry)
{
    struct store_memory *store = of_tables(tables);
    if (table_find(&store->entries, id_hash(&entry->id), &entry->id))
        return OK;
    struct ledger_entry *new = malloc(sizeof(*new));
    if (!new)
        return E_NOMEM;
    *new = *entry;
    if (table_insert(&store->entries, new) != OK) {
        free(new);
        return E_NOMEM;
    }
    return OK;
}

static enum status remove_entry(struct tables *tables, const struct id *id)
{
    struct store_memory *store = of_tables(tables);
    struct ledger_entry *entry = table_find(&store->entries, id_hash(id), id);
    if (!entry)
        return E_NOT_FOUND;
    table_remove(&store->entries, entry);
    free(entry);
    return OK;
}

static enum status next_fence(struct tables *tables, int64_t *ret)
{
    *ret = ++of_tables(tables)->last_fence;
    return OK;
}

static enum status set_meta(struct tables *tables, const struct store_set_meta *meta)
{
    struct store_memory *store = of_tables(tables);
    size_t i = 0;
    while (i < store->meta_count && strcmp(store->metas[i].key, meta->key) != 0)
        i++;
    if (i == METAS)
        return E_TOO_LARGE;
    if (i == store->meta_count)
        store->meta_count++;
    store->metas[i] = *meta;
    return OK;
}

static const struct tables_ops tables_ops = {
    .get_job = get_job,
    .find_name = find_name,
    .put_job = put_job,
    .move_job = move_job,
    .remove_job = remove_job,
    .get_run = get_run,
    .find_run = find_run,
    .count_open = count_open,
    .next_open = next_open,
    .oldest_queued = oldest_queued,
    .add_run = add_run,
    .set_run = set_run,
    .remove_ended_run = remove_ended_run,
    .add_entry = add_entry,
    .remove_entry = remove_entry,
    .next_fence = next_fence,
    .set_meta = set_meta,
};

/* ---- the store ---- */

static void memory_submit(struct store *base, struct store_request *request)
{
    struct store_memory *store = (struct store_memory *)base;
    request->next = NULL;
    *store->waiting_end = request;
    store->waiting_end = &request->next;
    if (store->wake.wake)
        store->wake.wake(store->wake.context);
}

/* Only what waits now: what is submitted on the way is for the next call. */
static void memory_dispatch(struct store *base)
{
    struct store_memory *store = (struct store_memory *)base;
    struct store_request *request = store->waiting;
    store->waiting = NULL;
    store->waiting_end = &store->waiting;
    while (request) {
        struct store_request *next = request->next;
        enum status st = E_UNREACHABLE;
        if (!store->closing)
            st = rules_apply(&store->tables, &store->feed, request);
        request->done(request, st);
        request = next;
    }
}

static bool memory_next_change(struct store *base, struct store_change *ret)
{
    struct store_memory *store = (struct store_memory *)base;
    if (!store->loaded) {
        store->loaded = true;
        *ret = (struct store_change){.kind = STORE_CHANGE_LOADED};
        return true;
    }
    return feed_next(&store->feed, &store->held, ret);
}

static void reload_runs(struct store_memory *store, const struct memory_job *job)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &job->runs, of_job) {
        struct run_row row = run->row;
        feed_add_run(&store->feed, STORE_CHANGE_RUN, &row.run);
        if (state_is_open(row.run.state) && row.kill_reason != REASON_NONE) {
            run_row_to_kill(&row);
            feed_add_run(&store->feed, STORE_CHANGE_KILL, &row.run);
        }
    }
}

static void reload_job(struct store_memory *store, const struct memory_job *job)
{
    if (!job->purged)
        feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_JOB,
                                                      .job_uid = job->row.uid,
                                                      .job_revision = job->row.revision,
                                                      .cursor_ms = job->row.cursor_ms,
                                                      .last = job->row.last,
                                                      .job_name = job->name,
                                                      .job_json = job->json,
                                                      .job_deleted = job->row.deleted});
}

void store_memory_reload(struct store *store)
{
    struct store_memory *memory = (struct store_memory *)store;
    const void *item;
    size_t at;
    feed_release(&memory->feed);
    for (size_t i = 0; i < memory->meta_count; i++)
        feed_add(&memory->feed,
                 &(struct store_change){.kind = STORE_CHANGE_META, .meta = &memory->metas[i]});
    for (at = 0; (item = table_next(&memory->jobs, &at));)
        reload_job(memory, item);
    for (at = 0; (item = table_next(&memory->jobs, &at));)
        reload_runs(memory, item);
    for (at = 0; (item = table_next(&memory->entries, &at));)
        feed_add_entry(&memory->feed, item);
    feed_add(&memory->feed, &(struct store_change){.kind = STORE_CHANGE_LOADED});
    memory->loaded = true;
}

static enum status memory_health(struct store *base, struct strbuf *why)
{
    (void)base;
    (void)why;
    return OK;
}

static struct store *memory_free(struct store *base)
{
    struct store_memory *store = (struct store_memory *)base;
    size_t at;
    void *item;
    for (memory_dispatch(base); store->waiting; memory_dispatch(base))
        store->closing = true;
    for (at = 0; (item = table_next(&store->jobs, &at));) {
        free(((struct memory_job *)item)->name);
        free(((struct memory_job *)item)->json);
        free(item);
    }
    for (at = 0; (item = table_next(&store->runs, &at));)
        free(item);
    for (at = 0; (item = table_next(&store->entries, &at));)
        free(item);
    table_release(&store->jobs);
    table_release(&store->names);
    table_release(&store->runs);
    table_release(&store->entries);
    feed_release(&store->feed);
    feed_item_free(store->held);
    free(store);
    return NULL;
}

static const struct store_ops memory_ops = {
    memory_submit, memory_dispatch, memory_next_change, memory_health, memory_free,
};

enum status store_memory_new(struct store_wake wake, struct store **ret)
{
    struct store_memory *store = calloc(1, sizeof(*store));
    if (!store)
        return E_NOMEM;
    store->base.ops = &memory_ops;
    store->tables.ops = &tables_ops;
    store->wake = wake;
    store->waiting_end = &store->waiting;
    table_init(&store->jobs, &jobs_type);
    table_init(&store->names, &names_type);
    table_init(&store->runs, &runs_type);
    table_init(&store->entries, &entries_type);
    *ret = &store->base;
    return OK;
}
