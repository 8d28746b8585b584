/* When a calendar holds an instant: by a date, a weekday or a window, as the clock of its time zone
 * shows it. An hour that the clock shows twice is held both times, and one that it leaves out never
 * is. `zone` is that of the schedule, for a calendar without its own. Pure. */
#ifndef PEAL_HELD_H
#define PEAL_HELD_H

#include "calendar.h"

bool calendar_holds(const struct calendar *calendar, const struct zone *zone, int64_t at_s);

/* A stretch of time around an instant in which the answer is the same; it may go on behind it.
 * INT64_MIN, INT64_MAX: without end. */
struct held_stretch {
    int64_t from_s, to_s; /* [from_s, to_s) */
    bool is_held;
};
struct held_stretch calendar_stretch(const struct calendar *calendar, const struct zone *zone,
                                     int64_t at_s);

/* The window that holds the instant, the first if there are several. NULL: the calendar does not
 * hold it, or holds its whole date. */
const struct window *calendar_window_at(const struct calendar *calendar, const struct zone *zone,
                                        int64_t at_s);

#endif
