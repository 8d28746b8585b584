#include "groups/known_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct table_type known_type = {.key_at = offsetof(struct known_group, name)};

void known_groups_init(struct table *known)
{
    table_init(known, &known_type);
}

static void drop(struct known_group *group)
{
    free(group->json);
    free(group);
}

void known_groups_release(struct table *known)
{
    size_t at = 0;
    for (struct known_group *group; (group = table_next(known, &at));)
        drop(group);
    table_release(known);
    known_groups_init(known);
}

struct known_group *known_groups_find(const struct table *known, const char *name)
{
    return table_find(known, name);
}

static void forget(struct table *known, const char *name)
{
    struct known_group *group = known_groups_find(known, name);
    if (!group)
        return;
    table_remove(known, group);
    drop(group);
}

static enum status put(struct table *known, const struct store_doc *doc,
                       const struct group_limits *limits)
{
    struct known_group *group = known_groups_find(known, doc->name);
    char *json = strdup(doc->json);
    enum status st = json ? OK : E_NOMEM;
    if (st == OK && !group) {
        group = calloc(1, sizeof(*group));
        if (group)
            memcpy(group->name, doc->name, strnlen(doc->name, GROUP_NAME_MAX));
        st = group ? table_insert(known, group) : E_NOMEM;
        if (st != OK)
            free(group);
    }
    if (st != OK) {
        free(json);
        return st;
    }
    free(group->json);
    group->json = json;
    group->revision = doc->revision;
    group->limits = *limits;
    return OK;
}

enum status known_groups_take(struct table *known, const struct store_doc *doc,
                              struct job_error *reterr)
{
    struct group group = {.notes = NULL};
    if (strlen(doc->name) > GROUP_NAME_MAX)
        return E_INVALID;
    enum status st = doc->json ? group_decode_text(doc->json, doc->name, &group, reterr) : OK;
    if (st == OK && doc->json)
        st = put(known, doc, &group.limits);
    else
        forget(known, doc->name);
    group_release(&group);
    return st;
}

void known_groups_fill(const struct table *known, const char *groups, struct store_slots *ret)
{
    char name[GROUP_NAME_MAX + 1];
    *ret = (struct store_slots){.count = 0};
    for (size_t at = 0; ret->count < RUN_GROUPS_MAX && groups_next(groups, &at, name);) {
        const struct known_group *group = known_groups_find(known, name);
        struct store_slot *slot = &ret->items[ret->count++];
        memcpy(slot->group, name, sizeof(name));
        slot->revision = group ? group->revision : 0;
        slot->cluster = group ? group->limits.cluster : 0;
        slot->node = group ? group->limits.node : 0;
    }
}
