/* What `peal config validate` notes beside mistakes: what is not used or read, and files that the
 * settings name. */
#ifndef PEAL_CONFIG_NOTES_H
#define PEAL_CONFIG_NOTES_H

#include "config/agent_config.h"

/* On stderr, a line each. */
void config_notes(const struct agent_config *config);

#endif
