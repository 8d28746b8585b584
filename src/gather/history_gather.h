/* The history of a node in a cluster: reads are gathered from all nodes that announce a history of
 * their own; appends and prunes only concern its own. With a database that all nodes share, those
 * are the nodes with records that wait for it on their disks; only pages and logs are gathered
 * then, since the database has the statistics and the changes.
 *
 * A silent node is waited for at most 2 s; the answer then lacks its rows, and names it in
 * `absent`. Reads are answered when they are complete, not in the order of submission. A run that
 * several nodes have recorded (one of them as lost) is listed once, but counted by each in the
 * statistics. */
#ifndef PEAL_HISTORY_GATHER_H
#define PEAL_HISTORY_GATHER_H

#include "gather_net.h"
#include "history.h"

/* Takes `own` over, also when it fails; serves it to other nodes by `net`, which must outlive the
 * history. E_NOMEM. */
MUST_CHECK enum status history_gather_new(struct gather_net *net, struct history *own,
                                          bool is_shared, struct history_wake wake,
                                          struct history **ret);

/* Why a node's history can't be read, as the rest of a sentence after its name: "is away"; "": it
 * can, or it is not needed. */
const char *history_gather_state(const struct history *history, const struct known_peer *known);

#endif
