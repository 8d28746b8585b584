/* A cgroup (v2) for each run, below the spawner's own, where the system allows it: then no process
 * of a run can escape a kill. Elsewhere every call does nothing, and the process tree is found only
 * through /proc (tree.h). */
#ifndef PEAL_SPAWNER_CGROUP_H
#define PEAL_SPAWNER_CGROUP_H

#include <stdbool.h>

struct cgroups {
    int base_fd; /* -1: there are none */
    char base_path[640];
};

/* `tag`, of descent.h, separates the cgroups of spawners with different folders, lets a new spawner
 * find those of a dead one, and identifies a process's spawner. */
void cgroups_init(struct cgroups *groups, const char *tag);
void cgroups_release(struct cgroups *groups);

/* A descriptor of the new cgroup, to be closed by the caller; -1 if there is none. */
int cgroup_make(struct cgroups *groups, const char *id);

/* Fails silently while processes are left in it. */
void cgroup_remove(struct cgroups *groups, const char *id);

/* Sends the signal to every process in it; 0 sends nothing. Returns how many there were. */
int cgroup_signal(struct cgroups *groups, const char *id, int signal);

#endif
