/* A run, and the ledger entry of ticks that were not run. */
#ifndef PEAL_RUN_H
#define PEAL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "id.h"
#include "job_name.h"
#include "strbuf.h"

/* One life of an agent, from its start to its end. A node's name may be used by later incarnations,
 * or by two at once on different machines; a run belongs to the incarnation that claimed it. */
struct incarnation {
    struct id instance; /* made at every start of an agent; zero: no owner, or an older peal's */
    uint64_t home;      /* machine and data folder: the next agent there inherits the runs */
};

/* Why a run was created. */
enum run_cause {
    CAUSE_TICK,     /* a tick of the schedule */
    CAUSE_CATCH_UP, /* a tick of the schedule that fell due during an outage */
    CAUSE_MANUAL,   /* requested by a user */
    CAUSE_BACKFILL, /* requested by a user for a past tick */
    CAUSE_REBOOT,   /* the machine booted */
    CAUSE_AFTER,    /* the jobs that it waits for have ended; `by` is the last of their runs */
    CAUSE_WEBHOOK,  /* requested by a webhook; `by` is its kind and the id of the delivery */
    CAUSE_STEP,     /* a step of a workflow: the steps that it waits for have ended */
    CAUSES,
};

/* QUEUED -> DUE -> CLAIMED -> BEGUN -> RUNNING -> one of the end states
 * A run of a schedule is created as CLAIMED. QUEUED waits for an earlier run of the job, or a step
 * for other steps; DUE has no owner yet. RUNNING is BEGUN with a process; the store does not tell
 * the two apart, and has only the instances and the fan-outs of workflows as RUNNING, which have
 * neither a process nor an owner. */
enum run_state {
    RUN_QUEUED,
    RUN_DUE,
    RUN_CLAIMED,
    RUN_BEGUN,
    RUN_RUNNING,
    RUN_OK,
    RUN_FAILED,
    RUN_TIMED_OUT,
    RUN_KILLED,
    RUN_LOST,    /* its node or its spawner died; amended when the outcome is known */
    RUN_SKIPPED, /* not started, on purpose: see the reason */
    RUN_MISSED,  /* not started, against the definition: see the reason */
    RUN_STATES,
};

/* Why a tick or a run ended in its state. */
enum run_reason {
    REASON_NONE,
    REASON_EXIT_CODE,     /* failed: exit code other than 0 */
    REASON_SIGNAL,        /* failed: killed by a signal from outside peal */
    REASON_NO_START,      /* failed: could not be started; detail has the step and the error */
    REASON_TIMEOUT,       /* timed out */
    REASON_USER,          /* killed by a user */
    REASON_REPLACED,      /* killed, skipped: a newer run took its place (overlap: replace) */
    REASON_OVERLAP,       /* skipped: the previous run was still open (overlap: skip) */
    REASON_QUEUE_FULL,    /* skipped: too many runs wait already (overlap: queue) */
    REASON_PAUSED,        /* skipped: the job, its namespace or the cluster was paused */
    REASON_SKIP_NEXT,     /* skipped: a user asked to skip it */
    REASON_DELETED,       /* skipped: the job was deleted before the start */
    REASON_CATCH_UP,      /* missed: no agent could start it, and catch_up does not */
    REASON_TOO_OLD,       /* missed: older than the catch-up window */
    REASON_TOO_MANY,      /* missed: more than the catch-up limit */
    REASON_DEADLINE,      /* missed: could not start before its deadline */
    REASON_START_WINDOW,  /* missed: begun, but not started within 5 s; must not start later */
    REASON_NODE_DIED,     /* lost */
    REASON_SPAWNER_DIED,  /* lost: the exit status is gone */
    REASON_SHUTDOWN,      /* killed: all runs on the node were stopped */
    REASON_NO_NODE,       /* missed: no eligible node was available */
    REASON_RESTORED,      /* missed, lost: the store was restored from a backup */
    REASON_CALENDAR,      /* skipped: a calendar of the job, named in detail, excludes it */
    REASON_EDITED,        /* skipped: the schedule was changed before the start */
    REASON_CLOCK,         /* skipped: the clock was set back; records the ticks that repeat */
    REASON_DISK_FULL,     /* missed: the disk was full */
    REASON_STORE_AWAY,    /* missed: the store was unavailable */
    REASON_CLOCK_DOUBTED, /* missed: the clock was not trusted */
    REASON_DRAINED,       /* missed: the nodes were drained */
    REASON_CPU_TIME,      /* failed: ended at the limit of its CPU time */
    REASON_OOM,           /* failed: ended by the kernel's OOM killer */
    REASON_NOT_NEEDED,    /* skipped: the previous attempt succeeded after all */
    REASON_HTTP_STATUS,   /* failed: an HTTP status that the job does not expect */
    REASON_HTTP_BODY,     /* failed: a body that the job does not expect */
    REASON_HTTP_ERROR,    /* failed: no HTTP answer, or not a whole one; detail says why */
    REASON_PART_FAILED,   /* skipped: an earlier run of the tick was not OK (rolling); see detail */
    REASON_UPSTREAM,      /* skipped: the upstream steps did not end as required */
    REASON_WHEN,          /* skipped: the step's `when` is false */
    REASON_STEP_FAILED,   /* failed: a step of the workflow, named in detail, was not OK */
    REASON_STEP_OUTPUT,   /* failed: the text that the step wrote to PEAL_OUTPUT can't be used; see
                             detail */
    REASON_EXPECTATION,   /* failed: the run did not meet the expectations of its job (expect); see
                             detail */
    REASON_MAINTENANCE,   /* skipped: maintenance of the cluster or of a namespace; see detail */
    REASON_ONLY_IF,       /* skipped: a condition of the job (only_if) was not met; see detail */
    REASONS,
};

