/* The events of an iCalendar file as a calendar has them: all-day events are dates, timed ones are
 * windows; with RRULE, RDATE, EXDATE and changed occurrences. Cancelled events are left out, and so
 * are timed ones that take no time. The file may be anybody's: its work is bounded. */
#ifndef PEAL_ICAL_DATES_H
#define PEAL_ICAL_DATES_H

#include <jansson.h>
#include <stdint.h>

#include "status.h"

struct ical_span {
    int64_t first_day, last_day; /* since 1970-01-01, inclusive; at most ICAL_DAYS_MAX apart */
};

enum { ICAL_DAYS_MAX = 20 * 366 };

/* *ret is {"dates","windows"}, lists of texts: consecutive dates are a range, and windows without a
 * time zone are by any clock, all others instants. E_INVALID: *why says what is wrong, in English.
 */
MUST_CHECK enum status ical_dates_read(const char *text, const struct ical_span *span, json_t **ret,
                                       const char **why);

#endif
