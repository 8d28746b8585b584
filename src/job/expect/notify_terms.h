/* Lengths and times that a job's `notify` and `expect` have: when a run is too long or too short,
 * and by when it must have succeeded. */
#ifndef PEAL_NOTIFY_TERMS_H
#define PEAL_NOTIFY_TERMS_H

#include "job.h"

/* What is wrong with a value; NULL: nothing. */
const char *notify_limit_complaint(const char *text); /* "2h", or "auto" */
const char *notify_clock_complaint(const char *text); /* "06:00" */

/* A limit in ms; 0: it is learned. NULL or wrong: -1, none. */
int64_t notify_limit_ms(const char *text);

/* A daily schedule in cron, "0 6 * * *"; false: there is none. */
bool notify_clock_cron(const char *text, char ret[32]);

/* ---- learned ---- */

enum {
    LEARNED_RUNS = 50, /* of the last good ones */
    LEARNED_MIN = 10,  /* fewer teach nothing */
    /* A run does not fail for being shorter than this alone, since that says little. */
    LEARNED_SHORT_MIN_MS = 1000,
};

struct learned {
    int64_t too_long_ms, too_short_ms; /* 0: not known */
    size_t runs;                       /* that it was learned from */
};

/* The bounds of a run that must not be unusual: given, else learned; 0: none. */
struct length_bounds {
    int64_t min_ms, max_ms;
    bool min_is_learned, max_is_learned;
};
struct length_bounds expected_bounds(const struct job_expect *expect,
                                     const struct learned *learned);

/* From the durations of good runs, which are sorted by it: too long is half as long again as the
 * 95th percentile, and at least 30 s more than that; too short is less than half of the fifth. */
struct learned learn_limits(int64_t *durations_ms, size_t count);

/* ---- not succeeded by ---- */

/* Since when the job could have succeeded. */
struct overdue_facts {
    int64_t succeeded_ms; /* 0: never */
    int64_t from_ms;      /* the job is from then, or was resumed then */
    int64_t within_s;     /* 0: not given */
    int64_t by_ms,
        before_ms; /* the last time of day that has passed, and the one before; 0: none */
    bool had_tick; /* between both */
};

/* The deadline that has passed without a success, in ms; 0: none has. */
int64_t overdue_deadline_ms(const struct overdue_facts *facts, int64_t now_ms);

#endif
