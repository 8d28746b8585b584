/* What the executor says of the runs that it has, and the kills that it gets. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expectation.h"
#include "stages/runner/runner_internal.h"
#include "workflow/step_job.h"

static void started(struct runner *runner, struct now now, struct open_run *open,
                    const struct run *known)
{
    if (open->phase == OPEN_STARTING || open->phase == OPEN_HELD)
        runner_note_started(runner, now);
    if (open->phase != OPEN_STARTED)
        open_runs_move(runner->runs, open, OPEN_STARTED);
    open->run.state = RUN_RUNNING;
    open->run.started_ms = known->started_ms;
}

/* By a spawner that was killed between its signal and the end of the process: the next one knows
 * the end, but not the order. */
static bool was_killed(const struct open_run *open, const struct run *run)
{
    return open->kill != REASON_NONE && run->state == RUN_FAILED && run->reason == REASON_SIGNAL &&
           (run->term_signal == SIGTERM || run->term_signal == SIGKILL);
}

/* The run with what the executor knows of its end. */
static struct run with_end(const struct open_run *open, const struct run *known)
{
    struct run run = open->run;
    run.state = known->state;
    run.reason = known->reason;
    if (known->started_ms)
        run.started_ms = known->started_ms;
    run.finished_ms = known->finished_ms;
    run.exit_code = known->exit_code;
    run.term_signal = known->term_signal;
    run.user_ms = known->user_ms;
    run.system_ms = known->system_ms;
    run.max_rss_kb = known->max_rss_kb;
    run.output_bytes = known->output_bytes;
    run.output_truncated = known->output_truncated;
    memcpy(run.detail, known->detail, sizeof(run.detail));
    if (was_killed(open, &run))
        run.state = RUN_KILLED;
    if (run.state == RUN_KILLED && open->kill != REASON_NONE)
        run.reason = open->kill;
    return run;
}

static void ended(struct runner *runner, struct now now, struct open_run *open,
                  const struct executor_event *event)
{
    struct run run = with_end(open, &event->end);
    enum settling settling =
        expectation_settle(runner->ports, runner->instances, &run, &event->end, &event->file);
    if (settling == AWAITS_LESSON && unsettled_add(&runner->unsettled, event) != OK)
        settling = SETTLED; /* out of memory: as if nothing was learned */
    if (settling != SETTLED) {
        started(runner, now, open, &event->end); /* it goes on until then */
        return;
    }
    open->run = run;
    if (run_is_step(&run))
        step_read_output(runner->instances, runner->ports->executor, open);
    open_runs_move(runner->runs, open, OPEN_ENDED);
}

/* The executor journals a start before making it, so a run that it does not know was never started;
 * unless the power failed since. */
static bool is_lost_for_good(const struct open_run *open, struct now now)
{
    int64_t boot_ms = now.wall.ms - now.boot.ms;
    return open->run.state == RUN_LOST &&
           (open->run.reason != REASON_NODE_DIED || open->run.claimed_ms < boot_ms);
}

bool runner_has_backup(const struct runner *runner)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_health(runner->ports->store, &why);
    strbuf_release(&why);
    return st == E_ROLLED_BACK;
}

void runner_begun_in_backup(struct runner *runner, struct now now, struct open_run *open)
{
    open_runs_move(runner->runs, open, OPEN_BEGUN);
    runner_end(runner, now, open, RUN_LOST, REASON_RESTORED,
               "begun after the store was restored from a backup; it may have run before");
}

/* How long ago its begin was is unknown. A restored store shows runs as begun that have ended since
 * and that the executor has forgotten. */
void runner_end_orphan(struct runner *runner, struct now now, struct open_run *open)
{
    bool is_function = peer_is_program(runner->self); /* it has ended with its process */
    if (is_lost_for_good(open, now) || (is_function && open->run.state == RUN_LOST))
        open_runs_move(runner->runs, open, OPEN_ENDED);
    else if (runner_has_backup(runner))
        runner_end(runner, now, open, RUN_LOST, REASON_RESTORED,
                   "it may have run to its end since the backup");
    else if (is_function)
        runner_end(runner, now, open, RUN_LOST, REASON_NODE_DIED,
                   "the process of its program ended before it returned");
    else
        runner_end(runner, now, open, RUN_MISSED, REASON_START_WINDOW,
                   "the agent stopped between the begin and the start");
}

/* To be called when the executor has delivered all its events. */
static void end_orphans(struct runner *runner, struct now now)
{
    for (struct open_run *open; (open = open_runs_first(runner->runs, OPEN_ORPHAN));)
        runner_end_orphan(runner, now, open);
}

static void kill_started(struct runner *runner, const struct open_run *open)
{
    runner->ports->executor->ops->kill(runner->ports->executor, &open->run.id, open->kill);
}

/* Repeats kills that came before the executor was known to have the run, or while it was away. */
static void repeat_kills(struct runner *runner)
{
    for (int phase = 0; phase < OPEN_PHASES; phase++) {
        const struct open_run *open;
        if (!open_phase_is((enum open_phase)phase, PHASE_PROCESS))
            continue;
        TAILQ_FOREACH (open, &runner->runs->phases[phase], in_phase) {
            if (open->kill != REASON_NONE)
                kill_started(runner, open);
        }
    }
}

