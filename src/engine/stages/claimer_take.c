/* The claimer's takes: runs that are due, and claimed ones that their node does not begin. A run
 * may become the parts of its tick, an instance of a workflow or a fan-out with that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/eligible.h"
#include "lacking.h"
#include "stages/claimer_internal.h"
#include "stages/spread.h"
#include "workflow/opening.h"
#include "workflow/verdict.h"

/* A step that is opened, or ended without a start. */
static bool is_ownerless(const struct open_run *open)
{
    return open->verdict == VERDICT_OPEN || open->verdict == VERDICT_END;
}

/* Else it needs slots, if it has groups. */
static bool needs_process(const struct open_run *open)
{
    return !is_ownerless(open);
}

/* A run whose job is deleted or purged needs none: it is taken only to be ended by its begin. Nor
 * does what is opened, or ended without a start. */
static bool needs_room(const struct claimer *claimer, const struct open_run *open)
{
    const struct catalog_job *job = catalog_by_uid(claimer->catalog, &open->run.job_uid);
    bool is_opened = job && job->is_workflow && !run_is_step(&open->run);
    return job && !job->deleted && !is_opened && !is_ownerless(open);
}

/* Not taken: another node was first, as the feed will show. */
static void not_taken(struct claimer *claimer, struct now now, struct open_run *open)
{
    open->seen.ms = now.boot.ms + (open->is_grouped ? SLOTS_RETRY_MS : CLAIMER_RETRY_MS);
    open_runs_move(claimer->runs, open,
                   open->run.state == RUN_CLAIMED ? OPEN_CLAIMED_ELSEWHERE : OPEN_WAITING);
}

/* The run is open now, without an owner; or it has ended with that, as the feed will show. */
static void opened(struct claimer *claimer, struct now now, struct open_run *open,
                   const struct run *run)
{
    bool is_open = run->state == RUN_RUNNING;
    if (is_open)
        open->run = *run;
    open->seen.ms = now.boot.ms + CLAIMER_RETRY_MS;
    open_runs_move(claimer->runs, open, is_open ? OPEN_GROUP : OPEN_WAITING);
    marks_sweep(claimer->marks);
}

/* The run has become the first part of its tick, which waits for its node as the others do. */
static void spread(struct claimer *claimer, struct now now, struct open_run *open,
                   const struct run *run)
{
    open->run = *run;
    open->seen = now.boot;
    open->ranked = 0;
    open_runs_move(claimer->runs, open, OPEN_WAITING);
    marks_sweep(claimer->marks);
}

static void takes_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct claimer *claimer = stage;
    size_t unsure = 0;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        const struct store_take *take = &batch->request.items.takes[i];
        struct open_run *open = open_runs_find_taking(claimer->runs, &take->run_id, take->nonce);
        if (!open)
            continue;
        if (st == OK && take->taken && take->opening.is_wanted) {
            opened(claimer, now, open, &take->run);
        } else if (st == OK && take->taken && take->run.state == RUN_DUE) {
            spread(claimer, now, open, &take->run);
        } else if (st == OK && take->taken) {
            open->run = take->run;
            open_runs_move(claimer->runs, open, OPEN_CLAIMED);
        } else {
            unsure += st == E_UNKNOWN && needs_room(claimer, open);
            not_taken(claimer, now, open);
        }
    }
    claimer_note_unsure(claimer, now, unsure);
}

static void release_takes(struct outbox_batch *batch)
{
    for (size_t i = 0; i < outbox_count(batch); i++) {
        struct store_take *take = &batch->request.items.takes[i];
        free(take->parts.parts);
        opening_release(&take->opening);
    }
}

static const struct outbox_kind takes_kind = {.op = STORE_TAKE,
                                              .item_size = sizeof(struct store_take),
                                              .answered = takes_answered,
                                              .release = release_takes};

/* The begin of a run of a deleted job is refused, so whoever takes it ends it: any agent may, and
 * any process of its program. Which function it was, nobody knows any more. */
static const char *where_of(const struct claimer *claimer, const struct catalog_job *job)
{
    bool is_any_agents = !job || (job->deleted && eligible_is_kind(NULL, claimer->self->program));
    return is_any_agents ? NULL : job->where;
}

/* The parts of a tick that any node may run go to the nodes in turn, or each to a node with room.
 */
