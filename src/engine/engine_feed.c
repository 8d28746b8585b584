/* Takes in the store's feed. */
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "params/run_input.h"
#include "stages/again.h"

void engine_put_plan(struct engine *engine, struct catalog_job *job, int64_t not_before_ms)
{
    if (planner_put(&engine->planner, job, not_before_ms) != OK)
        ports_log(&engine->ports, "plan_failed", "job=%s error=\"out of memory\"", job->name);
}

/* ---- jobs ---- */

/* The job's eligible nodes may have changed, also for runs that wait. */
static void rank_again(struct engine *engine, const struct id *job_uid)
{
    struct open_run *open;
    for (int phase = 0; phase < OPEN_PHASES; phase++) {
        if (!open_phase_is((enum open_phase)phase, PHASE_TAKABLE))
            continue;
        TAILQ_FOREACH (open, &engine->runs.phases[phase], in_phase) {
            if (id_compare(&open->run.job_uid, job_uid) == 0) {
                open->ranked = 0;
                marks_sweep(&engine->marks);
            }
        }
    }
}

static void take_job(struct engine *engine, const struct store_change *change)
{
    struct catalog_job *job;
    struct parse_error error = {0};
    struct catalog_job *before = catalog_by_uid(&engine->catalog, &change->job_uid);
    if (before)
        catalog_job_keep_out(before, engine->now.wall.ms);
    enum status st = catalog_put(&engine->catalog, change, engine->ports.zones, &job, &error);
    if (st != OK) {
        ports_log(&engine->ports, "job_dropped", "job=%s error=\"%s\"", change->job_name,
                  status_text(st));
        return;
    }
    if (!before && engine->has_asides)
        open_runs_count_job(&engine->runs, job);
    rank_again(engine, &job->uid);
    engine_see_cursor(engine, job);
    if (job->broken)
        ports_log(&engine->ports, "job_broken", "job=%s error=\"%s\"", job->name, error.message);
    if (engine->loaded)
        engine_put_plan(engine, job, INT64_MIN);
}

/* A deleted job stays in the catalog, so that it can be shown, restored, and counts its runs; a
 * purged one is removed. */
static void take_delete(struct engine *engine, const struct store_change *change)
{
    if (change->job_json) {
        take_job(engine, change);
        return;
    }
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &change->job_uid);
    if (!job)
        return;
    planner_remove(&engine->planner, job);
    catalog_remove(&engine->catalog, job);
    engine->boots.has_gone = true;
}

/* Was the last end moved back with the clock? An end that is ahead here came from the feed, so a
 * different one from the feed is newer, even if the feed was reloaded and skipped the move
 * itself. Or has a restored store forgotten it? The store judges `only_if` by the end that it has:
 * whoever goes by another one has each claim of the tick refused, and the tick stays due. */
static bool replaces_last(const struct engine *engine, const struct catalog_job *job,
                          const struct store_change *change)
{
    return change->is_restored || change->rewinds.count > job->rewinds ||
           job->last.ended_ms > engine->now.wall.ms + STORE_AHEAD_MS;
}

/* An end of this job may be what due ticks of others wait for. */
static void plan_conditioned(struct engine *engine, const struct catalog_job *job)
{
    size_t former = job->former ? job->former->count : 0;
    for (size_t i = 0; i <= former; i++) {
        const char *name = i < former ? job->former->names[i].name : job->name;
        const struct condition *condition = waits_first_condition(&engine->catalog.waits, name);
        for (; condition; condition = LIST_NEXT(condition, link)) {
            if (condition->job->conditions->wait_ms && !condition->job->claiming)
                engine_put_plan(engine, condition->job, INT64_MIN);
        }
    }
}

