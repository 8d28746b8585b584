#include "state/namespaces.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"

struct span {
    const char *text;
    size_t length;
};

struct entry {
    int64_t count;
    bool is_watched;  /* stays even without jobs */
    struct span name; /* in `text` */
    char text[];
};

static uint64_t span_hash(const void *key)
{
    const struct span *span = key;
    return hash_bytes(0, span->text, span->length);
}

static bool is_same_span(const void *key, const void *other)
{
    const struct span *a = key, *b = other;
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static const struct table_type entry_type = {
    .key_at = offsetof(struct entry, name), .hash = span_hash, .is_same = is_same_span};

void namespaces_init(struct namespaces *namespaces)
{
    table_init(&namespaces->by_name, &entry_type);
}

void namespaces_release(struct namespaces *namespaces)
{
    table_release_items(&namespaces->by_name);
}

static struct entry *find(const struct namespaces *namespaces, const char *name, size_t length)
{
    struct span span = {name, length};
    return table_find(&namespaces->by_name, &span);
}

static struct entry *make(struct namespaces *namespaces, const char *name, size_t length)
{
    struct entry *entry = calloc(1, sizeof(*entry) + length + 1);
    if (!entry)
        return NULL;
    memcpy(entry->text, name, length);
    entry->name = (struct span){entry->text, length};
    if (table_insert(&namespaces->by_name, entry) == OK)
        return entry;
    free(entry);
    return NULL;
}

enum status namespaces_add(struct namespaces *namespaces, const char *job_name, int64_t count)
{
    enum status st = OK;
    for (const char *slash = job_name; (slash = strchr(slash, '/')); slash++) {
        size_t length = (size_t)(slash - job_name);
        bool is_first = !memchr(job_name, '/', length);
        struct entry *entry = find(namespaces, job_name, length);
        if (!entry && is_first)
            entry = make(namespaces, job_name, length);
        if (!entry) {
            st = is_first ? E_NOMEM : st;
            continue;
        }
        entry->count += count;
        if (!entry->count && !entry->is_watched) {
            table_remove(&namespaces->by_name, entry);
            free(entry);
        }
    }
    return st;
}

enum status namespaces_watch(struct namespaces *namespaces, const char *namespace, int64_t count)
{
    size_t length = strlen(namespace);
    struct entry *entry = find(namespaces, namespace, length);
    if (!entry && !(entry = make(namespaces, namespace, length)))
        return E_NOMEM;
    entry->count = count;
    entry->is_watched = true;
    return OK;
}

bool namespaces_watches(const struct namespaces *namespaces, const char *namespace)
{
    const struct entry *entry = find(namespaces, namespace, strlen(namespace));
    return entry && entry->is_watched;
}

int64_t namespaces_count(const struct namespaces *namespaces, const char *namespace, size_t length)
{
    const struct entry *entry = find(namespaces, namespace, length);
    return entry ? entry->count : 0;
}

bool namespace_has(const char *namespace, size_t length, const char *job_name)
{
    return strncmp(namespace, job_name, length) == 0 && job_name[length] == '/';
}
