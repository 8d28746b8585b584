/* What this node tells the others of itself. */
#ifndef PEAL_AGENT_SELF_H
#define PEAL_AGENT_SELF_H

#include "config/agent_config.h"
#include "peer.h"

/* All but what changes while it runs, which is the engine's to fill in. */
struct peer agent_self(const struct agent_config *config, const char *node, struct id instance,
                       int64_t started_ms);

#endif
