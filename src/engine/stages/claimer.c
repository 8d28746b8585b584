#include "stages/claimer.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/eligible.h"
#include "lacking.h"
#include "stages/spread.h"
#include "workflow/opening.h"
#include "workflow/verdict.h"

enum {
    MAX_IN_FLIGHT = 8,     /* requests; more wait for the next turn */
    CLAIMS_AHEAD = 1024,   /* that are not begun yet, and that other nodes could run ... */
    CLAIMS_ALONE = 8192,   /* ... or not: then all of a burst are claimed before their tick */
    RETRY_AFTER_MS = 1000, /* by then the feed should have shown the change */
    UNSURE_MS = 5000, /* a run that may have been claimed takes room for this long, and until the
                         feed's next change, since the feed may lag by more */
    OUTAGE_LEAD_MS = 500, /* an outage also held up ticks that were due this shortly before it */
};

void claimer_init(struct claimer *claimer, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, struct catalog *catalog, struct marks *marks,
                  struct boot_marks *boot_marks, struct placement *placement,
                  const struct peers *peers, struct open_runs *runs)
{
    *claimer = (struct claimer){.ports = ports,
                                .self = self,
                                .catalog = catalog,
                                .marks = marks,
                                .boot_marks = boot_marks,
                                .placement = placement,
                                .peers = peers,
                                .runs = runs,
                                .latency_ms = 5};
    outbox_sender_init(&claimer->sender, outbox, claimer);
}

void claimer_release(struct claimer *claimer)
{
    outbox_free(claimer->filling);
    claimer->filling = NULL;
}

static void replan(struct claimer *claimer, const struct id *job_uid, int64_t not_before_ms)
{
    struct catalog_job *job = catalog_by_uid(claimer->catalog, job_uid);
    if (!job)
        return;
    catalog_job_set_claiming(job, false);
    marks_plan(claimer->marks, job_uid, not_before_ms);
}

static bool is_boot(const struct plan *plan)
{
    return plan->boot.name[0] != '\0';
}

/* A claim was won: the run goes on to its begin. */
static void won(struct claimer *claimer, struct store_claim *claim, struct plan *plan)
{
    if (open_runs_find(claimer->runs, &claim->run.id)) /* the feed was faster */
        return;
    struct open_run *open = open_runs_add(claimer->runs, &claim->run, OPEN_CLAIMED);
    if (!open) {
        ports_log(claimer->ports, "run_dropped", "job=%s error=\"out of memory\"",
                  claim->run.job_name);
        return;
    }
    open->start_at_ms = plan->start_at_ms;
}

static void settle(struct claimer *claimer, struct store_claim *claim, struct plan *plan)
{
    struct catalog_job *job = catalog_by_uid(claimer->catalog, &claim->job_uid);
    if (job && claim->rewinds == job->rewinds)
        catalog_job_claimed(job, claim->tick_ms);
    if (claim->result == CLAIM_WON)
        won(claimer, claim, plan);
}

/* When to plan a job again after a stale claim. The change that made it stale is in the catalog
 * already, or comes with the feed, which plans the job at once; an earlier claim would only be
 * stale again. */
static int64_t after_stale_ms(const struct claimer *claimer, struct now now,
                              const struct store_claim *claim)
{
    const struct catalog_job *job = catalog_by_uid(claimer->catalog, &claim->job_uid);
    bool news = !job || job->revision != claim->job_revision ||
                job->cursor_ms != claim->cursor_ms || job->rewinds != claim->rewinds;
    return news ? INT64_MIN : now.wall.ms + RETRY_AFTER_MS;
}

/* `count` more runs may be ours after all. */
static void note_unsure(struct claimer *claimer, struct now now, size_t count)
{
    struct boot_ms until;
    if (!count)
        return;
    claimer->unsure = claimer_unsure(claimer, now, &until) + count;
    claimer->unsure_since = now.boot;
}

size_t claimer_unsure(const struct claimer *claimer, struct now now, struct boot_ms *ret_until)
{
    bool is_told = claimer->fed.ms > claimer->unsure_since.ms;
    ret_until->ms = is_told ? claimer->unsure_since.ms + UNSURE_MS : INT64_MAX;
    return now.boot.ms < ret_until->ms ? claimer->unsure : 0;
}

