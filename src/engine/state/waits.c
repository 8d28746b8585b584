#include "state/waits.h"

#include <stdlib.h>
#include <string.h>

#include "state/catalog.h"

/* An awaited name. */
struct awaited {
    LIST_HEAD(job_wait_list, job_wait) by;
    char name[];
};

static const struct table_type awaited_type = {.key_at = offsetof(struct awaited, name)};

void waits_init(struct waits *waits)
{
    *waits = (struct waits){.mark = 0};
    table_init(&waits->by_name, &awaited_type);
}

void waits_release(struct waits *waits)
{
    table_release_items(&waits->by_name);
}

static size_t names_size(const struct job *definition)
{
    size_t size = 0;
    for (size_t i = 0; i < definition->after_count; i++)
        size += strlen(definition->after[i].job) + 1;
    return size;
}

enum status waits_read(struct catalog_job *job, const struct job *definition,
                       struct job_waits **ret)
{
    struct job_waits *read = NULL;
    size_t count = definition ? definition->after_count : 0;
    if (count) {
        read = calloc(1, sizeof(*read) + count * sizeof(read->waits[0]) + names_size(definition));
        if (!read)
            return E_NOMEM;
        read->count = count;
        char *names = (char *)(read->waits + count);
        for (size_t i = 0; i < count; i++) {
            read->waits[i] =
                (struct job_wait){.job = job, .name = names, .on = definition->after[i].on};
            names = stpcpy(names, definition->after[i].job) + 1;
        }
    }
    *ret = read;
    return OK;
}

static struct awaited *find(const struct waits *waits, const char *name)
{
    return waits->by_name.count ? table_find(&waits->by_name, name) : NULL;
}

static enum status find_or_add(struct waits *waits, const char *name, struct awaited **ret)
{
    struct awaited *awaited = find(waits, name);
    if (awaited) {
        *ret = awaited;
        return OK;
    }
    size_t size = strlen(name) + 1;
    awaited = malloc(sizeof(*awaited) + size);
    if (!awaited)
        return E_NOMEM;
    LIST_INIT(&awaited->by);
    memcpy(awaited->name, name, size);
    enum status st = table_insert(&waits->by_name, awaited);
    if (st == OK)
        *ret = awaited;
    else
        free(awaited);
    return st;
}

enum status waits_link(struct waits *waits, struct catalog_job *job)
{
    for (size_t i = 0; job->waits && i < job->waits->count; i++) {
        struct job_wait *wait = &job->waits->waits[i];
        enum status st = find_or_add(waits, wait->name, &wait->awaited);
        if (st != OK) {
            waits_unlink(waits, job);
            return st;
        }
        LIST_INSERT_HEAD(&wait->awaited->by, wait, link);
    }
    return OK;
}

void waits_unlink(struct waits *waits, struct catalog_job *job)
{
    for (size_t i = 0; job->waits && i < job->waits->count; i++) {
        struct job_wait *wait = &job->waits->waits[i];
        struct awaited *awaited = wait->awaited;
        wait->awaited = NULL;
        if (!awaited)
            continue;
        LIST_REMOVE(wait, link);
        if (LIST_EMPTY(&awaited->by)) {
            table_remove(&waits->by_name, awaited);
            free(awaited);
        }
    }
}

const struct job_wait *waits_first(const struct waits *waits, const char *name)
{
    const struct awaited *awaited = find(waits, name);
    return awaited ? LIST_FIRST(&awaited->by) : NULL;
}

const struct job_wait *waits_next(const struct job_wait *wait)
{
    return LIST_NEXT(wait, link);
}
