/* All jobs from the store's feed, by uid and by name. Compact: the definition is kept as the
 * store's JSON and decoded when a run begins; only the values that planning needs are kept decoded,
 * so that a million jobs fit in a few hundred megabytes. The planner keeps its heap index in each
 * job. */
#ifndef PEAL_CATALOG_H
#define PEAL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "definition/selector.h"
#include "gates/conditions.h"
#include "gates/known_maintenance.h"
#include "groups/known_groups.h"
#include "job.h"
#include "run.h"
#include "schedule_pool.h"
#include "state/known_calendars.h"
#include "state/name_order.h"
#include "state/namespaces.h"
#include "state/waits.h"
#include "store.h"
#include "table.h"

#define NEVER_MS INT64_MAX

/* The policies of a definition that planning needs. */
struct job_policy {
    int64_t deadline_s, catch_up_window_s;
    int64_t paused_ms, resumed_ms, skip_until_ms;
    struct spread spread;
    int at_once, stops_on_failure; /* of `rolling`; without padding, for policies are compared */
    int attempts;                  /* that a tick may have; 0: one */
    int catch_up_limit, queue_limit;
    enum catch_up_policy catch_up;
    enum overlap_policy overlap;
    enum place_choice place;
    int priority;
    int overlap_at_once; /* that OVERLAP_ALLOW allows; 0: any number */
};

/* A job whose cursor was moved back with the clock, so that it passes some ticks again. */
struct rewound {
    struct rewinds rewinds;
    bool is_over; /* the clock has passed all repeated ticks */
};

/* Jobs come from the store in the order in which they were created, and lie there in that order:
 * those of a group are in a few pages of it. */
enum { CATALOG_GROUP = 256 };

/* Only the functions here write to it, except for heap_place, which is the planner's. */
struct catalog_job {
    struct id uid;
    int64_t revision;
    int64_t cursor_ms;                 /* the last decided tick, or the job's creation */
    int64_t caught_up_ms;              /* when ticks were last caught up after an outage */
    int64_t next_ms;                   /* next tick; NEVER_MS: none */
    int64_t looked_ms;                 /* when the planner first found next_ms due; 0: not yet */
    int64_t open_since_ms;             /* start time of its oldest open run */
    struct last_run last;              /* last.run_id zero: none yet */
    char *json;                        /* the stored definition, name and selector, in one block */
    const char *name;                  /* inside `json`'s block */
    const char *where;                 /* which nodes may run it (eligible.h), likewise; NULL: any
                                        * agent */
    const char *groups;                /* of its runs, likewise; NULL: none */
    struct job_calendars *calendars;   /* that exclude ticks; NULL: none */
    struct schedule **schedules;       /* each the pool's */
    struct schedule *only;             /* `schedules` points here if there is only one */
    struct job_waits *waits;           /* its dependencies (`after`); NULL: none */
    struct job_conditions *conditions; /* `only_if`; NULL: none */
    struct job_former *former;         /* the names that it had; NULL: it was never renamed */
    const struct job_policy *policy;   /* shared by all jobs with the same; NULL: the defaults */
    struct rewound *rewound;           /* NULL: the cursor was not moved back */
    uint32_t rewinds;                  /* how often the cursor was moved back */
    uint32_t open_runs;                /* number of its runs in QUEUED to RUNNING */
    uint32_t last_node;                /* node_mark of the node of its newest run; 0: not known */
    uint32_t heap_place;               /* the planner's; HEAP_NONE while a claim is under way */
    uint16_t group; /* the same for CATALOG_GROUP jobs that came one after the other */
    uint8_t schedule_count;
    bool claiming : 1;
    bool paused : 1, deleted : 1;
    bool is_workflow : 1;
    bool expects : 1; /* more of a run than a good end: `expect` */
    bool broken : 1;  /* this version can't decode the definition: never planned */
    bool was_bad : 1; /* the end before `last`, or `last` itself while it counted as lost, was a
                         failure, as far as this node has seen */
};

