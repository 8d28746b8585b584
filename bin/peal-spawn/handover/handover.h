/* What a spawner leaves to the next one if it is killed: memory that it shares with its guard, a
 * memfd that every spawner of this guard finds by its environment. A killed process does not leave
 * a system call half done, so what the kernel itself writes here is never lost.
 *
 *   ends     of processes, by the call that waits for them (reaped.h)
 *   chunk    what was read from a pipe, and may not be in the run's output yet
 *   keeper   the process that keeps the descriptors open (keeper.h)
 *
 * The next spawner looks at all that when it restores the runs (recover.c). A chunk is not masked:
 * of a run with secrets it goes through its masks again (serve/masking.h). Without a guard, or if
 * that is killed as well, the memory is the spawner's alone, and lost with it. */
#ifndef PEAL_SPAWNER_HANDOVER_H
#define PEAL_SPAWNER_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "handover/reaped.h"
#include "spawn_message.h"
#include "spawn_record.h"

/* The bytes are zero but for what is read, so that their number is known also if the spawner is
 * killed before it notes it: all but zeros at the end of them. */
struct chunk {
    char id[SPAWN_ID_MAX + 8]; /* of the run; empty: all of it is in the output */
    uint32_t stream;
    uint32_t length;   /* 0: not noted */
    uint64_t position; /* in the output */
    char bytes[SPAWN_RECORD_MAX];
};

struct handover_memory {
    int32_t guard;  /* 0: none has this memory */
    int32_t keeper; /* 0: none; written by the kernel, too */
    int32_t heir;   /* the keeper that is to become the next spawner; a futex */
    int32_t zero;
    struct chunk chunk;
    struct reaped_end ends[REAPED_COUNT];
};

struct handover {
    int fd;
    struct handover_memory *memory;
};

/* The guard's part: makes the memory, and names it in the environment of those that it starts.
 * Without memory the spawner has its own. */
void handover_provide(struct handover *handover);

/* Takes the memory of the guard, or some that is lost with the spawner. False, and errno. */
bool handover_open(struct handover *handover);
void handover_close(struct handover *handover);

/* Reads at most SPAWN_RECORD_MAX bytes into the chunk, as read does; chunk_done says that they are
 * in the output. */
ssize_t chunk_read(struct chunk *chunk, int fd, const char *id, uint32_t stream, uint64_t position);
void chunk_done(struct chunk *chunk);

/* What a killed spawner has read of this run, and has not noted in its output, which ends at
 * `position`. Their number; 0: nothing is missing. */
size_t chunk_missing(const struct chunk *chunk, const char *id, uint64_t position,
                     const char **ret_bytes);

#endif