/* Ticks of schedules lie in the first RUN_NAMES_MS of a second; ticks of manual runs never do. */
enum { RUN_NAMES_MS = 100 };

/* The tick of a manual run that is requested now. */
int64_t run_tick_of_now(int64_t now_ms);

enum { STEP_NAME_MAX = 63, STEP_NAME_SIZE = 80 }; /* the size has room for "[99999]" */

/* The names of a run's groups, with spaces between them, and behind them labels of its node; see
 * group/group.h. */
enum {
    JOB_GROUPS_MAX = 4,
    RUN_SPACES_MAX = 2, /* namespaces that have a limit, one within the other */
    RUN_GROUPS_MAX = JOB_GROUPS_MAX + RUN_SPACES_MAX,
    RUN_LABELS_MAX = 4,
    RUN_LABELS_SIZE = 128,
    RUN_GROUPS_SIZE = RUN_GROUPS_MAX * (GROUP_NAME_MAX + 1) + RUN_LABELS_SIZE,
};

/* What a run of a workflow knows of those that it waits for: a step of the steps in its `after`, a
 * fan-out of its items, the instance of its last steps. In the store only. */
struct run_joins {
    int met, unmet;     /* how many have ended as it requires, and otherwise */
    int made, expected; /* of a fan-out: items that were made so far, and in all; of the instance:
                           0, and the number of its last steps; of a step: 0 */
    bool is_final;      /* a step of `finally`: it runs also after a cancel or a time-out */
};

struct run {
    struct id id;
    struct id job_uid;
    char job_name[JOB_NAME_SIZE]; /* when the run was created */
    int64_t tick_ms; /* the scheduled instant; for a manual run, the time of the request */
    int attempt;     /* from 1 */
    enum run_cause cause;
    enum run_state state;
    enum run_reason reason;
    char node[64];            /* name of the owner; empty while QUEUED or DUE */
    struct incarnation owner; /* incarnation of that node; in the store only */
    uint64_t nonce;       /* new for each claim: identifies our claim when the outcome is unknown */
    int64_t fence;        /* fencing token: grows with every begin; 0 before the first */
    int64_t job_revision; /* of the job's definition */
    int64_t not_before_ms;                       /* DUE and QUEUED: earliest start */
    int64_t claimed_ms, started_ms, finished_ms; /* wall; 0: not yet */
    int exit_code;                               /* -1: none */
    int term_signal;                             /* 0: none */
    int64_t user_ms, system_ms, max_rss_kb;      /* resources used */
    int64_t output_bytes;                        /* written by the job, kept or not */
    bool output_truncated;
    char by[64];          /* MANUAL, BACKFILL, killed: the user; AFTER: the id of the run before it;
                             REBOOT: the node that booted, which alone may run it */
    char detail[160];     /* for people: which step failed, which error */
    char traceparent[56]; /* of the request that created it (W3C); empty: none */
    bool retried;         /* ended, and the next attempt was made with that end */
    int attempts;        /* that the tick may have in all; 0: not told, the first is the only one */
    int part, parts;     /* of a tick with several runs: which one, from 0, of how many; else 0 */
    char pinned[64];     /* the only node that may run it; empty: any that is eligible */
    char failed_on[128]; /* nodes of earlier attempts, with spaces between them: others go first */
    struct id input;     /* names the document with what the request handed over; zero: none */
    enum run_state outcome; /* of a part. While it is open: the worst end of parts that have ended
                               before it and were not OK; QUEUED: none. Ended: the result of the
                               tick, if it was the last part to end; else QUEUED. In the store
                               only */
    int rolling;            /* bits of enum run_rolling; 0: not a part of a rolling tick. In the
                               store only */
    struct id instance;     /* of a workflow: the run id of the instance, which that run has, too;
                               zero: not of a workflow */
    char step[STEP_NAME_SIZE]; /* the step that it is a run of, for an item of a fan-out
                                  "load[3]"; empty: the instance itself. `part` is its number
                                  (workflow/flow.h), unique in the instance; `parts` is 0 */
    struct run_joins joins;
    char groups[RUN_GROUPS_SIZE]; /* it holds a slot in each of these while it is CLAIMED or BEGUN;
                                     DUE, it may wait for one. Behind them the labels of its node
                                     that they are limited by. In the store only */
    int priority; /* of those that wait: higher goes first, then the earlier tick. In the store
                     only */
};

