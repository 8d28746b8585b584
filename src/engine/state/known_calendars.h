/* The calendars that the store has told of, by name, and which jobs go by them. A job may name one
 * that is not there: then it goes without it, until it comes. */
#ifndef PEAL_KNOWN_CALENDARS_H
#define PEAL_KNOWN_CALENDARS_H

#include <sys/queue.h>

#include "calendar_codec.h"
#include "calendars.h"
#include "store.h"
#include "table.h"

struct catalog_job;
struct known_calendar;

struct calendar_use {
    struct known_calendar *known;
    struct catalog_job *job;
    LIST_ENTRY(calendar_use) link;
};

LIST_HEAD(calendar_uses, calendar_use);

struct known_calendar {
    char name[CALENDAR_NAME_MAX + 1];
    int64_t revision; /* 0: there is none; its calendar is empty then, and json is NULL */
    struct calendar calendar;
    char *json; /* as the store has it */
    struct calendar_uses uses;
};

/* What a job has of them: one block of memory, and none for a job that names no calendar. */
struct job_calendars {
    int64_t next_run_ms;  /* the next tick that is not out; the planner's */
    int64_t out_until_ms; /* ticks up to here were out, whatever the calendars say by now */
    struct calendars set;
    struct calendar_use uses[]; /* set.count of them, and behind them what set.items points to */
};

void known_calendars_init(struct table *known);
void known_calendars_release(struct table *known); /* once no job has any */

/* One that is there; NULL: none. */
struct known_calendar *known_calendars_find(const struct table *known, const char *name);

/* The entry for a document that was put or deleted, before it is taken in; E_INVALID: no calendar
 * can have this name. */
MUST_CHECK enum status known_calendars_entry(struct table *known, const struct store_doc *doc,
                                             struct known_calendar **ret);

/* Takes the document in. E_INVALID: it can't be read, *reterr says why, and it counts as not there.
 * An entry that stands for nothing any more is gone afterwards. */
MUST_CHECK enum status known_calendars_take(struct table *known, struct known_calendar *entry,
                                            const struct store_doc *doc, struct job_error *reterr);

/* Those of a job, by the names of its definition. */
MUST_CHECK enum status job_calendars_new(struct table *known, struct catalog_job *job,
                                         char *const *names, size_t count,
                                         struct job_calendars **ret);
struct job_calendars *job_calendars_free(struct table *known, struct job_calendars *calendars);

#endif
