/* The life of a run until its start: claim, take, begin. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rules/rules_internal.h"

static enum status make_run(struct rules *rules, struct store_claim *claim, enum run_state state)
{
    enum status st = rules_make_run(rules, &claim->run, state);
    if (st != OK)
        return st;
    claim->run.state = state;
    claim->result = state == RUN_QUEUED ? CLAIM_QUEUED
                    : state == RUN_DUE  ? CLAIM_SPREAD
                                        : CLAIM_WON;
    return OK;
}

/* CLAIMED, or BEGUN; DUE while one of its groups is full. */
static enum status make_owned(struct rules *rules, struct store_claim *claim)
{
    bool has_slots;
    claim->run.fence = 0;
    enum status st = rules_get_slots(rules, &claim->run, &claim->slots, true, false, &has_slots);
    if (st != OK || !has_slots)
        return st == OK ? make_run(rules, claim, RUN_DUE) : st;
    if (claim->begins)
        st = rules->ops->next_fence(rules->tables, &claim->run.fence);
    return st == OK ? make_run(rules, claim, claim->run.fence ? RUN_BEGUN : RUN_CLAIMED) : st;
}

/* A store may decide on the claim again, and then otherwise: all but the run's state stays. */
static enum status open_instance(struct rules *rules, struct store_claim *claim)
{
    struct run run = claim->run;
    enum status st = rules_make_instance(rules, &run, &claim->opening);
    claim->run.state = run.state;
    return st;
}

static enum status start_run(struct rules *rules, struct store_claim *claim)
{
    bool is_spread = claim->opening.is_wanted || claim->parts.count;
    if (!is_spread)
        return make_owned(rules, claim);
    claim->result = CLAIM_SPREAD;
    if (claim->opening.is_wanted)
        return open_instance(rules, claim);
    return rules_make_parts(rules, &claim->run, &claim->parts);
}

static enum status place_run(struct rules *rules, struct store_claim *claim)
{
    enum overlap_decision decision;
    const char *booted = claim->boot.name[0] ? claim->run.by : NULL;
    struct overlap_rule rule = {claim->overlap, claim->queue_limit, claim->at_once};
    enum status st = rules_overlap(rules, &claim->job_uid, &rule, booted, &decision);
    if (st != OK)
        return st;
    switch (decision) {
    case DECIDE_START:
        return start_run(rules, claim);
    case DECIDE_QUEUE:
        return make_run(rules, claim, RUN_QUEUED);
    case DECIDE_SKIP:
    case DECIDE_FULL:
        break;
    }
    claim->result = CLAIM_SKIPPED;
    return rules_skip_tick(rules, &claim->run, &claim->skip_entry_id, decision);
}

static enum status claim_run(struct rules *rules, struct store_claim *claim)
{
    const struct run *run = &claim->run;
    struct id same;
    enum status st = rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms, run->attempt,
                                          ANY_PART, &same);
    if (st == E_NOT_FOUND)
        return place_run(rules, claim);
    claim->result = CLAIM_PASSED;
    return st;
}

/* Up to where the passed ticks of the claim have surely not started. After a restore that is
 * unknown. */
static int64_t unstarted_ms(const struct store_claim *claim)
{
    for (size_t i = 0; i < claim->passed_count; i++)
        if (claim->passed[i].reason == REASON_RESTORED)
            return claim->cursor_ms;
    if (claim->result == CLAIM_SKIPPED || claim->without_run)
        return claim->tick_ms;
    return claim->passed_count ? claim->tick_ms - 1 : claim->cursor_ms;
}

static enum status move_cursor(struct rules *rules, const struct job_row *from,
                               const struct store_claim *claim)
{
    struct job_row job = *from;
    rewinds_move_on(&job.rewinds, job.cursor_ms, claim->tick_ms, unstarted_ms(claim));
    job.cursor_ms = claim->tick_ms;
    if (claim->result != CLAIM_SKIPPED && !claim->without_run && !claim->parts.count &&
        !claim->opening.is_wanted)
        job.last_node = node_mark(claim->run.node);
    enum status st = rules->ops->move_job(rules->tables, &job);
    if (st == OK)
        rules_feed_cursor(rules, &job);
    return st;
}

