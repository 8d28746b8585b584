/* The lowest descriptors are left to what is open for a moment only.
 *
 * A new process that shares the spawner's table and parts with it copies all descriptors below the
 * highest one that it needs (bin/peal-spawn/process/launch.h), and has to close each of them again.
 * The kernel gives out the lowest number that is free; so whatever stays open is moved up, and the
 * ends of pipes that a process is about to get have low numbers by themselves. A descriptor that is
 * not moved costs each start a tenth of a microsecond, and nothing else. */
#ifndef PEAL_SERVE_LOW_FDS_H
#define PEAL_SERVE_LOW_FDS_H

#define LOW_FDS 128 /* numbers; where the limit is below that, nothing is moved */

/* The descriptor, which must be close-on-exec, under a higher number; as it is, if it has one, if
 * there is none to be had, or if it is an error. Keeps errno. */
int high_fd(int fd);

/* Takes all low numbers by copies of `fd`, so that what is opened until low_fds_leave gets higher
 * ones. Where few descriptors may be open it takes none. */
struct low_fds {
    int fds[LOW_FDS];
    int count;
};

void low_fds_take(struct low_fds *low, int fd);
void low_fds_leave(struct low_fds *low);

#endif
