/* Nodes that share no database read each other's histories: whether this node is one of them, and
 * where it lets the others read. */
#ifndef PEAL_AGENT_GATHER_H
#define PEAL_AGENT_GATHER_H

#include "config/agent_config.h"
#include "config/agent_data.h"
#include "peer.h"

/* True of a node of a cluster whose history is a file of its own. */
bool agent_gather_is_needed(const struct agent_config *config);

/* Puts data->history behind one that gathers, and opens the port for the others. E_IO: the address
 * that was asked for can't be had, *why; data->history is as it was, or gathers without a port. */
MUST_CHECK enum status agent_gather(const struct agent_config *config, struct loop *loop,
                                    struct agent_log *log, struct history_wake wake,
                                    struct agent_data *data, struct strbuf *why);

/* What the others must know of it. */
void agent_gather_announce(const struct agent_config *config, const struct agent_data *data,
                           struct peer *self);

#endif
