/* The spawner's version, compared with the agent's, in words. */
#ifndef PEAL_SPAWNER_STATE_H
#define PEAL_SPAWNER_STATE_H

#include "agent_log.h"
#include "api.h"
#include "spawn_client.h"

/* For `peal doctor` and the API. */
void spawner_state_fill(const struct spawner_info *spawner, const struct spawn_build *own,
                        struct spawner_state *ret);

/* That it was upgraded, or why not and what to do; nothing of one that is as it should be. */
void spawner_state_log(const struct spawner_info *spawner, const struct spawn_build *own,
                       struct agent_log *log);

#endif
