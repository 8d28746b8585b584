#include "mirror/store_kv_mirror_items.h"

#include <stdlib.h>
#include <string.h>

/* Inserts a new item; NULL: out of memory. */
static void *insert(struct table *table, void *item)
{
    if (item && table_insert(table, item) == OK)
        return item;
    free(item);
    return NULL;
}

/* ---- jobs and cursors ---- */

void mirror_release_job(struct mirror_job *job)
{
    free(job->name);
    free(job->json);
    free(job);
}

static struct mirror_job *need_job(struct mirror *mirror, const struct id *uid)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (job)
        return job;
    job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->row.uid = *uid;
    TAILQ_INIT(&job->runs);
    return insert(&mirror->jobs, job);
}

static void drop_unneeded_job(struct mirror *mirror, struct mirror_job *job)
{
    if (job->mod_revision || job->cursor_revision || !TAILQ_EMPTY(&job->runs) ||
        job->is_definition_aside || job->is_cursor_aside)
        return;
    table_remove(&mirror->jobs, job);
    mirror_release_job(job);
}

void mirror_feed_job(struct feed *feed, const struct mirror_job *job, enum store_change_kind kind,
                     enum mirror_past past)
{
    bool is_cursor = kind == STORE_CHANGE_CURSOR;
    feed_add(feed, &(struct store_change){.kind = kind,
                                          .job_uid = job->row.uid,
                                          .job_revision = job->row.revision,
                                          .cursor_ms = job->row.cursor_ms,
                                          .rewinds = job->row.rewinds,
                                          .last = job->row.last,
                                          .last_node = job->row.last_node,
                                          .is_restored = past == OTHER_PAST,
                                          .job_name = is_cursor ? NULL : job->name,
                                          .job_json = is_cursor ? NULL : job->json,
                                          .job_deleted = job->row.deleted});
}

enum status mirror_put_job(struct mirror *mirror, const struct id *uid, const struct kv_pair *kv,
                           struct feed *feed)
{
    char *name, *json;
    struct mirror_job *job = need_job(mirror, uid);
    if (!job)
        return E_NOMEM;
    enum status st = value_read_job(kv, &job->row, &name, &json);
    if (st != OK) {
        drop_unneeded_job(mirror, job);
        return st;
    }
    free(job->name);
    free(job->json);
    job->name = name;
    job->json = json;
    job->mod_revision = kv->mod_revision;
    job->is_definition_aside = false;
    if (feed && mirror_job_is_whole(job))
        mirror_feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB,
                        SAME_PAST);
    return OK;
}

/* Feeds a job that can be decoded again. */
static void feed_whole(struct feed *feed, const struct mirror_job *job)
{
    if (feed && mirror_job_is_whole(job))
        mirror_feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB,
                        SAME_PAST);
}

enum status mirror_put_cursor(struct mirror *mirror, const struct id *uid, const struct kv_pair *kv,
                              struct feed *feed)
{
    enum tell tell;
    struct mirror_job *job = need_job(mirror, uid);
    if (!job)
        return E_NOMEM;
    enum status st = value_read_cursor(kv, &job->row, &tell);
    if (st != OK) {
        drop_unneeded_job(mirror, job);
        return st;
    }
    bool was_aside = job->is_cursor_aside;
    job->cursor_revision = kv->mod_revision;
    job->is_cursor_aside = false;
    if (was_aside)
        feed_whole(feed, job);
    else if (feed && tell == TELL_CHANGE && mirror_job_is_whole(job))
        mirror_feed_job(feed, job, STORE_CHANGE_CURSOR, SAME_PAST);
    return OK;
}

void mirror_feed_purge(struct feed *feed, const struct mirror_job *job)
{
    feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DELETE,
                                          .job_uid = job->row.uid,
                                          .job_revision = job->row.revision,
                                          .cursor_ms = job->row.cursor_ms,
                                          .rewinds = job->row.rewinds,
                                          .last = job->row.last,
                                          .last_node = job->row.last_node,
                                          .job_deleted = true});
}

void mirror_delete_job(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (!job)
        return;
    if (feed && mirror_job_is_whole(job))
        mirror_feed_purge(feed, job);
    job->mod_revision = 0;
    job->is_definition_aside = false;
    drop_unneeded_job(mirror, job);
}

/* The values stay, for the change that feeds the job's removal. */
void mirror_delete_cursor(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = mirror_find_job(mirror, uid);
    if (!job)
        return;
    bool was_aside = job->is_cursor_aside;
    job->cursor_revision = 0;
    job->is_cursor_aside = false;
    if (was_aside)
        feed_whole(feed, job);
    drop_unneeded_job(mirror, job);
}

/* The job, which is not whole from now on; NULL: out of memory. */
static struct mirror_job *break_job(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = need_job(mirror, uid);
    if (job && feed && mirror_job_is_whole(job))
        mirror_feed_purge(feed, job);
    return job;
}

enum status mirror_set_job_aside(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = break_job(mirror, uid, feed);
    if (!job)
        return E_NOMEM;
    job->mod_revision = 0;
    job->is_definition_aside = true;
    return OK;
}

enum status mirror_set_cursor_aside(struct mirror *mirror, const struct id *uid, struct feed *feed)
{
    struct mirror_job *job = break_job(mirror, uid, feed);
    if (!job)
        return E_NOMEM;
    job->cursor_revision = 0;
    job->is_cursor_aside = true;
    return OK;
}

