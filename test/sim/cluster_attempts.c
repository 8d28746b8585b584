/* Further attempts at a tick: each comes from the end of the one before, and none is left out. */
#include <string.h>

#include "cluster.h"

enum {
    SETTLED_MS = 5 * MINUTE, /* so long after a change every node that can write has heard of it */
    START_WINDOW_MS = 5000,
};

static const struct known_run *find_attempt(const struct cluster *cluster, const struct run *run,
                                            int attempt)
{
    struct known_run key = {.run = *run};
    key.run.attempt = attempt;
    return table_find(&cluster->attempts, &key);
}

static bool is_named(const struct job_retries *retries, const char *end)
{
    for (char **item = retries->on; item && *item; item++)
        if (strcmp(*item, end) == 0)
            return true;
    return !retries->on && strcmp(end, "failed") == 0;
}

bool attempts_are_wanted(const struct job *definition, const struct run *run)
{
    const struct job_retries *retries = &definition->retries;
    if (run->attempt > retries->count)
        return false;
    bool never_started = run->state == RUN_MISSED && run->reason == REASON_START_WINDOW;
    return ((run->state == RUN_FAILED || never_started) && is_named(retries, "failed")) ||
           (run->state == RUN_LOST && is_named(retries, "lost"));
}

void attempts_see_new(struct cluster *cluster, const struct known_job *job, const struct run *run)
{
    struct stage *stage = &cluster->stage;
    long long tick_s = (long long)run->tick_ms / 1000;
    if (run->attempt == 1 || cluster->restored_ms)
        return;
    const struct known_run *before = find_attempt(cluster, run, run->attempt - 1);
    cluster->retries++;
    if (!before)
        stage_fail(stage, "attempt %d at tick %lld of %s comes after none", run->attempt, tick_s,
                   job->name);
    if (before->run.state == RUN_OK || before->run.state == RUN_KILLED)
        stage_fail(stage, "tick %lld of %s was %s, and is tried again", tick_s, job->name,
                   run_state_name(before->run.state));
    if (run->attempt > run->attempts)
        stage_fail(stage, "tick %lld of %s has attempt %d of %d", tick_s, job->name, run->attempt,
                   run->attempts);
}

/* Settled: whoever has written the end knew this definition. */
void attempts_see_end(struct cluster *cluster, const struct known_job *job, const struct run *run)
{
    bool is_settled = job->revision && !job->deleted && (!job->paused || run_is_asked_for(run)) &&
                      cluster->stage.now_ms - job->defined_ms > SETTLED_MS;
    if (!id_is_zero(&run->instance)) /* steps have the plan of the instance: see workflow_see */
        return;
    if (is_settled && !cluster->restored_ms && attempts_are_wanted(job->definition, run) &&
        !run->retried)
        stage_fail(&cluster->stage, "tick %lld of %s is %s, and not tried again",
                   (long long)run->tick_ms / 1000, job->name, run_state_name(run->state));
}

/* P1 for attempts: when one starts, the one before has ended, or can't start any more. */
void attempts_see_start(struct cluster *cluster, const struct known_job *job,
                        const struct known_run *known)
{
    struct stage *stage = &cluster->stage;
    long long tick_s = (long long)known->run.tick_ms / 1000;
    const struct known_run *next = find_attempt(cluster, &known->run, known->run.attempt + 1);
    if (next && next->child && !cluster->restored_ms)
        stage_fail(stage, "tick %lld of %s is started after its next attempt", tick_s, job->name);
    if (known->run.attempt == 1 || cluster->restored_ms)
        return;
    const struct known_run *before = find_attempt(cluster, &known->run, known->run.attempt - 1);
    bool is_uncertain =
        before && (before->run.state == RUN_LOST || before->run.state == RUN_MISSED);
    bool may_start =
        is_uncertain && !before->child && stage->now_ms - before->begun_ms < START_WINDOW_MS;
    if (may_start)
        stage_fail(stage, "tick %lld of %s is tried again while the lost run may start", tick_s,
                   job->name);
}
