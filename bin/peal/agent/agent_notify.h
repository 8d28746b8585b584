/* Connects the engine's ends with the notifier. */
#ifndef PEAL_AGENT_NOTIFY_H
#define PEAL_AGENT_NOTIFY_H

#include "agent_log.h"
#include "config/agent_config.h"
#include "notifier.h"
#include "ports.h"

MUST_CHECK enum status agent_notify_new(const struct agent_config *config, struct loop *loop,
                                        const char *node, struct zone_db *zones,
                                        struct agent_log *log, struct notifier **ret,
                                        struct strbuf *why);

struct teller agent_notify_teller(struct notifier *notifier);

#endif
