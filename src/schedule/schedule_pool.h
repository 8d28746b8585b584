/* Schedules that are equal, each kept once: of a million jobs most are due at one of a few thousand
 * times of the day, and a schedule never changes. */
#ifndef PEAL_SCHEDULE_POOL_H
#define PEAL_SCHEDULE_POOL_H

#include "schedule.h"
#include "table.h"

struct schedule_pool {
    struct table schedules;
};

void schedule_pool_init(struct schedule_pool *pool);
/* All schedules were dropped. */
void schedule_pool_release(struct schedule_pool *pool);

/* Takes the schedule over and returns one that is equal: itself, unless the pool has another. Each
 * that was kept is dropped once, and not freed. Never fails: without memory it is not shared. */
struct schedule *schedule_pool_keep(struct schedule_pool *pool, struct schedule *schedule);
void schedule_pool_drop(struct schedule_pool *pool, struct schedule *schedule);

#endif
