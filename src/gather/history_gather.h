/* The history of a node whose cluster shares no database: its own, and what it gathers from the
 * others when it is asked. What is recorded and pruned is its own.
 *
 * A node that is away or silent is not waited for longer than 2 s; the answer then lacks what that
 * node alone has, and says so (`absent`). Reads are answered when they are complete, not in the
 * order in which they were submitted. A run that several have on record is there once, but counted
 * by each in the statistics: one that was taken for lost, and was not. */
#ifndef PEAL_HISTORY_GATHER_H
#define PEAL_HISTORY_GATHER_H

#include "history.h"
#include "loop.h"
#include "state/peers.h"

/* Takes `own` over, also when it fails. E_NOMEM. */
MUST_CHECK enum status history_gather_new(struct loop *loop, struct history *own,
                                          struct history_wake wake, struct history **ret);

/* Of the certificate by which the others know this node: to be announced. */
const char *history_gather_fingerprint(const struct history *history);

/* Lets the others read the own history on `fd`, a listening socket, which is taken over. E_NOMEM.
 */
MUST_CHECK enum status history_gather_listen(struct history *history, int fd);

/* Who the others are; they must stay until the history is freed. Before, there are none. */
void history_gather_set_peers(struct history *history, const struct peers *peers);

/* Whether the history of a node can be asked, behind its name: "is away"; "" if it can be, or is
 * not needed. */
const char *history_gather_state(const struct history *history, const struct known_peer *known);

#endif
