/* The history of a node in a cluster without a shared database: reads are gathered from all nodes;
 * appends and prunes only concern its own.
 *
 * A silent node is waited for at most 2 s; the answer then lacks its rows, and names it in
 * `absent`. Reads are answered when they are complete, not in the order of submission. A run that
 * several nodes have recorded (one of them as lost) is listed once, but counted by each in the
 * statistics. */
#ifndef PEAL_HISTORY_GATHER_H
#define PEAL_HISTORY_GATHER_H

#include "history.h"
#include "loop.h"
#include "state/peers.h"

/* Takes `own` over, also when it fails. E_NOMEM. */
MUST_CHECK enum status history_gather_new(struct loop *loop, struct history *own,
                                          struct history_wake wake, struct history **ret);

/* The fingerprint of this node's certificate, to be announced. */
const char *history_gather_fingerprint(const struct history *history);

/* Serves the own history to other nodes on `fd`, a listening socket, which is taken over. E_NOMEM.
 */
MUST_CHECK enum status history_gather_listen(struct history *history, int fd);

/* Sets the other nodes, which must outlive the history. Before, there are none. */
void history_gather_set_peers(struct history *history, const struct peers *peers);

/* Why a node's history can't be read, as the rest of a sentence after its name: "is away"; "": it
 * can, or it is not needed. */
const char *history_gather_state(const struct history *history, const struct known_peer *known);

#endif
