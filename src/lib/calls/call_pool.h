/* Who makes the calls: a bounded pool of threads, or the program's own (call_pool_step). Each call
 * has a time before which it is not made; the earliest is first. Any thread. */
#ifndef PEAL_CALL_POOL_H
#define PEAL_CALL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "clock.h"
#include "status.h"

struct call_pool;

/* Embedded in what is to be called. */
struct pool_call {
    int64_t at_us; /* of the boot clock */
    /* On one of the pool's threads, without a lock. How many functions it has called. */
    int (*make)(struct pool_call *call);
    TAILQ_ENTRY(pool_call) in_queue;
};

/* `threads`: at most so many, started when they are needed; 0: the program steps. E_IO: errno. */
MUST_CHECK enum status call_pool_new(int threads, struct call_pool **ret);

/* Waits for the calls that are being made by its threads; those that wait are not made any more. */
void call_pool_close(struct call_pool *pool);
struct call_pool *call_pool_free(struct call_pool *pool); /* closes it */

/* The call stays its owner's, and is out of the pool when `make` is called. E_BUSY: there is no
 * thread, and none can be started. */
MUST_CHECK enum status call_pool_add(struct call_pool *pool, struct pool_call *call);

/* How many calls it makes at once. */
size_t call_pool_width(const struct call_pool *pool);

/* Without a pool of threads: readable when a call is due; how many ms until the first is, -1: none
 * waits; makes those that are due, and returns how many functions were called. */
int call_pool_fd(const struct call_pool *pool);
int call_pool_timeout(struct call_pool *pool);
int call_pool_step(struct call_pool *pool);

#endif
