#include "stages/claimer.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 256,           /* claims in a request */
    MAX_IN_FLIGHT = 8,     /* requests; more wait for the next turn */
    CLAIMS_AHEAD = 1024,   /* that are not begun yet */
    RETRY_AFTER_MS = 1000, /* when news should have come */
    UNSURE_MS = 5000, /* what may have been claimed takes room for so long, and until the feed tells
                         anything: it may be held up for longer */
    OUTAGE_LEAD_MS = 500, /* what was due so short before an outage, it has held up as well */
};

/* Claims that travel together, with the plans that they come from. Most are few: there is room for
 * as many as come. */
struct claim_batch {
    struct store_request request;
    struct claimer *claimer;
    struct boot_ms sent;
    size_t room;
    struct store_claim *claims;
    struct plan *plans;
};

/* Takes that travel together. */
struct take_batch {
    struct store_request request;
    struct claimer *claimer;
    struct store_take takes[]; /* as many as wait */
};

void claimer_init(struct claimer *claimer, const struct engine_ports *ports,
                  const struct peer *self, struct catalog *catalog, struct planner *planner,
                  struct boots *boots, struct placement *placement, const struct peers *peers,
                  struct open_runs *runs)
{
    *claimer = (struct claimer){.ports = ports,
                                .self = self,
                                .catalog = catalog,
                                .planner = planner,
                                .boots = boots,
                                .placement = placement,
                                .peers = peers,
                                .runs = runs,
                                .latency_ms = 5};
}

static void free_batch(struct claim_batch *batch)
{
    for (size_t i = 0; i < batch->request.count; i++)
        plan_release(&batch->plans[i]);
    free(batch->claims);
    free(batch->plans);
    free(batch);
}

void claimer_release(struct claimer *claimer)
{
    if (claimer->filling)
        free_batch(claimer->filling);
    claimer->filling = NULL;
}

static void note_answer(struct claimer *claimer, enum status st)
{
    if (st != OK)
        claimer->retry_at.ms = claimer->now.boot.ms + retry_after_ms(&claimer->failures);
    else
        claimer->failures = 0;
}

static void replan(struct claimer *claimer, const struct id *job_uid, int64_t not_before_ms)
{
    struct catalog_job *job = catalog_by_uid(claimer->catalog, job_uid);
    if (!job)
        return;
    job->claiming = false;
    if (planner_put_later(claimer->planner, job, not_before_ms) != OK)
        ports_log(claimer->ports, "plan_failed", "job=%s error=\"out of memory\"", job->name);
}

static bool is_boot(const struct plan *plan)
{
    return plan->boot.name[0] != '\0';
}

/* A claim that was won: the run goes on to its begin. */
static void won(struct claimer *claimer, struct store_claim *claim, struct plan *plan)
{
    if (open_runs_find(claimer->runs, &claim->run.id)) /* the feed was here first */
        return;
    struct open_run *open = open_runs_add(claimer->runs, &claim->run, OPEN_CLAIMED);
    if (!open) {
        ports_log(claimer->ports, "run_dropped", "job=%s error=\"out of memory\"",
                  claim->run.job_name);
        return;
    }
    open->job = plan->definition;
    open->start_at_ms = plan->start_at_ms;
    plan->definition = NULL;
}

static void settle(struct claimer *claimer, struct store_claim *claim, struct plan *plan)
{
    struct catalog_job *job = catalog_by_uid(claimer->catalog, &claim->job_uid);
    if (job && claim->rewinds == job->rewinds)
        catalog_job_claimed(job, claim->tick_ms);
    if (claim->result == CLAIM_WON)
        won(claimer, claim, plan);
}

/* When to plan a job again after a claim that was stale. What made it so is in the catalog already,
 * or comes with the feed, which plans the job at once; asked again before, the store would only say
 * the same. */
static int64_t after_stale_ms(struct claimer *claimer, const struct store_claim *claim)
{
    const struct catalog_job *job = catalog_by_uid(claimer->catalog, &claim->job_uid);
    bool news = !job || job->revision != claim->job_revision ||
                job->cursor_ms != claim->cursor_ms || job->rewinds != claim->rewinds;
    return news ? INT64_MIN : claimer->now.wall.ms + RETRY_AFTER_MS;
}

