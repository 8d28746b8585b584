/* Calendar events of systemd, as in OnCalendar= (systemd.time(7)): "Mon..Fri *-*-* 09..17:0/30
 * Europe/Berlin". Pure, apart from the zone database. */
#ifndef PEAL_TIMER_CALENDAR_H
#define PEAL_TIMER_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"
#include "strbuf.h"
#include "zone/zone_db.h"

enum { TIMER_YEAR_MIN = 1970, TIMER_YEAR_MAX = 2199, TIMER_YEARS = 230 };

struct timer_calendar {
    bool is_instant; /* "@1395716396": only at_s counts */
    int64_t at_s;
    uint64_t seconds, minutes; /* bit n: n */
    uint32_t hours, days;      /* of days bits 1-31, or 0: see the next */
    uint32_t days_to_last;     /* bit n: the day n days before the month's last; 0: see `days` */
    uint16_t months;           /* bits 1-12 */
    uint8_t weekdays;          /* bits 1-7 from Monday; all of them: any */
    bool is_any_year;
    bool years[TIMER_YEARS]; /* from TIMER_YEAR_MIN */
    const char *zone;        /* its name, in the text; NULL: none is given */
};

/* OK: *ret is the event; its zone points into `text`. E_INVALID: *reterr says where and why; so
 * does a fraction of a second, which a schedule does not have. */
MUST_CHECK enum status timer_calendar_read(const char *text, struct zone_db *zones,
                                           struct timer_calendar *ret, struct parse_error *reterr);

/* Appends the same as a schedule of peal, without its zone: both day fields must match there, too.
 */
void timer_calendar_schedule(const struct timer_calendar *calendar, struct strbuf *out);

#endif
