/* The default user of jobs on this machine, and warnings about it. */
#ifndef PEAL_JOBS_USER_H
#define PEAL_JOBS_USER_H

#include "api.h"
#include "config/agent_config.h"

/* Looks it up each time: users and the allow-list may have changed. */
void jobs_user_look(const struct agent_config *config, struct jobs_user *ret);

/* Warns on stderr, for an agent that is started by hand. */
void jobs_user_warn(const struct agent_config *config);

#endif
