/* A binary heap of pointers by a 64-bit key, smallest first. Items learn their place through
 * `moved`, so that they can be re-keyed and removed in O(log n). */
#ifndef PEAL_HEAP_H
#define PEAL_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define HEAP_NONE UINT32_MAX /* place of an item that is in no heap */

struct heap_entry {
    int64_t key;
    void *item;
};

struct heap {
    struct heap_entry *entries; /* entries[0] is the smallest */
    size_t count, capacity;
    void (*moved)(void *item, uint32_t place);
};

void heap_init(struct heap *heap, void (*moved)(void *item, uint32_t place));
void heap_release(struct heap *heap); /* the items stay the caller's */

MUST_CHECK enum status heap_push(struct heap *heap, int64_t key, void *item);
void heap_update(struct heap *heap, uint32_t place, int64_t key);
void heap_remove(struct heap *heap, uint32_t place);

#endif
