/* A hash table of pointers (open addressing, no tombstones). It holds the items' addresses only;
 * the owner says where an item has its key. */
#ifndef PEAL_TABLE_H
#define PEAL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* Where an item has its key. A key is a text, `key_size` bytes, or what the two functions know. */
struct table_type {
    size_t key_at;   /* offset in the item */
    bool is_pointer; /* to the key; else the key itself is there */
    size_t key_size; /* 0: a text */
    uint64_t (*hash)(const void *key);
    bool (*is_same)(const void *key, const void *other);
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
void table_release_items(struct table *table); /* also frees the items */

/* NULL: none. */
void *table_find(const struct table *table, const void *key);

/* The item must not be in the table yet, nor one with the same key. */
MUST_CHECK enum status table_insert(struct table *table, void *item);

/* Inserts a copy of the item, from malloc. NULL: out of memory. */
void *table_add(struct table *table, const void *item, size_t size);

/* The item must be in the table. */
void table_remove(struct table *table, const void *item);

/* Walks all items: start with *at = 0; NULL at the end. No inserts or removes on the way. */
void *table_next(const struct table *table, size_t *at);

#endif
