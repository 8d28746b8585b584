/* A job: a named definition of when to run what, and how. The same fields in files, API and
 * library; job_codec.h reads and writes them as JSON and YAML. */
#ifndef PEAL_JOB_H
#define PEAL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "definition/after.h"
#include "id.h"
#include "schedule_set.h"

enum job_kind {
    JOB_COMMAND, /* argv, no shell */
    JOB_SHELL,   /* a script for bash, or sh where there is no bash */
};

/* What happens to a tick while an earlier run of the job is under way. */
enum overlap_policy {
    OVERLAP_SKIP,
    OVERLAP_ALLOW,
    OVERLAP_QUEUE,   /* runs after it, in order; at most `queue_limit` wait */
    OVERLAP_REPLACE, /* the earlier one is killed */
};

/* What happens to ticks that fell due while no agent was there to run them. */
enum catch_up_policy {
    CATCH_UP_LAST, /* the last one runs, the others are on record as missed */
    CATCH_UP_SKIP, /* all are on record as missed */
    CATCH_UP_ALL,  /* all run, oldest first, at most `catch_up_limit` */
};

/* What people can be told of. */
enum notify_event {
    NOTIFY_FAILURE,  /* a run failed, or took too long */
    NOTIFY_LOST,     /* its node died with it */
    NOTIFY_RECOVERY, /* it ended well, and the one before had not */
    NOTIFY_LATE,     /* it started late, or not at all: a tick was missed */
    NOTIFY_SUCCESS,  /* it ended well */
    NOTIFY_EVENTS,
};

enum { CHANNEL_NAME_MAX = 63 };

/* Who is told of what. */
struct job_notify {
    char **to;      /* names of channels, NULL-terminated; NULL: the channels that hear of all */
    unsigned on;    /* 1 << enum notify_event; 0: as each channel says */
    int64_t late_s; /* a start later than this is late; 0: not given */
};

struct job_pair {
    char *name, *value;
};

struct job_pairs {
    struct job_pair *items;
    size_t count;
};

/* -1: not limited. */
struct job_limits {
    int64_t open_files, processes, core_bytes, memory_bytes, cpu_s, file_bytes;
};

struct job {
    struct id uid;    /* made at creation; zero before */
    int64_t revision; /* the store's; 0: not stored yet */
    char *name;       /* [A-Za-z0-9][A-Za-z0-9._/-]*, at most 128 */

    char **schedules; /* as typed */
    size_t schedule_count;
    struct job_after *after; /* instead of schedules: it runs when these have ended as wanted */
    size_t after_count;
    char *timezone; /* never NULL once decoded: given, else that of schedules which name one
                     * themselves, else the default of the place where it was added;
                     * UTC for a job without ticks */
    int64_t start_s, end_s, jitter_s; /* TIME_UNSET, TIME_UNSET, 0 */
    enum dst_policy dst;
    char **calendars; /* names of those that take ticks out */
    size_t calendar_count;

    enum job_kind kind;
    char **command;   /* NULL-terminated argv */
    char *script;     /* JOB_SHELL */
    char *cwd;        /* NULL: the home of the user that it runs as, else / */
    char *user;       /* NULL: the agent's */
    char *stdin_text; /* NULL: empty */
    struct job_pairs env;
    int umask_bits; /* -1: 022 */
    int nice;
    struct job_limits limits;

    enum overlap_policy overlap;
    int queue_limit;
    enum catch_up_policy catch_up;
    int64_t catch_up_window_s;
    int catch_up_limit;
    int64_t timeout_s;  /* 0: none */
    int64_t grace_s;    /* between TERM and KILL */
    int64_t deadline_s; /* a tick later than this does not start; 0: none */
    bool paused;
    int64_t output_limit; /* bytes of output kept at the head, and again at the tail */
    int64_t keep_runs;    /* retention; 0: the agent's default */
    int64_t keep_s;
    int64_t keep_bytes; /* of output, of all its runs */

    struct job_notify notify;

    char *where; /* which nodes may run it, see selector.h; NULL: all */
    struct job_pairs labels;
    char *owner, *notes;

    /* Kept by peal, shown but not written by people. */
    int64_t created_ms, updated_ms;
    int64_t paused_ms, resumed_ms; /* last pause; 0: never */
    int64_t skip_until_ms;         /* ticks up to here are skipped on request; 0: none */
    int64_t deleted_ms;            /* 0: not deleted */
};

/* Appends a copy. */
MUST_CHECK enum status job_pairs_add(struct job_pairs *pairs, const char *name, const char *value);
void job_pairs_release(struct job_pairs *pairs);
void job_names_free(char **names); /* NULL-terminated; accepts NULL */

/* All defaults of docs/JOBS.md; no memory is behind it. */
struct job job_defaults(void);
struct job *job_new(void); /* with them; NULL when out of memory */
struct job *job_free(struct job *job);

/* Parses all its schedules into *set (initialised by the caller). E_INVALID: *reterr says which
 * schedule, where and why. */
MUST_CHECK enum status job_schedules(const struct job *job, struct zone_db *zones,
                                     struct schedule_set *set, struct parse_error *reterr);

const char *overlap_policy_name(enum overlap_policy policy);
extern const char *const dst_policy_names[];   /* by policy; NULL at the end */
extern const char *const notify_event_names[]; /* by event; NULL at the end */
const char *notify_event_name(enum notify_event event);

#endif