static void take_cursor(struct engine *engine, const struct store_change *change)
{
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &change->job_uid);
    if (!job)
        return;
    bool is_replaced = replaces_last(engine, job, change);
    catalog_job_move(job, change->cursor_ms, &change->rewinds);
    if (is_replaced)
        catalog_job_move_last(job, &change->last);
    else
        catalog_job_ended(job, &change->last);
    catalog_job_ran_on(job, change->last_node);
    engine_see_cursor(engine, job);
    if (engine->loaded) {
        engine_put_plan(engine, job, INT64_MIN);
        plan_conditioned(engine, job);
    }
}

/* ---- calendars ---- */

/* Ticks that were excluded up to now stay so; the new dates apply from now on. */
static void take_calendar(struct engine *engine, const struct store_doc *doc)
{
    struct known_calendar *entry;
    struct job_error error = {0};
    struct calendar_use *use;
    enum status st = known_calendars_entry(&engine->catalog.calendars, doc, &entry);
    if (st == OK) {
        LIST_FOREACH(use, &entry->uses, link)
        {
            catalog_job_keep_out(use->job, engine->now.wall.ms);
        }
        use = LIST_FIRST(&entry->uses);
        st = known_calendars_take(&engine->catalog.calendars, entry, doc, engine->ports.zones,
                                  &error);
        for (; engine->loaded && use; use = LIST_NEXT(use, link))
            engine_put_plan(engine, use->job, INT64_MIN);
    }
    if (st != OK)
        ports_log(&engine->ports, "calendar_dropped", "calendar=%s error=\"%s\"", doc->name,
                  st == E_INVALID && error.message[0] ? error.message : status_text(st));
}

/* Decides from now on, also about the due ticks that are not decided yet. */
static void take_maintenance(struct engine *engine, const struct store_doc *doc)
{
    enum status st = known_maintenance_take(&engine->catalog.maintenance, doc);
    if (st != OK)
        ports_log(&engine->ports, "maintenance_dropped", "id=%s error=\"%s\"", doc->name,
                  status_text(st));
    if (engine->loaded)
        engine_replan(engine);
}

/* Limits apply from now on: what is under way goes on. */
static void take_group(struct engine *engine, const struct store_doc *doc)
{
    struct job_error error = {0};
    enum status st = known_groups_take(&engine->catalog.groups, doc, &error);
    engine->slots.is_to_look = true;
    if (st != OK)
        ports_log(&engine->ports, "group_dropped", "group=%s error=\"%s\"", doc->name,
                  st == E_INVALID && error.message[0] ? error.message : status_text(st));
}

static void take_input(struct engine *engine, const struct store_doc *doc)
{
    if (inputs_take(&engine->inputs, doc) != OK)
        ports_log(&engine->ports, "input_dropped", "input=%s error=\"out of memory\"", doc->name);
    instances_take_input(&engine->instances, doc);
}

static void take_output(struct engine *engine, const struct store_doc *doc)
{
    if (instances_take_output(&engine->instances, doc) != OK)
        ports_log(&engine->ports, "output_dropped", "output=%s error=\"out of memory\"", doc->name);
}

/* ---- runs ---- */

static enum whose whose(const struct engine *engine, const struct run *run)
{
    return peer_whose(&engine->config.self, run->node, &run->owner);
}

/* The run is this incarnation's, which made the nonce. */
static bool is_ours(const struct engine *engine, const struct run *run)
{
    return whose(engine, run) == WHOSE_OURS;
}

/* Only this agent may report the run: it is of this incarnation, or of an earlier one of this
 * home. */
static bool is_for_us(const struct engine *engine, const struct run *run)
{
    return whose(engine, run) != WHOSE_OTHERS;
}

/* The next tick of an `@after` job depends on its open runs; steps are none of the job itself. */
static void replan_job_of(struct engine *engine, const struct run *run)
{
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &run->job_uid);
    if (job && engine->loaded && !run_is_step(run))
        engine_put_plan(engine, job, INT64_MIN);
}

/* Perhaps no node may run it, or it waits for a slot up to its deadline: the sweeper has to look.
 */
