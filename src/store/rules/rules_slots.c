/* Groups: who holds a slot, and who waits for one. */
#include <string.h>

#include "group/group.h"
#include "rules/rules_internal.h"

/* A run that asks for slots, and what the others leave of them. */
struct asker {
    const struct run *run;
    const struct store_slots *slots;
    bool is_new;
    char labels[RUN_LABELS_MAX][GROUP_LABEL_SIZE]; /* those of the slots */
    int held[RUN_GROUPS_MAX], held_here[RUN_GROUPS_MAX];
    int held_alike[RUN_GROUPS_MAX][RUN_LABELS_MAX];
    bool must_wait;
};

static bool is_limited(const struct store_slot *slot)
{
    bool is_limited = slot->cluster || slot->node;
    for (size_t k = 0; k < RUN_LABELS_MAX; k++)
        is_limited |= slot->alike[k] != 0;
    return is_limited;
}

static void count_holder(struct asker *asker, const struct run *other)
{
    bool is_here = strcmp(other->node, asker->run->node) == 0;
    for (size_t i = 0; i < asker->slots->count; i++) {
        const struct store_slot *slot = &asker->slots->items[i];
        if (!groups_have(other->groups, slot->group))
            continue;
        asker->held[i]++;
        asker->held_here[i] += is_here;
        for (size_t k = 0; k < RUN_LABELS_MAX; k++)
            asker->held_alike[i][k] +=
                slot->alike[k] && groups_count_for(other->groups, asker->labels[k]);
    }
}

static bool is_behind(const struct asker *asker, const struct run *other)
{
    bool is_time = other->not_before_ms <= asker->run->claimed_ms;
    if (other->state != RUN_DUE || !is_time || !run_goes_before(other, asker->run))
        return false;
    for (size_t i = 0; i < asker->slots->count; i++)
        if (is_limited(&asker->slots->items[i]) &&
            groups_have(other->groups, asker->slots->items[i].group))
            return true;
    return false;
}

static bool look_at(void *context, const struct run_row *row)
{
    struct asker *asker = context;
    if (id_compare(&row->run.id, &asker->run->id) == 0)
        return true;
    if (run_holds_slots(&row->run))
        count_holder(asker, &row->run);
    else if (asker->is_new)
        asker->must_wait = is_behind(asker, &row->run);
    else
        return false; /* those that hold some came first */
    return !asker->must_wait;
}

static bool is_full(const struct asker *asker, size_t i, bool has_some)
{
    const struct store_slot *slot = &asker->slots->items[i];
    bool is_full = (slot->cluster && !has_some && asker->held[i] >= slot->cluster) ||
                   (slot->node && asker->held_here[i] >= slot->node);
    for (size_t k = 0; k < RUN_LABELS_MAX; k++)
        is_full |= slot->alike[k] && asker->held_alike[i][k] >= slot->alike[k];
    return is_full;
}

static bool has_room(const struct asker *asker, bool has_some)
{
    for (size_t i = 0; i < asker->slots->count; i++)
        if (is_full(asker, i, has_some))
            return false;
    return true;
}

enum status rules_slots_are_current(struct rules *rules, const struct store_slots *slots, bool *ret)
{
    *ret = true;
    for (size_t i = 0; i < slots->count && *ret; i++) {
        int64_t revision = 0;
        enum status st =
            rules->ops->get_doc(rules->tables, GROUP_DOC, slots->items[i].group, &revision);
        if (st != OK && st != E_NOT_FOUND)
            return st;
        *ret = (st == OK ? revision : 0) == slots->items[i].revision;
    }
    return OK;
}

/* Who gives a slot back need not guard it: at worst a run waits that need not any more, and is
 * taken at once. */
static enum status guard(struct rules *rules, const struct store_slots *slots)
{
    enum status st = OK;
    for (size_t i = 0; rules->ops->guard_group && st == OK && i < slots->count; i++)
        if (is_limited(&slots->items[i]))
            st = rules->ops->guard_group(rules->tables, slots->items[i].group);
    return st;
}

/* Are there slots for the run? */
static enum status find_room(struct rules *rules, struct asker *asker, bool has_some, bool *ret)
{
    size_t at = 0;
    for (size_t k = 0; k < RUN_LABELS_MAX; k++)
        if (!groups_next_label(asker->slots->labels, &at, asker->labels[k]))
            break;
    enum status st = rules->ops->each_grouped(rules->tables, look_at, asker);
    *ret = st == OK && !asker->must_wait && has_room(asker, has_some);
    return st;
}

enum status rules_get_slots(struct rules *rules, struct run *run, const struct store_slots *slots,
                            bool is_new, bool has_some, bool *ret)
{
    struct asker asker = {.run = run, .slots = slots, .is_new = is_new};
    enum status st = OK;
    bool has_limit = false;
    *ret = true;
    groups_set_labels(run->groups, "");
    for (size_t i = 0; i < slots->count; i++)
        has_limit |= is_limited(&slots->items[i]);
    if (has_limit)
        st = find_room(rules, &asker, has_some, ret);
    if (st != OK || !has_limit || !*ret)
        return st;
    groups_set_labels(run->groups, slots->labels);
    return guard(rules, slots);
}
