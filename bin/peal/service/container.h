/* The first process of a container: it has no init before it, and nothing goes on after it. */
#ifndef PEAL_CONTAINER_H
#define PEAL_CONTAINER_H

#include <stdbool.h>

/* Is this process the first one? */
bool container_is_ours(void);

/* Splits the first process: returns false in a child, which is to be the agent. The parent stays,
 * passes signals on to the agent, reaps what others leave behind, and, when it is told to stop, has
 * the spawner end the jobs while the agent still records their ends. It returns true when all have
 * ended, with the exit status of the agent. */
bool container_split(int *ret_status);

#endif