static void look_for_a_node(struct engine *engine, const struct run *run)
{
    const struct catalog_job *job =
        run->state == RUN_DUE ? instances_terms(&engine->instances, run) : NULL;
    if (job && (job->where || open_run_only_node(run) || run->parts || run->groups[0]))
        marks_sweep(&engine->marks);
}

/* Takes over the run as the store has it, and moves it to the matching phase. */
static void follow(struct engine *engine, struct open_run *open, const struct run *run,
                   enum open_phase phase)
{
    bool is_new_claim = run->state == RUN_CLAIMED && run->nonce != open->run.nonce;
    bool is_over = phase == OPEN_ENDED_ELSEWHERE && open->phase != phase;
    bool is_new_due =
        run->state == RUN_DUE && (open->run.state != RUN_DUE || open->run.parts != run->parts);
    if (is_new_due || is_new_claim || is_over) {
        open->seen = engine->now.boot;
        open->ranked = 0;
    }
    look_for_a_node(engine, run);
    if (run->state != open->run.state)
        open->is_told = false;
    if (run->state != RUN_DUE || is_new_due)
        open->verdict = VERDICT_NONE;
    open->run = *run;
    bool is_new_phase = open->phase != phase;
    if (is_new_phase)
        open_runs_move(&engine->runs, open, phase);
    else
        open_runs_regroup(&engine->runs, open);
    if (is_new_phase && phase == OPEN_GROUP) /* it may have a timeout */
        marks_sweep(&engine->marks);
    if (!open_phase_is(phase, PHASE_ELSEWHERE))
        return;
    open->kill = REASON_NONE;
    open->is_overdue = false;
    open->begins = 0;
    open->job = job_free(open->job);
    if (!peers_is_alive(&engine->peers, run->node, &run->owner))
        marks_sweep(&engine->marks);
}

/* The phase of a run from the feed that is not known here: it was queued, it is another
 * incarnation's, or the feed is ahead of the answer to its claim. Claims of an earlier agent of
 * this home are taken over like any other: their begin may still be on its way. For runs that it
 * had begun, or that count as lost, the executor may know better. */
static enum open_phase phase_of(const struct engine *engine, const struct run *run)
{
    if (!run_state_is_known(run->state)) /* written by a newer version */
        return OPEN_BEGUN_ELSEWHERE;
    if (run->state == RUN_QUEUED || run->state == RUN_DUE)
        return OPEN_WAITING;
    if (run->state == RUN_CLAIMED)
        return is_ours(engine, run) ? OPEN_CLAIMED : OPEN_CLAIMED_ELSEWHERE;
    if (run->state == RUN_RUNNING && !run->node[0])
        return OPEN_GROUP;
    bool ended = run_state_is_end(run->state);
    if (!is_for_us(engine, run))
        return ended ? OPEN_ENDED_ELSEWHERE : OPEN_BEGUN_ELSEWHERE;
    if (ended)
        return run->state == RUN_LOST && !engine->runner.executor_ready ? OPEN_ORPHAN
                                                                        : open_phase_of_end(run);
    return OPEN_ORPHAN;
}

/* For how much longer an attempt waits, as far as the clock tells that now. If that was set back
 * since the attempt was made, nobody knows; it may follow a run that was lost and can still start.
 */
static int64_t wait_of_attempt(const struct engine *engine, const struct open_run *open)
{
    const struct run *run = &open->run;
    if (run->attempt == 1 || run->state != RUN_DUE)
        return 0;
    if (open_run_is_set_back(open, engine->now.wall))
        return AGAIN_LOST_WAIT_MS;
    int64_t left_ms = run->not_before_ms - engine->now.wall.ms;
    return left_ms > 0 ? left_ms : 0;
}