/* An answer that took long raises it by half at most: an outage says nothing of the next claim, and
 * who claims too early finds more runs in the way. */
static void learn_latency(struct claimer *claimer, double took_ms)
{
    double most_ms = 4 * claimer->latency_ms + 10;
    double ms = took_ms < most_ms ? took_ms : most_ms;
    claimer->latency_ms += (ms - claimer->latency_ms) / 8;
}

/* So many more may be ours all the same. */
static void note_unsure(struct claimer *claimer, size_t count)
{
    struct boot_ms until;
    if (!count)
        return;
    claimer->unsure = claimer_unsure(claimer, &until) + count;
    claimer->unsure_since = claimer->now.boot;
}

size_t claimer_unsure(const struct claimer *claimer, struct boot_ms *ret_until)
{
    bool is_told = claimer->fed.ms > claimer->unsure_since.ms;
    ret_until->ms = is_told ? claimer->unsure_since.ms + UNSURE_MS : INT64_MAX;
    return claimer->now.boot.ms < ret_until->ms ? claimer->unsure : 0;
}

static void answered(struct claimer *claimer, struct store_claim *claim, struct plan *plan,
                     enum status st)
{
    int64_t not_before_ms = INT64_MIN;
    if (st == OK && claim->result == CLAIM_STALE)
        not_before_ms = after_stale_ms(claimer, claim);
    else if (st == OK)
        settle(claimer, claim, plan);
    replan(claimer, &claim->job_uid, not_before_ms);
}

static void boot_answered(struct claimer *claimer, struct store_claim *claim, struct plan *plan,
                          enum status st)
{
    if (st == OK && claim->result == CLAIM_WON)
        won(claimer, claim, plan);
    boots_answered(claimer->boots, &claim->job_uid, &claim->boot,
                   st == OK && claim->result != CLAIM_STALE);
}

static void claims_done(struct store_request *request, enum status st)
{
    struct claim_batch *batch = request->context;
    struct claimer *claimer = batch->claimer;
    claimer->in_flight--;
    claimer->unanswered -= request->count;
    note_answer(claimer, st);
    int64_t took_ms = claimer->now.boot.ms - batch->sent.ms;
    learn_latency(claimer, (double)took_ms);
    if (st != OK || took_ms >= OUTAGE_MS)
        outage_note(claimer->away, claimer->now.wall.ms - took_ms, claimer->now.wall.ms);
    size_t with_run = 0;
    for (size_t i = 0; i < request->count; i++) {
        with_run += !batch->claims[i].without_run;
        if (is_boot(&batch->plans[i]))
            boot_answered(claimer, &batch->claims[i], &batch->plans[i], st);
        else
            answered(claimer, &batch->claims[i], &batch->plans[i], st);
    }
    claimer->wanted -= with_run;
    if (st == E_UNKNOWN)
        note_unsure(claimer, with_run);
    free_batch(batch);
}

/* What becomes of a boot has the same id whether it is a run or an entry: there is one of them. */
static struct id new_id(const struct claimer *claimer, const struct plan *plan)
{
    return is_boot(plan) ? boot_run_id(&plan->boot.mark, claimer->self->name, &plan->job->uid)
                         : ports_new_id(claimer->ports, claimer->now.wall);
}

void claimer_fill_entries(struct claimer *claimer, struct plan *plan)
{
    const struct catalog_job *job = plan->job;
    for (size_t i = 0; i < plan->passed_count; i++) {
        struct ledger_entry *entry = &plan->passed[i];
        entry->id = new_id(claimer, plan);
        entry->job_uid = job->uid;
        entry->recorded_ms = claimer->now.wall.ms;
        snprintf(entry->job_name, sizeof(entry->job_name), "%s", job->name);
        snprintf(entry->node, sizeof(entry->node), "%s", claimer->self->name);
        entry->owner = peer_incarnation(claimer->self);
        if (entry->reason == REASON_NO_NODE)
            placement_tell_nobody(job->where, entry->detail, sizeof(entry->detail));
    }
}

