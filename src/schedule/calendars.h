/* A job's ticks without those that its calendars exclude. A tick is excluded if one of the
 * calendars holds it (window/held.h), by the time zone of its schedule unless the calendar has its
 * own, or if the job requires other calendars and none of those holds it. Pure.
 *
 * Bounded time: after thousands of excluded ticks in a row, over ever new days or windows, the
 * answer is that there is none. */
#ifndef PEAL_CALENDARS_H
#define PEAL_CALENDARS_H

#include "calendar.h"
#include "schedule_set.h"

struct calendars {
    const struct calendar *const *items; /* those that exclude, then those that are required */
    size_t count;                        /* that exclude */
    size_t only_count; /* of which one has to hold the instant; 0: any instant will do */
};

/* Is any tick excluded, perhaps? */
bool calendars_matter(const struct calendars *calendars);

/* Index of the calendar that excludes this instant; `count` if no required one holds it;
 * CALENDARS_FREE: it is not excluded. */
#define CALENDARS_FREE SIZE_MAX
size_t calendars_which(const struct calendars *calendars, const struct zone *zone, int64_t at_s);

/* The first instant at or after `at_s` that is not excluded, or NEVER. */
int64_t calendars_free_from(const struct calendars *calendars, const struct zone *zone,
                            int64_t at_s);

/* As schedule_next, schedule_prev and schedule_next_after, without excluded ticks. An excluded tick
 * of an `@after` counts as the end of a run: the next delay starts there. */
int64_t schedule_next_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t after_s);
int64_t schedule_prev_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t before_s);
int64_t schedule_next_after_free(const struct schedule *schedule, const struct calendars *calendars,
                                 int64_t ended_s);

/* The calendars that alone make the instant excluded: one, or all that are required. */
struct calendars calendars_alone(const struct calendars *calendars, size_t which);

/* The same over a set: due whenever any of its schedules is due and not excluded. */
int64_t schedule_set_next_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t after_s);
int64_t schedule_set_prev_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t before_s);

#endif
