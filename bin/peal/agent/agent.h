/* The agent: one process, one loop, that wires engine, store, history, spawner and API together. */
#ifndef PEAL_AGENT_H
#define PEAL_AGENT_H

#include <stdbool.h>

#include "config/agent_config.h"
#include "strbuf.h"

/* Runs until SIGTERM or SIGINT; SIGHUP reads the configuration file again. `ready` (may be NULL) is
 * called once, when jobs are loaded, the API answers and this node is registered in the store.
 * E_BUSY: another agent has the folder. E_CONFLICT: another agent has the node's name.
 * E_UNREACHABLE: the store does not answer. Anything but OK: *why says what is wrong and what to
 * do. Once registered, the agent goes on even if it loses the store or its name. */
MUST_CHECK enum status agent_run(struct agent_config *config, void (*ready)(void *context),
                                 void *context, struct strbuf *why);

#endif