static void answered(struct claimer *claimer, struct now now, struct store_claim *claim,
                     struct plan *plan, enum status st)
{
    int64_t not_before_ms = INT64_MIN;
    if (st == OK && claim->result == CLAIM_STALE)
        not_before_ms = after_stale_ms(claimer, now, claim);
    else if (st == OK)
        settle(claimer, claim, plan);
    replan(claimer, &claim->job_uid, not_before_ms);
}

static void boot_answered(struct claimer *claimer, struct now now, struct store_claim *claim,
                          struct plan *plan, enum status st)
{
    if (st == OK && claim->result == CLAIM_WON)
        won(claimer, claim, plan);
    boot_marks_answered(claimer->boot_marks, now, &claim->job_uid, &claim->boot,
                        st == OK && claim->result != CLAIM_STALE);
}

static void claims_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct claimer *claimer = stage;
    struct store_claim *claims = batch->request.items.claims;
    struct plan *plans = batch->notes;
    claimer->unanswered -= outbox_count(batch);
    outbox_learn_latency(batch, now, &claimer->latency_ms);
    outbox_note_outage(batch, st, now, claimer->away);
    size_t with_run = 0;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        with_run += !claims[i].without_run;
        if (is_boot(&plans[i]))
            boot_answered(claimer, now, &claims[i], &plans[i], st);
        else
            answered(claimer, now, &claims[i], &plans[i], st);
    }
    claimer->wanted -= with_run;
    if (st == E_UNKNOWN)
        note_unsure(claimer, now, with_run);
}

static void release_plans(struct outbox_batch *batch)
{
    struct plan *plans = batch->notes;
    for (size_t i = 0; i < outbox_count(batch); i++)
        plan_release(&plans[i]);
}

/* Claims, with their plans as notes. */
static const struct outbox_kind claims_kind = {
    .op = STORE_CLAIM,
    .item_size = sizeof(struct store_claim),
    .note_size = sizeof(struct plan),
    .answered = claims_answered,
    .release = release_plans,
};

/* The run or the entry of a boot gets the same id, so that only one of them can exist. */
static struct id new_id(const struct claimer *claimer, struct now now, const struct plan *plan)
{
    return is_boot(plan) ? boot_run_id(&plan->boot.mark, claimer->self->name, &plan->job->uid)
                         : ports_new_id(claimer->ports, now.wall);
}

void claimer_fill_entries(const struct claimer *claimer, struct now now, struct plan *plan)
{
    const struct catalog_job *job = plan->job;
    for (size_t i = 0; i < plan->passed_count; i++) {
        struct ledger_entry *entry = &plan->passed[i];
        entry->id = new_id(claimer, now, plan);
        entry->job_uid = job->uid;
        entry->recorded_ms = now.wall.ms;
        snprintf(entry->job_name, sizeof(entry->job_name), "%s", job->name);
        snprintf(entry->node, sizeof(entry->node), "%s", claimer->self->name);
        entry->owner = peer_incarnation(claimer->self);
        if (entry->reason == REASON_NO_NODE)
            placement_tell_nobody(claimer->placement, job->where, catalog_job_function(job),
                                  entry->detail, sizeof(entry->detail));
    }
}

static void fill_run(const struct claimer *claimer, struct now now, const struct plan *plan,
                     struct run *run)
{
    run->job_uid = plan->job->uid;
    run->tick_ms = plan->tick_ms;
    run->attempt = 1;
    run->attempts = catalog_job_attempts(plan->job);
    run->cause = plan->cause;
    run->nonce = ports_new_nonce(claimer->ports);
    run->job_revision = plan->job->revision;
    run->not_before_ms = plan->start_at_ms;
    run->claimed_ms = now.wall.ms;
    run->exit_code = -1;
    snprintf(run->job_name, sizeof(run->job_name), "%s", plan->job->name);
    snprintf(run->node, sizeof(run->node), "%s", claimer->self->name);
    run->owner = peer_incarnation(claimer->self);
    if (is_boot(plan)) /* the boot's node, also while the run waits in its job's queue */
        snprintf(run->by, sizeof(run->by), "%s", claimer->self->name);
}

/* The run that blocks this tick is late only because of this outage, when it was due or when it
 * ended: without it, it would have ended in time. This applies to ticks during the outage and for
 * as long after it, by when the backlog is done. A run that was under way before the outage blocks
 * as usual. */
