/* A job: a named definition of when to run what, and how. Files and the API have the same fields;
 * job_codec.h reads and writes them as JSON and YAML. */
#ifndef PEAL_JOB_H
#define PEAL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "definition/after.h"
#include "gates/only_if.h"
#include "id.h"
#include "job_name.h"
#include "params/params.h"
#include "schedule_set.h"

enum job_kind {
    JOB_COMMAND,  /* argv, no shell */
    JOB_SHELL,    /* a script for bash, or sh where there is no bash */
    JOB_HTTP,     /* an HTTP request; no process */
    JOB_FUNCTION, /* a call inside a program that embeds the library */
    JOB_WORKFLOW, /* a graph of steps, each of them one of the others */
};

/* What happens to a tick while an earlier run of the job is open. */
enum overlap_policy {
    OVERLAP_SKIP,
    OVERLAP_ALLOW,
    OVERLAP_QUEUE,   /* runs after the earlier ones, in order; at most `queue_limit` wait */
    OVERLAP_REPLACE, /* the earlier run is killed */
};

/* What happens to ticks that fell due while no agent was running. */
enum catch_up_policy {
    CATCH_UP_LAST, /* the last one runs, the others are recorded as missed */
    CATCH_UP_SKIP, /* all are recorded as missed */
    CATCH_UP_ALL,  /* all run, oldest first, at most `catch_up_limit` */
};

/* Which of the nodes that may run the job goes first. The others follow in the order of `even`, or
 * by their free shares. */
enum place_choice {
    PLACE_EVEN,         /* by a hash, in proportion to the nodes' capacities */
    PLACE_STICKY,       /* the node of its last run */
    PLACE_LEAST_LOADED, /* by a hash, in proportion to what is free of the nodes' capacities */
};

/* How stdout and stderr of a run are kept. */
enum output_mode {
    OUTPUT_SEPARATE, /* each by its name; their order is that in which they were read */
    OUTPUT_MERGED,   /* as one, in the order in which they were written */
};

/* Events that a channel can be notified of. */
enum notify_event {
    NOTIFY_FAILURE,   /* a run failed or timed out */
    NOTIFY_LOST,      /* a run's node died */
    NOTIFY_RECOVERY,  /* a run succeeded, and the one before had not */
    NOTIFY_LATE,      /* a run started late, or a tick was missed */
    NOTIFY_SUCCESS,   /* a run succeeded */
    NOTIFY_TOO_LONG,  /* a run is still under way */
    NOTIFY_TOO_SHORT, /* a run succeeded sooner than it can have done its work */
    NOTIFY_OVERDUE,   /* no run has succeeded by a time */
    NOTIFY_EVENTS,
};

/* Which channels are notified, and on which events. */
struct job_notify {
    char **to;      /* names of channels, NULL-terminated; NULL: the default channels */
    unsigned on;    /* 1 << enum notify_event; 0: as each channel is configured */
    int64_t late_s; /* delay from which a start is late; 0: not given */
    /* notify_terms.h reads them; NULL, 0: not given */
    char *too_long, *too_short, *success_by;
    int64_t success_within_s;
    char *title, *text; /* templates instead of the channel's (expect/message_template.h); NULL: it
                           decides */
};

struct job_pair {
    char *name, *value;
};

struct job_pairs {
    struct job_pair *items;
    size_t count;
};

/* How the wait before an attempt grows. */
enum retry_backoff {
    BACKOFF_FIXED,
    BACKOFF_EXPONENTIAL, /* doubles with each attempt */
};

/* Which failed attempts of a tick people are told of. */
enum retry_notify {
    RETRY_NOTIFY_LAST, /* the last one alone */
    RETRY_NOTIFY_EACH,
};

/* Further attempts at a tick whose run has failed; definition/retry.h decides by it. */
struct job_retries {
    int count; /* after the first; 0: none */
    enum retry_backoff backoff;
    int64_t wait_s;     /* before the second attempt */
    int64_t max_wait_s; /* of a wait that grows */
    int jitter_percent; /* a wait is longer by up to this part of it */
    int64_t within_s;   /* no attempt is made that would start later than this after the tick; 0: no
                           limit */
    char **on;          /* which ends, NULL-terminated; NULL: failed, timed_out */
    enum retry_notify notify;
};

