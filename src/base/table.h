/* A hash table of pointers (open addressing, no tombstones). It holds the items' addresses only;
 * the owner says how to hash an item and whether it has a key. */
#ifndef PEAL_TABLE_H
#define PEAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct table_type {
    uint64_t (*hash)(const void *item);
    bool (*has_key)(const void *item, const void *key);
};

struct table {
    const struct table_type *type;
    void **slots;
    uint32_t *hashes; /* of the slots, in the same allocation: growing the table does not touch its
                         items */
    size_t count, capacity; /* capacity is 0 or a power of two */
};

void table_init(struct table *table, const struct table_type *type);
void table_release(struct table *table);

/* `hash` is what the item with this key hashes to. NULL: none. */
void *table_find(const struct table *table, uint64_t hash, const void *key);

/* The item must not be in the table yet, nor one with the same key. */
MUST_CHECK enum status table_insert(struct table *table, void *item);

/* The item must be in the table. */
void table_remove(struct table *table, const void *item);

/* Walks all items: start with *at = 0; NULL at the end. No inserts or removes on the way. */
void *table_next(const struct table *table, size_t *at);

#endif
