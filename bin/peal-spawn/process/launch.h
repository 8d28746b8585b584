/* Makes the process of a run.
 *
 * A fork copies the spawner's tables of memory, only for the exec to throw them away: half of what
 * a start costs the spawner. So the new process borrows the spawner's memory instead, on a stack of
 * its own, and unlike with vfork the spawner does not wait for it: what the process needs on its
 * way to the exec was copied into a launch, which the kernel itself marks as free again. A set-up
 * that hangs (a working directory on a dead mount) keeps its launch and hangs alone.
 *
 * It gets a copy of the memory, by fork, if it
 *   - switches to another user: no memory is shared with a process of somebody else;
 *   - resets its OOM score, which Linux would do to all that share its memory;
 *   - needs more than a launch holds, or LAUNCH_COUNT others have not come to their exec yet. */
#ifndef PEAL_SPAWNER_LAUNCH_H
#define PEAL_SPAWNER_LAUNCH_H

#include <sys/types.h>

#include "process/child.h"

#define LAUNCH_COUNT 64

struct launch;

struct launches {
    struct launch *all[LAUNCH_COUNT]; /* made when the ones before it are taken */
};

/* Zeroes are launches without memory. Leaves what a process still borrows. */
void launches_release(struct launches *launches);

/* The pid, or -1 and errno. The process exists in its cgroup from its first instruction on; it
 * leaves the failing step in the slot if it does not get as far as exec. Nothing that `setup`
 * points to but the slot is needed after the call. */
pid_t launch_process(struct launches *launches, const struct child_setup *setup);

#endif
