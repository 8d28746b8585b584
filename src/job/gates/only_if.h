/* The field `only_if`: a tick runs only if other jobs have ended so shortly before. Pure. */
#ifndef PEAL_ONLY_IF_H
#define PEAL_ONLY_IF_H

#include "definition/after.h"
#include "zone/zone.h"

enum { ONLY_IF_MAX = 8 };

struct only_if {
    char **jobs; /* NULL-terminated: each of them; NULL: no condition */
    enum after_on on;
    int64_t within_s; /* before the tick; 0: since midnight */
    int64_t wait_s;   /* how long a due tick waits for it */
};

/* From when on the end of a job counts for this tick, in ms; midnight is that of the zone. */
int64_t only_if_since_ms(int64_t within_ms, const struct zone *zone, int64_t tick_ms);

/* Has the last end of a job, or its last success, come by then? `states` are those of
 * after_states. */
bool only_if_is_met(unsigned states, const struct last_run *last, int64_t since_ms);

/* When it came; 0: it has not. */
int64_t only_if_met_ms(unsigned states, const struct last_run *last, int64_t since_ms);

#endif
