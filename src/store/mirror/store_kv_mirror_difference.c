/* The changes that the watch could not deliver: compares the old mirror with the one that was read
 * again. */
#include <string.h>

#include "mirror/store_kv_mirror_items.h"

/* ---- with the same revision ---- */

static bool is_same_definition(const struct mirror_job *one, const struct mirror_job *other)
{
    return one->row.revision == other->row.revision && one->row.paused == other->row.paused &&
           one->row.deleted == other->row.deleted && strcmp(one->name, other->name) == 0 &&
           strcmp(one->json, other->json) == 0;
}

static bool is_same_cursor(const struct job_row *one, const struct job_row *other)
{
    return one->cursor_ms == other->cursor_ms && one->rewinds.count == other->rewinds.count &&
           one->rewinds.high_ms == other->rewinds.high_ms &&
           id_compare(&one->last.run_id, &other->last.run_id) == 0 &&
           one->last.state == other->last.state && one->last.ended_ms == other->last.ended_ms &&
           one->last.succeeded_ms == other->last.succeeded_ms;
}

static bool is_same_run(const struct run_row *one, const struct run_row *other)
{
    return one->run.state == other->run.state && one->run.reason == other->run.reason &&
           one->run.nonce == other->run.nonce && one->run.fence == other->run.fence &&
           one->kill_reason == other->kill_reason;
}

/* ---- what differs ---- */

static void feed_job_difference(const struct mirror *before, const struct mirror_job *job,
                                enum mirror_past past, struct feed *feed)
{
    bool by_revision = past == SAME_PAST;
    const struct mirror_job *old = before ? mirror_find_job(before, &job->row.uid) : NULL;
    if (!mirror_job_is_whole(job))
        return;
    if (!before) /* while loading, also deleted jobs */
        mirror_feed_job(feed, job, STORE_CHANGE_JOB, SAME_PAST);
    else if (!old || !mirror_job_is_whole(old) || old->mod_revision != job->mod_revision ||
             (!by_revision && !is_same_definition(old, job)))
        mirror_feed_job(feed, job, job->row.deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB, past);
    else if (old->cursor_revision != job->cursor_revision ||
             (!by_revision && !is_same_cursor(&old->row, &job->row)))
        mirror_feed_job(feed, job, STORE_CHANGE_CURSOR, past);
}

static void feed_run_difference(const struct mirror *before, const struct mirror_job *job,
                                enum mirror_past past, struct feed *feed)
{
    const struct mirror_run *run;
    TAILQ_FOREACH (run, &job->runs, of_job) {
        const struct mirror_run *old = before ? mirror_find_run(before, &run->row.run.id) : NULL;
        if (old && old->mod_revision == run->mod_revision &&
            (past == SAME_PAST || is_same_run(&old->row, &run->row)))
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
                            enum mirror_past past, struct feed *feed)
{
    const void *item;
    size_t at;
    mirror_nodes_feed_difference(before ? &before->nodes : NULL, &now->nodes, feed);
    mirror_asides_feed_difference(before ? &before->asides : NULL, &now->asides, feed);
    mirror_docs_feed_difference(before ? &before->docs : NULL, &now->docs, past == OTHER_PAST,
                                feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_job_difference(before, item, past, feed);
    for (at = 0; (item = table_next(&now->jobs, &at));)
        feed_run_difference(before, item, past, feed);
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
