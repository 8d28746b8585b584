/* How the engine starts and kills runs; implemented by the spawner's client and by the
 * simulation. */
#ifndef PEAL_EXECUTOR_H
#define PEAL_EXECUTOR_H

#include <stdbool.h>

#include "job.h"
#include "run.h"

struct executor;

enum executor_event_kind {
    EXECUTOR_HELD,    /* the run is ready to start at its time; if the executor is GONE, no more */
    EXECUTOR_STARTED, /* the run has a process: started_ms */
    EXECUTOR_ENDED,   /* run.state, reason, detail, exit_code, ... and finished_ms are filled in */
    EXECUTOR_EXPIRED, /* the start deadline had passed: the run was not and will never be started */
    EXECUTOR_READY,   /* attached; all events from before have been delivered */
    EXECUTOR_GONE,    /* unreachable: starts wait; it reconnects by itself */
};

/* The file that a run is expected to leave, as its user has seen it after the end. */
struct executor_file {
    enum {
        FILE_NOT_LOOKED_AT,
        FILE_SEEN,   /* a regular file: bytes, changed_ms */
        FILE_UNSEEN, /* `why`: "No such file or directory" */
    } state;
    int64_t bytes, changed_ms;
    char why[80];
};

struct executor_event {
    enum executor_event_kind kind;
    struct id run_id;
    struct run end; /* STARTED and ENDED: only the members that the executor knows are set */
    struct executor_file file; /* ENDED: once it was looked at */
};

enum { EXECUTOR_VALUES_MAX = 64 * 1024 };

struct executor_ops {
    /* Starts once: the same run id again is ignored. Not started before `at`, nor at or after
     * `deadline`, both on the boot clock. */
    enum status (*start)(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline);
    /* A kill may get lost while the executor is away: the engine repeats it after READY. A repeated
     * kill is harmless, and so is one of a run that has ended. */
    void (*kill)(struct executor *executor, const struct id *run_id, enum run_reason reason);
    /* The end is durable in the store: the executor may forget the run. The output stays until
     * output_source.remove, and values until remove_values. */
    void (*acknowledge)(struct executor *executor, const struct id *run_id);
    /* What a step of a workflow has written for later ones (the file PEAL_OUTPUT), after its ENDED
     * and until remove_values, also to the next agent: a text of up to EXECUTOR_VALUES_MAX
     * bytes as the step left it, from malloc, with a zero byte behind it. NULL: nothing was
     * written. E_TOO_LARGE: more than that was. E_INVALID: the file was replaced by something else.
     * E_IO. NULL: no run of this executor writes any. */
    enum status (*values)(struct executor *executor, const struct id *run_id, char **ret,
                          size_t *ret_length);
    /* Removes those; there need not be any. NULL: as above. */
    void (*remove_values)(struct executor *executor, const struct id *run_id);
    /* Has the file job->expect.file looked at on this node, as the user of the run. `end` is what
     * its ENDED told: the executor keeps it, and tells the same once more with the file. To be
     * asked again after another ENDED without it: the executor was away. NULL: no run of this
     * executor can have one. */
    enum status (*look)(struct executor *executor, const struct id *run_id, const struct job *job,
                        const struct run *end);
    bool (*next_event)(struct executor *executor, struct executor_event *ret);
    /* Of the program that starts the processes, for the other nodes; "": not known. NULL: it has
     * none. */
    const char *(*version)(const struct executor *executor);
    /* Which limits of whole runs it can enforce, 1 << enum run_controller. NULL: none. */
    unsigned (*enforces)(const struct executor *executor);
    /* How long before its time the start of such a job may be asked for: all but the start itself
     * is done by then. NULL: not at all. */
    int64_t (*ahead_ms)(const struct executor *executor, const struct job *job);
    /* How many runs may wait in it for their start: it makes so many in a fraction of the start
     * window. NULL: as many as it was seen to start lately. */
    size_t (*starts_ahead)(const struct executor *executor);
};

struct executor {
    const struct executor_ops *ops;
};

/* Of a run that ended as known in the store. `is_step`: it is one, or may be. */
static inline void executor_acknowledge(struct executor *executor, const struct id *run_id,
                                        bool is_step)
{
    if (is_step && executor->ops->remove_values)
        executor->ops->remove_values(executor, run_id);
    executor->ops->acknowledge(executor, run_id);
}

#endif
