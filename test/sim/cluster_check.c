/* What must hold when all is well again, and at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

static int64_t right_ms(const struct cluster *cluster)
{
    return cluster->wall_ms + cluster->stage.now_ms;
}

/* ---- all is well since a while ---- */

static bool is_limited(const struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (cluster->nodes[i].config.max_running)
            return true;
    return false;
}

/* Was claimed by a node that went away, and is never too late: the others may be full. */
static bool may_wait_for_room(const struct run *run)
{
    return run->cause != CAUSE_TICK && run->cause != CAUSE_REBOOT;
}

/* Each open run waits for another of its job, for its time, or for the end of its process. */
static void check_run(struct cluster *cluster, const struct known_run *known, bool is_limited)
{
    const struct run *run = &known->run;
    const char *name = cluster->jobs[known->job].name;
    const struct job *step = workflow_step_job(cluster, run);
    const struct job *definition = step ? step : cluster->jobs[known->job].definition;
    int64_t patience_ms = MINUTE; /* a function that no process has is missed after a while */
    if (run->state == RUN_DUE && definition->kind == JOB_FUNCTION)
        patience_ms += 2 * MINUTE + definition->deadline_s * SECOND;
    bool is_old = known->since_ms < cluster->stage.now_ms - patience_ms;
    bool is_due = run->state == RUN_DUE && run->not_before_ms <= right_ms(cluster) - patience_ms &&
                  !is_limited && !definition->where && !groups_may_wait(cluster, run);
    bool is_left = run->state == RUN_CLAIMED && !(is_limited && may_wait_for_room(run));
    if (is_left && /* or waits, with its deadline, for a node it may use */
        job_is_picky(definition))
        is_left =
            known->since_ms < cluster->stage.now_ms - MINUTE - definition->deadline_s * SECOND;
    bool is_lonely =
        run->state == RUN_BEGUN && !(known->child && child_is_alive(known->child, MINUTE));
    bool is_stuck = rolling_is_stuck(cluster, known) || workflow_is_stuck(cluster, known);
    if (known->is_stored && is_old && (is_due || is_lonely || is_left || is_stuck))
        stage_fail(&cluster->stage, "tick %lld of %s is %s since %lld s, and nobody cares",
                   (long long)run->tick_ms / 1000, name, run_state_name(run->state),
                   (long long)(cluster->stage.now_ms - known->since_ms) / 1000);
}

/* Also of a run that is thought to be lost: the node that has it knows better. */
static bool has_process(const struct cluster *cluster, const struct known_job *job)
{
    for (size_t i = 0; i < cluster->child_count; i++)
        if (&cluster->jobs[cluster->children[i]->job] == job &&
            child_is_alive(cluster->children[i], MINUTE))
            return true;
    return false;
}

/* When the next tick of the job is due. */
static int64_t due_ms(const struct cluster *cluster, const struct known_job *job,
                      const struct ledger_epoch *epoch)
{
    if (!epoch->delay_ms) {
        int64_t tick_ms = rewind_next_tick(job, epoch, job->cursor_ms, right_ms(cluster));
        while (tick_ms < right_ms(cluster) &&
               ledger_is_out(epoch, tick_ms)) /* those are gathered */
            tick_ms = rewind_next_tick(job, epoch, tick_ms, right_ms(cluster));
        return tick_ms;
    }
    if (job->open_runs || has_process(cluster, job))
        return NEVER_MS;
    int64_t since_ms = job->last_end_ms > job->cursor_ms ? job->last_end_ms : job->cursor_ms;
    int64_t tick_ms = since_ms + epoch->delay_ms + 999, high_ms = job->rewinds.high_ms;
    if (tick_ms <= high_ms && right_ms(cluster) > high_ms) /* it goes on there */
        tick_ms = high_ms + SECOND;
    return ledger_is_out(epoch, tick_ms) ? NEVER_MS : tick_ms;
}

static int64_t jitter_of(const struct ledger_epoch *epoch)
{
    return epoch->schedules.count ? schedule_jitter_ms(epoch->schedules.items[0]) : 0;
}

