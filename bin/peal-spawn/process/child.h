/* The code of a new process up to its exec. */
#ifndef PEAL_SPAWNER_CHILD_H
#define PEAL_SPAWNER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "process/user.h"
#include "slots.h"
#include "spawn_message.h"

/* At which a process waits right before its exec. Shut at first, and changed once: opened or
 * dropped by the spawner, or found shut by a process that has failed before it, and which then ends
 * without a word. */
enum child_gate {
    GATE_SHUT,
    GATE_OPEN,
    GATE_DROPPED,
    GATE_FAILED,
};

struct child_setup {
    const struct spawn_request *request;
    char *const *env; /* the request's and the marks; with values, the first is values_text() */
    const struct user_ids *user;
    int fds[3];           /* to become 0, 1 and 2; each is above 2 */
    int values_fd;        /* to become SPAWN_VALUES_FD, and above that; -1: none */
    int cgroup_fd;        /* -1: none */
    struct rlimit nofile; /* the spawner's limits before it raised them */
    bool reset_oom;
    bool is_limited; /* its cgroup has limits */
    struct slot *slot;
    uint32_t *is_apart; /* set when the descriptors are its own; NULL: they are from the start */
    uint32_t *gate;     /* enum child_gate; NULL: none */
    pid_t parent;       /* the spawner, with a gate: without it the process ends there */
};

#define CHILD_FAILED 127 /* its exit code if it does not come to its exec */

/* Ends with exec, or exits with the failing step in the slot.
 *
 * The memory may be shared with the running spawner, and until its first call the descriptors. So
 * only the stack, the slot and the copies of its launch are written, nothing is allocated, no errno
 * is set (raw.h), and only the caller's copies are read. Everything else that is changed here
 * (session, limits, folder, descriptors, signals) belongs to the process, not to its memory; and no
 * signal has a handler that could run in it. */
_Noreturn void child_main(const void *argument); /* a child_setup, as raw_clone hands it on */

#endif
