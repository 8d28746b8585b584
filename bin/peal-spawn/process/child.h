/* What a new process does between its making and its exec. */
#ifndef PEAL_SPAWNER_CHILD_H
#define PEAL_SPAWNER_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>

#include "process/user.h"
#include "slots.h"
#include "spawn_message.h"

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

/* Leaves by exec, or with the failing step in the slot.
 *
 * The memory may be the spawner's, which goes on meanwhile. So nothing is written to but the stack
 * and the slot, nothing is allocated, no errno is set (raw.h), and what is read is the caller's own
 * copy. The rest that is changed here (session, limits, folder, descriptors, signals) belongs to
 * the process and not to its memory; and no signal has a handler that could run in it. */
_Noreturn void child_main(const void *argument); /* a child_setup, as raw_clone hands it on */

#endif
