/* All jobs, as the store's change feed told: by uid and by name. Compact: the definition is kept as
 * the store's JSON, and decoded when a run begins; what plans need of it is kept beside it, so that
 * a million jobs fit in a few hundred megabytes. The planner keeps its place in each job. */
#ifndef PEAL_CATALOG_H
#define PEAL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "job.h"
#include "run.h"
#include "state/known_calendars.h"
#include "state/name_order.h"
#include "state/namespaces.h"
#include "state/waits.h"
#include "store.h"
#include "table.h"

#define NEVER_MS INT64_MAX

/* What plans need of a definition. */
struct job_policy {
    int64_t deadline_s, catch_up_window_s;
    int64_t paused_ms, resumed_ms, skip_until_ms;
    int catch_up_limit, queue_limit;
    enum catch_up_policy catch_up;
    enum overlap_policy overlap;
};

/* A job that goes over ticks again, because the clock was set back. */
struct rewound {
    struct rewinds rewinds;
    bool is_over; /* the clock is past all of them by now */
};

/* Written by the functions here alone; but for the place in the heap, which is the planner's. */
struct catalog_job {
    struct id uid;
    int64_t revision;
    int64_t cursor_ms;               /* the last tick that was dealt with, or the job's creation */
    int64_t caught_up_ms;            /* when ticks were last made good after an outage */
    int64_t next_ms;                 /* next tick; NEVER_MS: none */
    int64_t looked_ms;               /* when the planner first found that tick due; 0: not yet */
    int64_t open_since_ms;           /* when the first of its open runs should have started */
    struct last_run last;            /* last.run_id zero: none yet */
    char *json;                      /* the stored definition, name and selector, in one block */
    const char *name;                /* inside that block */
    const char *where;               /* there too; NULL: any node may run it */
    struct job_calendars *calendars; /* that take ticks out; NULL: none */
    struct schedule **schedules;
    struct schedule *only;     /* where `schedules` points to if there is but one */
    struct job_waits *waits;   /* for other jobs; NULL: for none */
    struct job_policy *policy; /* NULL: the defaults, as most jobs have */
    struct rewound *rewound;   /* NULL: the cursor is where it was at most */
    uint32_t rewinds;          /* how often the cursor was moved back */
    uint32_t open_runs;        /* of this job, QUEUED to RUNNING */
    uint32_t heap_place;       /* the planner's; HEAP_NONE while a claim is under way */
    uint8_t schedule_count;
    bool claiming : 1;
    bool paused : 1, deleted : 1;
    bool broken : 1;  /* the definition can't be read by this version: never planned */
    bool was_bad : 1; /* the end before the last, or the last itself while it was thought to be
                         lost, was a failure; as far as this node has seen */
};

struct catalog {
    struct table by_uid, by_name; /* by_name: without the deleted ones */
    struct name_order in_order;   /* with them; see catalog_sort */
    struct waits waits;           /* without them */
    bool is_sorted;
    struct table calendars;       /* of known_calendar */
    struct namespaces namespaces; /* of the jobs in by_name */
    size_t json_bytes;            /* of all definitions, those of deleted jobs, too */
};

void catalog_init(struct catalog *catalog);
void catalog_release(struct catalog *catalog);

/* A job as the feed gives it: new or changed. *ret is the catalog's. A definition that can't be
 * read is taken in as `broken`, with the reason in *reterr. */
MUST_CHECK enum status catalog_put(struct catalog *catalog, const struct store_change *change,
                                   struct zone_db *zones, struct catalog_job **ret,
                                   struct parse_error *reterr);
void catalog_remove(struct catalog *catalog, struct catalog_job *job);

/* Brings all jobs into the order of their names, which takes a while with many of them, and is then
 * kept while they come and go. catalog_each does it where nobody has. Out of memory: the order is
 * made with the next look. */
void catalog_sort(struct catalog *catalog);

size_t catalog_count(const struct catalog *catalog); /* without the deleted ones */

/* Counts the jobs of this namespace, too, from now on; see namespaces.h. */
MUST_CHECK enum status catalog_watch_namespace(struct catalog *catalog, const char *namespace);

struct catalog_job *catalog_by_name(const struct catalog *catalog, const char *name);
struct catalog_job *catalog_by_uid(const struct catalog *catalog, const struct id *uid);

