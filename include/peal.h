/* peal: scheduled functions, elections and locks for C and C++, alone or across a cluster.
 *
 *     #include <peal.h>
 *     static int cleanup(peal_run *run, void *arg) { peal_log(run, "swept"); return 0; }
 *     int main(void)
 *     {
 *         peal_every("cleanup", "0 * * * *", cleanup, .tz = "Asia/Shanghai");
 *         return peal_run_forever();
 *     }
 *
 * A program that is linked with -lpeal is a node: each tick of a function is called once among all
 * processes that share a store, however many there are. Without PEAL_STORE those are the processes
 * of this user on this machine; with PEAL_STORE=etcd://HOST:PORT/PREFIX all that name the same
 * cluster, beside its agents, whose commands, API and console show, pause, trigger and kill
 * functions as they do jobs.
 *
 * Every function may be called from any thread, also from within a scheduled function. The library
 * has threads of its own, which block all signals; it installs no signal handler, changes neither
 * locale nor environment, and writes to no descriptor that is not its own (see peal_options.log).
 * Standard descriptors that are closed it opens on /dev/null, so that none of its files gets them.
 * A child that is forked while a node is open can't have one: all answers PEAL_E_FORKED there. One
 * that is forked before that may open its own, with what was registered until then.
 *
 * What fails returns a negative enum peal_error, and says why in words: peal_why(). */
#ifndef PEAL_H
#define PEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PEAL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define PEAL_EXTENSION           __extension__ /* no word of -pedantic about {} */
#else
#define PEAL_PRINTF(text, first)
#define PEAL_EXTENSION
#endif

enum peal_error {
    PEAL_OK = 0,
    PEAL_E_INVALID = -1, /* an argument is wrong; peal_why() says which, and where */
    PEAL_E_NOMEM = -2,
    PEAL_E_EXISTS = -3, /* the name is taken: by another function, program or job */
    PEAL_E_NOT_FOUND = -4,
    PEAL_E_UNREACHABLE = -5, /* the store has not answered in time */
    PEAL_E_BUSY = -6,        /* somebody else has it */
    PEAL_E_LOST = -7,        /* this process had it, and has it no longer */
    PEAL_E_FORKED = -8,      /* the handle belongs to the parent process */
    PEAL_E_STOPPED = -9,     /* peal_stop or peal_close was called */
    PEAL_E_VERSION = -10,    /* the store was written by a newer peal */
    PEAL_E_IO = -11,         /* disk, permission, corrupt file */
};

/* Words for the last failure of this thread: what, where, and a next step. Never NULL; valid until
 * the thread's next failure. */
const char *peal_why(void);

/* Which one it was; PEAL_OK: none yet. */
enum peal_error peal_failure(void);

/* "0.3.0", of the library that is loaded. */
const char *peal_version(void);

/* ---- the node ---- */

typedef struct peal_node peal_node;

enum peal_level { PEAL_DEBUG, PEAL_INFO, PEAL_WARNING, PEAL_ERROR };

/* Who calls functions. */
enum peal_caller {
    PEAL_THREADS, /* a pool of threads of the library */
    PEAL_STEPS,   /* the program, by peal_step() */
};

/* All zero is a good choice. */
typedef struct peal_options {
    const char *store;   /* NULL: PEAL_STORE, else embedded: "sqlite" */
    const char *data;    /* folder; NULL: PEAL_DATA, else $XDG_STATE_HOME/peal or its like */
    const char *program; /* NULL: the name of the executable. Functions belong to a program */
    int version;         /* of the program's functions: a lower one never replaces a higher one */
    const char *labels;  /* "zone=eu,disk=ssd", for the functions' `where` */
    enum peal_caller caller;
    int threads;        /* of the pool; 0: 4 */
    int timeout_ms;     /* how long peal_open tries; 0: 5 s */
    bool in_background; /* peal_open returns at once, and goes on to try until it succeeds */
    /* NULL: warnings and errors go to stderr. May be called from any thread. */
    void (*log)(void *context, enum peal_level level, const char *message);
    void *context;
    bool no_functions; /* locks, elections and selections alone: peal_open waits for nothing, and
                          this process is no node */
    const char *bin;   /* folder of peal-spawn and peal-call, for commands and HTTP calls; NULL:
                          PEAL_BIN, else where peal is installed, else PATH. "": without them */
} peal_options;        /* later versions have further members at its end */

