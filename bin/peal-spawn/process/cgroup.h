/* A cgroup (v2) for each run, below the spawner's own, where the system lets it make them: then
 * no process of a run can hide from a kill. Elsewhere every call does nothing, and the tree is
 * found by looking through /proc alone (tree.h). */
#ifndef PEAL_SPAWNER_CGROUP_H
#define PEAL_SPAWNER_CGROUP_H

#include <stdbool.h>

struct cgroups {
    int base_fd; /* -1: there are none */
    char base_path[640];
};

/* `tag`, of descent.h, keeps the cgroups of spawners for different folders apart, and lets a new
 * spawner find those of a dead one, and everybody see whose a process is. */
void cgroups_init(struct cgroups *groups, const char *tag);
void cgroups_release(struct cgroups *groups);

/* A descriptor of the new cgroup, to be closed by the caller; -1 if there is none. */
int cgroup_make(struct cgroups *groups, const char *id);

/* Fails silently while processes are left in it. */
void cgroup_remove(struct cgroups *groups, const char *id);

/* Sends the signal to every process in it; 0 sends nothing. Returns how many there were. */
int cgroup_signal(struct cgroups *groups, const char *id, int signal);

#endif
