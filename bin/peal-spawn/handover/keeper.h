/* The keeper is a process beside the spawner that shares its table of descriptors, so that nothing
 * in the pipes of runs is lost if the spawner is killed: they stay open.
 *
 *   peal-guard  ->  peal-spawn   ->  runs
 *               ->  peal-keeper
 *
 * It costs a start nothing, for it sleeps until the spawner has ended. Then it closes all but the
 * ends of pipes that are read, the memory of masks (serve/masking.h) and the lock, and when its
 * guard says so (handover.h), which has written down how the runs of the dead spawner ended, it
 * executes the spawner's file and is the next one. That finds the pipe of a run by its inode, its
 * masks by its id, and has a keeper of its own.
 *
 * Without a guard there is none, and it dies with its guard. If it is killed itself there is
 * another one. */
#ifndef PEAL_SPAWNER_KEEPER_H
#define PEAL_SPAWNER_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/watch.h"
#include "spawn_message.h"

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

struct kept_masks {
    char id[SPAWN_ID_MAX + 1]; /* of their run */
    int fd;                    /* -1: taken */
};

struct kept {
    struct kept_pipe *pipes;  /* by inode */
    struct kept_masks *masks; /* by id */
    size_t pipe_count, mask_count;
    bool are_all; /* what is not here was closed by the spawner before */
};

/* To be called before this spawner opens any pipe. */
void kept_open(struct kept *kept);
int kept_take_pipe(struct kept *kept, uint64_t inode);  /* -1: it is not there */
int kept_take_masks(struct kept *kept, const char *id); /* -1: they are not there */
void kept_release(struct kept *kept);                   /* closes the others */

#endif
