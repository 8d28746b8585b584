#include "herd/herd_limits.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/selector.h"
#include "function/eligible.h"
#include "strbuf.h"
#include "workflow/steps.h"

enum {
    NODES_MAX = 64, /* selectors that differ */
    STARTS_MAX = 10000,
    DEPTH_MAX = 4, /* workflows in workflows */
};

void herd_limits_init(struct herd_limits *limits)
{
    *limits = (struct herd_limits){.labels = NULL};
}

void herd_limits_clear(struct herd_limits *limits)
{
    for (size_t i = 0; i < limits->group_count; i++) {
        free(limits->groups[i].members);
        limits->groups[i].members = NULL;
        limits->groups[i].count = 0;
    }
    free(limits->items);
    limits->items = NULL;
    limits->count = 0;
}

void herd_limits_release(struct herd_limits *limits)
{
    herd_limits_clear(limits);
    for (size_t i = 0; i < limits->nodes_count; i++) {
        free(limits->nodes[i].where);
        free(limits->nodes[i].are_in);
    }
    free(limits->nodes);
    free(limits->groups);
    herd_limits_init(limits);
}

enum status herd_limits_add_group(struct herd_limits *limits, const char *name,
                                  const struct group_limits *of)
{
    struct herd_group group = {.limits = *of};
    size_t length = strlen(name);
    if (length >= sizeof(group.name))
        return OK; /* there is none */
    memcpy(group.name, name, length + 1);
    enum status st = array_grow(&limits->groups, limits->group_count, sizeof(group));
    if (st == OK)
        limits->groups[limits->group_count++] = group;
    return st;
}

/* ---- nodes ---- */

static enum status add_nodes(struct herd_limits *limits, const char *where)
{
    struct herd_nodes nodes = {.where = strdup(where),
                               .are_in = calloc(limits->node_count + 1, sizeof(bool))};
    enum status st = nodes.where && nodes.are_in ? OK : E_NOMEM;
    for (size_t i = 0; i < limits->node_count && st == OK; i++) {
        nodes.are_in[i] = eligible_matches(*where ? where : NULL, "", limits->labels[i]);
        nodes.count += nodes.are_in[i];
    }
    if (st == OK)
        st = array_grow(&limits->nodes, limits->nodes_count, sizeof(nodes));
    if (st == OK) {
        limits->nodes[limits->nodes_count++] = nodes;
        return OK;
    }
    free(nodes.where);
    free(nodes.are_in);
    return st;
}

/* The number of the nodes that may run it; of very many selectors, the last ones count as all. */
static enum status find_nodes(struct herd_limits *limits, const struct job *job, size_t *ret)
{
    struct strbuf where;
    strbuf_init(&where);
    eligible_print(job, &where);
    enum status st = strbuf_status(&where);
    if (st == OK && !limits->nodes_count)
        st = add_nodes(limits, "");
    for (*ret = 0; st == OK && *ret < limits->nodes_count; ++*ret)
        if (strcmp(limits->nodes[*ret].where, where.text) == 0)
            break;
    if (st == OK && *ret == limits->nodes_count && limits->nodes_count < NODES_MAX)
        st = add_nodes(limits, where.text);
    else if (st == OK && *ret == limits->nodes_count)
        *ret = 0;
    strbuf_release(&where);
    return st;
}

static bool are_within(const struct herd_limits *limits, const struct herd_nodes *some,
                       const struct herd_nodes *all)
{
    if (some == all || !*all->where)
        return true;
    if (!some->count)
        return false;
    for (size_t i = 0; i < limits->node_count; i++)
        if (some->are_in[i] && !all->are_in[i])
            return false;
    return true;
}

/* ---- room ---- */

static int64_t least(int64_t room, int64_t other)
{
    return !room || other < room ? other : room;
}

/* The sum over the values that the label has on these nodes; 0: some node has no limit. */
static int64_t room_by_label(const struct herd_limits *limits, const struct group_limits *of,
                             const struct herd_nodes *nodes, const char *name, size_t length)
{
    struct group_label seen[NODES_MAX], found[GROUP_LABELS_MAX];
    size_t count = 0;
    int64_t room = 0;
    for (size_t i = 0; i < limits->node_count; i++) {
        size_t labels = nodes->are_in[i] ? group_labels_of(of, limits->labels[i], found) : 0;
        size_t k = 0, known = 0;
        while (k < labels &&
               (strncmp(found[k].label, name, length) != 0 || found[k].label[length] != '='))
            k++;
        if (nodes->are_in[i] && (k == labels || count == NODES_MAX))
            return 0;
        while (nodes->are_in[i] && known < count && strcmp(seen[known].label, found[k].label) != 0)
            known++;
        if (nodes->are_in[i] && known == count) {
            seen[count++] = found[k];
            room += found[k].most;
        }
    }
    return room;
}