/* Joins the cluster, or opens the embedded store. NULL: peal_why(). */
#ifndef __cplusplus
#define peal_open(...)                                                                             \
    PEAL_EXTENSION peal_open_sized(&(peal_options){__VA_ARGS__}, sizeof(peal_options))
#endif
peal_node *peal_open_sized(const peal_options *options, size_t size);

/* Takes no further ticks, and tells the functions that run (peal_cancelled); peal_run_forever() and
 * peal_wait() return when those have. May be called from a signal handler. */
void peal_stop(peal_node *node);

/* Stops, waits for functions that run, and frees. Accepts NULL; returns NULL. */
peal_node *peal_close(peal_node *node);

/* NULL in place of a node, here and below, is the node of this process: opened by its first use,
 * with the options of the environment. */

/* Until peal_stop, or SIGINT or SIGTERM, which it takes for the time of this call only, and only
 * where the program handles neither. 0; else what failed. */
int peal_run_forever(void);
int peal_wait(peal_node *node); /* the same without signals */

/* PEAL_STEPS, for the program's own loop: calls wait while the descriptor is readable. */
int peal_fd(peal_node *node);
int peal_timeout(peal_node *node); /* until the next call is due, in ms; -1: none is known */
int peal_step(peal_node *node);    /* makes the calls that wait; their number */

/* ---- functions ---- */

/* One call of a function: valid until it returns. */
typedef struct peal_run peal_run;

/* 0: ok. Else the run has failed, and this is its exit code. */
typedef int peal_function(peal_run *run, void *arg);

enum peal_overlap { PEAL_SKIP, PEAL_ALLOW, PEAL_QUEUE, PEAL_REPLACE };
enum peal_catch_up { PEAL_LAST, PEAL_NONE, PEAL_ALL };

/* A start that is not a fixed time: this long after the function's first registration in the store,
 * whoever makes it, so that all nodes have the same ticks. */
#define PEAL_FROM_NOW(ms) (-(int64_t)(ms)-1)

/* Where a function is registered, for messages. */
typedef struct peal_place {
    const char *file;
    int line;
} peal_place;

typedef struct peal_job {
    const char *name;
    const char *schedule; /* cron with 5, 6 or 7 fields, "@every 90s", "@daily" ...; NULL: by
                             interval_ms, or on request alone */
    peal_function *function;
    void *arg;
    int64_t interval_ms; /* every so often, in whole seconds, from ... */
    int64_t start_ms;    /* ... this time on, in Unix milliseconds, or PEAL_FROM_NOW(); a schedule
                            has no ticks before it */
    const char *tz;      /* "Asia/Shanghai"; NULL: the machine's when it was first registered */
    bool local;          /* in each process, not once in the cluster; not on record anywhere else */
    int64_t timeout_ms;  /* then peal_cancelled(); 0: none */
    int64_t deadline_ms; /* a call that would be later than this is not made; 0: none */
    int64_t jitter_ms;
    enum peal_overlap overlap;
    enum peal_catch_up catch_up;
    int retries;           /* further attempts after a failure */
    int64_t retry_wait_ms; /* before each; 0: 10 s */
    const char *where;     /* selector of labels */
    const char *more; /* any other fields of a job, as YAML or JSON: "notify: {on_failure: ops}" */
    const char *command; /* for /bin/sh, in place of a function: what it writes is the run's output,
                            and a cancelled one gets SIGTERM, 10 s later SIGKILL. By peal-spawn, if
                            that is installed: the whole process tree then, and it outlives this
                            process, whose next one has its end */
    const peal_place *place; /* set by the macros */
    const char *http; /* in place of a function, a URL to be called; or with more, as in a job:
                         "{method: POST, url: https://..., headers: {...}, body: ..., status: 201}".
                         By peal-call, which must be installed */
} peal_job;           /* later versions have further members at its end */

/* Registers a function of this program under a name that is unique in the store, at once or when
 * the node has joined. What is wrong is said at once: PEAL_E_INVALID with file, line and the place
 * in the schedule; PEAL_E_EXISTS. A definition that is there already is replaced if the program has
 * changed it since, and left as it is if only people have. */
#ifndef __cplusplus
#define PEAL_HERE (&(peal_place){__FILE__, __LINE__})
#define peal_add(node, ...)                                                                        \
    peal_add_sized(node, &(peal_job){__VA_ARGS__, .place = PEAL_HERE}, sizeof(peal_job))
