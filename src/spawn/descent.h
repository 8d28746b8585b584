/* Whether a process is one of a run, or was started by one, however far away: with its parent gone,
 * in a session of its own, as another user.
 *
 * A spawner is the subreaper of its runs, so that while it lives the line of parents of all that
 * they start leads to it. Should it have been killed, that line ends at init; so whatever it starts
 * has its tag in the environment, which is inherited unless somebody takes care that it is not, and
 * where there are cgroups is in one that has the tag in its name. Each process of the line is asked
 * for all three.
 *
 * It is no boundary between a run and an agent of the same user: who has the agent's rights can ask
 * others (cron, at, sshd) to start something, or read its files. */
#ifndef PEAL_DESCENT_H
#define PEAL_DESCENT_H

#include <sys/types.h>

#define SPAWN_TAG_MARK "PEAL_SPAWNER" /* the variable that has the tag */

enum { SPAWN_TAG_SIZE = 17 };

enum descent {
    DESCENT_NONE,
    DESCENT_RUN,
    DESCENT_UNKNOWN, /* it has ended, is hidden, or changes too quickly */
};

/* What a spawner leaves on all that it starts. */
struct lineage {
    pid_t spawner; /* 0: none runs */
    char tag[SPAWN_TAG_SIZE];
};

/* The tag of the spawner of that folder, which is absolute and has no links in it. */
void spawn_tag(const char *folder, char ret[SPAWN_TAG_SIZE]);

/* An ancestor that is hidden (hidepid) is taken for the end of the line: root sees everybody, and
 * of a plain user's agent all jobs are that user's in any case. */
enum descent descent_of(pid_t pid, const struct lineage *lineage);

/* Of who has connected to the UNIX socket. Whoever has the descriptor now does not matter. Asked as
 * soon as it is accepted, the number of a process that has ended since can't be another one's:
 * since Linux 6.5 the kernel says for certain. */
enum descent descent_of_peer(int fd, const struct lineage *lineage);

#endif
