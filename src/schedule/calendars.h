/* What the calendars of a job leave of its schedules: the ticks whose local date, in the time zone
 * of the schedule that makes them, is in none of the calendars. Pure.
 *
 * Bounded time: where no tick is left for a very long time (thousands of them in a row are out,
 * over ever new days), the answer is that there is none. */
#ifndef PEAL_CALENDARS_H
#define PEAL_CALENDARS_H

#include "calendar.h"
#include "schedule_set.h"

struct calendars {
    const struct calendar *const *items;
    size_t count; /* 0: nothing is out */
};

/* The first calendar that has the date of this instant; `count`: none has. */
size_t calendars_which(const struct calendars *calendars, const struct zone *zone, int64_t at_s);

/* The first instant from this one on, and the last one up to it, whose date is in no calendar;
 * NEVER, NEVER_BEFORE. */
int64_t calendars_free_from(const struct calendars *calendars, const struct zone *zone,
                            int64_t at_s);
int64_t calendars_free_until(const struct calendars *calendars, const struct zone *zone,
                             int64_t at_s);

/* As schedule_next, schedule_prev and schedule_next_after, but for ticks that are out. Each tick of
 * an `@after` that is out counts as the end of a run, so that it goes on from there. */
int64_t schedule_next_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t after_s);
int64_t schedule_prev_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t before_s);
int64_t schedule_next_after_free(const struct schedule *schedule, const struct calendars *calendars,
                                 int64_t ended_s);

/* The same over a set: due whenever any of its schedules is and is not out. */
int64_t schedule_set_next_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t after_s);
int64_t schedule_set_prev_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t before_s);

#endif