/* A tick that goes node by node: the first of its parts are DUE at once, the others are QUEUED, and
 * the end of one that was under way is the turn of the next. */
enum run_rolling {
    ROLLING_PART = 1,   /* a part of such a tick */
    ROLLING_STOPS = 2,  /* if one is not OK, those that wait are not started */
    ROLLING_WAITED = 4, /* it has waited for its turn, which has come */
};

/* Limit of the runs of one tick, which are made in one transaction. */
enum { RUN_PARTS_MAX = 256 };

/* The last ended run of a job, and the end of its last successful run, which may be another. */
struct last_run {
    struct id run_id; /* zero: none yet */
    int64_t started_ms, ended_ms;
    int64_t succeeded_ms; /* 0: never */
    enum run_state state;
    bool retried; /* the next attempt at the same tick was made with its end */
};

/* `count` ticks of a job, in from..to, that were skipped or missed; from == to for one tick. */
struct ledger_entry {
    struct id id; /* unique: makes recording idempotent */
    struct id job_uid;
    char job_name[JOB_NAME_SIZE];
    int64_t from_ms, to_ms;
    int64_t count;
    enum run_state state; /* RUN_SKIPPED or RUN_MISSED */
    enum run_reason reason;
    char detail[160];
    int64_t recorded_ms;
    char node[64];            /* the node that records the entry; empty: the leader records it */
    struct incarnation owner; /* incarnation of that node; in the store only */
};

/* Accept any number, since a newer peal may have more values: "reason-1000". words.h says how long
 * such a text is valid. */
const char *run_state_name(enum run_state state);    /* "timed_out" */
const char *run_reason_name(enum run_reason reason); /* "start_window"; "" for NONE */
const char *run_cause_name(enum run_cause cause);

/* Requested by a person or a program, not by a schedule: it runs also while its job is paused, and
 * has no deadline. */
bool run_is_asked_for(const struct run *run);

/* Of a workflow: the instance itself, which has no process; a step of one, or an item of a step. */
bool run_is_instance(const struct run *run);
bool run_is_step(const struct run *run);

/* A run that waits, as one, may become the parts of its tick: not a further attempt, one for a
 * single node, or a part. */
bool run_may_be_spread(const struct run *run);

/* A part that waits for the end of another one, not for a run of another tick. */
bool run_waits_for_turn(const struct run *run);

/* Is the tick over with the end of this run? Not if it is a part, and others of them are open, or
 * its next attempt; and never with a step of a workflow, whose tick is over with the instance. */
bool run_ends_tick(const struct run *run);

/* The store has ended this run by itself, and nothing has followed from that yet: the job's last
 * run and the nexts, or the links, are to be written, with a finish. It is the last part of its
 * tick, which was not started, or an instance, a fan-out or a step of a workflow. */
bool run_is_unfollowed(const struct run *run);

/* The result of the tick that is over with this run: its state, or that of all parts together. */
enum run_state run_tick_result(const struct run *run);

/* The worse of two ends of parts: OK, then SKIPPED, then all others, of which the first counts.
 * QUEUED: there was none. */
enum run_state run_worse_end(enum run_state first, enum run_state second);

/* The last_run of a job whose only ended run is this one, which ends its tick. */
struct last_run last_run_of(const struct run *run);

/* A hash of a node's name, in which two nodes of a cluster hardly ever agree; never 0. The same in
 * every version. */
uint32_t node_mark(const char *node);

/* Merges what is known of another run, or an update of the same one. The run that ended latest
 * wins, in whatever order they arrive. False: nothing has changed. */
bool last_run_take(struct last_run *last, const struct last_run *told);

/* The clock was set back to `to_ms`: later times become to_ms. */
void last_run_set_back(struct last_run *last, int64_t to_ms);

/* Reasons may also be those of a newer peal: "reason-1000". E_NOT_FOUND. */
MUST_CHECK enum status run_state_by_name(const char *name, enum run_state *ret);
MUST_CHECK enum status run_reason_by_name(const char *name, enum run_reason *ret);

/* False: only a newer peal knows this state, and the run must be left alone. */
bool run_state_is_known(enum run_state state);
/* Is the state in the set (1 << enum run_state)? An unknown state is in none. */
bool run_state_is_in(unsigned states, enum run_state state);
bool run_state_is_end(enum run_state state); /* OK, FAILED, ... MISSED */

/* The status of the response that made an HTTP call fail, which `detail` begins with: "HTTP 503,
 * expected 200-299". -1: none. */
int run_http_status(const struct run *run);

#endif
