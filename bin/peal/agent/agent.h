/* The agent: one process, one loop, that wires engine, store, history, spawner and API together. */
#ifndef PEAL_AGENT_H
#define PEAL_AGENT_H

#include <stdbool.h>

#include "agent_config.h"
#include "strbuf.h"

/* Runs until it is told to stop (SIGTERM, SIGINT); SIGHUP reads the configuration file again.
 * `ready` (may be NULL) is called once, when jobs are loaded and the API answers. E_BUSY: another
 * agent has the folder. Anything but OK: *why says what is wrong and what to do. */
MUST_CHECK enum status agent_run(struct agent_config *config, void (*ready)(void *context),
                                 void *context, struct strbuf *why);

#endif
