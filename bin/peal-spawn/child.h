/* Makes the process of a run: fork, set-up, exec.
 *
 * A plain fork, not vfork: the spawner is so small that both cost the same (the exec dominates),
 * the two cores can work at the same time, no memory is shared with a process that already runs
 * as another user, and a set-up that hangs hangs alone. Between fork and exec only system calls
 * are made, no allocation. */
#ifndef PEAL_SPAWNER_CHILD_H
#define PEAL_SPAWNER_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "slots.h"
#include "spawn_message.h"
#include "user.h"

struct child_setup {
    const struct spawn_request *request;
    char *const *env; /* the request's and the mark */
    const struct user_ids *user;
    int fds[3];           /* to become 0, 1 and 2; each is above 2 */
    int cgroup_fd;        /* -1: none */
    struct rlimit nofile; /* what the spawner had before it raised its own */
    bool reset_oom;
    struct slot *slot;
};

/* The pid, or -1 and errno. The process exists in its cgroup from its first instruction on; it
 * leaves the failing step in the slot if it does not get as far as exec. */
pid_t child_fork(const struct child_setup *setup);

#endif