static int compute_rank(const struct claimer *claimer, const struct run *run)
{
    const struct catalog_job *job = instances_terms(claimer->instances, run);
    struct placement_ask ask = {.id = &run->id,
                                .where = where_of(claimer, job),
                                .function = job ? catalog_job_function(job) : NULL,
                                .without = run->node,
                                .failed_on = run->failed_on,
                                .tick_ms = run->tick_ms,
                                .place = job ? catalog_job_place(job) : PLACE_EVEN,
                                .last_node = job ? job->last_node : 0};
    bool is_new_part = run->parts && !run->node[0] && !run->failed_on[0];
    if (!is_new_part || ask.place == PLACE_LEAST_LOADED)
        return placement_rank(claimer->placement, &ask);
    ask.id = &run->job_uid;
    ask.place = PLACE_EVEN;
    return placement_rank_part(claimer->placement, &ask, run->part);
}

/* Agents run no functions, and a program only its own, as far as this process has them. Which
 * functions of steps it lacks is not told to others. */
static bool can_run(const struct claimer *claimer, const struct run *run)
{
    const struct catalog_job *job = instances_terms(claimer->instances, run);
    if (!job)
        return !run_is_step(run);
    if (!eligible_is_kind(where_of(claimer, job), claimer->self->program))
        return false;
    if (job->deleted)
        return true;
    return run_is_step(run) ? ports_can_run(claimer->ports, catalog_job_function(job))
                            : lacking_can_run(claimer->lacking, claimer->ports, job);
}

/* What is opened or ended without a start is any agent's, wherever it would run. */
static int compute_rank_of_end(const struct claimer *claimer, const struct run *run)
{
    struct placement_ask ask = {.id = &run->id, .place = PLACE_EVEN};
    return eligible_is_kind(NULL, claimer->self->program) ? placement_rank(claimer->placement, &ask)
                                                          : NOT_ELIGIBLE;
}

/* This node's rank among the eligible nodes, without the one that has claimed the run; computed
 * once per placement. A run may be for one node alone. */
static int rank_of(const struct claimer *claimer, struct open_run *open)
{
    const char *only = open_run_only_node(&open->run);
    if (is_ownerless(open))
        return compute_rank_of_end(claimer, &open->run);
    if (!can_run(claimer, &open->run))
        return NOT_ELIGIBLE;
    if (only)
        return strcmp(only, claimer->self->name) == 0 ? 0 : NOT_ELIGIBLE;
    if (open->ranked != claimer->placement->generation) {
        open->rank = compute_rank(claimer, &open->run);
        open->ranked = claimer->placement->generation;
    }
    return open->rank;
}

/* The claiming node is alive and may still begin the run. */
static bool is_others_turn(const struct claimer *claimer, const struct open_run *open)
{
    return peers_is_in_life(claimer->peers, open->run.node, &open->run.owner) &&
           peer_whose(claimer->self, open->run.node, &open->run.owner) == WHOSE_OTHERS;
}

/* A definition with something in it that only a newer peal knows is for nodes that have one. If
 * none takes the run in time, it is taken to be ended with that reason. */
static bool is_for_newer(const struct claimer *claimer, const struct open_run *open)
{
    const struct catalog_job *job = instances_terms(claimer->instances, &open->run);
    return job && job->broken && !job->deleted;
}

/* When this node is to take a run that waits, or that another node has claimed and does not begin;
 * NEVER_MS: never. A node whose own claims are late (is_behind) does not take another living
 * node's: that node is just as busy. */
static int64_t take_at(const struct claimer *claimer, struct now now, bool is_behind,
                       struct open_run *open)
{
    bool is_claimed = open->phase == OPEN_CLAIMED_ELSEWHERE;
    if (!is_claimed && open->run.state != RUN_DUE)
        return NEVER_MS;
    if (is_claimed && open_run_is_too_late(open, claimer->on_time_ms, now.wall))
        return NEVER_MS;
    if (!is_claimed && open_run_untaken_at(open, claimer->on_time_ms, now) <= now.wall.ms)
        return NEVER_MS;
    if (!is_claimed && run_is_step(&open->run) &&
        verdict_find(claimer->instances, open) == VERDICT_NONE)
        return NEVER_MS; /* the feed brings the plan */
    bool needs_slots = !is_claimed && needs_process(open);
    if (needs_slots && !slots_are_free(claimer->slots, open))
        return NEVER_MS;
    int rank = rank_of(claimer, open);
    if (rank == NOT_ELIGIBLE)
        return NEVER_MS;
    int64_t base_ms = wall_at(now, open->seen) + (is_claimed ? 0 : open->waits_ms);
    bool is_set_back = open_run_is_set_back(open, now.wall);
    if (!is_set_back && open->run.not_before_ms > base_ms)
        base_ms = open->run.not_before_ms;
    if (needs_slots && open->is_grouped && wall_at(now, open->up_since) > base_ms)
        base_ms = wall_at(now, open->up_since);
    if (is_claimed && is_others_turn(claimer, open)) {
        if (is_behind)
            return NEVER_MS;
        rank++;
    }
    int64_t at_ms = base_ms + rank * STEP_IN_MS;
    bool is_left = at_ms <= now.wall.ms && is_for_newer(claimer, open);
    return is_left ? at_ms + claimer->on_time_ms : at_ms;
}