/* How many runs fit on these nodes; 0: it is not limited. */
static int64_t room_on(const struct herd_limits *limits, const struct group_limits *of,
                       const struct herd_nodes *nodes)
{
    int64_t room = of->cluster;
    if (!nodes->count)
        return room;
    if (of->node)
        room = least(room, (int64_t)of->node * (int64_t)nodes->count);
    for (size_t i = 0; i < of->label_count; i++) {
        const char *label = of->labels[i].label;
        int64_t by_label = room_by_label(limits, of, nodes, label, strcspn(label, "="));
        if (by_label)
            room = least(room, by_label);
    }
    return room;
}

/* ---- what starts ---- */

/* Runs that start together, of one job or of one step. */
struct piece {
    const struct job *runs; /* whose groups and selector count */
    const char *name;       /* whose namespace counts: of a step, its workflow's */
    int64_t starts;
};

static bool is_in_group(const struct piece *piece, const char *group)
{
    if (group_space_has(group, piece->name))
        return true;
    for (char **name = piece->runs->groups; name && *name; name++)
        if (strcmp(*name, group) == 0)
            return true;
    return false;
}

static int64_t spread_starts(const struct job *job, const struct herd_nodes *nodes)
{
    struct spread spread = spread_read(job->spread);
    int64_t there = nodes->count ? (int64_t)nodes->count : 1;
    switch (spread.kind) {
    case SPREAD_ALL:
        return there;
    case SPREAD_NODES:
        return spread.count < there ? spread.count : there;
    case SPREAD_SHARDS:
        return spread.count;
    case SPREAD_ONE:
        break;
    }
    return 1;
}

/* Items of a fan-out that begin at once; of a list that only a run knows, one. */
static int64_t each_starts(const struct job_step *step)
{
    const struct step_each *each = &step->each;
    int64_t count = 0, most = each->at_once ? each->at_once : EACH_AT_ONCE;
    while (each->items && each->items[count])
        count++;
    if (each->shards)
        count = each->shards;
    else if (each->from != EACH_UNSET && each->to != EACH_UNSET && each->by)
        count = (each->to - each->from) / each->by + 1;
    count = count > most ? most : count;
    return step_is_fan_out(step) && count > 0 ? count : 1;
}

/* What the pieces are for: to be added to a group, or to be counted. */
struct pieces {
    struct herd_limits *limits;
    const struct tick_group *ticks; /* NULL: counted */
    int64_t later_s;
    const struct herd_limit *limit; /* that it is counted for */
    int64_t counted;
};

static enum status add_member(struct pieces *to, struct herd_group *group, size_t where,
                              int64_t starts)
{
    const struct herd_member member = {.ticks = to->ticks,
                                       .later_s = to->later_s,
                                       .starts = (int)(starts < STARTS_MAX ? starts : STARTS_MAX),
                                       .where = where};
    enum status st = array_grow(&group->members, group->count, sizeof(member));
    if (st == OK)
        group->members[group->count++] = member;
    return st;
}

static enum status take_piece(struct pieces *to, const struct piece *piece)
{
    struct herd_limits *limits = to->limits;
    size_t where;
    enum status st = find_nodes(limits, piece->runs, &where);
    if (st != OK)
        return st;
    int64_t starts = piece->starts * spread_starts(piece->runs, &limits->nodes[where]);
    if (!to->ticks) {
        bool counts = is_in_group(piece, to->limit->group->name) &&
                      are_within(limits, &limits->nodes[where], &limits->nodes[to->limit->nodes]);
        to->counted += counts ? starts : 0;
        return OK;
    }
    for (size_t i = 0; i < limits->group_count && st == OK; i++)
        if (is_in_group(piece, limits->groups[i].name))
            st = add_member(to, &limits->groups[i], where, starts);
    return st;
}

static const struct job *found(const struct herd_limits *limits, const char *name)
{
    return limits->find ? limits->find(limits->context, name) : NULL;
}

