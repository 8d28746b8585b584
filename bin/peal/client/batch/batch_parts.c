#include "client/batch/batch_parts.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

/* A definition in a union-find structure: following `first` leads to the representative of its
 * group. */
struct member {
    const char *name;
    size_t first;
    size_t place;
};

struct groups {
    struct member *members;
    size_t count;
    struct table by_name;
};

static const struct table_type member_type = {.key_at = offsetof(struct member, name),
                                              .is_pointer = true};

static size_t first_of(struct groups *groups, size_t i)
{
    while (groups->members[i].first != i) {
        struct member *member = &groups->members[i];
        member->first = groups->members[member->first].first; /* path compression */
        i = member->first;
    }
    return i;
}

static void join(struct groups *groups, size_t a, size_t b)
{
    a = first_of(groups, a);
    b = first_of(groups, b);
    groups->members[a > b ? a : b].first = a > b ? b : a;
}

/* `after` is a name, an object with a "job" or "jobs", or a list of them. */
static void join_after(struct groups *groups, size_t i, const json_t *after)
{
    const json_t *each;
    size_t at;
    json_array_foreach (after, at, each) {
        join_after(groups, i, each);
    }
    if (json_is_object(after)) {
        join_after(groups, i, json_object_get(after, "job"));
        join_after(groups, i, json_object_get(after, "jobs"));
    }
    const char *name = json_string_value(after);
    const struct member *other = name ? table_find(&groups->by_name, name) : NULL;
    if (other)
        join(groups, i, other->place);
}

static enum status read_names(struct groups *groups, const json_t *definitions)
{
    const json_t *definition;
    size_t i;
    json_array_foreach (definitions, i, definition) {
        const char *name = json_string_value(json_object_get(definition, "name"));
        struct member *member = &groups->members[i];
        *member = (struct member){.name = name ? name : "", .first = i, .place = i};
        if (table_find(&groups->by_name, member->name))
            continue; /* the agent reports the duplicate name */
        enum status st = table_insert(&groups->by_name, member);
        if (st != OK)
            return st;
    }
    return OK;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* Groups are not split; a new list begins when one is long enough. */
static enum status fill_lists(const struct groups *groups, const json_t *definitions, size_t size,
                              size_t bytes, json_t *lists)
{
    json_t *list = NULL;
    size_t list_bytes = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct member *member = &groups->members[i];
        json_t *definition = json_array_get(definitions, member->place);
        bool is_new_group = i == 0 || member->first != groups->members[i - 1].first;
        if (is_new_group && (!list || json_array_size(list) >= size || list_bytes >= bytes)) {
            list = json_array();
            list_bytes = 0;
            if (json_array_append_new(lists, list) != 0)
                return E_NOMEM;
        }
        if (json_array_append(list, definition) != 0)
            return E_NOMEM;
        list_bytes += json_dumpb(definition, NULL, 0, JSON_COMPACT);
    }
    return OK;
}

enum status batch_split(const json_t *definitions, size_t size, size_t bytes, json_t **ret)
{
    struct groups groups = {.count = json_array_size(definitions)};
    json_t *lists = json_array();
    table_init(&groups.by_name, &member_type);
    groups.members = calloc(groups.count + 1, sizeof(*groups.members));
    enum status st = lists && groups.members ? read_names(&groups, definitions) : E_NOMEM;
    for (size_t i = 0; i < groups.count && st == OK; i++)
        join_after(&groups, i, json_object_get(json_array_get(definitions, i), "after"));
    for (size_t i = 0; i < groups.count && st == OK; i++)
        groups.members[i].first = first_of(&groups, i);
    table_release(&groups.by_name); /* before they are moved */
    if (st == OK) {
        qsort(groups.members, groups.count, sizeof(*groups.members), compare_members);
        st = fill_lists(&groups, definitions, size, bytes, lists);
    }
    free(groups.members);
    if (st == OK)
        *ret = lists;
    else
        json_decref(lists);
    return st;
}
