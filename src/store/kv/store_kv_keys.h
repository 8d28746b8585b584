/* A multiset of keys in use, by hash. A hash collision only makes one item wait needlessly. */
#ifndef PEAL_STORE_ETCD_KEYS_H
#define PEAL_STORE_ETCD_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct key_slot {
    uint64_t hash;
    size_t uses; /* 0: free */
};

/* Zeroed: empty. */
struct key_set {
    struct key_slot *slots;
    size_t count, capacity; /* capacity is 0 or a power of two */
};

void key_set_release(struct key_set *set);
void key_set_clear(struct key_set *set); /* keeps its memory */

bool key_set_has(const struct key_set *set, uint64_t hash);
MUST_CHECK enum status key_set_add(struct key_set *set, uint64_t hash);
void key_set_remove(struct key_set *set, uint64_t hash); /* one use, which must exist */

/* A list of hashes. Zeroed: empty. */
struct key_list {
    uint64_t *hashes;
    size_t count;
};

void key_list_release(struct key_list *list);
MUST_CHECK enum status key_list_add(struct key_list *list, uint64_t hash);

#endif
