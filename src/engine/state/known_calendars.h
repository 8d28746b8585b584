/* The calendars in the store, by name, and the jobs that use them. A job may name a missing
 * calendar: it has no effect until it is created. */
#ifndef PEAL_KNOWN_CALENDARS_H
#define PEAL_KNOWN_CALENDARS_H

#include <sys/queue.h>

#include "calendar_codec.h"
#include "calendars.h"
#include "job.h"
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
    int64_t revision; /* 0: it does not exist; then `calendar` is empty and json is NULL */
    struct calendar calendar;
    char *json; /* as the store has it */
    struct calendar_uses uses;
};

/* The calendars of one job (`calendars` and `only_on`), in one block of memory; a job without
 * calendars has none. */
struct job_calendars {
    size_t use_count;
    const char *not_on;   /* "not on trading-days": what the ledger says of other dates */
    int64_t next_run_ms;  /* the next tick that no calendar excludes */
    int64_t out_until_ms; /* ticks up to here stay excluded if they were, whatever the calendars say
                             now */
    struct calendars set;
    struct calendar_use uses[]; /* as set.items, which is an array behind them; then
                                  the text */
};

/* Why a tick is excluded. */
struct calendar_out {
    const char *calendar; /* its name, or "not on NAME" of those that are required; NULL: it is
                             not excluded */
    const struct window *window; /* of the calendar; NULL: the whole date */
};

enum { CALENDAR_OUT_SIZE = 160 };

/* For the ledger: "holidays", "office: mon-fri 09:00-17:30", "not on trading-days". */
void calendar_out_print(const struct calendar_out *out, char ret[CALENDAR_OUT_SIZE]);

void known_calendars_init(struct table *known);
void known_calendars_release(struct table *known); /* when no job uses any */

/* An existing calendar; NULL: none. */
struct known_calendar *known_calendars_find(const struct table *known, const char *name);

/* The entry for a document that was put or deleted, to be called before known_calendars_take;
 * E_INVALID: not a valid calendar name. */
MUST_CHECK enum status known_calendars_entry(struct table *known, const struct store_doc *doc,
                                             struct known_calendar **ret);

/* Takes the document in. E_INVALID: it can't be decoded, *reterr says why, and it counts as
 * missing. An entry without a calendar and without uses is freed. */
MUST_CHECK enum status known_calendars_take(struct table *known, struct known_calendar *entry,
                                            const struct store_doc *doc, struct zone_db *zones,
                                            struct job_error *reterr);

/* The calendars of a job, by the names in its definition; NULL: none. */
MUST_CHECK enum status job_calendars_new(struct table *known, struct catalog_job *job,
                                         const struct job *definition, struct job_calendars **ret);
struct job_calendars *job_calendars_free(struct table *known, struct job_calendars *calendars);

#endif
