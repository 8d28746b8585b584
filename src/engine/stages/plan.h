/* A plan decides the due ticks of a job, or a boot: a run, or ledger entries that say why not. The
 * planner and boots make plans, the claimer takes them over. */
#ifndef PEAL_PLAN_H
#define PEAL_PLAN_H

#include "attendance.h"
#include "clock.h"
#include "state/catalog.h"
#include "state/hindrances.h"

/* Settings for all jobs. */
struct plan_rules {
    int64_t on_time_ms; /* a later tick was missed in an outage: catch_up decides */
    int64_t lead_ms;    /* runs are planned this far ahead of their start */
    const struct attendance *attendance; /* catch_up also decides on the ticks of its absence */
    const struct hindrances *hindrances; /* reasons of missed ticks */
    const struct table *maintenance;     /* of known_maintenance.h */
    const struct catalog *catalog;       /* for conditions on other jobs */
    int64_t free_lead_ms; /* as lead_ms, if that is less, of a job without open runs: no other run
                             has to end before the tick for it to start */
};

/* How far ahead of its start a run of the job is planned. */
int64_t plan_lead_ms(const struct plan_rules *rules, const struct catalog_job *job);

/* One job's due tick, and the ticks that are passed over before it. */
struct plan {
    struct catalog_job *job;
    int64_t tick_ms; /* the new cursor */
    bool with_run;   /* false: every tick up to tick_ms is passed over */
    enum run_cause cause;
    int64_t start_at_ms;       /* tick and jitter */
    int64_t wait_until_ms;     /* the tick behind those waits for a condition; 0: none does */
    bool has_condition;        /* the decision rests on the conditions of the job, for ... */
    int64_t condition_tick_ms; /* ... this tick */
    struct store_condition *conditions; /* filled in by the claimer; owned by the plan */
    struct ledger_entry *passed;        /* ids and names are not filled in; owned by the plan */
    size_t passed_count;
    struct store_boot boot;       /* without a name: the plan is of a schedule's tick */
    struct store_parts parts;     /* filled in by the claimer; owned by the plan */
    struct store_opening opening; /* of a workflow: likewise */
};

void plan_release(struct plan *plan);

/* Plans the due ticks of the job, from its cursor up to the first that is to run. `nobody`: no node
 * is eligible. *ret is empty (no run, nothing passed) when no tick is due yet. */
MUST_CHECK enum status plan_ticks(const struct plan_rules *rules, struct now now,
                                  struct catalog_job *job, bool nobody, struct plan *ret);

/* Plans the job's run for a boot of this node at `boot_ms`, or the entry that says why there is
 * none. E_NOT_FOUND: too early, or it is to run and may_run is false. */
MUST_CHECK enum status plan_boot(const struct plan_rules *rules, struct now now,
                                 struct catalog_job *job, int64_t boot_ms, bool may_run,
                                 struct plan *ret);

/* Passes over all undecided ticks up to `until_ms` of a job that is rescheduled or deleted, with
 * `reason` where no other reason applies. */
MUST_CHECK enum status plan_pass(const struct plan_rules *rules, struct catalog_job *job,
                                 int64_t until_ms, enum run_reason reason, struct plan *ret);

/* The undecided ticks of the job that should have started by `now_ms` and that a pause, skip-next,
 * maintenance or a calendar takes out, up to the first that nothing takes out. */
MUST_CHECK enum status plan_called_off(const struct plan_rules *rules, struct catalog_job *job,
                                       int64_t now_ms, struct plan *ret);

#endif
