/* A calendar: dates on which jobs do not run. Days and rows of days, those of every year, and days
 * of the week; local dates, in the time zone of whoever asks. Pure. */
#ifndef PEAL_CALENDAR_H
#define PEAL_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "strbuf.h"

/* As it was written: one day, or several in a row. */
struct calendar_date {
    bool yearly;         /* of every year; then `last` before `first` is over the new year */
    int32_t first, last; /* both belong to it; days since 1970-01-01, or MONTH * 32 + DAY */
};

struct calendar_range {
    int32_t first, last; /* days since 1970-01-01 */
};

struct calendar {
    struct calendar_date *dates; /* in order, no two the same, once it is settled */
    size_t date_count;
    uint8_t weekdays; /* bit 0: Sunday */

    /* The same for looking up: the years' own days in order and with others between them, and those
     * of every year, month by month; bit 1: the first. */
    struct calendar_range *ranges;
    size_t range_count;
    uint32_t yearly[12];
};

void calendar_init(struct calendar *calendar);
void calendar_release(struct calendar *calendar);

/* `2026-12-25`, `2026-10-01/2026-10-07`; of every year: `12-25`, `12-24/01-01`, `02-29`. E_INVALID:
 * *reterr says where and why. */
MUST_CHECK enum status calendar_add_date(struct calendar *calendar, const char *text,
                                         struct parse_error *reterr);

/* `sat`, in any case. E_INVALID: *reterr names the nearest one. */
MUST_CHECK enum status calendar_add_weekday(struct calendar *calendar, const char *text,
                                            struct parse_error *reterr);

/* After the last date, before anything is asked. */
MUST_CHECK enum status calendar_settle(struct calendar *calendar);

void calendar_print_date(const struct calendar_date *date, struct strbuf *out);
const char *calendar_weekday_name(int weekday); /* 0: "sun" */

/* Is the day, counted from 1970-01-01, one of the calendar's? */
bool calendar_has(const struct calendar *calendar, int64_t day);

/* The first day from this one on, and the last one up to it, that is none of the calendar's; NEVER
 * and NEVER_BEFORE (cron_expr.h) if every day is. */
int64_t calendar_free_from(const struct calendar *calendar, int64_t day);
int64_t calendar_free_until(const struct calendar *calendar, int64_t day);

#endif
