/* The spawner's version, compared with the agent's, and its death, in words. */
#ifndef PEAL_SPAWNER_STATE_H
#define PEAL_SPAWNER_STATE_H

#include "agent_log.h"
#include "api.h"
#include "executor_news.h"

/* For `peal doctor` and the API. */
void spawner_state_fill(const struct spawner_info *spawner, enum language language,
                        struct spawner_state *ret);

/* Adds it to the detail. */
void spawner_death_tell(const struct spawner_death *death, enum language language,
                        struct spawner_state *state);

/* For the log: that it was upgraded, or why not and what to do, nothing of one that is as it should
 * be; that it has died; that peal-call is waited for. */
struct executor_news spawner_state_news(struct agent_log *log);

#endif
