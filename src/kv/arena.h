/* Memory that is freed all at once: for decoded messages, and for transactions while they are
 * built. */
#ifndef PEAL_KV_ARENA_H
#define PEAL_KV_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* the one in use first */
    size_t used;                /* of the first block */
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);
void arena_reset(struct arena *arena); /* keeps one block */

/* Aligned for any type, not cleared. NULL: out of memory. */
void *arena_alloc(struct arena *arena, size_t size);
/* `count` items of `size` bytes, cleared. An empty array is not NULL. */
void *arena_array(struct arena *arena, size_t count, size_t size);

#endif
