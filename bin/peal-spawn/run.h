/* One run, and the table of all that the spawner knows.
 *
 *                 v--- a kill ------------\
 *   RUNNING -> STOPPING -> KILLING -> DRAINING -> ENDED
 *      \----------\____________________^            ^
 *       \-------- a start that failed --------------/
 *
 *   RUNNING   its main process lives
 *   STOPPING  it got a signal (timeout, KILL, shutdown) and its grace period runs
 *   KILLING   SIGKILL to the rest of its tree, repeatedly
 *   DRAINING  its main process has ended; its pipes are read to the end. Processes that it left in
 *             the background may hold them: it lingers for them as long as its request says, or,
 *             if it was killed, for DRAIN_MS
 *   ENDED     reported; waits for the agent's ACK
 *
 * Processes that a run leaves behind when its main process ends by itself are not killed, as with
 * cron. After the run's end their output is read and discarded, so that they neither block nor get
 * SIGPIPE; a mark at the end of the run's output says so. */
#ifndef PEAL_SPAWNER_RUN_H
#define PEAL_SPAWNER_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "heap.h"
#include "serve/agent_link.h"
#include "serve/journal.h"
#include "serve/masking.h"
#include "serve/output.h"
#include "serve/watch.h"
#include "spawn_message.h"

#define DRAIN_MS 200

enum run_state {
    RUN_RUNNING,
    RUN_STOPPING,
    RUN_KILLING,
    RUN_DRAINING,
    RUN_ENDED,
};

/* A pipe from the run. */
struct run_stream {
    struct watch watch; /* fd -1: closed */
    bool is_watched;
    struct run *run;
    enum spawn_stream stream;
};

struct run {
    struct spawn_run info; /* with its id, as it is reported */
    enum run_state state;
    enum spawn_reason stop_reason; /* why it was stopped; SPAWN_NOT_ENDED: it was not */
    bool has_exited;               /* the main process, while the state may still be STOPPING */
    bool is_forgotten;             /* acknowledged; kept only for its open pipes */
    bool is_adopted;               /* a child of a dead spawner; watched by pidfd */
    bool awaits_end;               /* adopted: its process has ended, how is to be found yet */
    bool was_over;                 /* adopted: its process had ended before */
    bool has_secrets;              /* its output is masked ... */
    struct masking *masking;       /* ... by this; NULL: it can't be, and is withheld */
    uint8_t end_looks;             /* how often the end was looked for */
    uint32_t cgroup;               /* see process/cgroup.h */
    uint32_t slot;
    int32_t grace_ms;
    int32_t linger_ms;          /* from the end of the main process, while others hold its pipes */
    int64_t timeout_at_boot_ms; /* 0: none */
    int64_t kill_at_boot_ms;    /* end of the grace period */
    int64_t due_boot_ms;        /* its next timer; 0: none */
    uint32_t timer_place;
    uint64_t pipes[2]; /* inodes */
    struct output output;
    struct run_stream streams[2];
    struct watch pidfd;

    struct reported reported;
    bool is_growing;           /* in the queue of grown outputs */
    bool is_worn;              /* in that of ended runs with masks */
    bool is_young;             /* in the queue of those whose pipes are not watched yet ... */
    int64_t listen_at_boot_ms; /* ... until then */
    struct early *early;       /* it waits for its time; NULL: it does not */
    TAILQ_ENTRY(run) growing;
    TAILQ_ENTRY(run) young;
    TAILQ_ENTRY(run) worn;
    TAILQ_ENTRY(run) all;
    struct run *next_by_id;
    struct run *next_by_pid;
};

TAILQ_HEAD(run_queue, run);

#define RUN_BUCKETS 8192

struct run_table {
    struct run_queue all;
    struct run_queue buried;
    struct run *by_id[RUN_BUCKETS];
    struct run *by_pid[RUN_BUCKETS];
    uint32_t known;  /* by id */
    uint32_t active; /* neither ENDED nor forgotten */
    uint32_t open_streams;
};

void run_table_init(struct run_table *table);
void run_table_release(struct run_table *table); /* frees every run, whatever its state */

/* Adds a run to the table. NULL: out of memory. */
struct run *run_new(struct run_table *table, const char *id);

/* Removes it from the table; its pipes must be closed. run_sweep frees the memory, when no event of
 * the same turn can point to it any more. */
void run_bury(struct run_table *table, struct run *run);
void run_sweep(struct run_table *table);

/* Every run, oldest first; NULL at the end. */
struct run *run_first(const struct run_table *table);
struct run *run_next(const struct run *run);

struct run *run_by_id(const struct run_table *table, const char *id);
struct run *run_by_pid(const struct run_table *table, pid_t pid);
void run_add_pid(struct run_table *table, struct run *run);
void run_drop_pid(struct run_table *table, struct run *run);
void run_drop_id(struct run_table *table, struct run *run);

/* Can a process that the kernel says was started at `at_boot_ms` be the one of a run that noted the
 * other time? It appears a little after the clock was read for it, and ticks round down. */
bool run_started_at(int64_t noted_boot_ms, int64_t at_boot_ms);

/* The only writer of ->state; asserts that the transition is allowed. */
void run_move(struct run_table *table, struct run *run, enum run_state next);

/* Its journal record. */
struct journal_record run_record(const struct run *run);

#endif