/* Visits jobs in the order of their names (deleted ones too, if wanted), those after `after`
 * (NULL: all), until visit returns false. */
void catalog_each(struct catalog *catalog, const char *after, bool with_deleted,
                  bool (*visit)(void *context, const struct catalog_job *job), void *context);

/* Takes in where the cursor is, unless it is known to be further. False: it is not news. Out of
 * memory: the job is broken. */
bool catalog_job_move(struct catalog_job *job, int64_t cursor_ms, const struct rewinds *rewinds);

/* A claim of this node has moved the cursor on, as the feed will tell. */
void catalog_job_claimed(struct catalog_job *job, int64_t tick_ms);

/* Finds the next tick from the cursor on, and the next that is not out. A job that is deleted or
 * broken has none. */
void catalog_job_plan(struct catalog_job *job);

/* The next tick is found due. Returns when it was for the first time. */
int64_t catalog_job_look(struct catalog_job *job, int64_t now_ms);

/* A claim of its ticks is under way, or answered. */
void catalog_job_set_claiming(struct catalog_job *job, bool is_claiming);

/* Ticks are made good after an outage. */
void catalog_job_catch_up(struct catalog_job *job, int64_t now_ms);

/* The clock is past all that came again since it was set back: rhythms go on from there. */
void catalog_job_end_rewound(struct catalog_job *job);

/* A run of the job that should start, or have started, at `start_ms` is open now, or no longer. */
void catalog_job_count(struct catalog_job *job, bool is_open, int64_t start_ms);
void catalog_job_count_none(struct catalog_job *job);

/* The first tick of the job strictly after `after_ms`; NEVER_MS: none. After the clock was set
 * back, those that have started are none; and those of a rhythm, `@every` and `@after`, which goes
 * on all the same, are some milliseconds later, so that they are others. For `@after` the delay
 * counts from the last end, or from after_ms if that is later, and there is none while a run is
 * open. `@reboot` has none: see boots.h. */
int64_t catalog_job_next(const struct catalog_job *job, int64_t after_ms);

/* The same, without the ticks that the job's calendars take out. */
int64_t catalog_job_next_run(const struct catalog_job *job, int64_t after_ms);

/* The same two for a time that is now or to come: what is planned, if that is later. `@after`
 * counts from the last end then, and not from whenever somebody asks. */
int64_t catalog_job_coming(const struct catalog_job *job, int64_t now_ms);
int64_t catalog_job_coming_run(const struct catalog_job *job, int64_t now_ms);

/* When the job runs next, as far as it is planned: next_ms, unless calendars take that out. */
int64_t catalog_job_planned(const struct catalog_job *job);

/* The name of the calendar that takes this tick of the job out; NULL: none does. A tick that
 * schedules of several zones make is out if it is for each of them. */
const char *catalog_job_out(const struct catalog_job *job, int64_t tick_ms);

/* It runs when a node boots. */
bool catalog_job_has_reboot(const struct catalog_job *job);

/* The name of the calendar that takes a boot at this time out; NULL: none does. */
const char *catalog_job_boot_out(const struct catalog_job *job, int64_t boot_ms);

/* What takes ticks of the job out; of no job: nothing does. */
struct calendars catalog_job_calendars(const struct catalog_job *job);

/* The name of a calendar of the job that is not there; NULL: all are. */
const char *catalog_job_missing_calendar(const struct catalog_job *job);

/* The job or its calendars are about to change: what was out until now, and is not on record yet,
 * stays out. */
void catalog_job_keep_out(struct catalog_job *job, int64_t now_ms);

/* The clock was set back to `now_ms`: what was kept until a later time is kept until now. */
void catalog_job_set_back(struct catalog_job *job, int64_t now_ms);

/* A run of the job has ended, or a lost one turned out to have ended otherwise: takes it in, and
 * keeps whether things were bad before it. */
void catalog_job_ended(struct catalog_job *job, const struct last_run *last);

/* The last end was moved back with the clock. */
void catalog_job_move_last(struct catalog_job *job, const struct last_run *last);

struct job_policy catalog_job_policy(const struct catalog_job *job);

/* The delay of each of its starts. */
int64_t catalog_job_jitter_ms(const struct catalog_job *job);

#endif
