/* Whom jobs run as on this machine that name no user, and what its owner should know of that. */
#ifndef PEAL_JOBS_USER_H
#define PEAL_JOBS_USER_H

#include "api.h"
#include "config/agent_config.h"

/* Looks it up anew: users and the list of those who are allowed may have changed. */
void jobs_user_look(const struct agent_config *config, struct jobs_user *ret);

/* On stderr, for whoever starts an agent by hand, if something should be different. */
void jobs_user_warn(const struct agent_config *config);

#endif
