#include "mirror/store_kv_mirror_aside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 448 };

static const struct table_type asides_type = {.key_at = offsetof(struct mirror_aside, key)};

void mirror_asides_init(struct table *asides)
{
    table_init(asides, &asides_type);
}

void mirror_asides_release(struct table *asides)
{
    table_release_items(asides);
}

static struct mirror_aside *find(const struct table *asides, const char *key)
{
    return asides->count ? table_find(asides, key) : NULL;
}

static void feed_aside(struct feed *feed, const char *key, enum status why)
{
    if (feed)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_ASIDE, .aside = {key, why}});
}

enum status mirror_set_aside(struct table *asides, const char *key, enum status why,
                             int64_t mod_revision, struct feed *feed)
{
    size_t size = strlen(key) + 1;
    struct mirror_aside *aside = find(asides, key);
    if (!aside) {
        aside = malloc(sizeof(*aside) + size);
        if (aside)
            memcpy(aside->key, key, size);
        if (!aside || table_insert(asides, aside) != OK) {
            free(aside);
            return E_NOMEM;
        }
        feed_aside(feed, key, why);
    }
    aside->why = why;
    aside->mod_revision = mod_revision;
    return OK;
}

void mirror_unset_aside(struct table *asides, const char *key, struct feed *feed)
{
    struct mirror_aside *aside = find(asides, key);
    if (!aside)
        return;
    feed_aside(feed, key, OK);
    table_remove(asides, aside);
    free(aside);
}

void mirror_asides_feed_difference(const struct table *before, const struct table *now,
                                   struct feed *feed)
{
    const struct mirror_aside *aside;
    for (size_t at = 0; (aside = table_next(now, &at));)
        if (!before || !find(before, aside->key))
            feed_aside(feed, aside->key, aside->why);
    for (size_t at = 0; before && (aside = table_next(before, &at));)
        if (!find(now, aside->key))
            feed_aside(feed, aside->key, OK);
}

int64_t mirror_aside_revision(const struct table *asides, const char *kind, const char *rest)
{
    char key[KEY_SIZE];
    if (!asides->count)
        return 0;
    snprintf(key, sizeof(key), "%s%s", kind, rest);
    const struct mirror_aside *aside = find(asides, key);
    return aside ? aside->mod_revision : 0;
}

bool mirror_is_aside(const struct table *asides, const char *kind, const char *rest)
{
    return mirror_aside_revision(asides, kind, rest) != 0;
}
