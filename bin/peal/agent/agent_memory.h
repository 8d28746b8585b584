/* Gives memory back to the system after a peak. Large requests and the first load leave free pages
 * between those in use, which malloc keeps by itself. */
#ifndef PEAL_AGENT_MEMORY_H
#define PEAL_AGENT_MEMORY_H

#include "engine.h"
#include "loop.h"

struct agent_memory;

/* Before the sandbox is entered and before there are threads. NULL: out of memory, or there is no
 * /proc; nothing is given back then. */
struct agent_memory *agent_memory_new(void);

/* From now on it can work. */
MUST_CHECK enum status agent_memory_start(struct agent_memory *memory, struct loop *loop,
                                          const struct engine *engine);

/* There was a turn, after which there may be something to give back. */
void agent_memory_turned(struct agent_memory *memory);

struct agent_memory *agent_memory_free(struct agent_memory *memory);

#endif