#define peal_every(...)                                                                            \
    peal_add(NULL, __VA_ARGS__) /* NAME, SCHEDULE, FUNCTION [, .member = ...]                      \
                                 */
#endif
int peal_add_sized(peal_node *node, const peal_job *job, size_t size);

/* It is no longer called here. The job stays in the store, for other processes and for its history;
 * peal_delete removes it for all. */
int peal_remove(peal_node *node, const char *name);
int peal_delete(peal_node *node, const char *name);

/* Asks for a run now; `params` as "day=2026-11-01\nregion=eu", NULL: none. ret_id, of 27 bytes, may
 * be NULL. */
int peal_trigger(peal_node *node, const char *name, const char *params, char *ret_id);

/* ---- within a function ---- */

void peal_log(peal_run *run, const char *format, ...) PEAL_PRINTF(2, 3); /* a line of its output */
void peal_progress(peal_run *run, int percent, const char *what);
bool peal_cancelled(const peal_run *run);  /* killed, timed out, or the node stops: return soon */
int peal_sleep(peal_run *run, int64_t ms); /* PEAL_E_LOST: it is cancelled */
const char *peal_run_id(const peal_run *run);
const char *peal_run_job(const peal_run *run);
int64_t peal_run_tick(const peal_run *run);  /* Unix milliseconds */
int peal_run_attempt(const peal_run *run);   /* from 1 */
int64_t peal_run_fence(const peal_run *run); /* grows with each start of the job */
const char *peal_param(const peal_run *run, const char *name); /* NULL: none of that name */
/* The span of this run (W3C trace context), the parent of those that the function makes: in the
 * trace of the request that asked for the run, else in its own. Agents with a collector of
 * OpenTelemetry send it. */
const char *peal_run_traceparent(const peal_run *run);

/* ---- locks, elections, and one of many ---- */

/* They need no function, and make no node of this process: a program that uses nothing else does
 * not join, and is not in `peal nodes`. They have a thread and a connection of their own, made by
 * the first use, so that neither functions nor the disk delay them. Processes meet as those of
 * `peal lock`, `peal elect` and `peal select` do, if they name the same store or data folder.
 *
 * What is held is free again when its process is gone, however it ended: on the embedded store at
 * once, in etcd after .ttl_ms at most. A process that was paused for longer than that, or that etcd
 * has not answered, finds it lost (peal_is_held, .lost) .margin_ms before another can have it. What
 * it writes without asking may still be late: send peal_fence() along, and let the receiver refuse
 * a number smaller than one that it has seen. docs/COORDINATION.md has the promises.
 *
 * Callbacks come one after the other from a thread of the library, apart from its own work: they
 * may call everything here but peal_close, and while one runs the others wait. */

enum { PEAL_ID_SIZE = 129 };

/* A lock that this process holds, or an election in which it stands: to be freed by peal_release.
 */
typedef struct peal_held peal_held;

typedef struct peal_claim {
    const char *name; /* as of a job */
    int64_t wait_ms;  /* 0: only if it is free. -1: until peal_stop */
    const char *id;   /* for others to see; NULL: HOST-PROCESS */
    /* Set: peal_lock and peal_elect return at once, and go on in the background, also after a loss
     * and while the store is away, until peal_release. `won` and `lost` come in turns. wait_ms is
     * not used. */
    void (*won)(void *context, int64_t fence);
    void (*lost)(void *context, const char *why);
    void *context;
    int64_t ttl_ms;          /* etcd: 5 s to 1 h, in whole seconds; 0: 10 s */
    int64_t margin_ms;       /* etcd: less than half of it; 0: 3/10 of it */
    const peal_place *place; /* set by the macros */
} peal_claim;                /* later versions have further members at its end */

/* Takes a lock: peal_lock(NULL, &held, "backup", 5000). Waiters are served in order of arrival.
 * PEAL_E_BUSY: peal_why() names the holder. PEAL_E_UNREACHABLE: the store was silent for
 * peal_options.timeout_ms, at the start or while waiting; nothing waits in silence.
 * PEAL_E_STOPPED. */