/* The definition says whether the run becomes several. E_NOMEM. */
static enum status fill_spread(const struct claimer *claimer, struct now now,
                               const struct open_run *open, struct store_take *take)
{
    const struct catalog_job *job = catalog_by_uid(claimer->catalog, &open->run.job_uid);
    if (!job || job->deleted || !run_may_be_spread(&open->run))
        return OK;
    take->job_revision = job->revision;
    if (job->is_workflow)
        return claimer_fill_instance(claimer, now, job, &open->run.input, &take->opening);
    return spread_fill(claimer->ports, claimer->placement, now, job, &open->run.id, &take->parts);
}

/* What the run becomes, if it is more than one. E_INVALID: not as it was judged. E_NOMEM. */
static enum status fill_what(const struct claimer *claimer, struct now now,
                             const struct open_run *open, struct store_take *take)
{
    if (open->verdict == VERDICT_OPEN)
        return opening_of_fan_out(claimer->ports, claimer->instances, now, &open->run,
                                  &take->opening);
    return fill_spread(claimer, now, open, take);
}

/* Fills all but the run's own part. False: not now; the run is looked at again. */
static bool prepare(struct claimer *claimer, struct now now, struct open_run *open,
                    struct store_take *take)
{
    if (fill_what(claimer, now, open, take) == OK)
        return true;
    opening_release(&take->opening);
    open->verdict = VERDICT_NONE;
    return false;
}

/* Ends a step without a start: the recorder sends its finish. */
static void end_step(struct claimer *claimer, struct now now, struct open_run *open)
{
    struct verdict_end end;
    if (verdict_tell(claimer->instances, open, &end))
        open_runs_end(claimer->runs, open, end.state, end.reason, end.detail, now.wall);
    else
        open->verdict = VERDICT_NONE;
}

/* The maintenance that keeps a run from starting which has only waited so far: for jobs before it,
 * or for an earlier run of its own. What has begun goes on, with its attempts, parts and steps. */
static const struct maintenance *maintenance_of(const struct claimer *claimer, struct now now,
                                                const struct open_run *open)
{
    const struct run *run = &open->run;
    if (run->state != RUN_DUE || run->attempt > 1 || run->parts || run_is_step(run) ||
        run_is_asked_for(run))
        return NULL;
    return known_maintenance_at(&claimer->catalog->maintenance, run->job_name, now.wall.ms);
}

static void end_in_maintenance(struct claimer *claimer, struct now now, struct open_run *open,
                               const struct maintenance *maintenance)
{
    char detail[sizeof(open->run.detail)];
    maintenance_tell(maintenance, detail, sizeof(detail));
    open_runs_end(claimer->runs, open, RUN_SKIPPED,
                  maintenance->is_pause ? REASON_PAUSED : REASON_MAINTENANCE, detail, now.wall);
    open->run.finished_ms = 0; /* it never started, and is not the job's last run */
}

/* Its first steps are made when the tick is claimed, shortly before it, and jitter is the whole's.
 */
static void wait_for_instance(const struct claimer *claimer, struct open_run *open)
{
    const struct open_run *instance = open_runs_instance(claimer->runs, &open->run);
    if (instance && instance->run.not_before_ms > open->start_at_ms)
        open->start_at_ms = instance->run.not_before_ms;
}

/* The groups are those of the definition now. One that is gone needs none, only to be ended. */
static void fill_slots(const struct claimer *claimer, const struct open_run *open,
                       struct store_take *take)
{
    const struct catalog_job *job = instances_terms(claimer->instances, &open->run);
    if (!job || job->deleted || take->opening.is_wanted || take->parts.count)
        return;
    catalog_fill_groups(claimer->catalog, job,
                        run_is_step(&open->run) ? open->run.job_name : job->name, take->groups,
                        &take->priority);
    known_groups_fill(&claimer->catalog->groups, take->groups, claimer->self->labels, &take->slots);
}

