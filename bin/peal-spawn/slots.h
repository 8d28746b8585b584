/* Error reports of processes that fail before their exec.
 *
 * The slots are shared memory: a child writes the step and the errno and exits; the spawner reads
 * them when it reaps the child. Without a pipe to wait for, a child that hangs on a dead network
 * mount blocks nobody. The mapping is gone after the child's exec. The memory is a memfd, so that
 * it survives the spawner's own exec. */
#ifndef PEAL_SPAWNER_SLOTS_H
#define PEAL_SPAWNER_SLOTS_H

#include <stdint.h>

#include "status.h"

#define SLOT_COUNT 65536 /* runs at the same time; memory is used only as far as it is touched */
#define SLOT_NONE  UINT32_MAX

struct slot {
    uint32_t step; /* enum spawn_step */
    int32_t error;
};

struct slots {
    int fd;
    struct slot *memory;
    uint32_t *next_free; /* chain of free slots, by index */
    uint32_t first_free;
    uint32_t touched; /* slots from here on have never been used */
};

/* `fd` is a memfd of an earlier image of this process, or -1. */
MUST_CHECK enum status slots_init(struct slots *slots, int fd);
void slots_release(struct slots *slots);

/* A zeroed slot, or SLOT_NONE. */
uint32_t slots_take(struct slots *slots);
void slots_give(struct slots *slots, uint32_t index);

/* After an exec: rebuilds the free list from the slots that `used` does not mark. */
void slots_rebuild(struct slots *slots, const uint8_t *used);

#endif