static bool is_held_up_by(const struct plan *plan, const struct outage *away)
{
    const struct catalog_job *job = plan->job;
    int64_t lasted_ms = away->until_ms - away->since_ms;
    int64_t usual_ms =
        job->last.ended_ms - job->last.started_ms; /* duration of the last run; 0: none */
    if (job->open_since_ms + usual_ms > plan->start_at_ms)
        return false; /* it would block the tick without the outage, too */
    return job->open_runs && plan->start_at_ms >= away->since_ms &&
           plan->start_at_ms <= away->until_ms + lasted_ms + OUTAGE_LEAD_MS &&
           job->open_since_ms >= away->since_ms - OUTAGE_LEAD_MS &&
           job->open_since_ms <= away->until_ms;
}

/* By an outage of the store, or by any other hindrance of this node. */
static bool is_held_up(const struct claimer *claimer, const struct plan *plan)
{
    bool is_held_up = is_held_up_by(plan, claimer->away);
    for (size_t i = 0; !is_held_up && i < claimer->hindrances->count; i++) {
        const struct hindrance *span = &claimer->hindrances->spans[i];
        is_held_up = hindrance_is_of(span, plan->job->where) &&
                     is_held_up_by(plan, &(struct outage){span->from_ms, span->to_ms});
    }
    return is_held_up;
}

/* Caught-up ticks run one after the other, even where the job skips a tick while another run is
 * open: that run began before the outage, perhaps on a node that has not come back yet to report
 * its end. With `all`, ticks that were just due by then count as caught up. So do ticks that an
 * outage of the store or another hindrance delayed by less than on_time_ms. */
static void fill_overlap(const struct claimer *claimer, struct now now, struct store_claim *claim,
                         const struct plan *plan)
{
    struct job_policy policy = catalog_job_policy(plan->job);
    if (plan->cause == CAUSE_CATCH_UP)
        catalog_job_catch_up(plan->job, now.wall.ms);
    bool is_made_good =
        plan->cause == CAUSE_CATCH_UP || is_held_up(claimer, plan) ||
        (policy.catch_up == CATCH_UP_ALL && plan->tick_ms <= plan->job->caught_up_ms);
    bool one_by_one = is_made_good && policy.overlap == OVERLAP_SKIP;
    claim->overlap = one_by_one ? OVERLAP_QUEUE : policy.overlap;
    claim->queue_limit = one_by_one ? INT_MAX : policy.queue_limit;
}

bool claimer_has_room(const struct claimer *claimer)
{
    size_t limit = claimer->placement->count > 1 ? CLAIMS_AHEAD : CLAIMS_ALONE;
    return claimer->unanswered + claimer->runs->counts[OPEN_CLAIMED] < limit;
}

/* Out of memory: the job is planned again. */
static void give_back(struct claimer *claimer, struct now now, struct plan *plan)
{
    if (is_boot(plan))
        boot_marks_answered(claimer->boot_marks, now, &plan->job->uid, &plan->boot, false);
    else
        replan(claimer, &plan->job->uid, now.wall.ms + RETRY_AFTER_MS);
    plan_release(plan);
}

/* The parts of the plan's tick. A boot's run is on its node alone. */
static enum status fill_parts(const struct claimer *claimer, struct now now,
                              const struct id *run_id, struct plan *plan)
{
    if (!plan->with_run || is_boot(plan))
        return OK;
    return spread_fill(claimer->ports, claimer->placement, now, plan->job, run_id, &plan->parts);
}

/* The instance that a run of the job opens. One that can't be opened is an ordinary run, which
 * fails at its start and says why. E_NOMEM. */
static enum status fill_instance(const struct claimer *claimer, struct now now,
                                 const struct catalog_job *job, const struct id *input,
                                 struct store_opening *ret)
{
    char why[sizeof(((struct run *)0)->detail)];
    if (!job->is_workflow || job->deleted)
        return OK;
    enum status st = opening_of_workflow(claimer->ports, claimer->instances, now, job, input, ret,
                                         why, sizeof(why));
    return st == E_NOMEM ? st : OK;
}

static enum status fill_opening(const struct claimer *claimer, struct now now, struct plan *plan)
{
    static const struct id none;
    if (!plan->with_run)
        return OK;
    return fill_instance(claimer, now, plan->job, &none, &plan->opening);
}

