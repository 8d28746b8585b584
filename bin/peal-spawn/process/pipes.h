/* Pipes that take the output of runs, some of them used again: making and destroying two costs a
 * tenth of a start.
 *
 * The end of the run can be read, too. The run holds that end, so the pipe always has a reader: if
 * the spawner is killed the run gets no SIGPIPE, it blocks at worst, and the next spawner reads on,
 * from the keeper's end (keeper.h) or through /proc/PID/fd.
 *
 * A pipe that was read to its end is empty, and the kernel says by that end that nobody can write
 * to it any more, nor was handed it. It goes to the next run if owner, mode and size are those of a
 * new one, which gets an end of its own, opened anew. (A process that has opened the pipe a second
 * time, to read only, and outlives its run could take what the next one writes. It is of the
 * spawner's own user, and could do so to any run of its user; pipes of others are not used again.)
 */
#ifndef PEAL_SPAWNER_PIPES_H
#define PEAL_SPAWNER_PIPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PIPES_KEPT 1024 /* half of those of the processes that may be held */

struct pipes {
    uid_t uid; /* the spawner's own */
    gid_t gid;
    int own_fds_fd; /* /proc/self/fd; -1: can't be opened */
    int kept[PIPES_KEPT];
    uint64_t inodes[PIPES_KEPT]; /* of those that are kept */
    uint32_t count;
};

struct pipe_ends {
    int read_fd;  /* does not block */
    int write_fd; /* blocks */
    uint64_t inode;
};

bool pipes_init(struct pipes *pipes); /* false and errno */
void pipes_release(struct pipes *pipes);

/* One that is kept, or a new one; both ends are the caller's. False and errno. */
bool pipes_take(struct pipes *pipes, struct pipe_ends *ret);

/* Takes the reading end of a pipe that was read to its end: keeps it, or closes it. */
void pipes_give(struct pipes *pipes, int read_fd, uint64_t inode);

#endif
