/* How the engine starts and kills; what the spawner's client (or a simulation) provides. */
#ifndef PEAL_EXECUTOR_H
#define PEAL_EXECUTOR_H

#include <stdbool.h>

#include "job.h"
#include "run.h"

struct executor;

enum executor_event_kind {
    EXECUTOR_STARTED, /* it has a process: started_ms */
    EXECUTOR_ENDED,   /* run.state, reason, detail, exit_code, ... and finished_ms are filled in */
    EXECUTOR_EXPIRED, /* the start deadline had passed: it was not and will never be started */
    EXECUTOR_READY,   /* attached; everything that it knew before has been told */
    EXECUTOR_GONE,    /* not reachable now: starts wait; it comes back by itself */
};

struct executor_event {
    enum executor_event_kind kind;
    struct id run_id;
    struct run end; /* STARTED and ENDED: only the members that the executor knows */
};

struct executor_ops {
    /* Starts once: the same run id again is ignored. Not started after `deadline` on the boot
     * clock. */
    enum status (*start)(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms deadline);
    /* May get lost while the executor is away: the engine asks again after READY. Asking twice is
     * harmless, and so is a run that has ended. */
    void (*kill)(struct executor *executor, const struct id *run_id, enum run_reason reason);
    /* The end is safe in the store: the executor may forget it. The output stays until `remove`. */
    void (*acknowledge)(struct executor *executor, const struct id *run_id);
    bool (*next_event)(struct executor *executor, struct executor_event *ret);
    /* Of the program that starts the processes, for the other nodes; "": not known. NULL: it has
     * none. */
    const char *(*version)(const struct executor *executor);
};

struct executor {
    const struct executor_ops *ops;
};

#endif
