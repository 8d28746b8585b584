/* What must follow the end of a run: of each job that waits for it, one run, and not two. */
#include <string.h>

#include "cluster.h"

/* So long after a change every node has heard of it that can write anything. */
enum { SETTLED_MS = 5 * MINUTE };

static bool is_settled(const struct cluster *cluster, const struct known_job *job)
{
    return job->revision && !job->deleted && cluster->stage.now_ms - job->defined_ms > SETTLED_MS;
}

/* It waits for this job alone, and nothing keeps a run of it from being made. */
static bool must_follow(const struct cluster *cluster, const struct known_job *job,
                        const struct known_job *ended, enum run_state was, enum run_state state)
{
    const struct job *definition = job->definition;
    if (!is_settled(cluster, job) || !is_settled(cluster, ended) || definition->after_count != 1 ||
        !people_know_as(ended, definition->after[0].job) ||
        (job->overlap != OVERLAP_ALLOW && job->overlap != OVERLAP_REPLACE) ||
        definition->overlap_at_once)
        return false;
    enum after_on on = definition->after[0].on;
    return after_wants(on, state) && !after_wants(on, was);
}

/* Of a tick with several runs the last end counts; if the store has called that run off, once
 * somebody has told of it. */
static bool is_end_of_tick(const struct run *run, const struct run *was)
{
    if (run_is_instance(run))
        return !run_is_unfollowed(run) && (!run_state_is_end(was->state) || run_is_unfollowed(was));
    if (!run->parts)
        return !run->retried;
    bool was_over = run_state_is_end(was->state) && run_state_is_end(was->outcome);
    return run_ends_tick(run) && !run_is_unfollowed(run) && (!was_over || run_is_unfollowed(was));
}

void follow_see_end(struct cluster *cluster, struct known_run *known, const struct run *was)
{
    const struct known_job *ended = &cluster->jobs[known->job];
    const struct run *run = &known->run;
    enum run_state before = run->parts || run_is_instance(run) ? RUN_QUEUED : was->state;
    if (!is_end_of_tick(run, was))
        return;
    for (size_t i = 0; i < cluster->job_count && !cluster->restored_ms; i++) {
        if (must_follow(cluster, &cluster->jobs[i], ended, before, run_tick_result(run)))
            known->must_follow |= 1U << i;
    }
}

void follow_see_new(struct cluster *cluster, const struct known_run *known)
{
    struct id id;
    if (known->run.cause != CAUSE_AFTER || known->run.attempt > 1 || known->run.part)
        return;
    struct known_run *before = id_parse(known->run.by, &id) == OK ? find_run(cluster, &id) : NULL;
    if (!before)
        stage_fail(&cluster->stage, "a run of %s comes after one that never was",
                   known->run.job_name);
    if (before->has_followed >> known->job & 1 && !cluster->restored_ms)
        stage_fail(&cluster->stage, "tick %lld of %s is followed twice by %s",
                   (long long)before->run.tick_ms / 1000, before->run.job_name,
                   known->run.job_name);
    before->has_followed |= 1U << known->job;
}

/* A definition that has changed may want the amended end of a run whose loss the one before it
 * wanted: what was followed until then is done with. */
void follow_see_edit(struct cluster *cluster, const struct known_job *job)
{
    uint32_t bit = 1U << (job - cluster->jobs);
    struct known_run *known;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));) {
        known->must_follow &= ~(known->has_followed & bit);
        known->has_followed &= ~bit;
    }
}

void check_followed(struct cluster *cluster)
{
    const struct known_run *known;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at)) && !cluster->restored_ms;) {
        for (size_t i = 0; i < cluster->job_count; i++) {
            if ((known->must_follow & ~known->has_followed) >> i & 1)
                stage_fail(&cluster->stage, "tick %lld of %s is not followed by %s",
                           (long long)known->run.tick_ms / 1000, known->run.job_name,
                           cluster->jobs[i].name);
        }
    }
}
