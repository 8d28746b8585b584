/* Start, watch and kill: claimed runs are begun in the store, wait for their time, go to the
 * executor, and come back ended. */
#ifndef PEAL_RUNNER_H
#define PEAL_RUNNER_H

#include "heap.h"
#include "ports.h"
#include "stages/outbox.h"
#include "state/marks.h"
#include "state/open_run.h"

#define RUNNER_TOO_LATE "claimed, but not begun in time: the agent or the store was away"
#define RUNNER_BOOTED   "the machine was started again before it could begin"

struct runner {
    const struct engine_ports *ports;
    struct open_runs *runs;
    struct catalog *catalog;
    struct marks *marks;
    const struct peer *self; /* this node */
    const char *boot_id;     /* of this boot */
    struct heap starts;      /* of open_run in OPEN_BEGUN, by boot time of the start */
    int64_t start_window_ms;
    int64_t on_time_ms;
    struct sender sender;
    struct outage *away; /* the engine's; of the store */
    bool executor_ready;
    bool is_held;    /* what is claimed must not begin: this node's clock is wrong, or another agent
                        has its name */
    bool is_doubted; /* the clock says nothing about how late something is */
};

void runner_init(struct runner *runner, const struct engine_ports *ports, struct outbox *outbox,
                 const struct peer *self, const char *boot_id, struct catalog *catalog,
                 struct marks *marks, struct open_runs *runs);
void runner_release(struct runner *runner);

/* Takes in what the executor tells. */
void runner_watch(struct runner *runner, struct now now);

/* Begins what is claimed, and starts what is begun and due. */
void runner_start(struct runner *runner, struct now now);

/* The store has begun a run that is OPEN_BEGINNING, or OPEN_CLAIMED because the answer was lost. */
void runner_begun(struct runner *runner, struct now now, struct open_run *open, int64_t fence,
                  int64_t job_revision);

/* The store has begun a run, but it is not known with which request, nor how long ago that was: it
 * must not start. */
void runner_begun_before(struct runner *runner, struct now now, struct open_run *open);

/* OPEN_ORPHAN, and the executor, which has told all that it knows, does not have it: it was never
 * started, and must not be any more. If that can't be told, it is lost. */
void runner_end_orphan(struct runner *runner, struct now now, struct open_run *open);

/* Kills the run, wherever it is on its way. */
void runner_kill(struct runner *runner, struct now now, struct open_run *open,
                 enum run_reason reason, const char *by);

int64_t runner_wake_at(const struct runner *runner, struct now now);

#endif
