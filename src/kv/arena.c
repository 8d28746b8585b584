#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 16 * 1024 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

static void free_blocks(struct arena_block *block)
{
    while (block) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_release(struct arena *arena)
{
    free_blocks(arena->blocks);
    arena_init(arena);
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = arena->blocks;
    arena->used = 0;
    if (!keep)
        return;
    free_blocks(keep->next);
    keep->next = NULL;
    if (keep->size > 64 * (size_t)ARENA_BLOCK) /* one huge answer is no reason to keep so much */
        arena_release(arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!arena->blocks || arena->blocks->size - arena->used < size) {
        size_t room = arena->blocks ? 2 * arena->blocks->size : ARENA_BLOCK;
        if (room > 256 * (size_t)ARENA_BLOCK)
            room = 256 * (size_t)ARENA_BLOCK;
        if (room < size)
            room = size;
        struct arena_block *block = malloc(sizeof(*block) + room);
        if (!block)
            return NULL;
        block->next = arena->blocks;
        block->size = room;
        arena->blocks = block;
        arena->used = 0;
    }
    void *at = arena->blocks->bytes + arena->used;
    arena->used += size;
    return at;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (count > SIZE_MAX / 2 / size)
        return NULL;
    void *items = arena_alloc(arena, count * size);
    return items ? memset(items, 0, count * size) : NULL;
}