static void fill_take(struct claimer *claimer, struct now now, struct open_run *open,
                      struct store_take *take)
{
    take->run_id = open->run.id;
    take->from_nonce = open->phase == OPEN_CLAIMED_ELSEWHERE ? open->run.nonce : 0;
    take->nonce = ports_new_nonce(claimer->ports);
    take->now_ms = now.wall.ms;
    snprintf(take->node, sizeof(take->node), "%s", claimer->self->name);
    take->owner = peer_incarnation(claimer->self);
    fill_slots(claimer, open, take);
    open->is_overdue = false;
    open_runs_take(claimer->runs, open, take->nonce);
    slots_note_take(claimer->slots, open);
}

/* The takes of a turn. */
struct gathering {
    struct outbox_batch *batch;
    size_t room; /* for those that need room */
    bool is_behind;
};

/* Adds the run if its time has come. False: no more in this turn; out of memory, it stays in its
 * phase. */
static bool gather(struct claimer *claimer, struct now now, struct open_run *open,
                   struct gathering *to)
{
    if (outbox_count(to->batch) == OUTBOX_MAX) /* the rest with the next turn */
        return false;
    if (take_at(claimer, now, to->is_behind, open) > now.wall.ms)
        return true;
    if (open->verdict == VERDICT_END) {
        end_step(claimer, now, open);
        return true;
    }
    const struct maintenance *maintenance = maintenance_of(claimer, now, open);
    if (maintenance) {
        end_in_maintenance(claimer, now, open, maintenance);
        return true;
    }
    bool is_counted = needs_room(claimer, open);
    if (is_counted && !to->room)
        return true;
    struct store_take *take = outbox_add(&to->batch, &claimer->sender, &takes_kind);
    if (!take)
        return false;
    if (!prepare(claimer, now, open, take)) {
        outbox_drop_last(to->batch);
        return false;
    }
    wait_for_instance(claimer, open);
    fill_take(claimer, now, open, take);
    to->room -= is_counted;
    return true;
}

static void gather_phase(struct claimer *claimer, struct now now, enum open_phase phase,
                         struct gathering *to)
{
    struct open_run *open = open_runs_first(claimer->runs, phase);
    bool go_on = true;
    for (struct open_run *next; open && go_on; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (phase != OPEN_WAITING || !open->is_grouped)
            go_on = gather(claimer, now, open, to);
    }
}

/* In the order of their turns. A take moves no other run in the list. */
static void gather_grouped(struct claimer *claimer, struct now now, struct gathering *to)
{
    struct open_run *open = TAILQ_FIRST(&claimer->runs->grouped);
    bool go_on = true;
    for (struct open_run *next; open && go_on; open = next) {
        next = TAILQ_NEXT(open, in_groups);
        if (open->phase == OPEN_WAITING)
            go_on = gather(claimer, now, open, to);
    }
}

void claimer_take(struct claimer *claimer, struct now now, size_t room)
{
    struct gathering to = {.room = room,
                           .is_behind = open_runs_are_behind(claimer->runs, now.wall)};
    if (claimer->sender.in_flight >= CLAIMER_IN_FLIGHT || claimer->sender.retry_at.ms > now.boot.ms)
        return;
    slots_look(claimer->slots, now);
    gather_phase(claimer, now, OPEN_CLAIMED_ELSEWHERE, &to);
    gather_grouped(claimer, now, &to);
    gather_phase(claimer, now, OPEN_WAITING, &to);
    outbox_send(&to.batch, now);
}

int64_t claimer_wake_at(const struct claimer *claimer, struct now now, size_t room)
{
    int64_t first_ms = slots_look_at(claimer->slots, now);
    if (claimer->sender.in_flight) /* the answer brings a turn */
        return NEVER_MS;
    bool is_behind = open_runs_are_behind(claimer->runs, now.wall);
    for (int phase = 0; phase < OPEN_PHASES; phase++) {
        struct open_run *open;
        if (!open_phase_is((enum open_phase)phase, PHASE_TAKABLE))
            continue;
        TAILQ_FOREACH (open, &claimer->runs->phases[phase], in_phase) {
            if (!room && needs_room(claimer, open))
                continue;
            int64_t at_ms = take_at(claimer, now, is_behind, open);
            first_ms = at_ms < first_ms ? at_ms : first_ms;
        }
    }
    return first_ms;
}
