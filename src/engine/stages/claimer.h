/* Who owns what is due: plans become claims in the store, in batches; runs that are DUE are taken,
 * and so are those that somebody has claimed and not begun by their time, whether it lives or not:
 * a take changes the nonce, and only one of the two can begin. Where several nodes may take a run,
 * each leaves STEP_IN_MS to the one before it. */
#ifndef PEAL_CLAIMER_H
#define PEAL_CLAIMER_H

#include "ports.h"
#include "stages/outbox.h"
#include "stages/plan.h"
#include "state/boot_marks.h"
#include "state/marks.h"
#include "state/open_run.h"
#include "state/placement.h"

struct claimer {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    struct open_runs *runs;
    struct catalog *catalog;
    struct marks *marks;
    struct boot_marks *boot_marks;
    struct placement *placement;
    const struct peers *peers;
    int64_t on_time_ms; /* what was left behind for longer is nobody's to start */
    struct sender sender;
    struct outbox_batch *filling; /* claims that are not sent yet */
    size_t wanted;                /* runs that were claimed, and not answered yet */
    size_t unsure;                /* runs whose claims or takes have an unknown outcome ... */
    struct boot_ms unsure_since;  /* ... the last of them since then */
    struct boot_ms fed;           /* when the feed last told anything */
    size_t unanswered;            /* claims, sent or not, with a run or without */
    struct outage *away;          /* the engine's; of the store */
    double latency_ms;            /* of a claim, averaged: how far ahead to claim */
};

void claimer_init(struct claimer *claimer, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, struct catalog *catalog, struct marks *marks,
                  struct boot_marks *boot_marks, struct placement *placement,
                  const struct peers *peers, struct open_runs *runs);
void claimer_release(struct claimer *claimer);

/* How many runs may be ours of which the feed has not told yet; and when that changes by itself, on
 * the boot clock; INT64_MAX: only when the feed tells. */
size_t claimer_unsure(const struct claimer *claimer, struct now now, struct boot_ms *ret_until);

/* False: enough runs are claimed and wait for their begin; what is due waits in the planner, where
 * its job's policies still apply. */
bool claimer_has_room(const struct claimer *claimer);

/* Takes the plan over. */
void claimer_submit(struct claimer *claimer, struct now now, struct plan *plan);

/* Names the job, this node and the moment in the entries of ticks that are passed over. */
void claimer_fill_entries(const struct claimer *claimer, struct now now, struct plan *plan);

/* Takes as many runs as there is room for. Before anything new is planned: what waits is older. */
void claimer_take(struct claimer *claimer, struct now now, size_t room);

/* Sends what was submitted. */
void claimer_flush(struct claimer *claimer, struct now now);

/* When the next run can be taken, with so much room; NEVER_MS: none. */
int64_t claimer_wake_at(const struct claimer *claimer, struct now now, size_t room);

#endif
