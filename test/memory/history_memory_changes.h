/* The trail of changes of the history in memory: an array in the order of ids. */
#ifndef PEAL_HISTORY_MEMORY_CHANGES_H
#define PEAL_HISTORY_MEMORY_CHANGES_H

#include "history_internal.h"

struct memory_changes {
    struct change_record *items; /* oldest first */
    size_t count, capacity;
};

void memory_changes_release(struct memory_changes *changes);

/* Makes room for `count` more changes. */
MUST_CHECK enum status memory_changes_reserve(struct memory_changes *changes, size_t count);

/* Takes over the change. Room must have been reserved. An existing change with the id stays. */
void memory_changes_put(struct memory_changes *changes, struct change_record *change);

MUST_CHECK enum status memory_changes_read(const struct memory_changes *changes,
                                           struct history_changes *ret);

/* Removes changes made before `before_ms`; returns their number. */
size_t memory_changes_prune(struct memory_changes *changes, int64_t before_ms);

#endif