void claimer_submit(struct claimer *claimer, struct now now, struct plan *plan)
{
    struct id run_id = new_id(claimer, now, plan);
    bool is_filled =
        fill_parts(claimer, now, &run_id, plan) == OK && fill_opening(claimer, now, plan) == OK;
    struct store_claim *claim =
        is_filled ? outbox_add(&claimer->filling, &claimer->sender, &claims_kind) : NULL;
    if (!claim) {
        give_back(claimer, now, plan);
        return;
    }
    claimer->unanswered++;
    claimer_fill_entries(claimer, now, plan);
    *claim = (struct store_claim){
        .job_uid = plan->job->uid,
        .job_revision = plan->job->revision,
        .cursor_ms = plan->job->cursor_ms,
        .rewinds = plan->job->rewinds,
        .tick_ms = plan->tick_ms,
        .boot = plan->boot,
        .without_run = !plan->with_run,
        .parts = plan->parts,
        .opening = plan->opening,
        .passed = plan->passed,
        .passed_count = plan->passed_count,
    };
    if (plan->with_run) {
        claimer->wanted++;
        fill_overlap(claimer, now, claim, plan);
        claim->skip_entry_id = new_id(claimer, now, plan);
        fill_run(claimer, now, plan, &claim->run);
        claim->run.id = run_id;
    }
    size_t count = outbox_count(claimer->filling);
    ((struct plan *)claimer->filling->notes)[count - 1] = *plan;
    *plan = (struct plan){0};
    if (count == OUTBOX_MAX)
        outbox_send(&claimer->filling, now);
}

/* ---- takes ---- */

/* A step that is opened, or ended without a start. */
static bool is_ownerless(const struct open_run *open)
{
    return open->verdict == VERDICT_OPEN || open->verdict == VERDICT_END;
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
    open->seen.ms = now.boot.ms + RETRY_AFTER_MS;
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
    open->seen.ms = now.boot.ms + RETRY_AFTER_MS;
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
    note_unsure(claimer, now, unsure);
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
    int rank = rank_of(claimer, open);
    if (rank == NOT_ELIGIBLE)
        return NEVER_MS;
    int64_t base_ms = wall_at(now, open->seen) + (is_claimed ? 0 : open->waits_ms);
    bool is_set_back = open_run_is_set_back(open, now.wall);
    if (!is_set_back && open->run.not_before_ms > base_ms)
        base_ms = open->run.not_before_ms;
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
        return fill_instance(claimer, now, job, &open->run.input, &take->opening);
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

/* Its first steps are made when the tick is claimed, shortly before it, and jitter is the whole's.
 */
static void wait_for_instance(const struct claimer *claimer, struct open_run *open)
{
    const struct open_run *instance = open_runs_instance(claimer->runs, &open->run);
    if (instance && instance->run.not_before_ms > open->start_at_ms)
        open->start_at_ms = instance->run.not_before_ms;
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
    open->is_overdue = false;
    open_runs_take(claimer->runs, open, take->nonce);
}

/* Adds the runs of a phase whose time has come, at most `*room` of those that need room. Out of
 * memory: they stay in their phase. */
static void gather_takes(struct claimer *claimer, struct now now, enum open_phase phase,
                         size_t *room, struct outbox_batch **batch)
{
    bool is_behind = open_runs_are_behind(claimer->runs, now.wall);
    struct open_run *open = open_runs_first(claimer->runs, phase);
    for (struct open_run *next; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (outbox_count(*batch) == OUTBOX_MAX) /* the rest with the next turn */
            return;
        if (take_at(claimer, now, is_behind, open) > now.wall.ms)
            continue;
        if (open->verdict == VERDICT_END) {
            end_step(claimer, now, open);
            continue;
        }
        bool is_counted = needs_room(claimer, open);
        if (is_counted && !*room)
            continue;
        struct store_take *take = outbox_add(batch, &claimer->sender, &takes_kind);
        if (!take)
            return;
        if (!prepare(claimer, now, open, take)) {
            outbox_drop_last(*batch);
            return;
        }
        wait_for_instance(claimer, open);
        fill_take(claimer, now, open, take);
        *room -= is_counted;
    }
}

void claimer_take(struct claimer *claimer, struct now now, size_t room)
{
    struct outbox_batch *batch = NULL;
    if (claimer->sender.in_flight >= MAX_IN_FLIGHT || claimer->sender.retry_at.ms > now.boot.ms)
        return;
    gather_takes(claimer, now, OPEN_CLAIMED_ELSEWHERE, &room, &batch);
    gather_takes(claimer, now, OPEN_WAITING, &room, &batch);
    outbox_send(&batch, now);
}

void claimer_flush(struct claimer *claimer, struct now now)
{
    outbox_send(&claimer->filling, now);
}

int64_t claimer_wake_at(const struct claimer *claimer, struct now now, size_t room)
{
    int64_t first_ms = NEVER_MS;
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
