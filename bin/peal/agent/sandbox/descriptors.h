/* The agent's limit of open files and connections. */
#ifndef PEAL_DESCRIPTORS_H
#define PEAL_DESCRIPTORS_H

#include <stdint.h>

#include "agent_log.h"

/* Raises the soft limit to the hard limit; logs a low one, with what to do. Returns the old limit,
 * which is for jobs: some programs can't cope with another one. 0: not known. */
int64_t descriptors_raise(struct agent_log *log);

#endif