/* The runs of a tick that is spread go one after the other. */
struct job_rolling {
    int at_once;          /* that are under way at the same time; 0: all of them */
    bool stop_on_failure; /* those that wait are not started after a run that was not OK */
};

/* -1: not limited. */
struct job_limits {
    int64_t open_files, processes, core_bytes, memory_bytes, cpu_s, file_bytes;
    /* Of all processes of a run together: function/run_limits.h. */
    int64_t total_memory_bytes, total_processes, io_weight;
    char *cpus; /* "1.5"; NULL: not limited */
};

/* Whose turn it is at the disk. */
enum ionice_class {
    IONICE_DEFAULT, /* as the agent's */
    IONICE_BEST_EFFORT,
    IONICE_IDLE,
};

enum { IONICE_LEVELS = 8 }; /* of BEST_EFFORT; 0 goes first */

struct job_ionice {
    enum ionice_class class;
    int level;
};

/* The request of a JOB_HTTP, and the answer that it expects. Values of headers, the URL and the
 * body may hold ${NAME}: template.h. */
struct job_http {
    char *url;    /* NULL: the job is no JOB_HTTP */
    char *method; /* NULL: GET, or POST with a body */
    struct job_pairs headers;
    char *body;             /* NULL: none */
    char **status;          /* "200", "200-299", NULL-terminated; NULL: 200-299 */
    char *match, *no_match; /* a text that the body must, or must not, hold; NULL: not asked */
    int redirects;          /* followed at most */
    int64_t connect_s;
    char *ca, *cert, *key; /* paths of files in PEM; NULL: the system's authorities, none */
};

/* The function of a JOB_FUNCTION: function/job_function.h. */
struct job_function {
    char *program;   /* NULL: the job is no JOB_FUNCTION */
    char *name;      /* NULL: the job's */
    char *digest;    /* of the definition that the program has registered; NULL: it has not */
    int64_t version; /* of the program that has registered it */
};

enum { PROGRAM_MAX = 63 }; /* bytes of a program's name */

enum { JOB_HTTP_TIMEOUT_S = 60 }; /* of a JOB_HTTP without `timeout` */

enum expect_duration {
    EXPECT_DURATION_ANY,
    EXPECT_DURATION_AUTO, /* the bounds that are not given are learned: expect/notify_terms.h */
};

/* What a run must show to be a success, besides its end: expect/job_expect.h. */
struct job_expect {
    char *matches, *not_matches; /* patterns (pattern.h) of lines of the output; NULL: not asked */
    char **exit;                 /* "0", "3-5", NULL-terminated; NULL: 0 */
    char *file;                  /* a path, as the run's user sees it; NULL: none */
    char *newer_than;            /* "run", "any" or a duration; NULL: run */
    int64_t min_bytes;           /* of the file */
    int64_t min_s, max_s;        /* of the run; 0: no limit */
    enum expect_duration duration;
};

struct run_body;
struct job_step; /* of a JOB_WORKFLOW: workflow/steps.h */

struct job {
    struct id uid;    /* made at creation; zero before */
    int64_t revision; /* in the store; 0: not stored yet */
    char *name;       /* see job_name.h */

    char **schedules; /* as typed */
    size_t schedule_count;
    struct job_after *after; /* instead of schedules: the runs of other jobs that it waits for */
    size_t after_count;
    char *timezone; /* never NULL once decoded: the field, else the zone that the schedules name,
                     * else the default where the job was added; UTC for a job without ticks */
    int64_t start_s, end_s, jitter_s; /* TIME_UNSET, TIME_UNSET, 0 */
    enum dst_policy dst;
    char **calendars; /* names of the calendars that exclude ticks */
    size_t calendar_count;
    struct only_if only_if; /* of ticks */
    char **only_on; /* names of calendars, NULL-terminated: only ticks on their dates; NULL: any */

    enum job_kind kind;
    char **command;       /* NULL-terminated argv */
    char *script;         /* JOB_SHELL */
    struct job_http http; /* JOB_HTTP */
    struct job_function function;
    struct job_step *steps; /* JOB_WORKFLOW */
    size_t step_count;
    char *cwd;        /* NULL: the home of the run's user, else / */
    char *user;       /* NULL: the agent's */
    char *stdin_text; /* NULL: empty */
    struct job_pairs env;
    char **secrets; /* NULL-terminated, each as secret_use_read reads it; NULL: none */
    struct job_params params;
    int umask_bits; /* -1: 022 */
    int nice;
    struct job_ionice ionice;
    struct job_limits limits;

