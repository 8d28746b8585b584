/* Cgroups of runs with limits: each such run has one of its own, with what its request says in its
 * files. Nothing is made or changed before the first such run.
 *
 *     PARENT/                   its controllers are enabled for those below it, so it has no
 * process agent/                of the agent and the spawner peal-TAG.limits/      the same
 * controllers are enabled for those below it, too ID/               of a run: memory.max, cpu.max,
 * pids.max, io.weight
 *
 * PARENT is the cgroup above that of the spawner, if that one is called `agent` (systemd:
 * DelegateSubgroup=agent); the root of the hierarchy, also of a container, if the spawner is there;
 * or what PEAL_CGROUP names. Of the last two the processes are moved to `agent`, since a cgroup
 * that has processes can't have controllers enabled below it. In the cgroup of a service without a
 * subgroup nothing is moved: systemd could not start the service again. */
#ifndef PEAL_SPAWNER_LIMITED_H
#define PEAL_SPAWNER_LIMITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spawn_message.h"

#define LIMITED_PATH 512
#define LIMITED_LEFT 256

/* The controllers, in the order of the features from SPAWN_LIMITS_MEMORY on. */
enum limited_controller {
    LIMITED_MEMORY,
    LIMITED_CPU,
    LIMITED_PIDS,
    LIMITED_IO,
    LIMITED_CONTROLLERS,
};

struct limited {
    unsigned can; /* 1 << enum limited_controller: what can be enforced here */
    bool may_move;
    bool is_open; /* all of `can` is enabled */
    int base_fd;  /* -1: it is not there yet */
    /* Runs that have ended, and have left processes: their cgroups are removed later. */
    char left[LIMITED_LEFT][SPAWN_ID_MAX + 1];
    uint32_t left_count;
    char parent[LIMITED_PATH];
    char base_path[LIMITED_PATH + 64];
};

/* What can be enforced. `mount`, where cgroup2 is, and `own`, the spawner's below it; NULL: there
 * is none. `given`: PEAL_CGROUP; NULL: none. */
void limited_init(struct limited *limited, const char *tag, const char *mount, const char *own,
                  const char *given);

/* Leaves cgroups that have processes. */
void limited_release(struct limited *limited);

/* Needs the run a cgroup of its own? */
bool limited_needs(const struct spawn_share *share);

/* Makes the cgroup of a run; *ret_fd is the caller's. Returns an errno; then there is none. */
int limited_make(struct limited *limited, const char *id, const struct spawn_share *share,
                 int *ret_fd);

/* The run has ended. While processes are left in its cgroup that stays; it is tried again with the
 * next run, and by limited_init of the next spawner. */
void limited_remove(struct limited *limited, const char *id);

/* What the kernel has done to the run, which has failed. */
enum spawn_cause limited_cause(const struct limited *limited, const char *id);

/* What all its processes together have used, instead of what is known of those that were waited
 * for; members that the kernel does not tell stay as they are. */
void limited_usage(const struct limited *limited, const char *id, struct spawn_run *run);

#endif
