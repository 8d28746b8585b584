/* Arrays that grow by one item at a time. `items` is the address of the array's pointer, which is
 * NULL at first. E_NOMEM: the array is unchanged. */
#ifndef PEAL_ARRAY_H
#define PEAL_ARRAY_H

#include <stddef.h>

#include "status.h"

/* Room for one more item behind `count`, in an array that nothing else has allocated. Its size is a
 * power of two, and follows from the count. */
MUST_CHECK enum status array_grow(void *items, size_t count, size_t item_size);

/* The same for an array that is emptied and filled again, and so remembers its size. */
MUST_CHECK enum status array_reserve(void *items, size_t count, size_t *capacity, size_t item_size);

#endif
