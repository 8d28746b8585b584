/* Keys of documents in hash tables: a store_doc with only kind and name. */
#ifndef PEAL_DOC_KEY_H
#define PEAL_DOC_KEY_H

#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "store.h"

static inline void doc_key(const char *kind, const char *name, struct store_doc *ret)
{
    *ret = (struct store_doc){.json = NULL};
    snprintf(ret->kind, sizeof(ret->kind), "%s", kind);
    snprintf(ret->name, sizeof(ret->name), "%s", name);
}

static inline uint64_t doc_hash(const void *key)
{
    const struct store_doc *doc = key;
    return hash_text(hash_text(0, doc->kind), doc->name);
}

static inline bool doc_is(const void *key, const void *other)
{
    const struct store_doc *a = key, *b = other;
    return strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0;
}

#endif
