#include "kv/store_kv_keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { LEAST = 64 };

void key_set_release(struct key_set *set)
{
    free(set->slots);
    *set = (struct key_set){0};
}

void key_set_clear(struct key_set *set)
{
    if (set->count > 0)
        memset(set->slots, 0, set->capacity * sizeof(*set->slots));
    set->count = 0;
}

/* The slot of the hash, or a free one for it. There is always a free slot. */
static size_t find_slot(const struct key_set *set, uint64_t hash)
{
    size_t at = hash & (set->capacity - 1);
    while (set->slots[at].uses && set->slots[at].hash != hash)
        at = (at + 1) & (set->capacity - 1);
    return at;
}

bool key_set_has(const struct key_set *set, uint64_t hash)
{
    return set->count > 0 && set->slots[find_slot(set, hash)].uses > 0;
}

static enum status grow(struct key_set *set)
{
    struct key_set grown = {.count = set->count,
                            .capacity = set->capacity ? 2 * set->capacity : LEAST};
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (!grown.slots)
        return E_NOMEM;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].uses)
            grown.slots[find_slot(&grown, set->slots[i].hash)] = set->slots[i];
    free(set->slots);
    *set = grown;
    return OK;
}

enum status key_set_add(struct key_set *set, uint64_t hash)
{
    if (2 * set->count >= set->capacity) {
        enum status st = grow(set);
        if (st != OK)
            return st;
    }
    struct key_slot *slot = &set->slots[find_slot(set, hash)];
    if (slot->uses == 0)
        set->count++;
    slot->hash = hash;
    slot->uses++;
    return OK;
}

void key_set_remove(struct key_set *set, uint64_t hash)
{
    size_t mask = set->capacity - 1, hole = find_slot(set, hash);
    assert(set->slots[hole].uses > 0);
    if (--set->slots[hole].uses > 0)
        return;
    set->count--;
    /* Moves back entries whose probe sequence passes the hole. */
    for (size_t at = (hole + 1) & mask; set->slots[at].uses; at = (at + 1) & mask) {
        size_t home = set->slots[at].hash & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        set->slots[hole] = set->slots[at];
        set->slots[at].uses = 0;
        hole = at;
    }
}

void key_list_release(struct key_list *list)
{
    free(list->hashes);
    *list = (struct key_list){0};
}

enum status key_list_add(struct key_list *list, uint64_t hash)
{
    enum status st = array_grow(&list->hashes, list->count, sizeof(*list->hashes));
    if (st == OK)
        list->hashes[list->count++] = hash;
    return st;
}
