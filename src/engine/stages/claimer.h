/* Claims due ticks in the store, in batches, and takes runs: those that are DUE, and those that
 * another node has claimed but not begun in time, whether that node is alive or not. A take changes
 * the nonce, so only one of the two can begin. Where several nodes may take a run, each rank waits
 * STEP_IN_MS for the one before it.
 *
 * Where no other node could take the run over, its claim begins it at once, as far as runs may be
 * begun now.
 *
 * A tick or a run of a workflow opens its instance. A step that is DUE may open as a fan-out, or
 * end without a start, instead of being taken (verdict.h). */
#ifndef PEAL_CLAIMER_H
#define PEAL_CLAIMER_H

#include "groups/slots.h"
#include "outbox.h"
#include "ports.h"
#include "stages/plan.h"
#include "state/boot_marks.h"
#include "state/hindrances.h"
#include "state/marks.h"
#include "state/open_run.h"
#include "state/placement.h"
#include "workflow/instances.h"

struct claimer {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    struct open_runs *runs;
    struct catalog *catalog;
    struct instances *instances;
    struct slots *slots; /* the engine's */
    struct marks *marks;
    struct boot_marks *boot_marks;
    struct placement *placement;
    const struct peers *peers;
    int64_t on_time_ms; /* claims that are older than this are not taken over */
    struct outbox_sender sender;
    struct outbox_batch *filling; /* claims to be sent */
    size_t wanted;                /* claims of runs without an answer yet */
    size_t beginning;             /* those of them that begin their run ... */
    size_t begins_left;           /* ... and how many more may, the engine's */
    size_t unsure;                /* runs whose claim or take has an unknown outcome ... */
    struct boot_ms unsure_since;  /* ... boot time of the last of them */
    struct boot_ms fed;           /* boot time of the feed's last change */
    size_t unanswered;   /* all claims without an answer, sent or not, with a run or without */
    struct outage *away; /* the engine's record of the store's last outage */
    const struct hindrances *hindrances; /* the engine's */
    struct lacking *lacking;             /* likewise */
    double latency_ms;                   /* of a claim, smoothed: sets how far ahead to claim */
};

void claimer_init(struct claimer *claimer, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, struct catalog *catalog, struct marks *marks,
                  struct boot_marks *boot_marks, struct placement *placement,
                  const struct peers *peers, struct open_runs *runs);
void claimer_release(struct claimer *claimer);

/* How many runs may be ours though the feed has not shown them yet; and when that number changes
 * without the feed, on the boot clock; INT64_MAX: never. */
size_t claimer_unsure(const struct claimer *claimer, struct now now, struct boot_ms *ret_until);

/* False: enough claimed runs wait for their begin; further ticks wait in the planner, where their
 * job's policies still apply. */
bool claimer_has_room(const struct claimer *claimer);

/* Takes the plan over. */
void claimer_submit(struct claimer *claimer, struct now now, struct plan *plan);

/* Fills in job, node and time of the entries of passed ticks. */
void claimer_fill_entries(const struct claimer *claimer, struct now now, struct plan *plan);

/* Takes as many runs as there is room for. Before new ticks are planned: waiting runs are older. */
void claimer_take(struct claimer *claimer, struct now now, size_t room);

/* Are claims submitted that were not sent yet? */
bool claimer_has_filled(const struct claimer *claimer);

/* Sends the submitted claims. */
void claimer_flush(struct claimer *claimer, struct now now);

/* When the next run can be taken, given `room`; NEVER_MS: none. */
int64_t claimer_wake_at(const struct claimer *claimer, struct now now, size_t room);

#endif
