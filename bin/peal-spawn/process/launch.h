/* Makes the process of a run.
 *
 * A fork copies the spawner's page tables only for the exec to discard them: half the cost of a
 * start. So the new process shares the spawner's memory, on a stack of its own, and unlike with
 * vfork the spawner does not wait for it: all that the process needs up to the exec is copied into
 * a launch, which the kernel marks as free at exec or exit. A process that hangs before its exec (a
 * working directory on a dead mount) keeps its launch and blocks nobody else.
 *
 * Nor is the table of descriptors copied, only for the exec to close them: with the pipes of
 * thousands of runs in it that costs more than all the rest. The process shares the table, and
 * parts with it by its first system call, which copies nothing beyond the ends of its pipes. Those
 * have low numbers, since what stays open has none (serve/low_fds.h), and stay open until it says
 * that it is apart. Where its ends have higher numbers, or LAUNCH_APART others have not parted yet,
 * it copies the table, and so does one with an input of its own or a file for values.
 *
 * A process may be made before its time, and held at a gate right before its exec. It dies with the
 * spawner while it is held, and never executes unless the gate was opened.
 *
 * It is forked, with its own memory, if it
 *   - switches to another user: no memory is shared across users;
 *   - resets its OOM score, which Linux would do to all that share its memory;
 *   - has a cgroup with limits: the OOM killer ends all that share the memory of its victim;
 *   - needs more than a launch holds, or LAUNCH_COUNT others have not come to their exec yet. */
#ifndef PEAL_SPAWNER_LAUNCH_H
#define PEAL_SPAWNER_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/child.h"

#define LAUNCH_COUNT 64
#define LAUNCH_HELD  1024 /* as many more at their gates ... */
#define LAUNCH_KEPT  256  /* ... for which so much memory is kept when no more are held */
#define LAUNCH_APART 60

struct launch;

/* The ends of a process that may share the spawner's table still. */
struct shared_ends {
    struct launch *user;
    int fds[2]; /* the second is -1 if both streams are one pipe */
};

struct launches {
    struct launch *all[LAUNCH_COUNT + LAUNCH_HELD]; /* allocated when the earlier ones are in use */
    int null_fd;                                    /* borrowed */
    pid_t pid;                                      /* the spawner's */
    bool may_share;                                 /* the table of descriptors */
    struct shared_ends shared[LAUNCH_APART];
    int shared_count;
    uint32_t held;           /* processes at their gates */
    int64_t trim_at_boot_ms; /* when to call launches_trim; 0: never */
};

/* Without close_range all launches copy the table. */
void launches_init(struct launches *launches, int null_fd);

/* Does not free launches that a process still uses. */
void launches_release(struct launches *launches);

/* Gives back the memory for a burst that is over. To be called in every turn. */
void launches_trim(struct launches *launches, int64_t now_boot_ms);

/* Closes the ends of pipes that processes have by now themselves. */
void launches_settle(struct launches *launches);

/* Returns the pid, or -1 and errno. The process is in its cgroup from its first instruction on; if
 * it fails before the exec it writes the failing step to the slot. Only the slot of `setup` must
 * stay valid after the call. The ends that become 1 and 2 are taken over if the process shares the
 * table, and are -1 then. */
pid_t launch_process(struct launches *launches, struct child_setup *setup);

/* The same, for a process that is held at its gate. -1 also if it can't be held: it would have to
 * be forked, or too many are. */
pid_t launch_held(struct launches *launches, struct child_setup *setup, struct launch **ret);

/* The process executes its command; false: it has failed before, and has said nothing. Or it ends
 * without. The launch is no longer the caller's. */
bool launch_open(struct launches *launches, struct launch *launch);
void launch_drop(struct launches *launches, struct launch *launch);

#endif
