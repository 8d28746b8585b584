/* The spawner's version, compared with the agent's, and its death, in words. */
#ifndef PEAL_SPAWNER_STATE_H
#define PEAL_SPAWNER_STATE_H

#include "agent_log.h"
#include "api.h"
#include "spawn_client.h"

/* For `peal doctor` and the API. */
void spawner_state_fill(const struct spawner_info *spawner, const struct spawn_build *own,
                        enum language language, struct spawner_state *ret);

/* That it was upgraded, or why not and what to do; nothing of one that is as it should be. */
void spawner_state_log(const struct spawner_info *spawner, const struct spawn_build *own,
                       struct agent_log *log);

/* A spawner that ended, or was killed, while an agent was connected to it. */
struct spawner_death {
    pid_t pid; /* 0: none has died */
    int64_t at_ms;
};

/* Adds it to the detail. */
void spawner_death_tell(const struct spawner_death *death, enum language language,
                        struct spawner_state *state);

/* `pid` is the next spawner's, which knows so many runs. */
void spawner_death_log(const struct spawner_death *death, pid_t pid, int runs,
                       struct agent_log *log);

#endif