static void check_due(struct cluster *cluster, const struct known_job *job, bool is_limited)
{
    if (!job->revision || job->deleted)
        return;
    if (job->cursor_ms > right_ms(cluster) + 5 * SECOND)
        stage_fail(&cluster->stage, "the cursor of %s is ahead of all clocks, and nobody cares",
                   job->name);
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    int64_t tick_ms = due_ms(cluster, job, epoch);
    int64_t grace_ms = 3 * SECOND + (epoch->paused ? HOUR : 0);
    grace_ms += jitter_of(epoch);
    if (job_is_picky(job->definition)) /* if nobody may run it, that is said after a while */
        grace_ms += 2 * MINUTE;
    if (tick_ms != NEVER_MS) /* it would start after its jitter */
        grace_ms += maintenance_gathers_ms(cluster, job->name, tick_ms + jitter_of(epoch));
    if (tick_ms != NEVER_MS && tick_ms + grace_ms < right_ms(cluster) && !is_limited)
        stage_fail(&cluster->stage, "tick %lld of %s is due, and nobody cares",
                   (long long)tick_ms / 1000, job->name);
}

void check_caught_up(struct cluster *cluster)
{
    const struct known_run *known;
    bool limited = is_limited(cluster);
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));)
        check_run(cluster, known, limited);
    for (size_t i = 0; i < cluster->job_count; i++)
        check_due(cluster, &cluster->jobs[i], limited);
    check_boots_caught_up(cluster, limited);
}

/* By any other node. */
static bool may_be_taken(const struct cluster *cluster, const struct known_run *known)
{
    return !is_limited(cluster) && known->run.cause != CAUSE_REBOOT && !known->run.pinned[0] &&
           !groups_may_wait(cluster, &known->run) &&
           !job_is_picky(cluster->jobs[known->job].definition);
}

/* Is a tick of the job due for so long? */
static bool is_due_for(const struct cluster *cluster, const struct known_job *job, int64_t ms)
{
    if (!job->revision || job->deleted || job->paused || job->overlap == OVERLAP_ALLOW)
        return false;
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    int64_t tick_ms = due_ms(cluster, job, epoch);
    int64_t jitter_ms = epoch->schedules.count ? schedule_jitter_ms(epoch->schedules.items[0]) : 0;
    return tick_ms != NEVER_MS && tick_ms + jitter_ms + ms < right_ms(cluster);
}

void check_blocked(struct cluster *cluster, const struct node *dead, int64_t ms)
{
    const struct known_run *known;
    for (size_t at = 0; !cluster->has_twin && (known = table_next(&cluster->runs, &at));)
        if (known->is_stored && known->run.owner.home == dead->config.self.home &&
            known->run.state == RUN_BEGUN && is_due_for(cluster, &cluster->jobs[known->job], ms))
            stage_fail(&cluster->stage, "a tick of %s waits for a run of %s, which is dead",
                       known->run.job_name, dead->name);
}

void check_losses(struct cluster *cluster, const struct node *dead)
{
    const struct known_run *known;
    for (size_t at = 0; (known = table_next(&cluster->runs, &at));)
        if (known->is_stored && known->run.owner.home == dead->config.self.home &&
            (known->run.state == RUN_BEGUN ||
             (known->run.state == RUN_CLAIMED && may_be_taken(cluster, known))))
            stage_fail(&cluster->stage, "tick %lld of %s is %s by %s, which is dead",
                       (long long)known->run.tick_ms / 1000, known->run.job_name,
                       run_state_name(known->run.state), dead->name);
}

/* ---- at the end ---- */

static struct ledger_cover *covers_of(const struct cluster *cluster, const struct known_job *job,
                                      size_t *ret_count)
{
    struct ledger_cover *covers = calloc(cluster->records.count + 1, sizeof(*covers));
    const struct record *record;
    size_t count = 0;
    for (size_t at = 0; (record = table_next(&cluster->records, &at));) {
        const struct run *run = &record->run;
        if ((record->is_entry ? record->entry.to_ms : run->tick_ms) <= job->ledger_from_ms)
            continue; /* before a backup was restored */
        if (is_end_of_boot(cluster, &record->id))
            continue; /* which is no tick of the job */
        if (record->is_entry && id_compare(&record->entry.job_uid, &job->uid) == 0)
            covers[count++] = (struct ledger_cover){.from_ms = record->entry.from_ms,
                                                    .to_ms = record->entry.to_ms,
                                                    .count = record->entry.count,
                                                    .reason = record->entry.reason};
        else if (!record->is_entry && !run->retried && !run->part &&
                 id_compare(&run->job_uid, &job->uid) == 0 && !run_is_asked_for(run))
            covers[count++] = (struct ledger_cover){.from_ms = run->tick_ms,
                                                    .to_ms = run->tick_ms,
                                                    .count = 1,
                                                    .is_run = true,
                                                    .cause = run->cause,
                                                    .reason = run->reason};
    }
    *ret_count = count;
    return covers;
}

