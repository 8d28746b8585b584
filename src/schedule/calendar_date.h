/* One date of a calendar, or a row of them, as it was written. Pure. */
#ifndef PEAL_CALENDAR_DATE_H
#define PEAL_CALENDAR_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"
#include "strbuf.h"

struct calendar_date {
    bool yearly; /* of every year; then `last` before `first` is a range over the new year */
    int32_t first, last; /* inclusive; days since 1970-01-01, or MONTH * 32 + DAY if yearly */
};

/* Reads `2026-12-25`, `2026-10-01/2026-10-07`, `12-25` or `12-24/01-01` from text[*at] on; *at is
 * then behind it. E_INVALID: *reterr says where and why. */
MUST_CHECK enum status calendar_read_date(const char *text, int *at, struct calendar_date *ret,
                                          struct parse_error *reterr);
void calendar_print_date(const struct calendar_date *date, struct strbuf *out);

/* Reads `sat`, in any case: 0 is Sunday. `column` is where it stands. E_INVALID: *reterr names the
 * nearest one. */
MUST_CHECK enum status calendar_read_weekday(const char *text, int column, int *ret,
                                             struct parse_error *reterr);
const char *calendar_weekday_name(int weekday); /* 0: "sun" */

/* Is the day, counted from 1970-01-01, one of these dates? */
bool calendar_date_has(const struct calendar_date *date, int64_t day);

#endif
