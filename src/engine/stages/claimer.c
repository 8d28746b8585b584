#include "stages/claimer_internal.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function/eligible.h"
#include "lacking.h"
#include "stages/spread.h"
#include "workflow/opening.h"

enum {
    CLAIMS_AHEAD = 1024, /* that are not begun yet, and that other nodes could run ... */
    CLAIMS_ALONE = 8192, /* ... or not: then all of a burst are claimed before their tick */
    UNSURE_MS = 5000,    /* a run that may have been claimed takes room for this long, and until the
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

/* A claim was won: the run goes on to its begin. If the claim has begun it, the feed of this turn
 * says so, too. */
static void won(struct claimer *claimer, struct store_claim *claim, const struct plan *plan,
                struct boot_ms sent)
{
    bool is_begun = claim->run.state == RUN_BEGUN;
    if (open_runs_find(claimer->runs, &claim->run.id)) /* the feed was faster */
        return;
    struct open_run *open =
        open_runs_add(claimer->runs, &claim->run, is_begun ? OPEN_BEGINNING : OPEN_CLAIMED);
    if (!open) {
        ports_log(claimer->ports, "run_dropped", "job=%s error=\"out of memory\"",
                  claim->run.job_name);
        return;
    }
    open->start_at_ms = plan->start_at_ms;
    open->begins = is_begun;
    open->begin_sent = open->first_begin = is_begun ? sent : open->begin_sent;
}

static void settle(struct claimer *claimer, struct store_claim *claim, const struct plan *plan,
                   struct boot_ms sent)
{
    struct catalog_job *job = catalog_by_uid(claimer->catalog, &claim->job_uid);
    if (job && claim->rewinds == job->rewinds)
        catalog_job_claimed(job, claim->tick_ms);
    if (claim->result == CLAIM_WON)
        won(claimer, claim, plan, sent);
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
    return news ? INT64_MIN : now.wall.ms + CLAIMER_RETRY_MS;
}

void claimer_note_unsure(struct claimer *claimer, struct now now, size_t count)
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
                     const struct plan *plan, struct boot_ms sent, enum status st)
{
    int64_t not_before_ms = INT64_MIN;
    if (st == OK && claim->result == CLAIM_STALE)
        not_before_ms = after_stale_ms(claimer, now, claim);
    else if (st == OK)
        settle(claimer, claim, plan, sent);
    replan(claimer, &claim->job_uid, not_before_ms);
}

static void boot_answered(struct claimer *claimer, struct now now, struct store_claim *claim,
                          struct plan *plan, struct boot_ms sent, enum status st)
{
    if (st == OK && claim->result == CLAIM_WON)
        won(claimer, claim, plan, sent);
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
        claimer->beginning -= claims[i].begins;
        if (is_boot(&plans[i]))
            boot_answered(claimer, now, &claims[i], &plans[i], batch->sent, st);
        else
            answered(claimer, now, &claims[i], &plans[i], batch->sent, st);
    }
    claimer->wanted -= with_run;
    if (st == E_UNKNOWN)
        claimer_note_unsure(claimer, now, with_run);
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
    catalog_fill_groups(claimer->catalog, plan->job, plan->job->name, run->groups, &run->priority);
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
    bool may_skip = policy.overlap == OVERLAP_SKIP ||
                    (policy.overlap == OVERLAP_ALLOW && policy.overlap_at_once);
    bool one_by_one = is_made_good && may_skip;
    claim->overlap = one_by_one ? OVERLAP_QUEUE : policy.overlap;
    claim->queue_limit = one_by_one ? INT_MAX : policy.queue_limit;
    claim->at_once = policy.overlap_at_once;
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
        replan(claimer, &plan->job->uid, now.wall.ms + CLAIMER_RETRY_MS);
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

enum status claimer_fill_instance(const struct claimer *claimer, struct now now,
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
    return claimer_fill_instance(claimer, now, plan->job, &none, &plan->opening);
}

/* May the claim begin its run? One that is to start far ahead was claimed before its time. */
static bool may_begin(struct claimer *claimer, struct now now, const struct plan *plan)
{
    if (!claimer->begins_left || is_boot(plan) || plan->parts.count || plan->opening.is_wanted ||
        plan->start_at_ms > now.wall.ms + STORE_AHEAD_MS)
        return false;
    claimer->begins_left--;
    claimer->beginning++;
    return true;
}

/* Those that the plan rests on, for the store to look at. False: out of memory. */
static bool fill_conditions(const struct claimer *claimer, struct plan *plan)
{
    if (plan->has_condition)
        plan->conditions =
            conditions_for_store(claimer->catalog, plan->job, plan->condition_tick_ms);
    return !plan->has_condition || plan->conditions;
}

void claimer_submit(struct claimer *claimer, struct now now, struct plan *plan)
{
    struct id run_id = new_id(claimer, now, plan);
    bool is_filled = fill_parts(claimer, now, &run_id, plan) == OK &&
                     fill_opening(claimer, now, plan) == OK && fill_conditions(claimer, plan);
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
        .conditions = plan->conditions,
        .condition_count = plan->conditions ? plan->job->conditions->count : 0,
        .expects_unmet = !plan->with_run,
        .passed = plan->passed,
        .passed_count = plan->passed_count,
    };
    if (plan->with_run) {
        claimer->wanted++;
        claim->begins = may_begin(claimer, now, plan);
        fill_overlap(claimer, now, claim, plan);
        claim->skip_entry_id = new_id(claimer, now, plan);
        fill_run(claimer, now, plan, &claim->run);
        claim->run.id = run_id;
        known_groups_fill(&claimer->catalog->groups, claim->run.groups, claimer->self->labels,
                          &claim->slots);
    }
    size_t count = outbox_count(claimer->filling);
    ((struct plan *)claimer->filling->notes)[count - 1] = *plan;
    *plan = (struct plan){0};
    if (count == OUTBOX_MAX)
        outbox_send(&claimer->filling, now);
}

bool claimer_has_filled(const struct claimer *claimer)
{
    return outbox_count(claimer->filling) > 0;
}

void claimer_flush(struct claimer *claimer, struct now now)
{
    outbox_send(&claimer->filling, now);
}