/* Workflows are nested a few deep. NOLINTNEXTLINE(misc-no-recursion) */
static enum status take_steps(struct pieces *to, const struct job *workflow, const char *name,
                              int depth)
{
    enum status st = OK;
    for (size_t i = 0; i < workflow->step_count && st == OK; i++) {
        const struct job_step *step = &workflow->steps[i];
        const char *named = step->ref ? step->ref : step->workflow;
        const struct job *runs = named ? found(to->limits, named) : step->job;
        const struct piece piece = {runs, name, each_starts(step)};
        if (step->after_count || step->is_final || !runs)
            continue;
        if (runs->kind != JOB_WORKFLOW)
            st = take_piece(to, &piece);
        else if (depth < DEPTH_MAX)
            st = take_steps(to, runs, name, depth + 1);
    }
    return st;
}

static enum status take(struct pieces *to, const struct job *job)
{
    const struct piece whole = {job, job->name, 1};
    return job->kind == JOB_WORKFLOW ? take_steps(to, job, job->name, 0) : take_piece(to, &whole);
}

enum status herd_limits_add_job(struct herd_limits *limits, const struct job *job,
                                const struct tick_group *ticks, int64_t later_s)
{
    struct pieces to = {.limits = limits, .ticks = ticks, .later_s = later_s};
    return limits->group_count ? take(&to, job) : OK;
}

/* ---- limits ---- */

static bool has_members(const struct herd_group *group, size_t where)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i].where == where)
            return true;
    return false;
}

/* Of nodes that are not all a limit of its own is worth it only if it is a lower one. */
static enum status add_limits(struct herd_limits *limits, const struct herd_group *group)
{
    int64_t of_all = limits->nodes_count ? room_on(limits, &group->limits, &limits->nodes[0]) : 0;
    enum status st = OK;
    for (size_t i = 0; i < limits->nodes_count && st == OK; i++) {
        const struct herd_nodes *nodes = &limits->nodes[i];
        int64_t room = room_on(limits, &group->limits, nodes);
        bool is_lower = nodes->count && (!of_all || room < of_all) && has_members(group, i);
        if (!room || (i > 0 && !is_lower))
            continue;
        st = array_grow(&limits->items, limits->count, sizeof(*limits->items));
        if (st == OK)
            limits->items[limits->count++] =
                (struct herd_limit){.group = group,
                                    .nodes = i,
                                    .most = (int)(room < GROUP_LIMIT_MAX ? room : GROUP_LIMIT_MAX)};
    }
    return st;
}

enum status herd_limits_settle(struct herd_limits *limits)
{
    enum status st = OK;
    for (size_t i = 0; i < limits->group_count && st == OK; i++)
        if (limits->groups[i].count)
            st = add_limits(limits, &limits->groups[i]);
    return st;
}

void herd_limit_fill(const struct herd_limit *limit, const struct herd_limits *limits,
                     struct crowd *crowd)
{
    for (size_t i = 0; i < limit->group->count; i++) {
        const struct herd_member *member = &limit->group->members[i];
        if (are_within(limits, &limits->nodes[member->where], &limits->nodes[limit->nodes]))
            crowd_add(crowd, &member->ticks->ticks, member->later_s, member->starts);
    }
}

enum status herd_limit_starts(const struct herd_limit *limit, struct herd_limits *limits,
                              const struct job *job, int *ret)
{
    struct pieces to = {.limits = limits, .limit = limit};
    enum status st = take(&to, job);
    *ret = (int)(to.counted < STARTS_MAX ? to.counted : STARTS_MAX);
    return st;
}

enum status herd_limit_count(struct herd_limit *limit, const struct herd_limits *limits,
                             int64_t from_s, int64_t until_s)
{
    struct crowd crowd = {0};
    enum status st = crowd_init(&crowd, from_s, until_s);
    if (st != OK)
        return st;
    herd_limit_fill(limit, limits, &crowd);
    limit->excess = (struct herd_excess){.worst = crowd_worst(&crowd)};
    for (size_t i = 0; i < crowd.seconds; i++) {
        if (crowd.starts[i] <= (uint32_t)limit->most)
            continue;
        limit->excess.seconds++;
        limit->excess.waiting += crowd.starts[i] - (uint32_t)limit->most;
    }
    crowd_release(&crowd);
    return OK;
}
