#include "history_memory_changes.h"

#include <stdlib.h>
#include <string.h>

void memory_changes_release(struct memory_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        change_record_release(&changes->items[i]);
    free(changes->items);
    *changes = (struct memory_changes){0};
}

enum status memory_changes_reserve(struct memory_changes *changes, size_t count)
{
    if (changes->count + count <= changes->capacity)
        return OK;
    size_t capacity = (changes->count + count) * 2;
    struct change_record *items = realloc(changes->items, capacity * sizeof(*items));
    if (!items)
        return E_NOMEM;
    changes->items = items;
    changes->capacity = capacity;
    return OK;
}

/* The number of changes older than the id, which is the index of a change with this id. */
static size_t place_of(const struct memory_changes *changes, const struct id *id)
{
    size_t low = 0, high = changes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id_compare(&changes->items[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void memory_changes_put(struct memory_changes *changes, struct change_record *change)
{
    size_t place = place_of(changes, &change->id);
    struct change_record *there = &changes->items[place];
    if (place < changes->count && id_compare(&there->id, &change->id) == 0) {
        change_record_release(change);
        return;
    }
    memmove(there + 1, there, (changes->count - place) * sizeof(*there));
    *there = *change;
    changes->count++;
}

enum status memory_changes_read(const struct memory_changes *changes, struct history_changes *ret)
{
    const struct change_query *query = &ret->query;
    struct id_span span = history_change_span(query);
    struct changes_page page;
    struct change_record copy;
    enum status st = changes_page_init(&page, query);
    size_t at = place_of(changes, &span.below);
    while (st == OK && !page.answer.more && at-- > 0) {
        if (!history_change_matches(query, &changes->items[at]))
            continue;
        st = change_record_copy(&changes->items[at], query->with_definitions, &copy);
        if (st == OK && !changes_page_add(&page, &copy))
            change_record_release(&copy);
    }
    return changes_page_end(&page, st, ret);
}

size_t memory_changes_prune(struct memory_changes *changes, int64_t before_ms)
{
    struct id oldest_kept = history_id_at(before_ms);
    size_t gone = place_of(changes, &oldest_kept);
    for (size_t i = 0; i < gone; i++)
        change_record_release(&changes->items[i]);
    changes->count -= gone;
    if (gone)
        memmove(changes->items, changes->items + gone, changes->count * sizeof(*changes->items));
    return gone;
}