#ifndef __cplusplus
#define peal_lock(node, ret, ...) /* NAME [, WAIT_MS] [, .member = ...] */                         \
    peal_lock_sized(node, ret, &(peal_claim){__VA_ARGS__, .place = PEAL_HERE}, sizeof(peal_claim))
#endif
int peal_lock_sized(peal_node *node, peal_held **ret, const peal_claim *claim, size_t size);

/* Becomes a candidate, and returns when it leads; or with .won at once. */
#ifndef __cplusplus
#define peal_elect(node, ret, ...)                                                                 \
    peal_elect_sized(node, ret, &(peal_claim){__VA_ARGS__, .place = PEAL_HERE}, sizeof(peal_claim))
#endif
int peal_elect_sized(peal_node *node, peal_held **ret, const peal_claim *claim, size_t size);

/* Whether this process has it at this moment, by the clock: right also when it was paused just
 * before. It stays false, unless `won` is called again. */
bool peal_is_held(peal_held *held);

/* Larger than that of everybody who held this name before. 0: not held yet. */
int64_t peal_fence(peal_held *held);

/* Gives it up, or resigns, and frees it; PEAL_OK: others can have it now. PEAL_E_LOST: it was not
 * held all the time. PEAL_E_UNREACHABLE: others wait until its time is over. A callback that runs
 * is waited for, unless this is called within it; no other comes. Accepts NULL. */
int peal_release(peal_held *held);

/* Who leads. Valid for the time of the callback. */
typedef struct peal_leader {
    const char *id, *host;
    int64_t process, since_ms, fence; /* since: by the clock of its machine */
} peal_leader;                        /* later versions have further members at its end */

/* Calls `changed` with who leads (NULL: nobody), and again at each change; changes in quick
 * succession may be passed over, the last one never. */
typedef struct peal_observer peal_observer;
int peal_observe(peal_node *node, const char *name,
                 void (*changed)(void *context, const peal_leader *leader), void *context,
                 peal_observer **ret);
int peal_observe_end(peal_observer *observer); /* as peal_release */

/* The id of who leads at this moment. PEAL_E_NOT_FOUND: nobody. */
int peal_who_leads(peal_node *node, const char *name, char ret_id[PEAL_ID_SIZE]);

/* All ask, one is chosen for `hold_ms`, the others learn who (ret_id, may be NULL). 1: it is this
 * `id` (NULL: HOST-PROCESS); 0: it is another. Asking again does not prolong it, and it ends by
 * itself, whatever becomes of the chosen one. Whole seconds in etcd, 2 at least. */
int peal_select(peal_node *node, const char *service, const char *id, int64_t hold_ms,
                char ret_id[PEAL_ID_SIZE]);

#ifdef __cplusplus
} /* extern "C" */

inline peal_node *peal_open(const peal_options &options = {})
{
    return peal_open_sized(&options, sizeof(options));
}

#if defined(__GNUC__)
#define PEAL_FILE __builtin_FILE()
#define PEAL_LINE __builtin_LINE()
#else
#define PEAL_FILE nullptr
#define PEAL_LINE 0
#endif

/* The other members of `job` as they are: peal_job job{}; job.tz = "Asia/Shanghai"; */
inline int peal_add(peal_node *node, const char *name, const char *schedule,
                    peal_function *function, peal_job job = {}, const char *file = PEAL_FILE,
                    int line = PEAL_LINE)
{
    peal_place place = {file, line};
    job.name = name;
    job.schedule = schedule;
    job.function = function;
    job.place = file ? &place : nullptr;
    return peal_add_sized(node, &job, sizeof(job));
}

inline int peal_every(const char *name, const char *schedule, peal_function *function,
                      const peal_job &job = {}, const char *file = PEAL_FILE, int line = PEAL_LINE)
{
    return peal_add(nullptr, name, schedule, function, job, file, line);
}

inline int peal_lock(peal_node *node, peal_held **ret, const char *name, int64_t wait_ms = 0,
                     peal_claim claim = {})
{
    claim.name = name;
    claim.wait_ms = wait_ms;
    return peal_lock_sized(node, ret, &claim, sizeof(claim));
}

inline int peal_elect(peal_node *node, peal_held **ret, const char *name, int64_t wait_ms = 0,
                      peal_claim claim = {})
{
    claim.name = name;
    claim.wait_ms = wait_ms;
    return peal_elect_sized(node, ret, &claim, sizeof(claim));
}
#endif
#endif