    enum overlap_policy overlap;
    int queue_limit;
    int overlap_at_once; /* runs of the job that OVERLAP_ALLOW allows; 0: any number */
    enum catch_up_policy catch_up;
    int64_t catch_up_window_s;
    int catch_up_limit;
    int64_t timeout_s;  /* 0: none */
    int64_t grace_s;    /* between TERM and KILL */
    int64_t deadline_s; /* a run that is later than this does not start; 0: none */
    struct job_retries retries;
    char **groups; /* whose slots a run needs (group/group.h), NULL-terminated; NULL: none */
    int priority;  /* among the runs that wait for a slot: higher goes first */
    struct job_expect expect;
    enum place_choice place;
    bool paused;
    enum output_mode output;
    int64_t linger_s;     /* output is kept so long after the end of the main process */
    int64_t output_limit; /* bytes of output kept at the head, and as many at the tail */
    int64_t keep_runs;    /* retention; 0: the agent's default */
    int64_t keep_s;
    int64_t keep_bytes;     /* output of all runs together */
    int64_t delete_after_s; /* since the last change, when no run is under way; 0: it stays */

    struct job_notify notify;
    char *ping; /* Healthchecks' protocol; NULL: none */

    char *where;  /* selector of the nodes that may run it (selector.h); NULL: all */
    char *spread; /* on how many of them a tick runs (selector.h); NULL: one */
    struct job_rolling rolling;
    struct job_pairs labels;
    char *owner, *notes;

    /* Maintained by peal; read-only for users. */
    int64_t created_ms, updated_ms;
    int64_t paused_ms, resumed_ms; /* last pause; 0: never */
    int64_t applied_ms;            /* since when files define it (`peal apply`); 0: they do not */
    int64_t skip_until_ms;         /* ticks up to this time are skipped on request; 0: none */
    int64_t deleted_ms;            /* 0: not deleted */
    struct job_pairs former_names; /* of a renamed job: each with the time, in ms, at which it was
                                    * given up; oldest first, at most JOB_FORMER_MAX */
    char *hash_name;               /* its first name, the seed of `H`; NULL: its name */

    /* Not of the definition, but of the one run that is about to start. */
    struct run_body *body; /* what its request has sent: run_body.h; NULL: nothing */
    char *tracestate;      /* likewise, beside the traceparent of the run; NULL: none */
};

enum { JOB_FORMER_MAX = 32, JOB_PRIORITY_MAX = 1000 };

/* Replaces *to by a copy. */
MUST_CHECK enum status job_set_text(char **to, const char *text);

/* Appends a copy. */
MUST_CHECK enum status job_pairs_add(struct job_pairs *pairs, const char *name, const char *value);
void job_pairs_release(struct job_pairs *pairs);
void job_names_free(char **names); /* NULL-terminated; accepts NULL */

/* Does it name other jobs that have to be there, in `after` or `only_if`? */
static inline bool job_depends(const struct job *job)
{
    return job->after_count || job->only_if.jobs;
}

/* The defaults of docs/JOBS.md. Owns no memory. */
struct job job_defaults(void);
struct job *job_new(void); /* with the defaults; NULL when out of memory */
struct job *job_free(struct job *job);

/* Gives the job another name. Its ticks do not move (hash_name), and the name that it had becomes
 * the newest former one, by which the `after` of other jobs still finds it; the oldest one beyond
 * JOB_FORMER_MAX is dropped. E_NOMEM: the job may be changed in part. */
MUST_CHECK enum status job_rename(struct job *job, const char *name, int64_t now_ms);

/* Replaces *set, which the caller has initialised, by the parsed schedules of the job. E_INVALID:
 * *reterr says which schedule, where and why. */
MUST_CHECK enum status job_schedules(const struct job *job, struct zone_db *zones,
                                     struct schedule_set *set, struct parse_error *reterr);

const char *overlap_policy_name(enum overlap_policy policy);
extern const char *const dst_policy_names[];   /* by policy; NULL at the end */
extern const char *const notify_event_names[]; /* by event; NULL at the end */
const char *notify_event_name(enum notify_event event);

#endif