static void take_new_run(struct engine *engine, const struct run *run)
{
    struct open_run *open = open_runs_add(&engine->runs, run, phase_of(engine, run));
    if (!open) {
        ports_log(&engine->ports, "run_dropped", "job=%s error=\"out of memory\"", run->job_name);
        return;
    }
    if (run->not_before_ms) /* else its tick, which may be a moment ahead for a manual run */
        open->start_at_ms = run->not_before_ms;
    open->seen = engine->now.boot;
    open->waits_ms = wait_of_attempt(engine, open);
    follow(engine, open, run, open->phase);
    if (open->phase == OPEN_GROUP)
        marks_sweep(&engine->marks);
    if (open->phase == OPEN_ORPHAN && engine->runner.executor_ready)
        runner_end_orphan(&engine->runner, engine->now, open);
    replan_job_of(engine, run);
}

/* Keeps the change for later: the history is reading the run that is being recorded. */
static void keep_news(struct engine *engine, struct open_run *open, const struct run *run)
{
    if (!open->news && !(open->news = malloc(sizeof(*open->news)))) {
        ports_log(&engine->ports, "run_dropped", "job=%s error=\"out of memory\"", run->job_name);
        return;
    }
    *open->news = *run;
}

/* A restored store had it as begun again, and it was given up when the halt was lifted or by the
 * next restore. */
static bool is_given_up(const struct engine *engine, const struct open_run *open)
{
    return open->phase == OPEN_ORPHAN && engine->runner.executor_ready;
}

/* This incarnation was taken for dead after it had sent a begin, and never got the answer that
 * allows the start. */
static bool is_lost_unstarted(const struct open_run *open, const struct run *run)
{
    return open_phase_is(open->phase, PHASE_UNBEGUN) && run->state == RUN_LOST &&
           run->reason == REASON_NODE_DIED;
}

/* A store that was restored from a backup has the run as ended, but not what followed: the record
 * of it is right, and it follows again. */
static bool is_to_follow_again(const struct open_run *open, const struct run *run)
{
    bool is_past_that = open->phase == OPEN_FINISHED || open_phase_is(open->phase, PHASE_RECORDED);
    return is_past_that && run_is_unfollowed(run) && !run_is_unfollowed(&open->run);
}

/* A run that the store has ended before it was begun here stays ended; for a run that is begun
 * here, this node's own state decides. */
static void take_end(struct engine *engine, struct open_run *open, const struct run *run)
{
    bool for_us = is_for_us(engine, run);
    bool was_open = open_phase_is(open->phase, PHASE_OPEN);
    if (is_ours(engine, run) && is_lost_unstarted(open, run)) {
        open->run.fence = run->fence;
        runner_begun_before(&engine->runner, engine->now, open);
        return;
    }
    if (is_to_follow_again(open, run)) {
        follow(engine, open, run, for_us ? OPEN_UNFOLLOWED : OPEN_ENDED_ELSEWHERE);
        return;
    }
    if (open->phase == OPEN_FINISHED &&
        !for_us) { /* recorded in its node's place, and the node has come back */
        open->run = *run;
        return;
    }
    if (open->phase == OPEN_RECORDING && !for_us) {
        keep_news(engine, open, run);
        return;
    }
    bool is_taken_over = open_run_ended_unbegun(open) && !for_us;
    if (!is_given_up(engine, open) && !is_taken_over &&
        !open_phase_is(open->phase, PHASE_FED | PHASE_UNBEGUN | PHASE_ELSEWHERE))
        return;
    follow(engine, open, run, for_us ? open_phase_of_end(run) : OPEN_ENDED_ELSEWHERE);
    if (was_open)
        replan_job_of(engine, run);
}

/* Asked once in a turn: the store looks at the disk for it. */
static bool has_backup(struct engine *engine)
{
    if (!engine->knows_backup)
        engine->has_backup = runner_has_backup(&engine->runner);
    engine->knows_backup = true;
    return engine->has_backup;
}

/* The feed shows a begin whose answer is not here yet, or was lost. This incarnation sent it:
 * nobody else has its nonce. But a store that was restored from a backup may have done it after
 * another node had taken the run over in the store before: its feed is no answer. */
