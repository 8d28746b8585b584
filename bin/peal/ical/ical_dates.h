/* The dates of the events in an iCalendar file: all-day events, and the dates that timed events
 * touch by the clock of their zone; with RRULE, RDATE, EXDATE and changed occurrences. Cancelled
 * events are left out. */
#ifndef PEAL_ICAL_DATES_H
#define PEAL_ICAL_DATES_H

#include <jansson.h>
#include <stdint.h>

#include "status.h"

struct ical_span {
    int64_t first_day, last_day; /* since 1970-01-01, inclusive; at most ICAL_DAYS_MAX apart */
};

enum { ICAL_DAYS_MAX = 20 * 366 };

/* *ret is a list of dates as a calendar has them, consecutive ones as a range. E_INVALID: *why says
 * what is wrong, in English. */
MUST_CHECK enum status ical_dates_read(const char *text, const struct ical_span *span, json_t **ret,
                                       const char **why);

#endif
