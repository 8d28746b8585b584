/* Nodes as the API shows them. */
#ifndef PEAL_API_NODES_H
#define PEAL_API_NODES_H

#include <jansson.h>

#include "language.h"
#include "state/peers.h"

/* "ready", "draining", "drained", "gone", or why it takes no new runs: "full", "clock" ... */
const char *node_state(const struct known_peer *known);

/* NULL: out of memory. */
json_t *encode_node(const struct peers *peers, const struct known_peer *known, struct now now,
                    enum language language);

#endif
