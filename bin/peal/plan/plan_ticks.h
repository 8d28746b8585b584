/* How the ticks of a job change. Jobs whose schedules change in the same way are looked at once. */
#ifndef PEAL_PLAN_TICKS_H
#define PEAL_PLAN_TICKS_H

#include "forecast/clock_change.h"
#include "forecast/tick_change.h"
#include "job.h"
#include "table.h"

enum { PLAN_CLOCKS = 8 }; /* changes of the clock that are kept */

struct plan_ticks {
    char *key;
    struct tick_change change;
    int64_t until_s;         /* where the comparison ends; frequent ticks have their limit */
    size_t excluded;         /* by calendars, of the ticks after the change */
    size_t excluded_before;  /* and of those before it */
    const struct zone *zone; /* of the first schedule after the change, or before it */
    struct clock_change clocks[PLAN_CLOCKS];
    size_t clock_count;
};

struct plan_clock {
    struct zone_db *zones;
    int64_t from_s, until_s;
    size_t budget;      /* ticks to look at for all jobs that are left */
    struct table known; /* struct plan_ticks by key */
};

void plan_clock_init(struct plan_clock *clock, struct zone_db *zones, int64_t from_s,
                     int64_t until_s);
void plan_clock_release(struct plan_clock *clock);

/* One side; `job` NULL: there is none, and a paused one has no ticks. */
struct plan_side {
    const struct job *job;
    struct calendars calendars;
};

/* *ret lives as long as the clock, and is NULL if the ticks are the same. `left`: so many jobs,
 * this one included, are still to be looked at. E_INVALID: a schedule can't be read. */
MUST_CHECK enum status plan_ticks_of(struct plan_clock *clock, const struct plan_side *before,
                                     const struct plan_side *after, size_t left,
                                     const struct plan_ticks **ret);

#endif
