#include "array.h"

#include <stdlib.h>
#include <string.h>

static enum status resize(void *items, size_t capacity, size_t item_size)
{
    void *array;
    memcpy(&array, items, sizeof(array)); /* a pointer of any type */
    void *resized = realloc(array, capacity * item_size);
    if (!resized)
        return E_NOMEM;
    memcpy(items, &resized, sizeof(resized));
    return OK; /* cppcheck-suppress memleak ; the array has it */
}

enum status array_grow(void *items, size_t count, size_t item_size)
{
    if (count & (count - 1)) /* neither 0 nor a power of two: not full */
        return OK;
    return resize(items, count ? 2 * count : 1, item_size);
}

enum status array_reserve(void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return OK;
    size_t more = *capacity ? 2 * *capacity : 8;
    enum status st = resize(items, more, item_size);
    if (st == OK)
        *capacity = more;
    return st;
}
