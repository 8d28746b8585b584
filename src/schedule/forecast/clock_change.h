/* What changes of the clock do to a job at fixed times of the day: times that a zone skips or
 * repeats (docs/SCHEDULES.md, "When the clock jumps"). Pure. */
#ifndef PEAL_CLOCK_CHANGE_H
#define PEAL_CLOCK_CHANGE_H

#include "schedule.h"

enum clock_effect {
    CLOCK_MOVES, /* times that do not exist fire once, at the end of the gap */
    CLOCK_SKIPS, /* they do not fire */
    CLOCK_ONCE,  /* times that come twice fire in the first pass alone */
    CLOCK_TWICE, /* they fire in both */
};

struct clock_change {
    int64_t at_s; /* the change of the clock */
    enum clock_effect effect;
    int64_t wanted_local_s; /* the first of the local times */
    size_t count;           /* how many of them, at most CLOCK_TIMES_MAX */
};

enum { CLOCK_TIMES_MAX = 1000 };

/* The first that concerns the schedule in (after_s, until_s]. False: none. */
bool clock_change_next(const struct schedule *schedule, int64_t after_s, int64_t until_s,
                       struct clock_change *ret);

const char *clock_effect_name(enum clock_effect effect); /* "moves" */

#endif