struct catalog {
    struct table by_uid, by_name; /* by_name: without deleted jobs */
    struct name_order in_order;   /* with deleted jobs; see catalog_sort */
    struct waits waits;           /* without deleted jobs */
    bool is_sorted;
    uint32_t added;               /* jobs that came, ever */
    struct table calendars;       /* of known_calendar */
    struct table maintenance;     /* of known_maintenance.h */
    struct table groups;          /* of known_group */
    struct namespaces namespaces; /* of the jobs in by_name */
    struct schedule_pool pool;    /* schedules of all jobs */
    struct table policies;        /* of shared_policy: those of jobs that have not the defaults */
    size_t json_bytes;            /* of all definitions, including deleted jobs */
    struct job_policy usual;      /* the defaults */
};

void catalog_init(struct catalog *catalog);
void catalog_release(struct catalog *catalog);

/* Adds or updates a job from the feed. *ret is the catalog's. A definition that can't be decoded is
 * kept as `broken`, with the reason in *reterr. */
MUST_CHECK enum status catalog_put(struct catalog *catalog, const struct store_change *change,
                                   struct zone_db *zones, struct catalog_job **ret,
                                   struct parse_error *reterr);
void catalog_remove(struct catalog *catalog, struct catalog_job *job);

/* A step of a workflow, as a job that is not in the catalog: it is neither found nor planned, and
 * has no other use than its terms (where, retries, place, policies). `uid` and `name` are the
 * workflow's. NULL: out of memory. */
struct catalog_job *catalog_new_aside(struct catalog *catalog, const struct id *uid,
                                      const char *name, const char *json, struct zone_db *zones);
void catalog_free_aside(struct catalog *catalog, struct catalog_job *job); /* accepts NULL */

/* Sorts all jobs by name, which takes a while with many of them; the order is maintained
 * afterwards. catalog_each sorts if this was not called. Out of memory: sorted with the next
 * catalog_each. */
void catalog_sort(struct catalog *catalog);

size_t catalog_count(const struct catalog *catalog); /* without the deleted ones */

/* Also counts the jobs of this namespace from now on; see namespaces.h. */
MUST_CHECK enum status catalog_watch_namespace(struct catalog *catalog, const char *namespace);

struct catalog_job *catalog_by_name(const struct catalog *catalog, const char *name);
struct catalog_job *catalog_by_uid(const struct catalog *catalog, const struct id *uid);

/* The job that an `after` of this name waits for: the one that has the name, or else the last one
 * that had it before it was renamed. NULL: none. */
struct catalog_job *catalog_awaited(const struct catalog *catalog, const char *name);

/* The definition that a step of this name runs (flow_source.find; `context` is the catalog). The
 * job may have been renamed since, but not into another namespace, where whoever has defined the
 * step may not have the right to. NULL: there is none. */
const char *catalog_step_text(void *context, const char *name);

/* The dependents of a job, each once, also those that know it by a former name:
 *     struct dependents all = catalog_dependents(catalog, name);
 *     while ((wait = dependents_next(&all)))
 * `name` is any name of the job, or of a job that does not exist. */
struct dependents {
    const struct catalog *catalog;
    const struct catalog_job *of; /* NULL: it does not exist */
    size_t next_former;
    const struct job_wait *next;
};
struct dependents catalog_dependents(const struct catalog *catalog, const char *name);
const struct job_wait *dependents_next(struct dependents *dependents);

/* Visits jobs in the order of their names (deleted ones too, if wanted), those after `after`
 * (NULL: all), until visit returns false. */
void catalog_each(struct catalog *catalog, const char *after, bool with_deleted,
                  bool (*visit)(void *context, const struct catalog_job *job), void *context);

/* Moves the cursor, unless it is further already. False: nothing changed. Out of memory: the job is
 * broken. */
bool catalog_job_move(struct catalog_job *job, int64_t cursor_ms, const struct rewinds *rewinds);

/* A claim of this node has moved the cursor; the feed will show the same later. */
void catalog_job_claimed(struct catalog_job *job, int64_t tick_ms);

/* Finds the next tick after the cursor, and the next that no calendar excludes. A job that is
 * deleted or broken has none. */
void catalog_job_plan(struct catalog_job *job);

/* The planner found the next tick due. Returns when it did for the first time. */
int64_t catalog_job_look(struct catalog_job *job, int64_t now_ms);
/* The next look counts as the first. */
void catalog_job_put_off(struct catalog_job *job);