static void fill_run(struct claimer *claimer, const struct plan *plan, struct run *run)
{
    run->id = new_id(claimer, plan);
    run->job_uid = plan->job->uid;
    run->tick_ms = plan->tick_ms;
    run->attempt = 1;
    run->cause = plan->cause;
    run->nonce = ports_new_nonce(claimer->ports);
    run->job_revision = plan->job->revision;
    run->not_before_ms = plan->start_at_ms;
    run->claimed_ms = claimer->now.wall.ms;
    run->exit_code = -1;
    snprintf(run->job_name, sizeof(run->job_name), "%s", plan->job->name);
    snprintf(run->node, sizeof(run->node), "%s", claimer->self->name);
    run->owner = peer_incarnation(claimer->self);
    if (is_boot(plan)) /* whose it is, also while it waits in its job's queue */
        snprintf(run->by, sizeof(run->by), "%s", claimer->self->name);
}

/* What is in the tick's way is late because the store was away, when it was due or when it ended:
 * without that outage it would have ended in time. It holds for ticks of the outage, and of as long
 * a time after it: then what was held up has been made good. A run that was under way before is in
 * the way as ever. */
static bool is_held_up(const struct claimer *claimer, const struct plan *plan)
{
    const struct outage *away = claimer->away;
    const struct catalog_job *job = plan->job;
    int64_t lasted_ms = away->until_ms - away->since_ms;
    int64_t usual_ms = job->last.ended_ms - job->last.started_ms; /* of a run: 0 if none has been */
    if (job->open_since_ms + usual_ms > plan->start_at_ms)
        return false; /* it would be in the way in any case */
    return job->open_runs && plan->start_at_ms >= away->since_ms &&
           plan->start_at_ms <= away->until_ms + lasted_ms + OUTAGE_LEAD_MS &&
           job->open_since_ms >= away->since_ms - OUTAGE_LEAD_MS &&
           job->open_since_ms <= away->until_ms;
}

/* Ticks that are made good run one after the other, also where the job would skip a tick that comes
 * while another runs: what is still open then began before the outage, perhaps on a node that is
 * not back yet to tell of its end. With `all`, those that were just due by then belong to them. So
 * do those that an outage of the store has held up for less than makes them late. */
static void fill_overlap(const struct claimer *claimer, struct store_claim *claim,
                         const struct plan *plan)
{
    const struct job *job = plan->definition;
    if (plan->cause == CAUSE_CATCH_UP)
        plan->job->caught_up_ms = claimer->now.wall.ms;
    bool is_made_good = plan->cause == CAUSE_CATCH_UP || is_held_up(claimer, plan) ||
                        (job->catch_up == CATCH_UP_ALL && plan->tick_ms <= plan->job->caught_up_ms);
    bool one_by_one = is_made_good && job->overlap == OVERLAP_SKIP;
    claim->overlap = one_by_one ? OVERLAP_QUEUE : job->overlap;
    claim->queue_limit = one_by_one ? INT_MAX : job->queue_limit;
}

static void send(struct claimer *claimer)
{
    struct claim_batch *batch = claimer->filling;
    claimer->filling = NULL;
    claimer->in_flight++;
    batch->sent = claimer->now.boot;
    store_submit(claimer->ports->store, &batch->request);
}

bool claimer_has_room(const struct claimer *claimer)
{
    return claimer->unanswered + claimer->runs->counts[OPEN_CLAIMED] < CLAIMS_AHEAD;
}

static struct claim_batch *new_batch(struct claimer *claimer)
{
    struct claim_batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return NULL;
    batch->claimer = claimer;
    batch->request =
        (struct store_request){.op = STORE_CLAIM, .done = claims_done, .context = batch};
    return batch;
}

/* Room for one more. False: out of memory. */
static bool make_room(struct claim_batch *batch)
{
    if (batch->request.count < batch->room)
        return true;
    size_t room = batch->room ? 4 * batch->room : 1; /* 1, 4, 16, 64, 256 */
    struct store_claim *claims = reallocarray(batch->claims, room, sizeof(*claims));
    if (!claims)
        return false;
    batch->claims = claims;
    batch->request.items.claims = claims;
    struct plan *plans = reallocarray(batch->plans, room, sizeof(*plans));
    if (!plans)
        return false;
    batch->plans = plans;
    batch->room = room;
    return true;
}

