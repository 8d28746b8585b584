/* This node's heartbeat. */
#ifndef PEAL_AGENT_SELF_H
#define PEAL_AGENT_SELF_H

#include "config/agent_config.h"
#include "peer.h"

/* All but the members that change while it runs, which the engine fills in. */
struct peer agent_self(const struct agent_config *config, const char *node, struct id instance,
                       int64_t started_ms);

#endif