static void fail(void *context, const char *what)
{
    stage_fail(context, "%s", what);
}

static void check_ledger(struct cluster *cluster, const struct known_job *job)
{
    size_t count;
    struct ledger_cover *covers = covers_of(cluster, job, &count);
    struct ledger_check check = {job->name, fail, &cluster->stage};
    if (job->rewinds.count)
        rewind_check_ledger(cluster, job);
    else
        ledger_check(&check, job->epochs, job->epoch_count, covers, count);
    free(covers);
}

static enum run_state state_of(const struct child *child)
{
    return child->expired     ? RUN_MISSED
           : child->lost      ? RUN_LOST
           : child->killed    ? RUN_KILLED
           : child->exit_code ? RUN_FAILED
                              : RUN_OK;
}

/* What became of a process is on record; of a machine that is gone nobody knows. */
static void check_child(struct cluster *cluster, const struct child *child)
{
    const struct record *record = find_record(cluster, &child->run_id);
    const char *name = cluster->jobs[child->job].name;
    bool is_undone = find_run(cluster, &child->run_id)->is_undone;
    if (is_undone && (!record || record->run.state == RUN_LOST))
        return;
    if (!record)
        stage_fail(&cluster->stage, "tick %lld of %s ran and is not on record",
                   (long long)child->tick_ms / 1000, name);
    enum run_state state = record->run.state;
    bool is_unknown = state == RUN_LOST && child->node->is_gone;
    bool is_never = child->expired && child->lost; /* the machine went down before its start */
    bool is_dead = state == RUN_LOST && child->died;
    if (is_unknown || is_dead || (is_never && (state == RUN_LOST || state == RUN_MISSED)))
        return;
    if (state != state_of(child) ||
        (state == RUN_FAILED && record->run.exit_code != child->exit_code))
        stage_fail(&cluster->stage, "tick %lld of %s was %s and is on record as %s",
                   (long long)child->tick_ms / 1000, name, run_state_name(state_of(child)),
                   run_state_name(state));
}

/* What is on record as run has a process. */
static void check_records(struct cluster *cluster)
{
    const struct record *record;
    for (size_t at = 0; (record = table_next(&cluster->records, &at));) {
        const struct known_run *known = record->is_entry ? NULL : find_run(cluster, &record->id);
        if (!record->is_entry && !known)
            stage_fail(&cluster->stage, "a run of %s is on record that never was",
                       record->run.job_name);
        if (known && record->run.started_ms && !known->child && !known->is_group)
            stage_fail(&cluster->stage, "tick %lld of %s is on record as run, and was not",
                       (long long)record->run.tick_ms / 1000, record->run.job_name);
    }
}

bool may_stay_lost(const struct cluster *cluster, const struct id *run_id)
{
    const struct known_run *known = find_run(cluster, run_id);
    return known && known->run.state == RUN_LOST && known->run.node[0] &&
           node_of_home((struct cluster *)cluster, &known->run.owner)->is_gone;
}

bool is_all_over(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->child_count; i++)
        if (child_is_alive(cluster->children[i], 0))
            return false;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        if (node_is_up(node) && (!engine_is_idle(node->engine) || engine_open_runs(node->engine)))
            return false;
    }
    struct strbuf left;
    strbuf_init(&left);
    bool is_over = world_is_at_rest(cluster, &left);
    strbuf_release(&left);
    return is_over;
}

static void check_rest(struct cluster *cluster)
{
    struct strbuf left;
    strbuf_init(&left);
    if (!world_is_at_rest(cluster, &left))
        stage_fail(&cluster->stage, "this stays in the store: %s", left.text);
    strbuf_release(&left);
}

void check_end(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        if (node_is_up(node) && (!engine_is_idle(node->engine) || engine_open_runs(node->engine)))
            stage_fail(&cluster->stage, "%s is not at rest", node->name);
        if (!node_is_up(node) && !node->is_gone)
            stage_fail(&cluster->stage, "%s does not come up", node->name);
    }
    check_rest(cluster);
    for (size_t i = 0; i < cluster->child_count; i++)
        check_child(cluster, cluster->children[i]);
    check_records(cluster);
    check_followed(cluster);
    check_spread(cluster);
    check_boots_end(cluster);
    for (size_t i = 0; i < cluster->job_count; i++)
        check_ledger(cluster, &cluster->jobs[i]);
}
