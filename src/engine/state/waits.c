#include "state/waits.h"

#include <stdlib.h>
#include <string.h>

#include "state/catalog.h"

/* A name that jobs wait for, or had before they were renamed. */
struct awaited {
    LIST_HEAD(job_wait_list, job_wait) by;
    LIST_HEAD(condition_list, condition) conditions;
    LIST_HEAD(former_name_list, former_name) formerly;
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

enum status former_read(struct catalog_job *job, const struct job *definition,
                        struct job_former **ret)
{
    struct job_former *read = NULL;
    size_t count = definition ? definition->former_names.count : 0, size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(definition->former_names.items[i].name) + 1;
    if (count) {
        read = calloc(1, sizeof(*read) + count * sizeof(read->names[0]) + size);
        if (!read)
            return E_NOMEM;
        read->count = count;
        char *names = (char *)(read->names + count);
        for (size_t i = 0; i < count; i++) {
            const struct job_pair *pair = &definition->former_names.items[i];
            read->names[i] = (struct former_name){
                .job = job, .name = names, .until_ms = strtoll(pair->value, NULL, 10)};
            names = stpcpy(names, pair->name) + 1;
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
    LIST_INIT(&awaited->conditions);
    LIST_INIT(&awaited->formerly);
    memcpy(awaited->name, name, size);
    enum status st = table_insert(&waits->by_name, awaited);
    if (st == OK)
        *ret = awaited;
    else
        free(awaited);
    return st;
}

static enum status link_former(struct waits *waits, struct job_former *former)
{
    for (size_t i = 0; former && i < former->count; i++) {
        struct former_name *name = &former->names[i];
        enum status st = find_or_add(waits, name->name, &name->awaited);
        if (st != OK)
            return st;
        LIST_INSERT_HEAD(&name->awaited->formerly, name, link);
    }
    return OK;
}

static enum status link_conditions(struct waits *waits, struct job_conditions *conditions)
{
    for (size_t i = 0; conditions && i < conditions->count; i++) {
        struct condition *condition = &conditions->items[i];
        enum status st = find_or_add(waits, condition->name, &condition->awaited);
        if (st != OK)
            return st;
        LIST_INSERT_HEAD(&condition->awaited->conditions, condition, link);
    }
    return OK;
}

enum status waits_link(struct waits *waits, struct catalog_job *job)
{
    enum status st = link_former(waits, job->former);
    if (st == OK)
        st = link_conditions(waits, job->conditions);
    for (size_t i = 0; st == OK && job->waits && i < job->waits->count; i++) {
        struct job_wait *wait = &job->waits->waits[i];
        st = find_or_add(waits, wait->name, &wait->awaited);
        if (st == OK)
            LIST_INSERT_HEAD(&wait->awaited->by, wait, link);
    }
    if (st != OK)
        waits_unlink(waits, job);
    return st;
}

static void drop_unused(struct waits *waits, struct awaited *awaited)
{
    if (LIST_EMPTY(&awaited->by) && LIST_EMPTY(&awaited->conditions) &&
        LIST_EMPTY(&awaited->formerly)) {
        table_remove(&waits->by_name, awaited);
        free(awaited);
    }
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
        drop_unused(waits, awaited);
    }
    for (size_t i = 0; job->conditions && i < job->conditions->count; i++) {
        struct condition *condition = &job->conditions->items[i];
        struct awaited *awaited = condition->awaited;
        condition->awaited = NULL;
        if (!awaited)
            continue;
        LIST_REMOVE(condition, link);
        drop_unused(waits, awaited);
    }
    for (size_t i = 0; job->former && i < job->former->count; i++) {
        struct former_name *name = &job->former->names[i];
        struct awaited *awaited = name->awaited;
        name->awaited = NULL;
        if (!awaited)
            continue;
        LIST_REMOVE(name, link);
        drop_unused(waits, awaited);
    }
}

const struct job_wait *waits_first(const struct waits *waits, const char *name)
{
    const struct awaited *awaited = find(waits, name);
    return awaited ? LIST_FIRST(&awaited->by) : NULL;
}

const struct condition *waits_first_condition(const struct waits *waits, const char *name)
{
    const struct awaited *awaited = find(waits, name);
    return awaited ? LIST_FIRST(&awaited->conditions) : NULL;
}

bool waits_is_named(const struct waits *waits, const char *name)
{
    return waits_first(waits, name) || waits_first_condition(waits, name);
}

const struct job_wait *waits_next(const struct job_wait *wait)
{
    return LIST_NEXT(wait, link);
}

struct catalog_job *waits_former(const struct waits *waits, const char *name)
{
    const struct awaited *awaited = find(waits, name);
    const struct former_name *last = NULL, *former;
    if (!awaited)
        return NULL;
    LIST_FOREACH(former, &awaited->formerly, link)
    {
        if (!last || former->until_ms > last->until_ms ||
            (former->until_ms == last->until_ms &&
             id_compare(&former->job->uid, &last->job->uid) > 0)) /* the same on all nodes */
            last = former;
    }
    return last ? last->job : NULL;
}

struct catalog_job *waits_former_at(const struct waits *waits, const char *name, int64_t at_ms)
{
    const struct awaited *awaited = find(waits, name);
    const struct former_name *first = NULL, *former;
    if (!awaited)
        return NULL;
    LIST_FOREACH(former, &awaited->formerly, link)
    {
        if (former->until_ms >= at_ms && (!first || former->until_ms < first->until_ms))
            first = former;
    }
    return first ? first->job : NULL;
}
