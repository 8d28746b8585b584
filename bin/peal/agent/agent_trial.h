/* Could an agent with this configuration start? Asked before a running one is stopped for it. */
#ifndef PEAL_AGENT_TRIAL_H
#define PEAL_AGENT_TRIAL_H

#include "config/agent_config.h"
#include "strbuf.h"

/* Checks the log file, the node's name, the addresses and the certificate, and whether etcd
 * answers, while the folder's agent is running, which is left alone. Anything but OK: *why, as
 * agent_run says it. OK is no promise: accounts, for one, are known only to an agent. */
MUST_CHECK enum status agent_try(const struct agent_config *config, struct strbuf *why);

#endif
