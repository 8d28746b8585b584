/* One call of a function: what the function sees of its run, and what is kept of it. */
#ifndef PEAL_CALL_H
#define PEAL_CALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "calls/call_output.h"
#include "calls/call_pool.h"
#include "calls/call_spool.h"
#include "function/progress.h"
#include "job.h"
#include "params/trace.h"
#include "peal.h"
#include "run.h"

enum call_phase {
    CALL_WAITS, /* for a thread, or for its time */
    CALL_RUNS,
    CALL_ENDED,   /* until the engine has acknowledged it, and the history has its output */
    CALL_EXPIRED, /* it was too late; until the engine is told */
};

struct call_param {
    char *name, *value;
};

struct call_batch;
struct call_group;
struct calls;
struct command;
struct group_member;

struct peal_run {
    struct id id;
    struct calls *calls;
    struct pool_call in_pool;
    /* Of the run as the engine has asked for it. */
    char id_text[ID_TEXT + 1];
    char traceparent[TRACEPARENT_SIZE]; /* of its own span */
    char job_name[JOB_NAME_SIZE];
    const char *name; /* of the function: that of the job, or another with the same definition */
    int64_t tick_ms, fence;
    int attempt;
    bool is_caught_up;
    peal_function *function;
    void *arg;
    struct command *command;     /* which `arg` is then; NULL: none */
    struct call_group *group;    /* whose functions are called, all of them; NULL: it is one */
    struct call_batch *batch;    /* their calls; with the lock of `calls`; NULL: none are made */
    struct group_member *member; /* of `group_of`: the function is called with the others, too */
    struct call_group *group_of;
    struct call_param *params;
    size_t param_count;
    struct boot_ms deadline;
    int64_t timeout_ms; /* 0: none */
    struct call_output output;
    struct call_file file; /* with it, so far; the loop's */

    enum call_phase phase;           /* with the lock of `calls`, as all until the next comment: */
    int64_t started_ms, finished_ms; /* wall; 0: not yet */
    int code;                        /* that it has returned */
    bool tells_start;                /* what the engine is to be told of it, ... */
    bool is_listed;                  /* ... in its place among the events: */
    STAILQ_ENTRY(peal_run) in_events;
    int64_t stop_ms; /* boot time of its timeout, while it runs; INT64_MAX: none */
    bool is_acknowledged, is_read;
    pthread_mutex_t lock; /* of: */
    pthread_cond_t cancelled;
    atomic_bool is_cancelled; /* also read without it */
    enum run_reason cancelled_by;
    struct progress progress; /* percent < 0: the function has told none */
};

MUST_CHECK enum status call_new(struct calls *calls, const struct run *of_engine,
                                const struct job *job, struct peal_run **ret);
struct peal_run *call_free(struct peal_run *run);

/* One that is embedded, zero, and that of no run. */
MUST_CHECK enum status call_init(struct peal_run *run, struct calls *calls, int64_t output_limit);
void call_release(struct peal_run *run);

/* Tells the function; the first reason stands. */
void call_cancel(struct peal_run *run, enum run_reason reason);
void call_cancel_locked(struct peal_run *run, enum run_reason reason); /* with its lock */

/* The call of a function that is called with others, too, is over, or will not be made. */
void call_leave_group(struct peal_run *run);

/* What the function has told last. */
struct progress call_progress(struct peal_run *run);

/* How it has ended: the reason of a cancelled call, unless it has succeeded all the same. */
void call_fill_end(struct peal_run *run, struct run *end);

#endif
