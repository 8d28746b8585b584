#include "groups/slots.h"

#include <string.h>

#include "function/eligible.h"

void slots_init(struct slots *slots, struct open_runs *runs, const struct table *groups,
                const struct peer *self)
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
    return open->phase == OPEN_TAKING || strcmp(open->run.node, slots->self->name) == 0;
}

/* Adds one to the slots in use of all groups of the run. */
static void add_held(const struct slots *slots, const struct run *run, bool is_here)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        struct known_group *group = known_groups_find(slots->groups, name);
        if (!group)
            continue;
        group->held++;
        group->held_here += is_here;
        for (size_t i = 0; i < group->own_count; i++)
            group->held_alike[i] += is_here || groups_count_for(run->groups, group->own[i].label);
    }
}

static void count_held(const struct slots *slots)
{
    struct known_group *group;
    const struct open_run *open;
    for (size_t at = 0; (group = table_next(slots->groups, &at));) {
        group->held = group->held_here = 0;
        group->own_count = group_labels_of(&group->limits, slots->self->labels, group->own);
        memset(group->held_alike, 0, sizeof(group->held_alike));
    }
    TAILQ_FOREACH (open, &slots->runs->grouped, in_groups)
        if (holds_slots(open))
            add_held(slots, &open->run, is_here(slots, open));
}

/* The first group of the run without a free slot on all nodes together; NULL: none. */
static const struct known_group *find_full(const struct slots *slots, const struct run *run)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        const struct known_group *group = known_groups_find(slots->groups, name);
        if (group && group->limits.cluster && group->held >= group->limits.cluster)
            return group;
    }
    return NULL;
}

/* Which limit of the group this node has reached; false: none. */
static bool is_full_here(const struct known_group *group, struct slot_wait *ret)
{
    if (group->limits.node && group->held_here >= group->limits.node) {
        *ret =
            (struct slot_wait){.group = group, .limit = SLOT_OF_NODE, .most = group->limits.node};
        return true;
    }
    for (size_t i = 0; i < group->own_count; i++) {
        const struct group_label *own = &group->own[i];
        if (group->held_alike[i] < own->most)
            continue;
        *ret = (struct slot_wait){
            .group = group, .limit = SLOT_OF_LABEL, .label = *own, .most = own->most};
        return true;
    }
    return false;
}

/* The first limit that this node has reached of all groups of the run; false: none. */
static bool find_full_here(const struct slots *slots, const struct run *run, struct slot_wait *ret)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        const struct known_group *group = known_groups_find(slots->groups, name);
        if (group && is_full_here(group, ret))
            return true;
    }
    return false;
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
    open->is_up = !find_full(slots, &open->run);
    if (open->is_up && !was_up)
        open->up_since = now.boot;
    int64_t left_ms = open->up_since.ms + SLOTS_PASS_MS - now.boot.ms;
    if (open->is_up && left_ms <= 0)
        return;
    add_held(slots, &open->run, false);
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
    struct slot_wait full;
    return !open->run.groups[0] || (open->is_up && !find_full(slots, &open->run) &&
                                    !find_full_here(slots, &open->run, &full));
}

void slots_note_take(struct slots *slots, const struct open_run *open)
{
    add_held(slots, &open->run, true);
}

/* ---- for people ---- */

/* As is_full_here, of another node. */
static bool is_full_on(const struct slots *slots, const struct known_group *group,
                       const struct peer *node, struct slot_wait *ret)
{
    struct known_group there = *group;
    const struct open_run *open;
    there.held_here = 0;
    there.own_count = group_labels_of(&group->limits, node->labels, there.own);
    memset(there.held_alike, 0, sizeof(there.held_alike));
    TAILQ_FOREACH (open, &slots->runs->grouped, in_groups) {
        if (!holds_slots(open) || !groups_have(open->run.groups, group->name))
            continue;
        there.held_here += strcmp(open->run.node, node->name) == 0;
        for (size_t i = 0; i < there.own_count; i++)
            there.held_alike[i] += groups_count_for(open->run.groups, there.own[i].label);
    }
    bool is_full = is_full_here(&there, ret);
    if (is_full)
        ret->group = group;
    return is_full;
}

static bool find_full_on(const struct slots *slots, const struct run *run, const struct peer *node,
                         struct slot_wait *ret)
{
    char name[GROUP_NAME_MAX + 1];
    for (size_t at = 0; groups_next(run->groups, &at, name);) {
        const struct known_group *group = known_groups_find(slots->groups, name);
        if (group && is_full_on(slots, group, node, ret))
            return true;
    }
    return false;
}

static bool may_run(const struct open_run *open, const char *where, const struct peer *node)
{
    const char *only = open_run_only_node(&open->run);
    return peer_runs_jobs(node) && eligible_matches(where, node->program, node->labels) &&
           (!only || strcmp(only, node->name) == 0);
}

/* The limit that is reached on the nodes that may run it; false: some node has room. */
static bool find_full_where(const struct slots *slots, const struct open_run *open,
                            const char *where, const struct peers *peers, struct slot_wait *ret)
{
    struct slot_wait full;
    bool is_any = false;
    size_t at = 0;
    if (may_run(open, where, slots->self))
        return find_full_here(slots, &open->run, ret);
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        const struct peer *node = &known->peer;
        if (!node->is_alive || !may_run(open, where, node))
            continue;
        if (!find_full_on(slots, &open->run, node, &full))
            return false;
        if (!is_any)
            *ret = full;
        is_any = true;
    }
    return is_any;
}

/* The first limit of the group. */
static struct slot_wait wait_for(const struct known_group *group)
{
    const struct group_limits *limits = &group->limits;
    struct slot_wait wait = {.group = group, .most = limits->cluster};
    if (limits->cluster)
        return wait;
    wait.limit = limits->node ? SLOT_OF_NODE : SLOT_OF_LABEL;
    wait.label = limits->labels[0];
    wait.most = limits->node ? limits->node : limits->labels[0].most;
    return wait;
}

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

struct slot_wait slots_lack(const struct slots *slots, const struct open_run *open,
                            const char *where, const struct peers *peers)
{
    struct slot_wait wait = {.group = NULL};
    if (!waits(open) || !open->run.groups[0])
        return wait;
    const struct known_group *group = find_full(slots, &open->run);
    if (group)
        return wait_for(group);
    if (find_full_where(slots, open, where, peers, &wait))
        return wait;
    group = open->is_up ? NULL : find_limited(slots, &open->run); /* others go before it */
    return group ? wait_for(group) : (struct slot_wait){.group = NULL};
}

struct slot_wait slots_wait(const struct slots *slots, const struct open_run *open,
                            const char *where, const struct peers *peers)
{
    const struct open_run *other;
    struct slot_wait wait = slots_lack(slots, open, where, peers);
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

const char *slot_limit_name(enum slot_limit limit)
{
    static const char *const names[] = {
        [SLOT_OF_CLUSTER] = "cluster", [SLOT_OF_NODE] = "node", [SLOT_OF_LABEL] = "label"};
    return names[limit];
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

int slots_lacking(const struct slots *slots, const struct open_run *open, const char *where,
                  const struct peers *peers)
{
    const struct known_group *group = slots_wait(slots, open, where, peers).group;
    char name[GROUP_NAME_MAX + 1];
    for (int which = 1; group && groups_at(open->run.groups, which, name); which++)
        if (strcmp(name, group->name) == 0)
            return which;
    return 0;
}
