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

void known_groups_add_spaces(const struct table *known, const char *job_name,
                             char groups[RUN_GROUPS_SIZE])
{
    char name[GROUP_NAME_MAX + 1];
    const char *slash = job_name;
    for (int i = 0; known->count && i < RUN_SPACES_MAX && (slash = strchr(slash, '/')); i++) {
        size_t length = (size_t)(++slash - job_name);
        if (length > GROUP_NAME_MAX)
            return;
        memcpy(name, job_name, length);
        name[length] = '\0';
        if (known_groups_find(known, name))
            groups_add(groups, name);
    }
}

/* The place of a label among those of the slots; -1: there is no room for it. */
static int place_of(struct store_slots *slots, const char *label)
{
    char word[GROUP_LABEL_SIZE];
    size_t at = 0, length = strlen(slots->labels);
    int place = 0;
    for (; groups_next_label(slots->labels, &at, word); place++)
        if (strcmp(word, label) == 0)
            return place;
    if (place == RUN_LABELS_MAX || length + 1 + strlen(label) >= sizeof(slots->labels))
        return -1;
    snprintf(slots->labels + length, sizeof(slots->labels) - length, "%s%s", length ? " " : "",
             label);
    return place;
}

static void add_labels(const struct group_limits *limits, const char *node_labels,
                       struct store_slots *slots, struct store_slot *slot)
{
    struct group_label labels[GROUP_LABELS_MAX];
    size_t count = group_labels_of(limits, node_labels, labels);
    for (size_t i = 0; i < count; i++) {
        int place = place_of(slots, labels[i].label);
        if (place >= 0)
            slot->alike[place] = labels[i].most;
        else if (!slot->cluster || slot->cluster > labels[i].most)
            slot->cluster = labels[i].most;
    }
}

void known_groups_fill(const struct table *known, const char *groups, const char *node_labels,
                       struct store_slots *ret)
{
    char name[GROUP_NAME_MAX + 1];
    *ret = (struct store_slots){.count = 0};
    for (size_t at = 0; ret->count < RUN_GROUPS_MAX && groups_next(groups, &at, name);) {
        const struct known_group *group = known_groups_find(known, name);
        struct store_slot *slot = &ret->items[ret->count++];
        memcpy(slot->group, name, sizeof(name));
        if (!group)
            continue;
        slot->revision = group->revision;
        slot->cluster = group->limits.cluster;
        slot->node = group->limits.node;
        add_labels(&group->limits, node_labels, ret, slot);
    }
}
