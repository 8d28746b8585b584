/* Nodes as the API shows them. */
#ifndef PEAL_API_NODES_H
#define PEAL_API_NODES_H

#include <jansson.h>

#include "engine.h"
#include "language.h"
#include "state/peers.h"

/* A node as it is now: what the agent knows of itself is newer than its last heartbeat. */
struct known_peer node_as_it_is(const struct engine *engine, const struct known_peer *known,
                                struct now now);

/* "ready", "draining", "drained", "gone", or why it takes no new runs: "full", "clock" ... */
const char *node_state(const struct known_peer *known);

/* Why the node takes no new runs, for people. False: it does. */
bool node_tell_refusal(const struct known_peer *known, struct now now, enum language language,
                       char *text, size_t size);

/* NULL: out of memory. */
json_t *encode_node(const struct peers *peers, const struct known_peer *known, struct now now,
                    enum language language);

#endif
