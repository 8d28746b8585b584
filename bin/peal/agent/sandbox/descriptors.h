/* How many files and connections the agent may have open. */
#ifndef PEAL_DESCRIPTORS_H
#define PEAL_DESCRIPTORS_H

#include <stdint.h>

#include "agent_log.h"

/* As many as this process can give itself; a few are told to the log, with what to do. Returns the
 * limit as it was, which is for jobs: some programs can't live with another one. 0: not known. */
int64_t descriptors_raise(struct agent_log *log);

#endif
