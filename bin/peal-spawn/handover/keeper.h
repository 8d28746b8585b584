/* The keeper is a process beside the spawner that shares its table of descriptors, so that nothing
 * in the pipes of runs is lost if the spawner is killed: they stay open.
 *
 *   peal-guard  ->  peal-spawn   ->  runs
 *               ->  peal-keeper
 *
 * It costs a start nothing, for it sleeps until the spawner has ended. Then it closes all but the
 * ends of pipes that are read and the lock, and when its guard says so (handover.h), which has
 * written down how the runs of the dead spawner ended, it executes the spawner's file and is the
 * next one. That finds the pipe of a run by its inode, and has a keeper of its own.
 *
 * Without a guard there is none, and it dies with its guard. If it is killed itself there is
 * another one. */
#ifndef PEAL_SPAWNER_KEEPER_H
#define PEAL_SPAWNER_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/watch.h"

struct handover_memory;
struct spawner;

struct keeper {
    struct watch watch;      /* its pidfd; -1: there is none */
    int own_fd;              /* the pidfd of this spawner, for it to watch; -1: not open */
    int64_t started_boot_ms; /* one that does not live for long is not started again */
};

/* Best effort. */
void keeper_start(struct spawner *s);
void keeper_end(struct spawner *s);

/* The guard's side: lets it become the next spawner. Its pid; 0: there is none. */
int32_t keeper_call(struct handover_memory *memory);

/* What it has kept for this spawner. */
struct kept_pipe {
    uint64_t inode;
    int fd; /* -1: taken */
};

struct kept_pipes {
    struct kept_pipe *all; /* by inode */
    size_t count;
    bool are_all; /* what is not here was closed by the spawner before */
};

/* To be called before this spawner opens any pipe. */
void kept_pipes_open(struct kept_pipes *kept);
int kept_pipes_take(struct kept_pipes *kept, uint64_t inode); /* -1: it is not there */
void kept_pipes_release(struct kept_pipes *kept);             /* closes the others */

#endif
