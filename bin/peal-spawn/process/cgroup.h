/* A cgroup (v2) for each run, below the spawner's own, where the system allows it: then no process
 * of a run can escape a kill. Elsewhere every call does nothing, and the process tree is found only
 * through /proc (tree.h).
 *
 * Making one and removing it costs as much as the rest of a start, so some are kept in a pool and
 * used again, each by one run at a time. One that was used is given to the next run only when it is
 * seen to be as a new one: no process is left in it, it is not frozen, and has no cgroups below it.
 * One in which something was killed is replaced by a new one: Linux 6.18 kills whatever is started
 * into a cgroup that cgroup.kill was once written to. Where controllers are enabled for the cgroups
 * of runs there is no pool: their limits and counters would outlast a run. A run with limits has
 * one of its own in another place, where they are enabled (limited.h). */
#ifndef PEAL_SPAWNER_CGROUP_H
#define PEAL_SPAWNER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/limited.h"

struct tree;

#define CGROUP_POOL      1024 /* at most, as many as are held; each has two descriptors open */
#define CGROUP_NAME_SIZE 48

/* Which cgroup a run has: none, one of its own with its id as the name, or from CGROUP_POOLED on
 * one of the pool. The numbers are in the state that is handed over in an upgrade. */
enum {
    CGROUP_NONE,
    CGROUP_OWN,
    CGROUP_POOLED,
    CGROUP_LIMITED = CGROUP_POOLED + CGROUP_POOL, /* of its own, with limits */
    CGROUP_END,
    CGROUP_END_OF_2 = CGROUP_POOLED + 256, /* of the state of version 2 */
};

struct pooled_cgroup {
    bool is_made;
    bool is_spoilt; /* to be removed, and made anew */
    int fd;
    int events_fd; /* its cgroup.events */
};

struct cgroups {
    int base_fd; /* -1: there are none */
    char base_path[640];
    char tag[32];
    int control_fd; /* cgroup.subtree_control of the base */
    bool may_pool;
    int64_t looked_boot_ms; /* the turn in which that was found out; 0: none */
    uint32_t pool_size;     /* CGROUP_POOL, or less where descriptors are few */
    struct pooled_cgroup pool[CGROUP_POOL];
    uint32_t unused[CGROUP_POOL]; /* numbers of those without a run: a ring */
    uint32_t unused_first, unused_count;
    uint32_t made; /* cgroups in the pool */
    struct limited limited;
};

/* Of none: nothing is made. */
void cgroups_none(struct cgroups *groups);

/* `tag`, of descent.h, separates the cgroups of spawners with different folders, lets a new spawner
 * find those of a dead one, and identifies a process's spawner. */
void cgroups_init(struct cgroups *groups, const char *tag);
void cgroups_release(struct cgroups *groups);

/* Makes no more of them; those with limits stay. */
void cgroups_give_up(struct cgroups *groups);

/* Before a batch of starts: may the pool be used? Finds out once in a turn. */
void cgroups_look(struct cgroups *groups, int64_t now_boot_ms);

/* Makes some for the pool, for a first burst. */
void cgroups_prepare(struct cgroups *groups);

/* The cgroup of a new run, CGROUP_NONE if there is none. *ret_fd is for cgroup_entered. */
uint32_t cgroup_take(struct cgroups *groups, const char *id, int *ret_fd);

/* One of the run's own, after one of the pool could not be entered: that is not used any more. */
uint32_t cgroup_take_own(struct cgroups *groups, const char *id, int *ret_fd);

/* With the limits of the share, CGROUP_LIMITED; CGROUP_NONE and an errno: they can't be set. */
uint32_t cgroup_take_limited(struct cgroups *groups, const char *id,
                             const struct spawn_share *share, int *ret_fd, int *ret_error);

/* The descriptor is not needed any more. */
void cgroup_entered(uint32_t cgroup, int fd);

/* The cgroup of a run of an earlier spawner, by its main process; CGROUP_NONE: it has none of its
 * own. */
uint32_t cgroup_adopt(struct cgroups *groups, const char *id, pid_t pid);

/* The same for a number that an earlier image has left; CGROUP_NONE: it is not there. */
uint32_t cgroup_resume(struct cgroups *groups, uint32_t cgroup);

/* The run has ended: its cgroup is removed, or goes back to the pool, where one that is spoilt is
 * replaced. Processes may be left in it. */
void cgroup_give(struct cgroups *groups, uint32_t cgroup, const char *id, bool is_spoilt);

/* Somebody has killed a run: perhaps by a cgroup above, and so all of the pool are spoilt. */
void cgroups_distrust(struct cgroups *groups);

/* Opens one of its files; -1 and errno. */
int cgroup_open_file(const struct cgroups *groups, uint32_t cgroup, const char *id,
                     const char *file, int flags);

/* Sends the signal to every process in it but those that the tree tells itself; 0 sends
 * nothing. Returns how many there were. */
int cgroup_signal(const struct cgroups *groups, uint32_t cgroup, const char *id,
                  const struct tree *told, int signal);

#endif
