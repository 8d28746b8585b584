/* The particulars of each warning; for warnings.c, which checks whether it applies, and
 * warning_text.c, which words it. */
#ifndef PEAL_WARNING_FACTS_H
#define PEAL_WARNING_FACTS_H

#include "words/explain.h"

/* Why a schedule has no tick from now on. */
enum never_reason {
    NEVER_NOT,
    NEVER_NO_SUCH_DATE, /* February 31 */
    NEVER_YEARS_OVER,
    NEVER_ENDED,   /* its window is over */
    NEVER_MISSED,  /* @at an instant that is past */
    NEVER_OUTSIDE, /* nothing falls into its window */
};
enum never_reason warning_never_reason(const struct schedule *schedule, int64_t now_s);

/* A change of the clock that skips, or repeats, times at which a fixed schedule is due. */
struct clock_jump {
    int64_t first_local_s, last_local_s; /* the first and last of those times */
    int count;
    int64_t resumes_local_s; /* what the clock shows right after the change */
};

/* The next such change (a gap or a fold) within five years; false when there is none. */
bool warning_find_gap(const struct schedule *schedule, int64_t now_s, struct clock_jump *ret);
bool warning_find_fold(const struct schedule *schedule, int64_t now_s, struct clock_jump *ret);

/* Steps that do not divide their field evenly: first, ..., last, and first again after `rest`. */
struct uneven_step {
    bool starred; /* written as a step over `*` */
    int first, last, step, rest;
};
bool warning_find_uneven(const struct cron_expr *expr, enum cron_field field,
                         struct uneven_step *ret);

/* A step over `*` that leaves one value: *ret. */
bool warning_find_single(const struct cron_expr *expr, enum cron_field field, int *ret);

#endif
