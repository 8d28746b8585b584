/* A schedule in words, one sentence, in English or Chinese; and warnings about its pitfalls. Made
 * from the parsed schedule, not from its text, so that the words can't differ from the ticks. */
#ifndef PEAL_EXPLAIN_H
#define PEAL_EXPLAIN_H

#include "language.h"
#include "schedule.h"

/* Appends one sentence without a line end: "At 02:30 every Sunday, America/New_York time." */
void schedule_explain(const struct schedule *schedule, enum language language, struct strbuf *out);

enum warning {
    WARNING_NEVER,        /* no tick, ever (within its window and years) */
    WARNING_EITHER_DAY,   /* day of month OR day of week */
    WARNING_STEP_IS_STAR, /* a day field's step over a star takes the AND instead of the OR */
    WARNING_UNEVEN_STEP,  /* 60 is not a multiple of 7: 56 is followed by 0 */
    WARNING_SINGLE_STEP,  /* a step as large as its field picks one value */
    WARNING_OPEN_STEP,    /* 5/15 means 5-59/15 */
    WARNING_EVERY_SECOND, /* every second of a minute */
    WARNING_GAP,          /* in this zone, this time is skipped on some day */
    WARNING_FOLD,         /* in this zone, this time happens twice on some day */
    WARNINGS,
};

/* The warnings that apply, as bits 1 << enum warning; `now_s`, an instant of the years 0 to 9999,
 * is where the search for gaps and folds (within five years) and for the last tick starts. */
unsigned schedule_warnings(const struct schedule *schedule, int64_t now_s);

/* Appends one warning as a sentence with the particulars of this schedule (which step, which day
 * the clock jumps). Appends nothing when the warning does not apply. */
void schedule_warning_explain(const struct schedule *schedule, enum warning warning, int64_t now_s,
                              enum language language, struct strbuf *out);

/* "uneven_step": the stable name of a warning, for JSON. */
const char *warning_name(enum warning warning);

#endif
