/* A machine that dies with begun runs blocks the next ticks of their jobs until the store knows
 * that it is gone. The store finds that out within 5 s by itself, and sooner where it is asked to
 * look: at the nodes with a begun run that blocks a tick, or a run in the queue, now or soon. Who
 * looks is decided by each node for itself; two that do, or a look at a node that is only slow,
 * cost no promise: a run that is lost too soon is amended. */
#include "engine_internal.h"

enum { AHEAD_MS = 1500 }; /* so long before the tick */

/* Runs that are begun in the store, or are about to be. */
static bool has_begun(const struct open_runs *runs)
{
    const size_t *counts = runs->counts;
    return counts[OPEN_BEGINNING] || counts[OPEN_BEGUN] || counts[OPEN_STARTING] ||
           counts[OPEN_HELD] || counts[OPEN_STARTED] || counts[OPEN_ORPHAN] || counts[OPEN_ENDED] ||
           counts[OPEN_FINISHING];
}

static bool has_others(const struct engine *engine)
{
    return engine->placement.count > 1;
}

static bool is_lookout(const struct engine *engine)
{
    return engine->loaded && engine->health == OK && has_others(engine) &&
           open_runs_first(&engine->runs, OPEN_BEGUN_ELSEWHERE) && peers_am_lookout(&engine->peers);
}

/* From when on the run is in somebody's way; NEVER_MS: not as far as known. The rest of its
 * instance waits for a step. */
static int64_t blocks_at(const struct engine *engine, const struct run *run)
{
    if (run_is_step(run) && run_state_is_known(run->state))
        return INT64_MIN;
    const struct catalog_job *job = catalog_by_uid(&engine->catalog, &run->job_uid);
    if (!job || !run_state_is_known(run->state) || catalog_job_policy(job).overlap == OVERLAP_ALLOW)
        return NEVER_MS;
    if (job->open_runs > 1)
        return INT64_MIN;
    bool has_next = job->next_ms != NEVER_MS && !job->paused;
    return has_next ? job->next_ms + catalog_job_jitter_ms(job) - AHEAD_MS : NEVER_MS;
}

/* When to look again. */
static struct boot_ms look_at_owners(struct engine *engine)
{
    struct now now = engine->now;
    int64_t first_ms = NEVER_MS;
    const struct open_run *open;
    TAILQ_FOREACH (open, &engine->runs.phases[OPEN_BEGUN_ELSEWHERE], in_phase) {
        int64_t at_ms = blocks_at(engine, &open->run);
        if (at_ms <= now.wall.ms) {
            if (peers_look_at(&engine->peers, open->run.node, &open->run.owner, now))
                store_suspect(engine->ports.store, open->run.node);
            at_ms = now.wall.ms + STORE_LOOK_MS;
        }
        first_ms = at_ms < first_ms ? at_ms : first_ms;
    }
    return (struct boot_ms){first_ms == NEVER_MS ? INT64_MAX
                                                 : now.boot.ms + first_ms - now.wall.ms};
}

/* What is looked at may have changed with what the feed has told since. */
static struct boot_ms next_look(const struct engine *engine)
{
    const struct lookout *lookout = &engine->lookout;
    struct boot_ms soon = {lookout->looked.ms + STORE_LOOK_MS};
    bool has_news = engine->claimer.fed.ms >= lookout->looked.ms;
    return has_news && soon.ms < lookout->look_at.ms ? soon : lookout->look_at;
}

void engine_look_out(struct engine *engine)
{
    store_beat(engine->ports.store, has_others(engine) && has_begun(&engine->runs));
    if (!is_lookout(engine) || next_look(engine).ms > engine->now.boot.ms)
        return;
    engine->lookout.looked = engine->now.boot;
    engine->lookout.look_at = look_at_owners(engine);
}

int64_t engine_look_out_at(const struct engine *engine)
{
    struct boot_ms at = is_lookout(engine) ? next_look(engine) : (struct boot_ms){INT64_MAX};
    return at.ms == INT64_MAX ? NEVER_MS : wall_at(engine->now, at);
}
