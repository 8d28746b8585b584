/* The ticks of a job in a span of time, as a list: for what compares or counts them all. Pure. */
#ifndef PEAL_TICKS_H
#define PEAL_TICKS_H

#include "calendars.h"

struct ticks {
    int64_t *at_s; /* ascending, each once */
    size_t count;
    int64_t until_s; /* ticks at or after it are not in the list */
    size_t excluded; /* those that a calendar excludes */
};

/* Is the tick left out for each schedule by which it is due? */
bool ticks_is_excluded(const struct schedule_set *set, const struct calendars *calendars,
                       int64_t at_s);

/* What is due in [from_s, until_s), at most `limit` ticks: with more the list ends earlier, and
 * until_s says where. Of `@after`, `@reboot` and `@manual` there are none. *ret is released in any
 * case. */
MUST_CHECK enum status ticks_collect(const struct schedule_set *set,
                                     const struct calendars *calendars, int64_t from_s,
                                     int64_t until_s, size_t limit, struct ticks *ret);
void ticks_release(struct ticks *ticks);

/* Drops the ticks at or after `until_s`. */
void ticks_cut(struct ticks *ticks, int64_t until_s);

/* Appends what determines the ticks: two sets with the same text have the same ones. */
void ticks_key(const struct schedule_set *set, const struct calendars *calendars,
               struct strbuf *out);

#endif
