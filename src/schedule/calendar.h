/* A calendar: dates on which jobs do not run, or on which alone they do. It holds days and ranges
 * of days of one year or of every year, weekdays, and windows of time. Dates and times are local,
 * in the calendar's time zone, or else in that of the caller's schedule. Pure. */
#ifndef PEAL_CALENDAR_H
#define PEAL_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calendar_date.h"
#include "status.h"
#include "strbuf.h"
#include "window/window.h"
#include "zone/zone.h"

/* Windows that come again: each lookup goes over all of them. */
enum { CALENDAR_REPEATS_MAX = 100 };

struct calendar_range {
    int32_t first, last; /* days since 1970-01-01 */
};

struct calendar_span {
    int64_t from_s, to_s; /* [from_s, to_s) */
};

/* Sorted; they neither overlap nor touch. */
struct calendar_spans {
    struct calendar_span *items;
    size_t count;
};

struct calendar {
    struct calendar_date *dates; /* sorted, without duplicates, after calendar_settle */
    size_t date_count;
    uint8_t weekdays;       /* bit 0: Sunday */
    struct window *windows; /* sorted, without duplicates, after calendar_settle */
    size_t window_count;
    const struct zone *zone; /* by whose clock; NULL: that of the caller's schedule */

    /* The dates for lookup: ranges are sorted and neither overlap nor touch; yearly days are a bit
     * mask per month, bit 1 is the first. */
    struct calendar_range *ranges;
    size_t range_count;
    uint32_t yearly[12];

    /* The windows for lookup: those that come again are the first ones; all others are spans, by
     * the clock or in UTC. */
    size_t repeat_count;
    struct calendar_spans local, instants;
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

/* As window_read() takes it. E_INVALID, too: over CALENDAR_REPEATS_MAX of those that repeat. */
MUST_CHECK enum status calendar_add_window(struct calendar *calendar, const char *text,
                                           struct parse_error *reterr);

/* To be called after the last date was added and before the first lookup. */
MUST_CHECK enum status calendar_settle(struct calendar *calendar);

/* Does the calendar hold the day as a whole, counted from 1970-01-01? Windows do not count, here
 * and in what follows. */
bool calendar_has(const struct calendar *calendar, int64_t day);

/* The first day at or after `day`, and the last at or before it, that the calendar does not hold;
 * NEVER and NEVER_BEFORE (cron_expr.h) if it holds every day. */
int64_t calendar_free_from(const struct calendar *calendar, int64_t day);
int64_t calendar_free_until(const struct calendar *calendar, int64_t day);

/* The first day at or after `day`, and the last at or before it, that the calendar holds; NEVER and
 * NEVER_BEFORE if there is none. */
int64_t calendar_held_from(const struct calendar *calendar, int64_t day);
int64_t calendar_held_until(const struct calendar *calendar, int64_t day);

#endif
