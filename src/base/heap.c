#include "heap.h"

#include <assert.h>
#include <stdlib.h>

void heap_init(struct heap *heap, void (*moved)(void *item, uint32_t place))
{
    *heap = (struct heap){.moved = moved};
}

void heap_release(struct heap *heap)
{
    free(heap->entries);
    heap_init(heap, heap->moved);
}

static void put(struct heap *heap, size_t place, struct heap_entry entry)
{
    heap->entries[place] = entry;
    heap->moved(entry.item, (uint32_t)place);
}

static void sift_up(struct heap *heap, size_t place, struct heap_entry entry)
{
    while (place > 0) {
        size_t parent = (place - 1) / 2;
        if (heap->entries[parent].key <= entry.key)
            break;
        put(heap, place, heap->entries[parent]);
        place = parent;
    }
    put(heap, place, entry);
}

static void sift_down(struct heap *heap, size_t place, struct heap_entry entry)
{
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->entries[child + 1].key < heap->entries[child].key)
            child++;
        if (heap->entries[child].key >= entry.key)
            break;
        put(heap, place, heap->entries[child]);
        place = child;
    }
    put(heap, place, entry);
}

enum status heap_push(struct heap *heap, int64_t key, void *item)
{
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity + heap->capacity / 2 : 64;
        struct heap_entry *entries = realloc(heap->entries, capacity * sizeof(*entries));
        if (!entries)
            return E_NOMEM;
        heap->entries = entries;
        heap->capacity = capacity;
    }
    sift_up(heap, heap->count++, (struct heap_entry){key, item});
    return OK;
}

void heap_update(struct heap *heap, uint32_t place, int64_t key)
{
    assert(place < heap->count);
    struct heap_entry entry = {key, heap->entries[place].item};
    if (place > 0 && heap->entries[(place - 1) / 2].key > key)
        sift_up(heap, place, entry);
    else
        sift_down(heap, place, entry);
}

void heap_remove(struct heap *heap, uint32_t place)
{
    assert(place < heap->count);
    void *item = heap->entries[place].item;
    struct heap_entry last = heap->entries[--heap->count];
    if (place < heap->count) {
        heap->entries[place] = last;
        heap_update(heap, place, last.key);
    }
    heap->moved(item, HEAP_NONE);
}
