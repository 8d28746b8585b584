/* The English and the Chinese words of explain: each function appends words, no full stop. For
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

/* Appends a number as it stands in a list. */
typedef void number_writer(int number, struct strbuf *out);

struct list_style {
    const char *comma, *last; /* between items, and before the last one */
    const char *through;      /* between the ends of a run */
};

/* The numbers of a set; runs of `min_run` and more by their ends. In any language. */
void list_words(const struct number_set *set, int min_run, const struct list_style *style,
                number_writer *write, struct strbuf *out);

/* Chinese is put together without spaces; this appends it with one wherever a Chinese character
 * and a Latin letter, digit or sign meet. Out of memory in *text is handed on to *out. */
void spaced_zh(const struct strbuf *text, struct strbuf *out);

#endif
