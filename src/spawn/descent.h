/* Does a process descend from a run, even with its parent gone, in a session of its own, as another
 * user?
 *
 * A spawner is the subreaper of its runs: while it lives, the ancestors of all their processes lead
 * to it. After it was killed the ancestors end at init; so its processes also carry its tag in the
 * environment, which is inherited unless removed on purpose, and, where there are cgroups, in the
 * cgroup's name. Each ancestor is checked for all three.
 *
 * This is no security boundary between a run and an agent of the same user: a process with the
 * agent's rights can have others (cron, at, sshd) start something, or read its files. */
#ifndef PEAL_DESCENT_H
#define PEAL_DESCENT_H

#include <sys/types.h>

#define SPAWN_TAG_MARK "PEAL_SPAWNER" /* environment variable with the tag */

enum { SPAWN_TAG_SIZE = 17 };

enum descent {
    DESCENT_NONE,
    DESCENT_RUN,
    DESCENT_UNKNOWN, /* the process has ended, is hidden, or changes too quickly */
};

/* How to recognise a spawner's processes. */
struct lineage {
    pid_t spawner; /* 0: none runs */
    char tag[SPAWN_TAG_SIZE];
};

/* The tag of the spawner with this folder, an absolute path without links. */
void spawn_tag(const char *folder, char ret[SPAWN_TAG_SIZE]);

/* A hidden ancestor (hidepid) ends the search: root sees all processes, and an unprivileged agent's
 * jobs are all of its own user. */
enum descent descent_of(pid_t pid, const struct lineage *lineage);

/* The same for the process that connected to the UNIX socket, whoever holds the descriptor now. To
 * be called right after accept, so that the pid can't have been reused; since Linux 6.5 the kernel
 * guarantees that. */
enum descent descent_of_peer(int fd, const struct lineage *lineage);

#endif
