/* The calls of a group (call_group.h) for one tick: the run of the engine that stands for all of
 * them. Each of the pool's threads takes one call after the other, until none is left. */
#ifndef PEAL_CALL_BATCH_H
#define PEAL_CALL_BATCH_H

#include "calls/call.h"
#include "calls/call_group.h"

/* One of those who make its calls: a thread, with the run that the functions see. */
struct call_hand {
    struct pool_call in_pool;
    struct call_batch *batch;
    int64_t began_us; /* its call; with the run's lock, if there is a timeout; 0: none */
    struct peal_run run;
};

struct call_batch {
    struct call_group *group;
    struct peal_run *call; /* the engine's */
    size_t count;          /* places of the group, when it began */
    int64_t tick_ms;       /* of the boot clock */
    int64_t deadline_us;   /* likewise: later calls are not made; INT64_MAX: none */
    uint64_t *open;        /* bits of members whose tick before this one still waits; NULL: none */
    LIST_ENTRY(call_batch) in_group;
    size_t hand_count;
    _Alignas(64) atomic_size_t next; /* the next place */
    _Alignas(64) atomic_size_t hands_left;
    struct call_hand hands[]; /* the first is of the thread that has begun it */
};

/* When the time of `call` has come. NULL: out of memory. */
struct call_batch *call_batch_new(struct peal_run *call, struct now now);
void call_batch_free(struct call_batch *batch); /* accepts NULL */

/* Makes its calls, or some of them, while other threads make others; how many. The last one ends
 * the run, and frees the batch. */
int call_batch_make(struct call_batch *batch);

/* With the group's lock. Its call of the member is still to come. */
bool call_batch_awaits(const struct call_batch *batch, size_t index);

/* Cancels calls that have run for too long; when to look again. */
int64_t call_batch_time_out(struct call_batch *batch, struct boot_ms now);

/* The program stops, as `call` was told already: calls that are being made are, too, and no others
 * follow. */
void call_batch_shut_down(struct call_batch *batch);

#endif