static void take_begun(struct engine *engine, struct open_run *open, const struct run *run)
{
    if (has_backup(engine)) {
        runner_begun_in_backup(&engine->runner, engine->now, open);
    } else if (open->phase == OPEN_REFUSED) {
        runner_begun_before(&engine->runner, engine->now, open);
    } else if (open->phase == OPEN_CLAIMED || open->begins == 1) {
        open->begin_sent = open->first_begin; /* that request may have been the one */
        runner_begun(&engine->runner, engine->now, open, run->fence, run->job_revision);
    } else { /* by which of the requests is unknown */
        open->run.state = RUN_BEGUN;
    }
}

/* The feed shows a take whose answer is not here yet, or was lost. */
static void take_claimed(struct engine *engine, struct open_run *open, const struct run *run)
{
    if (open->is_overdue)
        sweeper_end(&engine->sweeper, engine->now, open, run);
    else
        follow(engine, open, run, OPEN_CLAIMED);
}

/* A run that this incarnation does not own was claimed, taken or begun by another one, or by a take
 * of ours. If a begin of an earlier agent of this home took effect after that agent's death, nobody
 * got the answer that allows the start. */
static void take_step_elsewhere(struct engine *engine, struct open_run *open, const struct run *run)
{
    bool is_old_news = open->phase == OPEN_TAKING && !run->node[0] &&
                       run->parts == open->run.parts && run->state != RUN_RUNNING;
    bool ours = is_ours(engine, run);
    if (ours && run->state == RUN_CLAIMED)
        take_claimed(engine, open, run);
    else if (!ours && !is_old_news)
        follow(engine, open, run, phase_of(engine, run));
    if (open->phase == OPEN_ORPHAN && engine->runner.executor_ready)
        runner_end_orphan(&engine->runner, engine->now, open);
}

/* For runs that this node is working on, its own state decides, except for a step whose answer was
 * lost and for runs that another incarnation has taken over. */
static void take_step(struct engine *engine, struct open_run *open, const struct run *run)
{
    if (open_phase_is(open->phase, PHASE_FED)) {
        take_step_elsewhere(engine, open, run);
        return;
    }
    bool is_ended_here = open_run_ended_unbegun(open);
    if (!open_phase_is(open->phase, PHASE_UNBEGUN) && !is_ended_here)
        return;
    if (run->nonce != open->run.nonce) /* or by nobody: the store was restored from a backup */
        follow(engine, open, run, phase_of(engine, run));
    else if (run->state == RUN_BEGUN && !is_ended_here)
        take_begun(engine, open, run);
}

/* The answer to the claim was first. */
static bool is_begun_by_claim(const struct open_run *open, const struct run *run)
{
    return run->state == RUN_BEGUN && open && open->phase == OPEN_BEGINNING &&
           open->run.state == RUN_BEGUN;
}

static void take_run(struct engine *engine, const struct run *run)
{
    struct open_run *open = open_runs_find(&engine->runs, &run->id);
    engine->attendance.is_busy |= run->state == RUN_CLAIMED || is_begun_by_claim(open, run);
    if (open)
        open->is_forgotten = false;
    if (!open)
        take_new_run(engine, run);
    else if (run_state_is_end(run->state))
        take_end(engine, open, run);
    else
        take_step(engine, open, run);
}

/* Another node has recorded a run or an entry, or a restored store does not have it. Runs of our
 * own are recorded all the same: this node knows better, and recording twice is harmless. A take
 * that is under way will no longer find the run. */
static void take_forget(struct engine *engine, const struct id *id)
{
    struct open_run *open = open_runs_find(&engine->runs, id);
    if (!open) {
        recorder_forget_entry(&engine->recorder, id);
        return;
    }
    open->is_forgotten = true;
    if (!open_phase_is(open->phase, PHASE_FED | PHASE_ELSEWHERE) && !open_run_ended_unbegun(open) &&
        !is_given_up(engine, open))
        return;
    struct run run = open->run;
    open_runs_remove(&engine->runs, open);
    replan_job_of(engine, &run);
}