static void expect_news(struct runner *runner)
{
    struct open_run *open;
    TAILQ_FOREACH (open, &runner->runs->phases[OPEN_STARTED], in_phase) {
        open->told = false;
    }
}

/* The executor was away and no longer knows the run: its journal was removed. */
static void lose_forgotten(struct runner *runner, struct now now)
{
    struct open_run *next, *open = open_runs_first(runner->runs, OPEN_STARTED);
    for (; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (!open->told)
            runner_end(runner, now, open, RUN_LOST, REASON_SPAWNER_DIED,
                       "the spawner has forgotten it");
    }
}

/* What the executor had made ahead is gone with it: it is asked for those again. */
static void let_go_of_held(struct runner *runner)
{
    for (struct open_run *open; (open = open_runs_first(runner->runs, OPEN_HELD));)
        open_runs_move(runner->runs, open, OPEN_STARTING);
}

static void executor_came_or_went(struct runner *runner, struct now now, bool ready)
{
    runner->executor_ready = ready;
    if (!ready) {
        expect_news(runner);
        let_go_of_held(runner);
        return;
    }
    end_orphans(runner, now);
    lose_forgotten(runner, now);
    repeat_kills(runner);
}

/* A run of an earlier agent is still running, even if it was thought lost; also one of a home that
 * has moved to this machine. */
static void found(struct runner *runner, struct open_run *open)
{
    open->run.state = RUN_RUNNING;
    open->run.reason = REASON_NONE;
    open->run.finished_ms = 0;
    open->run.detail[0] = '\0';
    open_runs_move(runner->runs, open, OPEN_STARTED);
}

static void take_event(struct runner *runner, struct now now, const struct executor_event *event)
{
    if (event->kind == EXECUTOR_READY || event->kind == EXECUTOR_GONE) {
        executor_came_or_went(runner, now, event->kind == EXECUTOR_READY);
        return;
    }
    struct open_run *open = open_runs_find(runner->runs, &event->run_id);
    if (!open || !open_phase_is(open->phase, PHASE_EXECUTED)) {
        /* Its end is in the store already: the acknowledgement was lost. */
        if (event->kind == EXECUTOR_ENDED && (!open || !open_phase_is(open->phase, PHASE_OPEN)))
            executor_acknowledge(runner->ports->executor, &event->run_id, true);
        return;
    }
    if (event->kind == EXECUTOR_HELD) {
        if (open->phase == OPEN_STARTING)
            open_runs_move(runner->runs, open, OPEN_HELD);
        return;
    }
    open->told = true;
    if (open->phase == OPEN_ORPHAN || open->phase == OPEN_BEGUN_ELSEWHERE)
        found(runner, open);
    if (event->kind == EXECUTOR_STARTED)
        started(runner, now, open, &event->end);
    else if (event->kind == EXECUTOR_ENDED)
        ended(runner, now, open, event);
    else
        runner_end(runner, now, open, RUN_MISSED, REASON_START_WINDOW,
                   "not started within its window");
}

static void settle(struct runner *runner, struct now now)
{
    struct executor_event *events;
    size_t count = unsettled_take(&runner->unsettled, &events);
    for (size_t i = 0; i < count; i++)
        take_event(runner, now, &events[i]);
    free(events);
}

void runner_watch(struct runner *runner, struct now now)
{
    struct executor *executor = runner->ports->executor;
    struct executor_event event;
    if (runner->unsettled.count)
        settle(runner, now);
    while (executor->ops->next_event(executor, &event))
        take_event(runner, now, &event);
}

/* Those that are begun in the store, as far as this node knows. */
static void kill_steps(struct runner *runner, struct now now, struct open_run *instance)
{
    struct open_run *next, *open = members_first(&runner->runs->members, &instance->run.id);
    for (; open; open = next) {
        next = members_next(open);
        bool is_begun = open->is_begun || open->phase == OPEN_BEGINNING;
        if (is_begun && open_phase_is(open->phase, PHASE_OWNED) &&
            open_runs_order(runner->runs, &open->run) != REASON_NONE)
            runner_kill(runner, now, open, instance->kill, instance->run.by);
    }
}

void runner_kill(struct runner *runner, struct now now, struct open_run *open,
                 enum run_reason reason, const char *by)
{
    if (open->phase == OPEN_GROUP) {
        open->kill = reason;
        snprintf(open->run.by, sizeof(open->run.by), "%s", by);
        kill_steps(runner, now, open);
        return;
    }
    if (open->phase == OPEN_WAITING && run_is_step(&open->run)) { /* ended when its turn comes */
        open->kill = reason;
        return;
    }
    if (open->phase == OPEN_BEGUN_ELSEWHERE ||
        open->phase == OPEN_CLAIMED_ELSEWHERE) /* its owner gets the kill, too */
        return;
    open->kill = reason;
    snprintf(open->run.by, sizeof(open->run.by), "%s", by);
    if (open_phase_is(open->phase, PHASE_PROCESS))
        kill_started(runner, open);
    else if (open_phase_is(open->phase, PHASE_UNSTARTED))
        runner_end(runner, now, open, RUN_KILLED, reason, "killed before it started");
}
