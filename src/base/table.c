#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

void table_init(struct table *table, const struct table_type *type)
{
    *table = (struct table){.type = type};
}

void table_release(struct table *table)
{
    free(table->slots);
    table_init(table, table->type);
}

void table_release_items(struct table *table)
{
    for (size_t i = 0; i < table->capacity; i++)
        free(table->slots[i]);
    table_release(table);
}

static const void *key_of(const struct table_type *type, const void *item)
{
    const char *at = (const char *)item + type->key_at;
    return type->is_pointer ? *(const void *const *)(const void *)at : at;
}

/* Most keys are ids. */
enum { ID_SIZE = 16 };

static void read_halves(const void *key, uint64_t halves[2])
{
    memcpy(halves, key, ID_SIZE);
}

/* Two rounds of a multiplication of which both halves count: an id differs from its successor,
 * which is made in the same millisecond, in its last bits only. */
static uint64_t hash_id(const void *key)
{
    uint64_t halves[2];
    read_halves(key, halves);
    unsigned __int128 mixed = (unsigned __int128)(halves[0] ^ UINT64_C(0x9e3779b97f4a7c15)) *
                              (halves[1] ^ UINT64_C(0xbf58476d1ce4e5b9));
    uint64_t folded = (uint64_t)mixed ^ (uint64_t)(mixed >> 64);
    mixed = (unsigned __int128)folded * UINT64_C(0x94d049bb133111eb);
    return (uint64_t)mixed ^ (uint64_t)(mixed >> 64);
}

static bool is_same_id(const void *key, const void *other)
{
    uint64_t one[2], two[2];
    read_halves(key, one);
    read_halves(other, two);
    return one[0] == two[0] && one[1] == two[1];
}

static uint32_t hash_of(const struct table_type *type, const void *key)
{
    if (type->hash)
        return (uint32_t)type->hash(key);
    if (type->key_size == ID_SIZE)
        return (uint32_t)hash_id(key);
    return (uint32_t)(type->key_size ? hash_bytes(0, key, type->key_size) : hash_text(0, key));
}

static bool is_same(const struct table_type *type, const void *key, const void *other)
{
    if (type->is_same)
        return type->is_same(key, other);
    if (type->key_size == ID_SIZE)
        return is_same_id(key, other);
    return type->key_size ? memcmp(key, other, type->key_size) == 0 : strcmp(key, other) == 0;
}

void *table_find(const struct table *table, const void *key)
{
    if (!table->capacity)
        return NULL;
    const struct table_type *type = table->type;
    uint32_t hash = hash_of(type, key);
    size_t mask = table->capacity - 1;
    for (size_t i = hash & mask; table->slots[i]; i = (i + 1) & mask) {
        if (table->hashes[i] == hash && is_same(type, key_of(type, table->slots[i]), key))
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
    place(table, item, hash_of(table->type, key_of(table->type, item)));
    table->count++;
    return OK;
}

void *table_add(struct table *table, const void *item, size_t size)
{
    void *copy = malloc(size);
    if (copy && table_insert(table, memcpy(copy, item, size)) == OK)
        return copy;
    free(copy);
    return NULL;
}

void table_remove(struct table *table, const void *item)
{
    size_t mask = table->capacity - 1;
    size_t hole = hash_of(table->type, key_of(table->type, item)) & mask;
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
