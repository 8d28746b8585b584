#include "lookups.h"

#include <stdlib.h>
#include <string.h>

static const struct table_type by_host_type = {.key_at = offsetof(struct lookup, host),
                                               .is_pointer = true};

void lookups_init(struct lookups *lookups)
{
    *lookups = (struct lookups){0};
    table_init(&lookups->by_host, &by_host_type);
    TAILQ_INIT(&lookups->line);
    TAILQ_INIT(&lookups->known);
}

static void drop(struct lookups *lookups, struct lookup *lookup)
{
    table_remove(&lookups->by_host, lookup);
    free(lookup->host);
    free(lookup);
}

void lookups_release(struct lookups *lookups)
{
    struct lookup *lookup;
    for (size_t at = 0; (lookup = table_next(&lookups->by_host, &at));) {
        free(lookup->host);
        free(lookup);
    }
    table_release(&lookups->by_host);
}

static struct lookup *add(struct lookups *lookups, const char *host)
{
    struct lookup *lookup = calloc(1, sizeof(*lookup));
    if (!lookup)
        return NULL;
    TAILQ_INIT(&lookup->behind);
    lookup->host = strdup(host);
    if (lookup->host && table_insert(&lookups->by_host, lookup) == OK)
        return lookup;
    free(lookup->host);
    free(lookup);
    return NULL;
}

static void go_ahead(struct lookups *lookups, struct lookup *lookup, struct call *call)
{
    lookup->ahead = call;
    call->lookup = lookup;
    call->looks_up = true;
    lookups->count++;
}

static void go_behind(struct lookup *lookup, struct call *call)
{
    call->lookup = lookup;
    call->looks_up = false;
    TAILQ_INSERT_TAIL(&lookup->behind, call, line);
}

bool lookups_enter(struct lookups *lookups, struct call *call)
{
    struct lookup *lookup = call->host ? table_find(&lookups->by_host, call->host) : NULL;
    if (!call->host || (lookup && lookup->is_known))
        return true;
    if (lookup) {
        go_behind(lookup, call);
        return false;
    }
    lookup = add(lookups, call->host);
    if (!lookup)
        return true;
    if (lookups->count < LOOKUPS_MAX) {
        go_ahead(lookups, lookup, call);
        return true;
    }
    go_behind(lookup, call);
    TAILQ_INSERT_TAIL(&lookups->line, lookup, line);
    return false;
}

void lookups_found(struct lookups *lookups, struct call *call)
{
    struct lookup *lookup = call->lookup;
    if (!lookup || !call->looks_up || lookup->is_known)
        return;
    lookup->is_known = true;
    TAILQ_INSERT_TAIL(&lookups->known, lookup, line);
}

static struct call *pop(struct lookup *lookup)
{
    struct call *call = TAILQ_FIRST(&lookup->behind);
    if (!call)
        return NULL;
    TAILQ_REMOVE(&lookup->behind, call, line);
    call->lookup = NULL;
    return call;
}

void lookups_leave(struct lookups *lookups, struct call *call)
{
    struct lookup *lookup = call->lookup;
    if (!lookup)
        return;
    call->lookup = NULL;
    if (!call->looks_up) {
        TAILQ_REMOVE(&lookup->behind, call, line);
        if (!lookup->ahead && !lookup->is_known && TAILQ_EMPTY(&lookup->behind)) {
            TAILQ_REMOVE(&lookups->line, lookup, line);
            drop(lookups, lookup);
        }
        return;
    }
    call->looks_up = false;
    lookup->ahead = NULL;
    if (lookup->is_known)
        return; /* lookups_next drops it */
    lookups->count--;
    if (TAILQ_EMPTY(&lookup->behind))
        drop(lookups, lookup);
    else
        TAILQ_INSERT_HEAD(&lookups->line, lookup, line);
}

/* A call behind a host that is known now; the lookup is dropped with the last of them. */
static struct call *next_known(struct lookups *lookups)
{
    struct lookup *lookup;
    while ((lookup = TAILQ_FIRST(&lookups->known))) {
        struct call *call = pop(lookup);
        if (call)
            return call;
        if (lookup->ahead) {
            lookup->ahead->lookup = NULL;
            lookup->ahead->looks_up = false;
        }
        TAILQ_REMOVE(&lookups->known, lookup, line);
        lookups->count--;
        drop(lookups, lookup);
    }
    return NULL;
}

struct call *lookups_next(struct lookups *lookups)
{
    struct call *call = next_known(lookups);
    struct lookup *lookup = TAILQ_FIRST(&lookups->line);
    if (call || !lookup || lookups->count >= LOOKUPS_MAX)
        return call;
    TAILQ_REMOVE(&lookups->line, lookup, line);
    call = pop(lookup); /* one that nobody waits for is not in the line */
    go_ahead(lookups, lookup, call);
    return call;
}

struct call *lookups_behind(struct lookups *lookups, const struct call *call)
{
    (void)lookups;
    return call->lookup && call->looks_up ? pop(call->lookup) : NULL;
}
