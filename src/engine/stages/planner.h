/* What is due here. A heap of jobs by the time of their next tick; the cost of a turn grows with
 * what is due, not with how many jobs there are. Which of several nodes goes first for a job is
 * asked when it is due, so that nodes can come and go without planning anything again: the first
 * one has it at once, a little ahead of its start; each further one puts it back, and has it
 * STEP_IN_MS later than the one before, if its cursor has not moved by then. */
#ifndef PEAL_PLANNER_H
#define PEAL_PLANNER_H

#include "clock.h"
#include "heap.h"
#include "state/catalog.h"
#include "state/placement.h"

struct planner {
    struct heap due;             /* of catalog_job, by the time at which to look at it */
    int64_t on_time_ms;          /* a tick that is later is an outage's: catch_up decides */
    int64_t lead_ms;             /* jobs are looked at so far ahead of their tick */
    struct placement *placement; /* who goes first; NULL: there is nobody else */
    bool may_run;                /* false: this node leaves all runs to others */
    bool leads;                  /* it passes over what no node may run; else that is left alone */
};

/* One job's due tick, and the ticks that are passed over before it. */
struct plan {
    struct catalog_job *job;
    struct job *definition; /* the caller's; NULL when there is no run */
    int64_t tick_ms;        /* the new cursor */
    bool with_run;          /* false: every tick up to tick_ms is passed over */
    enum run_cause cause;
    int64_t start_at_ms;         /* tick and jitter */
    struct ledger_entry *passed; /* ids and names are not filled in; the caller's */
    size_t passed_count;
    struct store_boot boot; /* without a name: it is a tick of the job's schedules */
};

void planner_init(struct planner *planner);
void planner_release(struct planner *planner);

/* The job is new, or something that its next tick depends on has changed. */
MUST_CHECK enum status planner_put(struct planner *planner, struct catalog_job *job);

/* The same, but the job is left alone until then, unless planner_put comes before. */
MUST_CHECK enum status planner_put_later(struct planner *planner, struct catalog_job *job,
                                         int64_t not_before_ms);
void planner_remove(struct planner *planner, struct catalog_job *job);

/* Takes the next job off that is due, with what to do about it. OK; E_NOT_FOUND: nothing is due;
 * E_NOMEM. The job is planned again by planner_put, once the claim has been answered. */
MUST_CHECK enum status planner_next_due(struct planner *planner, struct now now, struct plan *ret);
void plan_release(struct plan *plan);

/* What becomes of a boot of this node, at `boot_ms`, that the job is due for: a run, if it may_run,
 * or the entry that says why not. E_NOT_FOUND: it is too early, or it would run and may not yet. */
MUST_CHECK enum status planner_plan_boot(const struct planner *planner, struct now now,
                                         struct catalog_job *job, int64_t boot_ms, bool may_run,
                                         struct plan *ret);

/* What becomes of the job's ticks that are due until then and not decided yet, when it gets other
 * times or goes: they are all passed over, for `reason` if there is none but that. */
MUST_CHECK enum status planner_pass(struct catalog_job *job, int64_t until_ms,
                                    enum run_reason reason, struct plan *ret);

/* Wall time at which planner_next_due has work; NEVER_MS: not by itself. */
int64_t planner_wake_at(const struct planner *planner);

#endif
