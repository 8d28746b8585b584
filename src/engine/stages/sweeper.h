/* What lives leave behind that are over. It needs one hand, that of the leader: a run that was
 * begun is lost; one that was claimed, and that nobody took over in time, is missed, and so is one
 * that is due and that no node may run; and what has ended is put on record when the node does not
 * come back to do it. A node that does come back finds nothing done that it can't amend: it ends
 * its runs with their own nonce, and what is lost can be amended, since it stays in the store for a
 * week. */
#ifndef PEAL_SWEEPER_H
#define PEAL_SWEEPER_H

#include "ports.h"
#include "stages/outbox.h"
#include "stages/recorder.h"
#include "state/open_run.h"
#include "state/peers.h"
#include "state/placement.h"

struct sweeper {
    const struct engine_ports *ports;
    const struct peer *self; /* this node */
    const struct peers *peers;
    struct placement *placement;
    struct open_runs *runs;
    struct recorder *recorder;
    const struct outage *away; /* the engine's; of the store */
    int64_t on_time_ms; /* for so long a run without a deadline waits for a node that may run it */
    struct sender sender;
    bool leads;
    struct boot_ms look_at; /* something is to be done then */
};

void sweeper_init(struct sweeper *sweeper, const struct engine_ports *ports, struct outbox *outbox,
                  const struct peer *self, const struct peers *peers, struct placement *placement,
                  struct open_runs *runs, struct recorder *recorder);

/* Looks around if it is time to, or a node, the leader or a run has changed (`has_news`); it costs
 * as much as other nodes have runs. */
void sweeper_sweep(struct sweeper *sweeper, struct now now, bool has_news);

/* A run that is_overdue has been taken, as the store tells: it is MISSED. */
void sweeper_end(struct sweeper *sweeper, struct now now, struct open_run *open,
                 const struct run *run);

int64_t sweeper_wake_at(const struct sweeper *sweeper, struct now now);

#endif
