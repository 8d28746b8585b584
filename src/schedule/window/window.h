/* A window of a calendar: a part of the day that comes again, or one stretch of time. Pure.
 *
 *     09:00-17:30                         every day
 *     mon-fri 22:00-06:00                 of the evenings of these days, over midnight
 *     2026-12-24 12:00-24:00              of a date, of a row of dates, or of one of every year
 *     2026-12-24T12:00/2027-01-02T06:00   from the one to the other; with a Z or an offset behind
 *                                         both, these instants in any zone */
#ifndef PEAL_WINDOW_H
#define PEAL_WINDOW_H

#include "calendar_date.h"

enum window_kind {
    WINDOW_WEEKDAYS,
    WINDOW_DATES,
    WINDOW_LOCAL,
    WINDOW_INSTANTS,
};

struct window {
    enum window_kind kind;
    uint8_t weekdays;          /* WINDOW_WEEKDAYS: on which it starts; bit 0: Sunday */
    struct calendar_date date; /* WINDOW_DATES: on which it starts */
    /* The end is not part of it. Of the first two kinds: seconds since the midnight of its day, and
     * more than a day for an end on the next one. Of the others: seconds since 1970-01-01, as a
     * clock shows them or in UTC. */
    int64_t from_s, to_s;
};

/* E_INVALID: *reterr says where and why. */
MUST_CHECK enum status window_read(const char *text, struct window *ret,
                                   struct parse_error *reterr);

/* As window_read() reads it; two that are equal have the same text. */
void window_print(const struct window *window, struct strbuf *out);

/* For qsort(): those that come again first. */
int window_compare(const void *a, const void *b);

/* Is it more than one stretch of time? */
bool window_repeats(const struct window *window);

/* Of one that is not WINDOW_INSTANTS, as a clock shows it. *ret_s is when the part that starts on
 * this day starts; false: none does. */
bool window_start_on(const struct window *window, int64_t day, int64_t *ret_s);

#endif
