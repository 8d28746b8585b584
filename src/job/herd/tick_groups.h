/* The ticks of many jobs in a span of time. Jobs with equal schedules share them: most of a hundred
 * thousand jobs are due at one of a few thousand times of the day. Pure. */
#ifndef PEAL_TICK_GROUPS_H
#define PEAL_TICK_GROUPS_H

#include "forecast/ticks.h"
#include "table.h"

struct tick_group {
    char *key;
    struct ticks ticks;
    size_t prompt; /* jobs that start at these ticks, not later; the owner's */
};

struct tick_groups {
    int64_t from_s, until_s;
    size_t room; /* for so many ticks more */
    struct table groups;
};

/* `limit`: of the ticks of all groups. Release it in any case. */
void tick_groups_init(struct tick_groups *groups, int64_t from_s, int64_t until_s, size_t limit);
void tick_groups_release(struct tick_groups *groups);

/* *ret is the group of these schedules, and lives as long as the groups. E_TOO_LARGE: there are
 * more ticks than the limit allows. E_NOMEM. */
MUST_CHECK enum status tick_groups_get(struct tick_groups *groups, const struct schedule_set *set,
                                       const struct calendars *calendars, struct tick_group **ret);

#endif
