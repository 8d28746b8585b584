/* Whether the kernel's OOM killer has ended a process. It is claimed only where the kernel says so:
 *
 *   memory.events of the run's cgroup, where the memory controller is enabled for it
 *   the kernel's log, which names the pid: for root, outside of a container's pid namespace
 *
 * Elsewhere a process that it has ended can't be told from one that somebody has killed. */
#ifndef PEAL_SPAWNER_CAUSE_H
#define PEAL_SPAWNER_CAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/cgroup.h"

struct oom_kill {
    pid_t pid;
    int64_t at_boot_ms;
};

struct causes {
    int log_fd; /* the kernel's log, from here on; -1: it can't be read, or has other pids */
    struct oom_kill kills[64]; /* the last ones, a ring */
    unsigned next;
};

void causes_init(struct causes *causes);
void causes_release(struct causes *causes);

/* Was this process, which has ended by SIGKILL, ended by the OOM killer? */
bool cause_is_oom(struct causes *causes, pid_t pid, int64_t started_boot_ms);

/* Has the OOM killer ended any process of this run's cgroup? */
bool cause_cgroup_has_oom(const struct cgroups *groups, uint32_t cgroup, const char *id);

/* Reads a record of the kernel's log. False: it is no such message. */
bool cause_read_record(const char *record, struct oom_kill *ret);

#endif
