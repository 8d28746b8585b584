/* Periodic chores: prunes old runs from the history, deletes jobs whose `delete_after` is over, and
 * purges deleted jobs from the store. */
#ifndef PEAL_AGENT_CHORES_H
#define PEAL_AGENT_CHORES_H

#include "agent_log.h"
#include "config/agent_config.h"
#include "engine.h"
#include "loop.h"

struct agent_chores;

MUST_CHECK enum status agent_chores_new(struct loop *loop, const struct agent_config *config,
                                        struct engine *engine, struct store *store,
                                        struct history *history, struct agent_log *log,
                                        struct agent_chores **ret);
struct agent_chores *agent_chores_free(struct agent_chores *chores);

#endif
