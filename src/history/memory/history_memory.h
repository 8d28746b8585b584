/* The trail of changes of the history without a disk: an array in the order of ids. */
#ifndef PEAL_HISTORY_MEMORY_H
#define PEAL_HISTORY_MEMORY_H

#include "history_internal.h"

struct memory_changes {
    struct change_record *items; /* oldest first */
    size_t count, capacity;
};

void memory_changes_release(struct memory_changes *changes);

/* Room for so many more. */
MUST_CHECK enum status memory_changes_reserve(struct memory_changes *changes, size_t count);

/* There is room for it; its texts are taken over. One that is there already stays as it is. */
void memory_changes_put(struct memory_changes *changes, struct change_record *change);

MUST_CHECK enum status memory_changes_read(const struct memory_changes *changes,
                                           struct history_changes *ret);

/* How many from before then are gone. */
size_t memory_changes_prune(struct memory_changes *changes, int64_t before_ms);

#endif