void claimer_submit(struct claimer *claimer, struct plan *plan)
{
    if (!claimer->filling)
        claimer->filling = new_batch(claimer);
    struct claim_batch *batch = claimer->filling;
    if (!batch || !make_room(batch)) {
        if (is_boot(plan))
            boots_answered(claimer->boots, &plan->job->uid, &plan->boot, false);
        else
            replan(claimer, &plan->job->uid, claimer->now.wall.ms + RETRY_AFTER_MS);
        plan_release(plan);
        return;
    }
    size_t i = batch->request.count++;
    claimer->unanswered++;
    claimer_fill_entries(claimer, plan);
    struct store_claim *claim = &batch->claims[i];
    *claim = (struct store_claim){
        .job_uid = plan->job->uid,
        .job_revision = plan->job->revision,
        .cursor_ms = plan->job->cursor_ms,
        .rewinds = plan->job->rewinds,
        .tick_ms = plan->tick_ms,
        .boot = plan->boot,
        .without_run = !plan->with_run,
        .passed = plan->passed,
        .passed_count = plan->passed_count,
    };
    if (plan->with_run) {
        claimer->wanted++;
        fill_overlap(claimer, claim, plan);
        claim->skip_entry_id = new_id(claimer, plan);
        fill_run(claimer, plan, &claim->run);
    }
    batch->plans[i] = *plan;
    *plan = (struct plan){0};
    if (batch->request.count == BATCH)
        send(claimer);
}

/* ---- takes ---- */

/* A run whose job is deleted or gone is taken only to be ended, which its begin does. */
static bool needs_room(const struct claimer *claimer, const struct open_run *open)
{
    const struct catalog_job *job = catalog_by_uid(claimer->catalog, &open->run.job_uid);
    return job && !job->deleted;
}

/* Not taken: somebody else was first, of which the feed tells soon. */
static void not_taken(struct claimer *claimer, struct open_run *open)
{
    open->seen.ms = claimer->now.boot.ms + RETRY_AFTER_MS;
    open_runs_move(claimer->runs, open,
                   open->run.state == RUN_CLAIMED ? OPEN_CLAIMED_ELSEWHERE : OPEN_WAITING);
}

static void takes_done(struct store_request *request, enum status st)
{
    struct take_batch *batch = request->context;
    struct claimer *claimer = batch->claimer;
    claimer->in_flight--;
    note_answer(claimer, st);
    size_t unsure = 0;
    for (size_t i = 0; i < request->count; i++) {
        const struct store_take *take = &batch->takes[i];
        struct open_run *open = open_runs_find_taking(claimer->runs, &take->run_id, take->nonce);
        if (!open)
            continue;
        if (st == OK && take->taken) {
            open->run = take->run;
            open_runs_move(claimer->runs, open, OPEN_CLAIMED);
        } else {
            unsure += st == E_UNKNOWN && needs_room(claimer, open);
            not_taken(claimer, open);
        }
    }
    note_unsure(claimer, unsure);
    free(batch);
}

/* This node's place among those that may run it, without the one that has claimed it; asked once
 * for each placement. What a boot has made is for the node that booted. */
static int rank_of(const struct claimer *claimer, struct open_run *open)
{
    const char *booted = open_run_booted(&open->run);
    if (booted)
        return strcmp(booted, claimer->self->name) == 0 ? 0 : NOT_ELIGIBLE;
    if (open->ranked != claimer->placement->generation) {
        const struct catalog_job *job = catalog_by_uid(claimer->catalog, &open->run.job_uid);
        open->rank = placement_rank(claimer->placement, &open->run.id, job ? job->where : NULL,
                                    open->run.node);
        open->ranked = claimer->placement->generation;
    }
    return open->rank;
}

/* The one that has claimed it may still begin. Who has claims of its own that wait does not take
 * another living node's: all would be as busy. */
static bool is_others_turn(const struct claimer *claimer, const struct open_run *open)
{
    return peers_is_in_life(claimer->peers, open->run.node, &open->run.owner) &&
           peer_whose(claimer->self, open->run.node, &open->run.owner) == WHOSE_OTHERS;
}

/* When this node is to take a run that waits, or that somebody has claimed and does not begin;
 * NEVER_MS: it is not. */
