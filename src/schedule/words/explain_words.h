/* The two languages of explain, side by side: each function appends words, no full stop. For
 * explain.c and warning_text.c. */
#ifndef PEAL_EXPLAIN_WORDS_H
#define PEAL_EXPLAIN_WORDS_H

#include "cron/cron_plan.h"

/* "At 02:30 every Sunday"; all but the zone. */
void cron_words_en(const struct cron_plan *plan, struct strbuf *out);
void cron_words_zh(const struct cron_plan *plan, struct strbuf *out);

/* Both day fields, for a rule that has both: "on the 13th of the month or on a Friday". */
void two_days_words_en(const struct cron_plan *plan, struct strbuf *out);
void two_days_words_zh(const struct cron_plan *plan, struct strbuf *out);

/* "1 minute 30 seconds" */
void duration_words_en(int64_t seconds, struct strbuf *out);
void duration_words_zh(int64_t seconds, struct strbuf *out);

/* "Every hour", "Every 2 hours": never "every 1 hour". */
void every_words_en(int64_t step_s, struct strbuf *out);
void every_words_zh(int64_t step_s, struct strbuf *out);

/* Chinese is put together without spaces; this appends it with one wherever a Chinese character
 * and a Latin letter, digit or sign meet. Out of memory in *text is handed on to *out. */
void spaced_zh(const struct strbuf *text, struct strbuf *out);

#endif
