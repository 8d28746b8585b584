/* What becomes of the ticks of a job, and of a boot: a run, or an entry of the ledger that says why
 * not. The planner and boots make plans, and the claimer takes them over. */
#ifndef PEAL_PLAN_H
#define PEAL_PLAN_H

#include "clock.h"
#include "state/catalog.h"

/* The same for all jobs. */
struct plan_rules {
    int64_t on_time_ms; /* a tick that is later is an outage's: catch_up decides */
    int64_t lead_ms;    /* a run is planned so far ahead of its start */
};

/* One job's due tick, and the ticks that are passed over before it. */
struct plan {
    struct catalog_job *job;
    int64_t tick_ms; /* the new cursor */
    bool with_run;   /* false: every tick up to tick_ms is passed over */
    enum run_cause cause;
    int64_t start_at_ms;         /* tick and jitter */
    struct ledger_entry *passed; /* ids and names are not filled in; the caller's */
    size_t passed_count;
    struct store_boot boot; /* without a name: it is a tick of the job's schedules */
};

void plan_release(struct plan *plan);

/* The ticks of the job that are due, from its cursor up to the first that is to be run. `nobody`:
 * no node may run any of them. *ret is empty (no run, nothing passed) when the job was looked at
 * too early. */
MUST_CHECK enum status plan_ticks(const struct plan_rules *rules, struct now now,
                                  struct catalog_job *job, bool nobody, struct plan *ret);

/* What becomes of a boot of this node, at `boot_ms`, that the job is due for: a run, if it may_run,
 * or the entry that says why not. E_NOT_FOUND: it is too early, or it would run and may not yet. */
MUST_CHECK enum status plan_boot(const struct plan_rules *rules, struct now now,
                                 struct catalog_job *job, int64_t boot_ms, bool may_run,
                                 struct plan *ret);

/* What becomes of the job's ticks that are due until then and not decided yet, when it gets other
 * times or goes: they are all passed over, for `reason` if there is none but that. */
MUST_CHECK enum status plan_pass(struct catalog_job *job, int64_t until_ms, enum run_reason reason,
                                 struct plan *ret);

#endif
