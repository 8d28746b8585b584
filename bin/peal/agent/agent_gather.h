/* The port between the nodes of a cluster: decides whether this node has one, and opens it. Nodes
 * without a shared history read each other's over it, and all nodes the output of each other's
 * runs. */
#ifndef PEAL_AGENT_GATHER_H
#define PEAL_AGENT_GATHER_H

#include "config/agent_config.h"
#include "config/agent_data.h"
#include "peer.h"

/* Does this node have records that no other node has: in a file, or waiting for the database? */
bool agent_gather_has_history(const struct agent_config *config, const struct agent_data *data);

/* In a cluster: makes data->net, wraps data->history into a gathering one, and opens the port for
 * the others. E_IO: the configured address can't be used, *why;
 * data->history is unchanged, or gathers without a port. */
MUST_CHECK enum status agent_gather(const struct agent_config *config, struct loop *loop,
                                    struct agent_log *log, struct history_wake wake,
                                    struct agent_data *data, struct strbuf *why);

/* Whether the configured address can be used, as api_try_listen does it. E_INVALID, E_IO: *why. */
MUST_CHECK enum status agent_gather_try(const struct agent_config *config, const int *held,
                                        size_t held_count, struct strbuf *why);

/* Adds the port to this node's heartbeat. */
void agent_gather_announce(const struct agent_config *config, const struct agent_data *data,
                           struct peer *self);

#endif
