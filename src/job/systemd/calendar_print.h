/* Cron expressions as calendar events of systemd. Pure. */
#ifndef PEAL_CALENDAR_PRINT_H
#define PEAL_CALENDAR_PRINT_H

#include "cron/cron_expr.h"

enum { CALENDAR_EVENTS_MAX = 64 };

struct calendar_events {
    struct strbuf *items; /* each a text for OnCalendar= */
    size_t count;
};
void calendar_events_release(struct calendar_events *events);

/* Events that together are the expression, in this zone. *ret, which is zero before, is to be
 * released in any case. *ret_why: systemd has no such days, and *ret is empty; NULL: they are
 * there. */
MUST_CHECK enum status calendar_events_of(const struct cron_expr *expr, const char *zone,
                                          struct calendar_events *ret, const char **ret_why);

#endif
