/* Where a process that has been forked but not yet executed leaves word of what failed.
 *
 * The slots are shared memory: a child writes the step and the errno and exits; the spawner looks
 * when it reaps. No pipe and no waiting are needed, so that a child which hangs in a dead network
 * mount holds back nobody. The mapping is gone from the child once it has executed its command.
 * The memory is a memfd, so that it survives the spawner's own exec. */
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

/* After an exec: makes a chain of every slot that `used` does not mark. */
void slots_rebuild(struct slots *slots, const uint8_t *used);

#endif