static int64_t take_at(const struct claimer *claimer, struct open_run *open)
{
    bool is_claimed = open->phase == OPEN_CLAIMED_ELSEWHERE;
    if (!is_claimed && open->run.state != RUN_DUE)
        return NEVER_MS;
    if (is_claimed && open_run_is_too_late(open, claimer->on_time_ms, claimer->now.wall))
        return NEVER_MS;
    int rank = rank_of(claimer, open);
    if (rank == NOT_ELIGIBLE)
        return NEVER_MS;
    int64_t base_ms = wall_at(claimer->now, open->seen);
    bool is_set_back = open_run_is_set_back(open, claimer->now.wall);
    if (!is_set_back && open->run.not_before_ms > base_ms)
        base_ms = open->run.not_before_ms;
    if (is_claimed && is_others_turn(claimer, open)) {
        if (claimer->runs->counts[OPEN_CLAIMED])
            return NEVER_MS;
        rank++;
    }
    return base_ms + rank * STEP_IN_MS;
}

static void add_take(struct claimer *claimer, struct take_batch *batch, struct open_run *open)
{
    struct store_take *take = &batch->takes[batch->request.count++];
    take->run_id = open->run.id;
    take->from_nonce = open->phase == OPEN_CLAIMED_ELSEWHERE ? open->run.nonce : 0;
    take->nonce = ports_new_nonce(claimer->ports);
    take->now_ms = claimer->now.wall.ms;
    snprintf(take->node, sizeof(take->node), "%s", claimer->self->name);
    take->owner = peer_incarnation(claimer->self);
    open->is_overdue = false;
    open_runs_take(claimer->runs, open, take->nonce);
}

/* For all that may be taken now, or at most so many. */
static struct take_batch *new_takes(struct claimer *claimer, size_t limit)
{
    const size_t *counts = claimer->runs->counts;
    size_t waiting = counts[OPEN_CLAIMED_ELSEWHERE] + counts[OPEN_WAITING];
    size_t room = waiting < limit ? waiting : limit;
    return calloc(1, sizeof(struct take_batch) + room * sizeof(struct store_take));
}

/* Adds those of a phase whose time has come, `*room` of those that need room. Out of memory: they
 * stay where they are. */
static void gather_takes(struct claimer *claimer, enum open_phase phase, size_t *room,
                         struct take_batch **batch)
{
    struct open_run *open = open_runs_first(claimer->runs, phase);
    for (struct open_run *next; open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        if (*batch && (*batch)->request.count == BATCH) /* the rest with the next turn */
            return;
        if (take_at(claimer, open) > claimer->now.wall.ms)
            continue;
        bool is_counted = needs_room(claimer, open);
        if (is_counted && !*room)
            continue;
        if (!*batch && !(*batch = new_takes(claimer, BATCH)))
            return;
        add_take(claimer, *batch, open);
        *room -= is_counted;
    }
}

static void send_takes(struct claimer *claimer, size_t room)
{
    struct take_batch *batch = NULL;
    gather_takes(claimer, OPEN_CLAIMED_ELSEWHERE, &room, &batch);
    gather_takes(claimer, OPEN_WAITING, &room, &batch);
    if (!batch)
        return;
    batch->claimer = claimer;
    batch->request.op = STORE_TAKE;
    batch->request.items.takes = batch->takes;
    batch->request.done = takes_done;
    batch->request.context = batch;
    claimer->in_flight++;
    store_submit(claimer->ports->store, &batch->request);
}

void claimer_take(struct claimer *claimer, size_t room)
{
    if (claimer->in_flight < MAX_IN_FLIGHT && claimer->retry_at.ms <= claimer->now.boot.ms)
        send_takes(claimer, room);
}

void claimer_flush(struct claimer *claimer)
{
    if (claimer->filling && claimer->filling->request.count)
        send(claimer);
}

int64_t claimer_wake_at(const struct claimer *claimer, size_t room)
{
    static const enum open_phase phases[] = {OPEN_CLAIMED_ELSEWHERE, OPEN_WAITING};
    int64_t first_ms = NEVER_MS;
    if (claimer->in_flight) /* the answer brings a turn */
        return NEVER_MS;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct open_run *open;
        TAILQ_FOREACH (open, &claimer->runs->phases[phases[i]], in_phase) {
            if (!room && needs_room(claimer, open))
                continue;
            int64_t at_ms = take_at(claimer, open);
            first_ms = at_ms < first_ms ? at_ms : first_ms;
        }
    }
    return first_ms;
}
