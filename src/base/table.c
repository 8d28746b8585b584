#include "table.h"

#include <assert.h>
#include <stdlib.h>

void table_init(struct table *table, const struct table_type *type)
{
    *table = (struct table){.type = type};
}

void table_release(struct table *table)
{
    free(table->slots);
    table_init(table, table->type);
}

void *table_find(const struct table *table, uint64_t hash, const void *key)
{
    if (!table->capacity)
        return NULL;
    size_t mask = table->capacity - 1;
    for (size_t i = (uint32_t)hash & mask; table->slots[i]; i = (i + 1) & mask) {
        if (table->hashes[i] == (uint32_t)hash && table->type->has_key(table->slots[i], key))
            return table->slots[i];
    }
    return NULL;
}

static void place(struct table *table, void *item, uint32_t hash)
{
    size_t mask = table->capacity - 1;
    size_t i = hash & mask;
    while (table->slots[i])
        i = (i + 1) & mask;
    table->slots[i] = item;
    table->hashes[i] = hash;
}

static enum status grow(struct table *table)
{
    struct table old = *table;
    size_t capacity = old.capacity ? old.capacity * 2 : 16;
    void **slots = calloc(capacity, sizeof(*slots) + sizeof(*table->hashes));
    if (!slots)
        return E_NOMEM;
    table->slots = slots;
    table->hashes = (uint32_t *)(slots + capacity);
    table->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i])
            place(table, old.slots[i], old.hashes[i]);
    }
    free(old.slots);
    return OK;
}

enum status table_insert(struct table *table, void *item)
{
    if (table->count + 1 > table->capacity / 4 * 3) {
        enum status st = grow(table);
        if (st != OK)
            return st;
    }
    place(table, item, (uint32_t)table->type->hash(item));
    table->count++;
    return OK;
}

void table_remove(struct table *table, const void *item)
{
    size_t mask = table->capacity - 1;
    size_t hole = (uint32_t)table->type->hash(item) & mask;
    while (table->slots[hole] != item) {
        assert(table->slots[hole]);
        hole = (hole + 1) & mask;
    }
    /* Moves later items of the run back over the hole, where their own place allows it. */
    for (size_t i = (hole + 1) & mask; table->slots[i]; i = (i + 1) & mask) {
        size_t home = table->hashes[i] & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->slots[hole] = table->slots[i];
            table->hashes[hole] = table->hashes[i];
            hole = i;
        }
    }
    table->slots[hole] = NULL;
    table->count--;
}

void *table_next(const struct table *table, size_t *at)
{
    while (*at < table->capacity) {
        void *item = table->slots[(*at)++];
        if (item)
            return item;
    }
    return NULL;
}
