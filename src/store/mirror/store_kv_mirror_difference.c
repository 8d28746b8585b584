/* The changes that the watch could not deliver: compares the old mirror with the one that was read
 * again. */
#include "mirror/store_kv_mirror_items.h"

static void feed_job_difference(const struct mirror *before, const struct mirror_job *job,
                                struct feed *feed)
{
    const struct mirror_job *old = before ? mirror_find_job(before, &job->row.uid) : NULL;
    if (!mirror_job_is_whole(job))
        return;
    if (!before) /* while loading, also deleted jobs */
        mirror_feed_job(feed, job, STORE_CHANGE_JOB);
    else if (!old || !mirror_job_is_whole(old) || old->mod_revision != job->mod_revision)
        mirror_feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB);
    else if (old->cursor_revision != job->cursor_revision)
        mirror_feed_job(feed, job, STORE_CHANGE_CURSOR);
}

static void feed_run_difference(const struct mirror *before, const struct mirror_job *job,
                                struct feed *feed)
{
    const struct mirror_run *run;
    TAILQ_FOREACH (run, &job->runs, of_job) {
        const struct mirror_run *old = before ? mirror_find_run(before, &run->row.run.id) : NULL;
        if (old && old->mod_revision == run->mod_revision)
            continue;
        feed_add_run(feed, STORE_CHANGE_RUN, &run->row.run);
        if (state_is_open(run->row.run.state) && run->row.kill_reason != REASON_NONE)
            mirror_feed_kill(feed, &run->row);
    }
}

static void feed_forgotten(const struct mirror *before, const struct mirror *now, struct feed *feed)
{
    const void *item;
    size_t at;
    for (at = 0; (item = table_next(&before->runs, &at));) {
        const struct id *id = &((const struct mirror_run *)item)->row.run.id;
        if (!mirror_find_run(now, id))
            feed_add_gone(feed, id);
    }
    for (at = 0; (item = table_next(&before->entries, &at));) {
        const struct id *id = &((const struct mirror_entry *)item)->entry.id;
        if (!mirror_find_entry(now, id))
            feed_add_gone(feed, id);
    }
}

static void feed_purged(const struct mirror *before, const struct mirror *now, struct feed *feed)
{
    const struct mirror_job *job;
    for (size_t at = 0; (job = table_next(&before->jobs, &at));) {
        const struct mirror_job *kept = mirror_find_job(now, &job->row.uid);
        if (mirror_job_is_whole(job) && (!kept || !mirror_job_is_whole(kept)))
            mirror_feed_purge(feed, job);
    }
}

void mirror_feed_difference(const struct mirror *before, const struct mirror *now,
                            struct feed *feed)
{
    const void *item;
    size_t at;
    mirror_nodes_feed_difference(before ? &before->nodes : NULL, &now->nodes, feed);
    mirror_asides_feed_difference(before ? &before->asides : NULL, &now->asides, feed);
    mirror_docs_feed_difference(before ? &before->docs : NULL, &now->docs, feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_job_difference(before, item, feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_run_difference(before, item, feed);
    for (at = 0; (item = table_next(&now->entries, &at));) {
        const struct ledger_entry *entry = &((const struct mirror_entry *)item)->entry;
        if (!before || !mirror_find_entry(before, &entry->id))
            feed_add_entry(feed, entry);
    }
    if (before) {
        feed_purged(before, now, feed);
        feed_forgotten(before, now, feed);
    }
}
