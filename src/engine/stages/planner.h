/* What is due here. A heap of jobs by the time of their next tick; the cost of a turn grows with
 * what is due, not with how many jobs there are. Which of several nodes goes first for a job is
 * asked when it is due, so that nodes can come and go without planning anything again: the first
 * one has it at once, a little ahead of its start; each further one puts it back, and has it
 * STEP_IN_MS later than the one before, if its cursor has not moved by then. */
#ifndef PEAL_PLANNER_H
#define PEAL_PLANNER_H

#include "clock.h"
#include "heap.h"
#include "stages/plan.h"
#include "state/catalog.h"
#include "state/placement.h"

struct planner {
    struct heap due;             /* of catalog_job, by the time at which to look at it */
    struct plan_rules rules;     /* jobs are looked at rules.lead_ms ahead of their tick */
    struct placement *placement; /* who goes first; NULL: there is nobody else */
    bool may_run;                /* false: this node leaves all runs to others */
    bool leads;                  /* it passes over what no node may run; else that is left alone */
};

void planner_init(struct planner *planner);
void planner_release(struct planner *planner);

/* The job is new, or something that its next tick depends on has changed. It is left alone until
 * `not_before_ms`, unless planner_put comes again before; INT64_MIN: it is not. */
MUST_CHECK enum status planner_put(struct planner *planner, struct catalog_job *job,
                                   int64_t not_before_ms);
void planner_remove(struct planner *planner, struct catalog_job *job);

/* Takes the next job off that is due, with what to do about it. OK; E_NOT_FOUND: nothing is due;
 * E_NOMEM. The job is planned again by planner_put, once the claim has been answered. */
MUST_CHECK enum status planner_next_due(struct planner *planner, struct now now, struct plan *ret);

/* Wall time at which planner_next_due has work; NEVER_MS: not by itself. */
int64_t planner_wake_at(const struct planner *planner);

#endif
