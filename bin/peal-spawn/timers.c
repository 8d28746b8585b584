#include "timers.h"

#include <stdlib.h>

static void put(struct timers *timers, size_t index, struct run *run)
{
    timers->heap[index] = run;
    run->heap_index = index + 1;
}

static void sift_up(struct timers *timers, size_t index)
{
    struct run *run = timers->heap[index];
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (timers->heap[parent]->due_boot_ms <= run->due_boot_ms)
            break;
        put(timers, index, timers->heap[parent]);
        index = parent;
    }
    put(timers, index, run);
}

static void sift_down(struct timers *timers, size_t index)
{
    struct run *run = timers->heap[index];
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= timers->count)
            break;
        if (child + 1 < timers->count &&
            timers->heap[child + 1]->due_boot_ms < timers->heap[child]->due_boot_ms)
            child++;
        if (run->due_boot_ms <= timers->heap[child]->due_boot_ms)
            break;
        put(timers, index, timers->heap[child]);
        index = child;
    }
    put(timers, index, run);
}

static void take_out(struct timers *timers, struct run *run)
{
    size_t index = run->heap_index - 1;
    run->heap_index = 0;
    struct run *last = timers->heap[--timers->count];
    if (last == run)
        return;
    put(timers, index, last);
    sift_up(timers, index);
    sift_down(timers, last->heap_index - 1);
}

bool timers_set(struct timers *timers, struct run *run, int64_t due_boot_ms)
{
    if (run->heap_index)
        take_out(timers, run);
    run->due_boot_ms = due_boot_ms;
    if (!due_boot_ms)
        return true;
    if (timers->count == timers->capacity) {
        size_t capacity = timers->capacity ? timers->capacity * 2 : 64;
        struct run **heap = realloc(timers->heap, capacity * sizeof(*heap));
        if (!heap)
            return false;
        timers->heap = heap;
        timers->capacity = capacity;
    }
    put(timers, timers->count++, run);
    sift_up(timers, timers->count - 1);
    return true;
}

struct run *timers_first(const struct timers *timers)
{
    return timers->count ? timers->heap[0] : NULL;
}

void timers_release(struct timers *timers)
{
    free(timers->heap);
    *timers = (struct timers){0};
}
