#include "gates/known_maintenance.h"

#include <stdlib.h>
#include <string.h>

static const struct table_type known_type = {.key_at = offsetof(struct maintenance, id)};

void known_maintenance_init(struct table *known)
{
    table_init(known, &known_type);
}

void known_maintenance_release(struct table *known)
{
    table_release_items(known);
    known_maintenance_init(known);
}

static void forget(struct table *known, const char *id)
{
    struct maintenance *old = table_find(known, id);
    if (!old)
        return;
    table_remove(known, old);
    free(old);
}

enum status known_maintenance_take(struct table *known, const struct store_doc *doc)
{
    struct maintenance made;
    enum status st = doc->json ? maintenance_decode(doc->name, doc->json, &made) : OK;
    forget(known, doc->name);
    if (st != OK || !doc->json)
        return st;
    made.revision = doc->revision;
    return table_add(known, &made, sizeof(made)) ? OK : E_NOMEM;
}

static bool ends_later(const struct maintenance *one, const struct maintenance *other)
{
    return other->to_ms && (!one->to_ms || one->to_ms > other->to_ms);
}

const struct maintenance *known_maintenance_at(const struct table *known, const char *job_name,
                                               int64_t at_ms)
{
    const struct maintenance *found = NULL, *item;
    size_t at = 0;
    while (known->count && (item = table_next(known, &at))) {
        if (maintenance_covers(item, job_name, at_ms) && (!found || ends_later(item, found)))
            found = item;
    }
    return found;
}

size_t known_maintenance_open(const struct table *known, int64_t now_ms)
{
    const struct maintenance *item;
    size_t at = 0, count = 0;
    while ((item = table_next(known, &at)))
        count += !item->to_ms || item->to_ms > now_ms;
    return count;
}

const struct maintenance *known_maintenance_old(const struct table *known, int64_t now_ms)
{
    const struct maintenance *item;
    size_t at = 0;
    while ((item = table_next(known, &at))) {
        if (item->to_ms && item->to_ms < now_ms - MAINTENANCE_KEPT_MS)
            return item;
    }
    return NULL;
}
