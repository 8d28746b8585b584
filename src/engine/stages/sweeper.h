/* Cleans up after dead incarnations; only on the leader. A run that was begun is lost; one that was
 * claimed and not taken over in time is missed, and so is a due run that no node may run; an ended
 * run is recorded when its node does not come back to do it. An instance of a workflow that is over
 * its time is ordered to be killed. A node that does come back can amend
 * all this: it ends its runs with their own nonce, and lost runs stay in the store for a week. */
#ifndef PEAL_SWEEPER_H
#define PEAL_SWEEPER_H

#include "groups/slots.h"
#include "outbox.h"
#include "ports.h"
#include "stages/recorder.h"
#include "state/open_run.h"
#include "state/peers.h"
#include "state/placement.h"
#include "workflow/instances.h"

struct sweeper {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    const struct peers *peers;
    struct placement *placement;
    struct open_runs *runs;
    const struct slots *slots; /* likewise */
    struct instances *instances;
    struct recorder *recorder;
    const struct outage *away; /* the engine's; of the store */
    int64_t on_time_ms;        /* how long a run without a deadline waits for an eligible node */
    struct outbox_sender sender;
    bool leads;
    struct boot_ms look_at; /* boot time of the next sweep */
};

void sweeper_init(struct sweeper *sweeper, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, const struct peers *peers, struct placement *placement,
                  struct open_runs *runs, struct recorder *recorder);

/* Sweeps if it is time to, or a node, the leader or a run has changed (`has_news`). Takes time in
 * proportion to the runs of other nodes. */
void sweeper_sweep(struct sweeper *sweeper, struct now now, bool has_news);

/* The store shows that a run with is_overdue has been taken: ends it as MISSED. */
void sweeper_end(struct sweeper *sweeper, struct now now, struct open_run *open,
                 const struct run *run);

int64_t sweeper_wake_at(const struct sweeper *sweeper, struct now now);

#endif