static void take_entry(struct engine *engine, const struct store_change *change)
{
    if (recorder_add_entry(&engine->recorder, change->entry) != OK)
        ports_log(&engine->ports, "entry_deferred", "job=%s", change->entry->job_name);
    if (!change->entry->node[0])
        marks_sweep(&engine->marks);
}

static void take_kill(struct engine *engine, const struct run *order)
{
    struct open_run *open = open_runs_find(&engine->runs, &order->id);
    if (open)
        runner_kill(&engine->runner, engine->now, open, order->reason, order->by);
}

/* ---- all of them ---- */

static void take_loaded(struct engine *engine)
{
    engine->loaded = true;
    catalog_sort(
        &engine->catalog); /* now, rather than with the first query, when runs may be due */
    peers_go_live(&engine->peers, engine->now);
    engine_judge_start(engine);
    marks_sweep(&engine->marks);
    engine_replan(engine);
    ports_log(&engine->ports, "loaded", "jobs=%zu", catalog_count(&engine->catalog));
}

/* Logs an unreadable value, or that it is readable again. */
static void take_aside(struct engine *engine, const struct store_aside *aside)
{
    engine->has_asides = true;
    if (aside->why == OK)
        ports_log(&engine->ports, "value_readable", "key=%s", aside->key);
    else
        ports_log(&engine->ports, "value_set_aside", "key=%s error=\"%s\"", aside->key,
                  status_text(aside->why));
}

static void take_change(struct engine *engine, const struct store_change *change)
{
    switch (change->kind) {
    case STORE_CHANGE_JOB:
        take_job(engine, change);
        break;
    case STORE_CHANGE_DELETE:
        take_delete(engine, change);
        break;
    case STORE_CHANGE_CURSOR:
        take_cursor(engine, change);
        break;
    case STORE_CHANGE_RUN:
        take_run(engine, change->run);
        break;
    case STORE_CHANGE_ENTRY:
        take_entry(engine, change);
        break;
    case STORE_CHANGE_FORGET:
        take_forget(engine, &change->gone_id);
        break;
    case STORE_CHANGE_KILL:
        take_kill(engine, change->run);
        break;
    case STORE_CHANGE_META:
        boots_take_meta(&engine->boots, change->meta);
        break;
    case STORE_CHANGE_PEER:
    case STORE_CHANGE_DRAIN:
    case STORE_CHANGE_LEADER:
        engine_take_node(engine, change);
        break;
    case STORE_CHANGE_DOC: /* other documents are for observers */
        if (strcmp(change->doc->kind, CALENDAR_DOC) == 0)
            take_calendar(engine, change->doc);
        else if (strcmp(change->doc->kind, MAINTENANCE_DOC) == 0)
            take_maintenance(engine, change->doc);
        else if (strcmp(change->doc->kind, GROUP_DOC) == 0)
            take_group(engine, change->doc);
        else if (strcmp(change->doc->kind, INPUT_DOC) == 0)
            take_input(engine, change->doc);
        else if (strcmp(change->doc->kind, OUTPUT_DOC) == 0)
            take_output(engine, change->doc);
        else if (strcmp(change->doc->kind, BOOT_DOC) == 0)
            boots_take_doc(&engine->boots, change->doc);
        else if (strcmp(change->doc->kind, ATTENDANCE_DOC) == 0)
            engine_take_attendance(engine, change->doc);
        break;
    case STORE_CHANGE_ASIDE:
        take_aside(engine, &change->aside);
        break;
    case STORE_CHANGE_LOADED:
        take_loaded(engine);
        break;
    }
}

void engine_take_changes(struct engine *engine)
{
    struct store_change change;
    engine->knows_backup = false;
    while (store_next_change(engine->ports.store, &change)) {
        take_change(engine, &change);
        engine->claimer.fed = engine->now.boot;
        ports_observe(&engine->ports, &change);
    }
}
