/* The default user of jobs on this machine, and warnings about it. */
#ifndef PEAL_JOBS_USER_H
#define PEAL_JOBS_USER_H

#include "api.h"
#include "config/agent_config.h"

/* Looks it up each time: users and the allow-list may have changed. */
void jobs_user_look(const struct agent_config *config, enum language language,
                    struct jobs_user *ret);

#endif