/* The cursor has moved, perhaps by this very claim: looks for its run. */
static enum status find_claimed(struct rules *rules, struct store_claim *claim)
{
    struct run_row row;
    enum status st =
        claim->without_run ? E_NOT_FOUND : rules->ops->get_run(rules->tables, &claim->run.id, &row);
    if (st != OK)
        return st == E_NOT_FOUND ? OK : st;
    bool is_owned = row.run.state == RUN_CLAIMED || (claim->begins && row.run.state == RUN_BEGUN);
    if (is_owned && row.run.nonce == claim->run.nonce)
        claim->result = CLAIM_WON;
    else if (row.run.state == RUN_QUEUED)
        claim->result = CLAIM_QUEUED;
    else if ((row.run.state == RUN_DUE && (row.run.parts || row.run.groups[0])) ||
             (row.run.state == RUN_RUNNING && row.run.nonce == claim->run.nonce))
        claim->result = CLAIM_SPREAD;
    else
        return OK;
    claim->run = row.run;
    return OK;
}

static enum status add_passed(struct rules *rules, const struct store_claim *claim)
{
    enum status st = OK;
    assert(claim->passed_count <= STORE_PASSED_MAX);
    for (size_t i = 0; st == OK && i < claim->passed_count; i++)
        st = rules_add_entry(rules, &claim->passed[i]);
    return st;
}

/* Has the job changed since the boot's claim was planned? */
static enum status is_boot_stale(struct rules *rules, const struct store_claim *claim, bool *ret)
{
    struct job_row job = {.revision = 0};
    enum status st = rules->ops->get_job(rules->tables, &claim->job_uid, &job);
    bool is_gone = st == E_NOT_FOUND || job.deleted;
    *ret = job.revision != claim->job_revision || (is_gone && !claim->without_run);
    return st == E_NOT_FOUND ? OK : st;
}

/* Writing the boot mark decides the boot, so it is decided once. */
static enum status claim_boot(struct rules *rules, struct store_claim *claim)
{
    char json[BOOT_JSON_SIZE];
    struct store_put_doc mark = {
        .kind = BOOT_DOC, .json = json, .expected_revision = claim->boot.revision};
    bool is_stale;
    int64_t revision = 0;
    enum status st = rules->ops->get_doc(rules->tables, BOOT_DOC, claim->boot.name, &revision);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    claim->result = CLAIM_PASSED;
    if (revision != claim->boot.revision)
        return find_claimed(rules, claim);
    st = is_boot_stale(rules, claim, &is_stale);
    if (st == OK && !is_stale) {
        st = rules_slots_are_current(rules, &claim->slots, &is_stale);
        is_stale = !is_stale;
    }
    if (st != OK || is_stale) {
        claim->result = CLAIM_STALE;
        return st;
    }
    memcpy(mark.name, claim->boot.name, sizeof(mark.name));
    boot_mark_encode(&claim->boot.mark, json);
    st = rules_put_doc(rules, &mark);
    if (st == OK)
        st = add_passed(rules, claim);
    if (st != OK || claim->without_run)
        return st;
    st = rules_find_free_tick(rules, &claim->run);
    return st == OK ? place_run(rules, claim) : st;
}

/* The jobs that are looked at can't end meanwhile, as with the needs of a next. */
static enum status is_as_planned(struct rules *rules, const struct store_claim *claim, bool *ret)
{
    bool are_met = true;
    for (size_t i = 0; i < claim->condition_count; i++) {
        const struct store_condition *condition = &claim->conditions[i];
        struct job_row other = {.revision = 0};
        enum status st = id_is_zero(&condition->job_uid)
                             ? E_NOT_FOUND
                             : rules->ops->hold_job(rules->tables, &condition->job_uid, &other);
        if (st != OK && st != E_NOT_FOUND && st != E_SET_ASIDE)
            return st;
        are_met = are_met && st == OK && !other.deleted &&
                  only_if_is_met(condition->states, &other.last, condition->since_ms);
    }
    *ret = !claim->condition_count || are_met != claim->expects_unmet;
    return OK;
}