enum status mirror_put_name(struct mirror *mirror, const char *text, const struct kv_pair *kv)
{
    struct id uid;
    enum status st = value_read_name(kv, &uid);
    if (st != OK)
        return st;
    struct mirror_name *name = mirror_find_name(mirror, text);
    if (!name) {
        size_t size = strlen(text) + 1;
        name = malloc(sizeof(*name) + size);
        if (name)
            memcpy(name->text, text, size);
        name = insert(&mirror->names, name);
    }
    if (!name)
        return E_NOMEM;
    name->uid = uid;
    name->mod_revision = kv->mod_revision;
    return OK;
}

void mirror_delete_name(struct mirror *mirror, const char *text)
{
    struct mirror_name *name = mirror_find_name(mirror, text);
    if (!name)
        return;
    table_remove(&mirror->names, name);
    free(name);
}

/* ---- runs and entries ---- */

void mirror_feed_kill(struct feed *feed, const struct run_row *row)
{
    struct run_row kill = *row;
    run_row_to_kill(&kill);
    feed_add_run(feed, STORE_CHANGE_KILL, &kill.run);
}

/* Runs are fed in creation order, but listed in the order of their ids. */
static void insert_in_order(struct mirror_job *job, struct mirror_run *run)
{
    struct mirror_run *before = TAILQ_LAST(&job->runs, mirror_runs);
    while (before && run_row_is_after(&before->row, run->row.seq, run->row.run.part))
        before = TAILQ_PREV(before, mirror_runs, of_job);
    if (before)
        TAILQ_INSERT_AFTER(&job->runs, before, run, of_job);
    else
        TAILQ_INSERT_HEAD(&job->runs, run, of_job);
}

static void unlist_grouped(struct mirror *mirror, struct mirror_run *run)
{
    if (!run->is_grouped)
        return;
    if (run->last_grouped)
        run->last_grouped->next_grouped = run->next_grouped;
    else
        mirror->grouped = run->next_grouped;
    if (run->next_grouped)
        run->next_grouped->last_grouped = run->last_grouped;
    run->is_grouped = false;
}

static void list_grouped(struct mirror *mirror, struct mirror_run *run)
{
    bool is_grouped = run->row.run.groups[0] && state_is_open(run->row.run.state);
    if (is_grouped == run->is_grouped)
        return;
    if (!is_grouped) {
        unlist_grouped(mirror, run);
        return;
    }
    run->next_grouped = mirror->grouped;
    run->last_grouped = NULL;
    if (run->next_grouped)
        run->next_grouped->last_grouped = run;
    mirror->grouped = run;
    run->is_grouped = true;
}

static void note_tick(const struct mirror_run *run)
{
    if (run->job->last_tick_ms < run->row.run.tick_ms)
        run->job->last_tick_ms = run->row.run.tick_ms;
}

void mirror_set_run(struct mirror *mirror, struct mirror_run *run, const struct run_row *row)
{
    run->row = *row;
    note_tick(run);
    list_grouped(mirror, run);
}

struct mirror_run *mirror_add_run(struct mirror *mirror, const struct run_row *row)
{
    struct mirror_job *job = need_job(mirror, &row->run.job_uid);
    struct mirror_run *run = job ? calloc(1, sizeof(*run)) : NULL;
    if (!run)
        return NULL;
    run->row = *row;
    run->job = job;
    run = insert(&mirror->runs, run);
    if (!run)
        return NULL;
    insert_in_order(job, run);
    note_tick(run);
    list_grouped(mirror, run);
    return run;
}

enum status mirror_put_run(struct mirror *mirror, const struct id *id, const struct kv_pair *kv,
                           struct feed *feed)
{
    struct run_row row;
    enum tell tell;
    enum status st = value_read_run(kv, &mirror->epoch, &row, &tell);
    if (st != OK)
        return st;
    row.run.id = *id;
    struct mirror_run *run = mirror_find_run(mirror, id);
    if (!run)
        run = mirror_add_run(mirror, &row);
    if (!run)
        return E_NOMEM;
    mirror_set_run(mirror, run, &row);
    run->mod_revision = kv->mod_revision;
    if (feed && tell == TELL_CHANGE)
        feed_add_run(feed, STORE_CHANGE_RUN, &row.run);
    if (feed && tell == TELL_KILL)
        mirror_feed_kill(feed, &row);
    return OK;
}

void mirror_remove_run(struct mirror *mirror, struct mirror_run *run)
{
    table_remove(&mirror->runs, run);
    unlist_grouped(mirror, run);
    TAILQ_REMOVE(&run->job->runs, run, of_job);
    if (TAILQ_EMPTY(&run->job->runs))
        run->job->last_tick_ms = 0;
    drop_unneeded_job(mirror, run->job);
    free(run);
}

void mirror_delete_run(struct mirror *mirror, const struct id *id)
{
    struct mirror_run *run = mirror_find_run(mirror, id);
    if (run)
        mirror_remove_run(mirror, run);
}

enum status mirror_put_entry(struct mirror *mirror, const struct id *id, const struct kv_pair *kv,
                             struct feed *feed)
{
    struct ledger_entry read;
    enum status st = value_read_entry(kv, &read);
    if (st != OK)
        return st;
    read.id = *id;
    struct mirror_entry *entry = mirror_find_entry(mirror, id);
    if (!entry) {
        entry = malloc(sizeof(*entry));
        if (entry)
            entry->entry = read;
        entry = insert(&mirror->entries, entry);
    }
    if (!entry)
        return E_NOMEM;
    entry->entry = read;
    entry->mod_revision = kv->mod_revision;
    if (feed)
        feed_add_entry(feed, &read);
    return OK;
}

void mirror_delete_entry(struct mirror *mirror, const struct id *id)
{
    struct mirror_entry *entry = mirror_find_entry(mirror, id);
    if (!entry)
        return;
    table_remove(&mirror->entries, entry);
    free(entry);
}
