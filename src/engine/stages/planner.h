/* Finds due jobs: a heap of jobs by the time of their next tick; the cost of a turn grows with the
 * due jobs, not with all jobs. The nodes' ranks for a job are asked when it is due, so that nodes
 * can come and go without planning anything again: rank 0 takes the job at once, a little ahead of
 * its start; each further rank puts it back, and takes it STEP_IN_MS later than the one before, if
 * the cursor has not moved by then.
 *
 * A tick that its job would skip, because of a run that was begun by a node that seems to be dead,
 * is put off: it starts when that run counts as lost, and is skipped if that is not found out
 * within PUT_OFF_MS. */
#ifndef PEAL_PLANNER_H
#define PEAL_PLANNER_H

#include "clock.h"
#include "heap.h"
#include "lacking.h"
#include "ports.h"
#include "stages/plan.h"
#include "state/catalog.h"
#include "state/open_run.h"
#include "state/peers.h"
#include "state/placement.h"

struct planner {
    struct heap due;             /* of catalog_job, by the time of its next look */
    struct plan_rules rules;     /* jobs are looked at plan_lead_ms() ahead of their tick */
    struct placement *placement; /* ranks; NULL: this is the only node */
    const struct peers *peers;   /* NULL: likewise */
    const struct open_runs *runs;
    const struct engine_ports *ports; /* NULL: this node has all functions of its program */
    struct lacking *lacking;          /* where those are noted that it has not */
    bool may_run;                     /* false: this node leaves all runs to others */
    bool leads; /* the leader passes over ticks that no node may run; other nodes ignore them */
};

void planner_init(struct planner *planner);
void planner_release(struct planner *planner);

/* The job is new, or something that its next tick depends on has changed. It is not looked at
 * before `not_before_ms`, unless planner_put is called again; INT64_MIN: at once. */
MUST_CHECK enum status planner_put(struct planner *planner, struct catalog_job *job,
                                   int64_t not_before_ms);
void planner_remove(struct planner *planner, struct catalog_job *job);

/* Takes the next due job off the heap, with its plan. OK; E_NOT_FOUND: nothing is due; E_NOMEM.
 * planner_put plans the job again, once the claim has been answered. */
MUST_CHECK enum status planner_next_due(struct planner *planner, struct now now, struct plan *ret);

/* Wall time at which planner_next_due has work; NEVER_MS: none without an event. */
int64_t planner_wake_at(const struct planner *planner);

#endif
