/* The coming ticks of a job's schedules as people are shown them: in order, with notes on clock
 * changes and jitter. */
#ifndef PEAL_FIRES_H
#define PEAL_FIRES_H

#include "calendars.h"

struct fire {
    int64_t at_s;
    const struct schedule *schedule; /* the set's; the first that is due then */
    size_t index;                    /* of the schedule in the set */
};

/* The first fire strictly after `after_s` that no calendar excludes. An `@after` fires once,
 * counted from `created_s`; NEVER_BEFORE: not at all. False: no fire is left. */
bool fires_next(const struct schedule_set *set, const struct calendars *calendars,
                int64_t created_s, int64_t after_s, struct fire *ret);

/* Appends what the clock did at this fire, or nothing: "moved: 02:30 does not exist on this day".
 */
void fire_note(const struct fire *fire, struct strbuf *out);

/* Appends when the run starts, its jitter included: 2026-03-08T07:00:12.345Z */
void fire_start(const struct fire *fire, struct strbuf *out);

/* Appends the local time with its day: Sun 2026-03-08T03:00:00-04:00 */
void fire_local(const struct fire *fire, struct strbuf *out);

/* Appends a span by its two largest units: "3h 12m", "45s". */
void span_print(int64_t seconds, struct strbuf *out);

#endif