/* A claim of its ticks was sent, or answered. */
void catalog_job_set_claiming(struct catalog_job *job, bool is_claiming);

/* Notes that ticks are caught up after an outage. */
void catalog_job_catch_up(struct catalog_job *job, int64_t now_ms);

/* The clock has passed all ticks that repeated after it was set back: intervals count from
 * there. */
void catalog_job_end_rewound(struct catalog_job *job);

/* Counts an open run of the job, due to start at `start_ms`, or its end. */
void catalog_job_count(struct catalog_job *job, bool is_open, int64_t start_ms);
void catalog_job_count_none(struct catalog_job *job);

/* The first tick of the job strictly after `after_ms`; NEVER_MS: none. After the clock was set
 * back, ticks that have started are skipped; `@every` and `@after` go on, with ticks that differ by
 * some milliseconds from those that have started. For `@after` the delay counts from the last end,
 * or from after_ms if that is later, and there is no tick while a run is open. `@reboot` has no
 * ticks: see boots.h. */
int64_t catalog_job_next(const struct catalog_job *job, int64_t after_ms);

/* The same, without the ticks that the job's calendars exclude. */
int64_t catalog_job_next_run(const struct catalog_job *job, int64_t after_ms);

/* The same two for now or a later time: the planned tick, if that is later. `@after` then counts
 * from the last end, not from the time of the query. */
int64_t catalog_job_coming(const struct catalog_job *job, int64_t now_ms);
int64_t catalog_job_coming_run(const struct catalog_job *job, int64_t now_ms);

/* The next run as planned: next_ms, or the first tick after it that no calendar excludes. */
int64_t catalog_job_planned(const struct catalog_job *job);

/* The name of the calendar that excludes this tick of the job, or "not on NAME" of those that it
 * requires; NULL: none. A tick of several
 * schedules is excluded only if it is in the zone of each. */
struct calendar_out catalog_job_out(const struct catalog_job *job, int64_t tick_ms);

/* Does the job run when a node boots? */
bool catalog_job_has_reboot(const struct catalog_job *job);

/* The name of the calendar that excludes a boot at this time; NULL: none. */
struct calendar_out catalog_job_boot_out(const struct catalog_job *job, int64_t boot_ms);

/* The calendars of the job; NULL for `job`: none. */
struct calendars catalog_job_calendars(const struct catalog_job *job);

/* The name of a calendar of the job that does not exist; NULL: all do. */
const char *catalog_job_missing_calendar(const struct catalog_job *job);

/* The job or its calendars are about to change: ticks up to now that were excluded, and are not
 * recorded yet, stay excluded. */
void catalog_job_keep_out(struct catalog_job *job, int64_t now_ms);

/* The clock was set back to `now_ms`: times that lie in the future now are moved back to it. */
void catalog_job_set_back(struct catalog_job *job, int64_t now_ms);

/* A run of the job has ended, or a lost one was amended: sets `last` and `was_bad`. */
void catalog_job_ended(struct catalog_job *job, const struct last_run *last);

/* The node_mark of the node of its newest run. */
void catalog_job_ran_on(struct catalog_job *job, uint32_t last_node);

/* The last end was moved back with the clock, or the store was restored from a backup and has
 * another one: it counts, though an end that was told before is newer. */
void catalog_job_move_last(struct catalog_job *job, const struct last_run *last);

struct job_policy catalog_job_policy(const struct catalog_job *job);

/* How many attempts a tick of the job may have; 0: only one, the job has no retries. */
int catalog_job_attempts(const struct catalog_job *job);

/* Gives a run of the job its groups and its priority. Among them are those of the namespaces that
 * `job_name` is in: of a step, which has terms of its own, the name of its workflow. A workflow as
 * a whole has no groups. */
void catalog_fill_groups(const struct catalog *catalog, const struct catalog_job *job,
                         const char *job_name, char ret[RUN_GROUPS_SIZE], int *ret_priority);

/* Which of the nodes goes first. */
enum place_choice catalog_job_place(const struct catalog_job *job);

/* The name of the job's function in its program; NULL: it is none. */
const char *catalog_job_function(const struct catalog_job *job);

/* The delay of all its starts. */
int64_t catalog_job_jitter_ms(const struct catalog_job *job);

#endif
