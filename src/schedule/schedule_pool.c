#include "schedule_pool.h"

#include "schedule_internal.h"

/* All members before `sharers`, as bytes: parsing has cleared what is between them, and were it
 * different, equal schedules would only not be shared. */
static const struct table_type schedules_type = {.key_size = offsetof(struct schedule, sharers)};

void schedule_pool_init(struct schedule_pool *pool)
{
    table_init(&pool->schedules, &schedules_type);
}

void schedule_pool_release(struct schedule_pool *pool)
{
    table_release(&pool->schedules);
}

/* Jitter is each job's own, few instants are those of many jobs, and years are not in the bytes: a
 * place in the table would cost more than it saves. */
static bool is_worth_it(const struct schedule *schedule)
{
    return schedule->kind != SCHEDULE_AT && !schedule->jitter_s && !schedule->cron.years;
}

struct schedule *schedule_pool_keep(struct schedule_pool *pool, struct schedule *schedule)
{
    if (!is_worth_it(schedule))
        return schedule;
    struct schedule *same = table_find(&pool->schedules, schedule);
    if (same) {
        same->sharers++;
        schedule_free(schedule);
        return same;
    }
    if (table_insert(&pool->schedules, schedule) == OK)
        schedule->sharers = 1;
    return schedule;
}

void schedule_pool_drop(struct schedule_pool *pool, struct schedule *schedule)
{
    if (schedule->sharers > 1) {
        schedule->sharers--;
        return;
    }
    if (schedule->sharers)
        table_remove(&pool->schedules, schedule);
    schedule_free(schedule);
}
