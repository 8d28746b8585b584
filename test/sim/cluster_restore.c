/* The oracle, when the store is restored from a backup. What the backup has counts from then on,
 * but what has happened since has happened: no tick runs again, and fences grow. Until somebody
 * lets it go on nothing is claimed; of the ticks up to then the ledger says that nobody knows. */
#include <stdlib.h>

#include "world.h"

static void forget_job(struct known_job *job)
{
    for (size_t i = 0; i < job->epoch_count; i++)
        ledger_epoch_release(&job->epochs[i]);
    job->epoch_count = 0;
    if (job->ledger_from_ms < job->cursor_ms)
        job->ledger_from_ms = job->cursor_ms;
    job->cursor_ms = job->last_end_ms = 0;
    job->revision = 0;
    job->deleted = true;
    job->open_runs = 0;
}

static void forget_entries(struct table *entries)
{
    void *entry;
    for (size_t at = 0; (entry = table_next(entries, &at));)
        free(entry);
    table_release(entries);
}

void oracle_begin_restore(struct cluster *cluster)
{
    struct known_run *known;
    cluster->is_restoring = cluster->is_restored = true;
    cluster->has_calendar = false; /* as far as anybody knows */
    cluster->groups_there = 0;
    cluster->restored_ms = cluster->stage.now_ms;
    for (size_t i = 0; i < cluster->job_count; i++)
        forget_job(&cluster->jobs[i]);
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));) {
        known->is_stored = false;
        known->is_undone = true;
    }
    boots_begin_restore(cluster);
    forget_entries(&cluster->entries);
    for (int i = 0; i < cluster->node_count; i++)
        cluster->peers[i] = (struct known_peer_key){false, cluster->stage.now_ms};
}

void oracle_see_lift(struct cluster *cluster)
{
    cluster->is_restored = false;
}

/* Jobs that are younger than the backup were never there. */
void oracle_end_restore(struct cluster *cluster)
{
    cluster->is_restoring = false;
    for (size_t i = 0; i < cluster->job_count; i++) {
        struct known_job *job = &cluster->jobs[i];
        if (job->revision)
            continue;
        job->is_purged = true;
        job->ledger_from_ms = INT64_MAX;
    }
}
