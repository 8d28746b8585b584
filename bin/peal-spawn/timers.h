/* When which run wants to be looked at next: a binary heap by due time. */
#ifndef PEAL_SPAWNER_TIMERS_H
#define PEAL_SPAWNER_TIMERS_H

#include "run.h"

struct timers {
    struct run **heap; /* heap[0] is due first; a run's heap_index is its place + 1, 0: not in it */
    size_t count;
    size_t capacity;
};

/* Sets the time, in place of an earlier one; 0: never. False: out of memory, and not set. */
bool timers_set(struct timers *timers, struct run *run, int64_t due_boot_ms);

/* The run that is due first, or NULL. */
struct run *timers_first(const struct timers *timers);

void timers_release(struct timers *timers);

#endif
