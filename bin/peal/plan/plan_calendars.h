/* Calendars of a plan: as they are, and as they are to be. */
#ifndef PEAL_PLAN_CALENDARS_H
#define PEAL_PLAN_CALENDARS_H

#include "herd/calendar_book.h"
#include "plan/plan_docs.h"

/* Adds the calendars of files, which take precedence. */
MUST_CHECK enum status calendars_of_files(struct calendar_book *book, const struct file_docs *docs,
                                          struct zone_db *zones);

/* Lays what the plan changes over `before`, which is the base of `after`. */
MUST_CHECK enum status plan_calendars_lay(struct calendar_book *after, struct calendar_book *before,
                                          const struct plan_docs *plan, struct zone_db *zones);

/* Does the job name a calendar that the plan changes? */
bool plan_calendars_touch(const struct plan_docs *plan, const struct job *job);

#endif
