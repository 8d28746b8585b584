/* Nodes as the API tells of them. */
#ifndef PEAL_API_NODES_H
#define PEAL_API_NODES_H

#include <jansson.h>

#include "state/peers.h"

/* "ready", "draining", "drained", "gone", or why it takes nothing new: "full", "clock" ... */
const char *node_state(const struct known_peer *known);

/* How far its clock is from the cluster's; false: not known. */
bool node_skew(const struct peers *peers, const struct known_peer *known, int64_t *ret_ms);

/* NULL: out of memory. */
json_t *encode_node(const struct peers *peers, const struct known_peer *known, struct now now);

#endif