enum status rules_claim(struct rules *rules, struct store_claim *claim)
{
    bool is_current;
    struct job_row job;
    if (claim->boot.name[0])
        return claim_boot(rules, claim);
    claim->result = CLAIM_STALE;
    enum status st = rules->ops->get_job(rules->tables, &claim->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE)
        return OK;
    if (st != OK)
        return st;
    if (job.deleted || job.revision != claim->job_revision || job.cursor_ms != claim->cursor_ms ||
        job.rewinds.count != claim->rewinds || claim->tick_ms <= job.cursor_ms)
        return find_claimed(rules, claim);
    st = is_as_planned(rules, claim, &is_current);
    if (st == OK && is_current)
        st = rules_slots_are_current(rules, &claim->slots, &is_current);
    if (st != OK || !is_current)
        return st;

    claim->result = CLAIM_PASSED;
    st = move_cursor(rules, &job, claim);
    if (st == OK)
        st = add_passed(rules, claim);
    if (st == OK && !claim->without_run)
        st = claim_run(rules, claim);
    if (st == OK && claim->result == CLAIM_SKIPPED) /* skipped: it did not start */
        st = move_cursor(rules, &job, claim);
    return st;
}

/* Why a claimed run must not begin; NONE: it may. `job` NULL: purged. */
static enum run_reason why_not(const struct run_row *row, const struct job_row *job)
{
    if (!job || job->deleted)
        return REASON_DELETED;
    if (row->kill_reason != REASON_NONE)
        return row->kill_reason;
    return job->paused && !run_is_asked_for(&row->run) ? REASON_PAUSED : REASON_NONE;
}

/* DUE and its time has come, or claimed with from_nonce and not begun. */
static bool may_be_taken(const struct run *run, const struct store_take *take)
{
    if (take->from_nonce)
        return !take->opening.is_wanted && run->state == RUN_CLAIMED &&
               run->nonce == take->from_nonce;
    bool is_time =
        take->now_ms >= run->not_before_ms || run->tick_ms > take->now_ms + STORE_AHEAD_MS;
    return run->state == RUN_DUE && is_time;
}

/* The definition that says whether the run is spread has changed, or it was spread meanwhile. */
static bool is_spread_otherwise(const struct run *run, const struct job_row *job,
                                const struct store_take *take)
{
    if (take->opening.is_wanted && !run_is_step(run))
        return run->attempt > 1 || run->parts || job->revision != take->job_revision;
    if (!run_may_be_spread(run))
        return take->parts.count > 0 || take->job_revision;
    return take->job_revision && job->revision != take->job_revision;
}

/* A repeat finds the run with its nonce: CLAIMED, or opened. */
static bool is_taken(const struct run *run, const struct store_take *take)
{
    return run->nonce == take->nonce &&
           (run->state == RUN_CLAIMED || (take->opening.is_wanted && run->state >= RUN_RUNNING));
}

static void claim_for(struct run *run, const struct store_take *take)
{
    run->state = RUN_CLAIMED;
    run->nonce = take->nonce;
    snprintf(run->node, sizeof(run->node), "%s", take->node);
    run->owner = take->owner;
    if (take->ends)
        return;
    memcpy(run->groups, take->groups, sizeof(run->groups));
    run->priority = take->priority;
}

/* Gives the run to the node of the take, if its groups have slots for it there. */
static enum status take_run(struct rules *rules, struct store_take *take, struct run_row *row)
{
    bool is_current, has_slots = take->ends;
    enum status st = rules_slots_are_current(rules, &take->slots, &is_current);
    claim_for(&row->run, take);
    if (st == OK && is_current && !take->ends)
        st = rules_get_slots(rules, &row->run, &take->slots, false, take->from_nonce != 0,
                             &has_slots);
    take->taken = has_slots;
    return st == OK && has_slots ? rules_set_run(rules, row) : st;
}

/* *ordered is set to the instance if the reason is its order. */
static enum status find_hindrance(struct rules *rules, const struct run_row *row,
                                  const struct job_row *job, struct run_row *ordered,
                                  enum run_reason *ret)
{
    if (run_is_step(&row->run))
        return rules_why_no_step(rules, row, job, ordered, ret);
    *ret = why_not(row, job);
    return OK;
}

