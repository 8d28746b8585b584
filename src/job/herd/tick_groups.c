#include "herd/tick_groups.h"

#include <stdlib.h>

static const struct table_type groups_type = {.key_at = offsetof(struct tick_group, key),
                                              .is_pointer = true};

void tick_groups_init(struct tick_groups *groups, int64_t from_s, int64_t until_s, size_t limit)
{
    *groups = (struct tick_groups){.from_s = from_s, .until_s = until_s, .room = limit};
    table_init(&groups->groups, &groups_type);
}

static void group_free(struct tick_group *group)
{
    ticks_release(&group->ticks);
    free(group->key);
    free(group);
}

void tick_groups_release(struct tick_groups *groups)
{
    size_t at = 0;
    struct tick_group *group;
    while ((group = table_next(&groups->groups, &at)))
        group_free(group);
    table_release(&groups->groups);
}

static enum status collect(struct tick_groups *groups, const struct schedule_set *set,
                           const struct calendars *calendars, struct tick_group *group)
{
    enum status st =
        ticks_collect(set, calendars, groups->from_s, groups->until_s, groups->room, &group->ticks);
    if (st == OK && group->ticks.until_s < groups->until_s)
        st = E_TOO_LARGE;
    return st;
}

enum status tick_groups_get(struct tick_groups *groups, const struct schedule_set *set,
                            const struct calendars *calendars, struct tick_group **ret)
{
    struct strbuf key;
    strbuf_init(&key);
    ticks_key(set, calendars, &key);
    enum status st = strbuf_status(&key);
    struct tick_group *group = st == OK ? table_find(&groups->groups, key.text) : NULL;
    if (st == OK && !group) {
        group = calloc(1, sizeof(*group));
        st = group && (group->key = strbuf_detach(&key)) ? OK : E_NOMEM;
        if (st == OK)
            st = collect(groups, set, calendars, group);
        if (st == OK)
            st = table_insert(&groups->groups, group);
        if (st == OK)
            groups->room -= group->ticks.count;
        else if (group)
            group_free(group);
    }
    strbuf_release(&key);
    if (st == OK)
        *ret = group;
    return st;
}
