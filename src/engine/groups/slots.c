#include "groups/slots.h"

#include <string.h>

void slots_init(struct slots *slots, struct open_runs *runs, const struct table *groups,
                const char *self)
{
    *slots = (struct slots){.runs = runs, .groups = groups, .self = self, .look_at = {INT64_MAX}};
}

/* ---- who has them ---- */

/* As far as this node knows: a take under way counts, and so does an end that the store has not
 * been told of. */
static bool holds_slots(const struct open_run *open)
{
    return open->phase != OPEN_WAITING && open->phase != OPEN_GROUP;
}

static bool is_here(const struct slots *slots, const struct open_run *open)
{
    return open->phase == OPEN_TAKING || strcmp(open->run.node, slots->self) == 0;
}

/* Adds to the slots in use of all groups of the run. */
static void add_held(const struct slots *slots, const struct run *run, int held, int held_here)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        struct known_group *group = known_groups_find(slots->groups, name);
        if (!group)
            continue;
        group->held += held;
        group->held_here += held_here;
    }
}

static void count_held(const struct slots *slots)
{
    struct known_group *group;
    const struct open_run *open;
    for (size_t at = 0; (group = table_next(slots->groups, &at));)
        group->held = group->held_here = 0;
    TAILQ_FOREACH (open, &slots->runs->grouped, in_groups)
        if (holds_slots(open))
            add_held(slots, &open->run, 1, is_here(slots, open));
}

/* The first group of the run without a free slot, on all nodes or on this one; NULL: none. */
static const struct known_group *find_full(const struct slots *slots, const struct run *run,
                                           bool of_node)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        const struct known_group *group = known_groups_find(slots->groups, name);
        int limit = !group ? 0 : of_node ? group->limits.node : group->limits.cluster;
        if (limit && (of_node ? group->held_here : group->held) >= limit)
            return group;
    }
    return NULL;
}

/* ---- turns ---- */

/* A fan-out that opens, or a step that ends without a start, needs none. */
static bool waits(const struct open_run *open)
{
    bool is_process = open->verdict != VERDICT_OPEN && open->verdict != VERDICT_END;
    return open->phase == OPEN_WAITING && open->run.state == RUN_DUE && is_process;
}

static void look_again(struct slots *slots, struct now now, int64_t at_ms)
{
    int64_t boot_ms = now.boot.ms + (at_ms - now.wall.ms);
    if (boot_ms < slots->look_at.ms)
        slots->look_at.ms = boot_ms;
}

/* Is it the turn of the run? Those behind it leave it a slot in each of its groups, also while one
 * of them is full; but not for ever, if it is its turn and nobody takes it. */
static void look_at(struct slots *slots, struct now now, struct open_run *open)
{
    bool was_up = open->is_up;
    open->is_up = !find_full(slots, &open->run, false);
    if (open->is_up && !was_up)
        open->up_since = now.boot;
    int64_t left_ms = open->up_since.ms + SLOTS_PASS_MS - now.boot.ms;
    if (open->is_up && left_ms <= 0)
        return;
    add_held(slots, &open->run, 1, 0);
    if (open->is_up)
        look_again(slots, now, now.wall.ms + left_ms);
}

void slots_look(struct slots *slots, struct now now)
{
    struct open_run *open;
    if (!slots->is_to_look && !slots->runs->is_regrouped && slots->look_at.ms > now.boot.ms)
        return;
    slots->is_to_look = slots->runs->is_regrouped = false;
    slots->look_at.ms = INT64_MAX;
    count_held(slots);
    TAILQ_FOREACH (open, &slots->runs->grouped, in_groups) {
        bool is_time =
            open->run.not_before_ms <= now.wall.ms || open_run_is_set_back(open, now.wall);
        if (!waits(open))
            continue;
        if (!is_time)
            look_again(slots, now, open->run.not_before_ms);
        if (is_time)
            look_at(slots, now, open);
        else
            open->is_up = false;
    }
    count_held(slots); /* turns are not slots */
}

int64_t slots_look_at(const struct slots *slots, struct now now)
{
    if (slots->is_to_look || slots->runs->is_regrouped)
        return now.wall.ms;
    return slots->look_at.ms == INT64_MAX ? NEVER_MS : wall_at(now, slots->look_at);
}

bool slots_are_free(const struct slots *slots, const struct open_run *open)
{
    return !open->run.groups[0] || (open->is_up && !find_full(slots, &open->run, false) &&
                                    !find_full(slots, &open->run, true));
}

void slots_note_take(struct slots *slots, const struct open_run *open)
{
    add_held(slots, &open->run, 1, 1);
}

/* ---- for people ---- */

static const struct known_group *find_limited(const struct slots *slots, const struct run *run)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        const struct known_group *group = known_groups_find(slots->groups, name);
        if (group)
            return group;
    }
    return NULL;
}

const struct known_group *slots_lack(const struct slots *slots, const struct open_run *open,
                                     bool *ret_is_node)
{
    *ret_is_node = false;
    if (!waits(open) || !open->run.groups[0])
        return NULL;
    const struct known_group *group = find_full(slots, &open->run, false);
    if (!group) {
        group = find_full(slots, &open->run, true);
        *ret_is_node = group != NULL;
    }
    if (!group && !open->is_up) /* others go before it */
        group = find_limited(slots, &open->run);
    return group;
}

struct slot_wait slots_wait(const struct slots *slots, const struct open_run *open)
{
    struct slot_wait wait = {.group = NULL};
    const struct open_run *other;
    wait.group = slots_lack(slots, open, &wait.is_node);
    if (!wait.group)
        return wait;
    TAILQ_FOREACH (other, &slots->runs->grouped, in_groups) {
        if (!waits(other) || !groups_have(other->run.groups, wait.group->name))
            continue;
        wait.waiting++;
        if (other == open)
            wait.place = wait.waiting;
    }
    return wait;
}

static bool visit_those(const struct slots *slots, const char *group, bool holds,
                        bool (*visit)(void *context, const struct open_run *open, bool holds),
                        void *context)
{
    const struct open_run *open;
    TAILQ_FOREACH (open, &slots->runs->grouped, in_groups) {
        bool is_one = holds ? holds_slots(open) : waits(open);
        if (is_one && groups_have(open->run.groups, group) && !visit(context, open, holds))
            return false;
    }
    return true;
}

void slots_each(const struct slots *slots, const char *group,
                bool (*visit)(void *context, const struct open_run *open, bool holds),
                void *context)
{
    if (visit_those(slots, group, true, visit, context))
        visit_those(slots, group, false, visit, context);
}

int slots_lacking(const struct slots *slots, const struct open_run *open)
{
    const struct known_group *group = slots_wait(slots, open).group;
    char name[GROUP_NAME_MAX + 1];
    for (int which = 1; group && groups_at(open->run.groups, which, name); which++)
        if (strcmp(name, group->name) == 0)
            return which;
    return 0;
}