/* What is opened has no begin that would refuse it. `job` NULL: purged. */
static enum status open_taken(struct rules *rules, struct store_take *take, struct run_row *row,
                              const struct job_row *job)
{
    enum run_reason reason;
    struct run_row ordered = *row;
    enum status st = find_hindrance(rules, row, job, &ordered, &reason);
    if (st == OK && reason == REASON_NONE)
        return rules_open_run(rules, row, take);
    take->taken = false;
    if (st == OK)
        st = rules_skip_run(rules, row, reason,
                            reason == ordered.kill_reason ? ordered.kill_by : "");
    return st == OK ? rules_release_queue(rules, &row->run.job_uid) : st;
}

enum status rules_take(struct rules *rules, struct store_take *take)
{
    struct run_row row;
    struct job_row job;
    take->taken = false;
    enum status st = rules->ops->get_run(rules->tables, &take->run_id, &row);
    if (st == E_NOT_FOUND)
        return OK;
    if (st != OK)
        return st;
    if (is_taken(&row.run, take)) {
        take->taken = true;
        take->run = row.run;
        return OK;
    }
    if (!may_be_taken(&row.run, take))
        return OK;
    st = rules->ops->get_job(rules->tables, &row.run.job_uid, &job);
    if (st == E_SET_ASIDE || (st == OK && is_spread_otherwise(&row.run, &job, take)))
        return OK;
    if (st != OK && st != E_NOT_FOUND) /* the begin will end the run of a purged job */
        return st;
    bool is_there = st == OK;
    if (is_there && !run_is_step(&row.run))
        row.run.job_revision = job.revision;
    row.run.claimed_ms = take->now_ms;
    take->taken = true;
    if (take->opening.is_wanted) {
        st = open_taken(rules, take, &row, is_there ? &job : NULL);
    } else if (is_there && take->parts.count) {
        st = rules_spread_run(rules, &row, &take->parts);
    } else {
        st = take_run(rules, take, &row);
    }
    take->run = row.run;
    return st;
}

static enum status refuse(struct rules *rules, struct store_begin *begin, struct run_row *row,
                          enum run_reason reason, const char *by)
{
    begin->refused = RUN_SKIPPED;
    enum status st = rules_skip_run(rules, row, reason, by);
    return st == OK ? rules_release_queue(rules, &row->run.job_uid) : st;
}

enum status rules_begin(struct rules *rules, struct store_begin *begin)
{
    struct run_row row;
    struct job_row job;
    begin->begun = begin->is_repeat = false;
    begin->refused = RUN_STATES;
    enum status st = rules->ops->get_run(rules->tables, &begin->run_id, &row);
    if (st == E_NOT_FOUND)
        return OK;
    if (st != OK)
        return st;
    begin->refused = row.run.state;
    if (row.run.state == RUN_BEGUN && row.run.nonce == begin->nonce) {
        begin->begun = begin->is_repeat = true;
        begin->fence = row.run.fence;
        begin->job_revision = row.run.job_revision;
        return OK;
    }
    if (row.run.state != RUN_CLAIMED || row.run.nonce != begin->nonce)
        return OK;

    st = rules->ops->get_job(rules->tables, &row.run.job_uid, &job);
    if (st == E_SET_ASIDE)
        return OK;
    if (st != OK && st != E_NOT_FOUND)
        return st;
    enum run_reason reason;
    struct run_row ordered = row; /* whose order it is */
    st = find_hindrance(rules, &row, st == OK ? &job : NULL, &ordered, &reason);
    if (st != OK)
        return st;
    if (reason != REASON_NONE)
        return refuse(rules, begin, &row, reason,
                      reason == ordered.kill_reason ? ordered.kill_by : "");

    st = rules->ops->next_fence(rules->tables, &row.run.fence);
    if (st != OK)
        return st;
    row.run.state = RUN_BEGUN;
    if (!run_is_step(&row.run))
        row.run.job_revision = job.revision;
    begin->begun = true;
    begin->fence = row.run.fence;
    begin->job_revision = row.run.job_revision;
    return rules_set_run(rules, &row);
}
