/* Ticks that go node by node: each part in its turn, no more of them under way than may be, and
 * none after the stop. */
#include "cluster.h"

static long long tick_s(const struct known_run *known)
{
    return (long long)known->run.tick_ms / 1000;
}

/* It goes as its definition says, which is the one that the store has now. */
static void see_made(struct cluster *cluster, const struct known_job *job, struct known_run *known)
{
    const struct run *run = &known->run;
    struct job_rolling rolling = job->definition->rolling;
    bool is_rolling = rolling.at_once && run->parts > rolling.at_once;
    int want = is_rolling ? ROLLING_PART | (rolling.stop_on_failure ? ROLLING_STOPS : 0) : 0;
    known->at_once = is_rolling ? rolling.at_once : 0;
    known->has_turn = !is_rolling || run->part < rolling.at_once;
    if (run->rolling != want)
        stage_fail(&cluster->stage, "tick %lld of %s goes otherwise than its job says",
                   tick_s(known), job->name);
    bool is_over = run_state_is_end(run->state); /* replaced at once */
    if (!is_over && run_waits_for_turn(run) == known->has_turn)
        stage_fail(&cluster->stage, "part %d of tick %lld of %s is %s when it is made", run->part,
                   tick_s(known), job->name, run_state_name(run->state));
}

/* A turn comes from a part that had it, and is over; if a failure stops the tick, with success.
 * Then no more are under way than in the beginning. */
static void check_turns(struct cluster *cluster, const struct known_run *known)
{
    const struct run *run = &known->run;
    const struct known_run *first = spread_find_part(cluster, run, run->part, 1);
    int given = 0, passed_on = 0;
    if (!first || !first->at_once)
        return;
    for (int i = 0; i < run->parts; i++) {
        const struct known_run *part = spread_find_part(cluster, run, i, 1);
        if (!part || !part->has_turn)
            continue;
        enum run_state end = spread_end_of(cluster, run, i);
        given += i >= first->at_once;
        passed_on += run->rolling & ROLLING_STOPS ? end == RUN_OK : end != RUN_QUEUED;
    }
    if (given > passed_on)
        stage_fail(&cluster->stage, "part %d of tick %lld of %s is %s before its turn", run->part,
                   tick_s(known), run->job_name, run_state_name(run->state));
}

void rolling_see(struct cluster *cluster, const struct known_job *job, struct known_run *known,
                 const struct run *was)
{
    const struct run *run = &known->run;
    if (!run->parts || cluster->restored_ms)
        return;
    if (was->parts != run->parts && run->attempt == 1)
        see_made(cluster, job, known);
    if (run_waits_for_turn(was) && run->state == RUN_DUE) {
        known->has_turn = true;
        cluster->part_turns++;
    }
    if (run->state != was->state && (run->state == RUN_CLAIMED || run->state == RUN_BEGUN))
        check_turns(cluster, known);
}

bool rolling_is_stuck(const struct cluster *cluster, const struct known_run *known)
{
    const struct run *run = &known->run;
    const struct known_run *part;
    if (!run_waits_for_turn(run))
        return false;
    for (int i = 0; i < run->parts; i++)
        for (int attempt = 1; (part = spread_find_part(cluster, run, i, attempt)); attempt++)
            if (part->is_stored && !run_state_is_end(part->run.state) &&
                !run_waits_for_turn(&part->run))
                return false;
    return true;
}

/* Was there a failure that the stop may be told of? */
static bool has_failed(const struct cluster *cluster, const struct run *run)
{
    for (int i = 0; i < run->parts; i++) {
        const struct known_run *part = spread_find_part(cluster, run, i, 1);
        if (part && part->has_turn && spread_end_of(cluster, run, i) != RUN_OK)
            return true;
    }
    return false;
}

void check_rolling(struct cluster *cluster, const struct known_run *known)
{
    const struct run *run = &known->run;
    bool is_stopped = run->reason == REASON_PART_FAILED;
    cluster->part_stops += is_stopped;
    if (!known->has_turn && run->state != RUN_SKIPPED)
        stage_fail(&cluster->stage, "part %d of tick %lld of %s is %s, and had no turn", run->part,
                   tick_s(known), run->job_name, run_state_name(run->state));
    if (is_stopped &&
        (known->has_turn || !(run->rolling & ROLLING_STOPS) || !has_failed(cluster, run)))
        stage_fail(&cluster->stage, "part %d of tick %lld of %s is stopped for nothing", run->part,
                   tick_s(known), run->job_name);
}
