/* Allocations that fail on demand: those of peal's own code, in every thread. Programs that use it
 * are linked with nth_alloc's options, which put it in front of malloc and its kin; what libraries
 * allocate for themselves is left alone. */
#ifndef PEAL_NTH_ALLOC_H
#define PEAL_NTH_ALLOC_H

#include <stdbool.h>

/* The n-th allocation from now on (from 1) fails, once. 0: none does. */
void nth_alloc_plan(int n);

/* Whether it has come to that. */
bool nth_alloc_failed(void);

#endif
