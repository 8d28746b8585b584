/* Starts, watches and kills runs: claimed runs are begun in the store, wait for their start time,
 * go to the executor, and come back ended. */
#ifndef PEAL_RUNNER_H
#define PEAL_RUNNER_H

#include "definitions.h"
#include "heap.h"
#include "outbox.h"
#include "ports.h"
#include "state/marks.h"
#include "state/open_run.h"
#include "unsettled.h"
#include "workflow/instances.h"

#define RUNNER_OF_ANOTHER_KIND "the job was changed after the claim, and is not for this node now"
#define RUNNER_FORGOTTEN       "the process has removed the function after the claim"
#define RUNNER_TOO_LATE        "claimed, but not begun in time: the agent or the store was away"
#define RUNNER_BOOTED          "the machine rebooted before it could begin"

struct runner {
    const struct engine_ports *ports;
    struct open_runs *runs;
    struct catalog *catalog;
    struct marks *marks;
    const struct peer *self;        /* this node */
    const char *boot_id;            /* of this boot */
    struct definitions definitions; /* of jobs that run again soon */
    struct heap starts;             /* of open_run in OPEN_BEGUN, by boot time of the start */
    int64_t start_window_ms;
    int64_t on_time_ms;
    struct outbox_sender sender;
    struct outage *away;          /* the engine's; of the store */
    int64_t started;              /* processes that were made ... */
    struct boot_ms started_since; /* ... since then */
    size_t starts_ahead;          /* so many are made in STARTS_AHEAD_MS */
    const struct inputs *inputs;
    struct instances *instances;
    double latency_ms;        /* of a begin, smoothed: sets how far ahead to begin */
    bool is_shared;           /* other nodes can take over what is claimed here and not begun */
    struct boot_ms ends_from; /* claims that are too late are not ended before: while this node was
                                 away, another may have run them, in a store that was restored
                                 since; INT64_MAX: the store is away */
    size_t claims_beginning;  /* claims under way that begin their runs, the engine's */
    struct unsettled unsettled;
    bool executor_ready;
    bool is_held; /* claimed runs must not begin: this node's clock is wrong, or another agent has
                     its name */
    bool is_doubted; /* the clock is doubted: it can't tell how late a run is */
};

void runner_init(struct runner *runner, const struct engine_ports *ports, struct outbox *outbox,
                 const struct peer *self, const char *boot_id, struct catalog *catalog,
                 struct marks *marks, struct open_runs *runs);
void runner_release(struct runner *runner);

/* Takes in the executor's events. */
void runner_watch(struct runner *runner, struct now now);

/* Begins claimed runs, and starts begun ones at their time. */
void runner_start(struct runner *runner, struct now now);

/* The store has begun a run that is OPEN_BEGINNING, or OPEN_CLAIMED because the answer was lost. */
void runner_begun(struct runner *runner, struct now now, struct open_run *open, int64_t fence,
                  int64_t job_revision);

/* The store has begun a run, but it is unknown by which request, and so how long ago: it must not
 * start. */
void runner_begun_before(struct runner *runner, struct now now, struct open_run *open);

/* The store was restored from a backup, and has done the begin of a run that may have been taken
 * over, and run, since the backup: it must not start. */
void runner_begun_in_backup(struct runner *runner, struct now now, struct open_run *open);

/* Does the store say that it was restored from a backup? */
bool runner_has_backup(const struct runner *runner);

/* Ends a run in OPEN_ORPHAN that the executor, after all its events, does not know: it was never
 * started, and must not be. If that is not certain, it is lost. */
void runner_end_orphan(struct runner *runner, struct now now, struct open_run *open);

/* Kills the run, in whatever phase it is. Of an instance the steps that are begun here; those that
 * are not begun are refused by the store, or ended by whoever would take them. */
void runner_kill(struct runner *runner, struct now now, struct open_run *open,
                 enum run_reason reason, const char *by);

/* How many runs may be begun by their claims now: none of those that wait for their begin goes
 * behind them. */
size_t runner_claims_may_begin(const struct runner *runner, struct now now);

int64_t runner_wake_at(const struct runner *runner, struct now now);

#endif
