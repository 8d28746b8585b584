/* The particulars of a plan in the language of the command, for a terminal and for Markdown. Each
 * appends words without a line end, or nothing. */
#ifndef PEAL_PLAN_WORDS_H
#define PEAL_PLAN_WORDS_H

#include "plan/plan.h"

enum { PLAN_MANY_TOGETHER = 10 }; /* others in one second that are worth a line */

/* "1 to create, 2 to change, 1 to delete; 96 stay as they are" */
void plan_words_summary(const struct job_plan *plan, struct strbuf *out);

/* The same of groups, calendars, channels and maintenance; nothing if the files have none. */
void plan_words_docs(const struct job_plan *plan, struct strbuf *out);

/* "365 -> 365: 365 moved by +5m" */
void plan_words_ticks(const struct plan_ticks *ticks, struct strbuf *out);

/* "2026-11-20T02:00:00+01:00 to 2027-11-18T02:00:00+01:00": the first and the last that differ. */
void plan_words_span(const struct plan_ticks *ticks, struct strbuf *out);

/* Frequent ticks: up to when they were compared. */
void plan_words_until(const struct job_plan *plan, const struct plan_ticks *ticks,
                      struct strbuf *out);

void plan_words_excluded(const struct plan_ticks *ticks, struct strbuf *out);
void plan_words_clock(const struct plan_ticks *ticks, const struct clock_change *change,
                      struct strbuf *out);
void plan_words_together(const struct plan_item *item, struct strbuf *out);

/* Which of its ticks a window of maintenance, or a pause, takes. */
void plan_words_skipped(const struct plan_item *item, const struct plan_skipped *skipped,
                        struct strbuf *out);
/* A group of which more start in one second than may run. */
void plan_words_crowded(const struct plan_item *item, const struct plan_crowded *crowded,
                        struct strbuf *out);
/* "02:00 -> 02:05 (+5m)" of one tick, with their days. */
void plan_words_difference(const struct plan_ticks *ticks, const struct tick_difference *difference,
                           struct strbuf *out);

/* A value of a field on one line, at most `most` bytes and an ellipsis; 0: all of it. */
void plan_words_value(const json_t *value, size_t most, struct strbuf *out);

/* "jobs.yaml:4:13" */
void plan_words_place(const struct source_place *place, struct strbuf *out);

#endif
