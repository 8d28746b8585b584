/* What the steps of a plan wait for, across its levels. A workflow that is used as a step has no
 * run: its first steps wait for what it waits for, and what waits for it waits for all of its steps
 * whose ends are its result. */
#include "workflow/plan/flow_levels.h"

static bool waits_for_all(const struct job_step *definition)
{
    return !definition->join || definition->join == (int)definition->after_count;
}

/* ---- whose end implies that of others ---- */

/* Can this be met only? A step that waits for others, too, is skipped as soon as one of those can't
 * be met. */
static bool is_sure(const struct level *level, const struct step_after *after)
{
    const struct level_node *before = level_find(level, after->step);
    return after->on == AFTER_ALWAYS || (before && before->inner);
}

/* Does the end of the step imply that of the one that it waits for? */
static bool covers(const struct level *level, const struct job_step *definition, size_t which)
{
    bool is_so = waits_for_all(definition);
    for (size_t i = 0; i < definition->after_count && is_so; i++)
        is_so = i == which || is_sure(level, &definition->after[i]);
    return is_so;
}

static enum status mark_one(const struct planning *p, const struct level *level,
                            const struct level_node *node)
{
    const struct job_step *definition = node->definition;
    for (size_t i = 0; i < definition->after_count; i++) {
        const struct step_after *after = &definition->after[i];
        struct level_node *before = level_find(level, after->step);
        if (!before)
            return flow_fail(p->why, p->size, "step %s%s: there is no step %s to wait for",
                             level->prefix, definition->name, after->step);
        if (before->definition->is_final != definition->is_final)
            return flow_fail(p->why, p->size,
                             "step %s%s: %s can't be waited for here; one of both is a step of "
                             "\"finally\"",
                             level->prefix, definition->name, after->step);
        if (before->inner && !waits_for_all(definition))
            return flow_fail(p->why, p->size,
                             "step %s%s: a \"join\" other than all can't wait for a workflow, %s",
                             level->prefix, definition->name, after->step);
        if (!covers(level, definition, i))
            continue;
        before->is_followed = true;
        before->is_handled |= after->on == AFTER_FAILURE;
    }
    return OK;
}

static enum status mark(const struct planning *p, struct level *level)
{
    size_t count = level->workflow->step_count;
    bool has_steps = false;
    enum status st = OK;
    for (size_t i = 0; i < count && st == OK; i++) {
        has_steps |= !level->nodes[i].definition->is_final;
        st = mark_one(p, level, &level->nodes[i]);
        if (st == OK && level->nodes[i].inner)
            st = mark(p, level->nodes[i].inner);
    }
    if (st == OK && !has_steps)
        st = flow_fail(p->why, p->size, "workflow %s has no steps", level->workflow->name);
    return st;
}

/* ---- lists ---- */

/* [STEP, ON] */
static enum status add_wait(json_t *list, int of, enum flow_on on)
{
    return json_array_append_new(list, json_pack("[i, i]", of, (int)on)) == 0 ? OK : E_NOMEM;
}

typedef enum status visit_step(void *context, int step);

static enum status each_result(const struct level *level, visit_step *visit, void *context);

/* The steps of the plan whose ends are the end of the node. */
static enum status each_end(const struct level_node *node, visit_step *visit, void *context)
{
    return node->inner ? each_result(node->inner, visit, context) : visit(context, node->step);
}

/* The same of a level. A failure that another step waits for is not the level's. */
static enum status each_result(const struct level *level, visit_step *visit, void *context)
{
    enum status st = OK;
    for (size_t i = 0; i < level->workflow->step_count && st == OK; i++) {
        const struct level_node *node = &level->nodes[i];
        if (!node->is_handled)
            st = each_end(node, visit, context);
    }
    return st;
}

struct waiting {
    json_t *list;
    enum flow_on on;
};

static enum status wait_for(void *context, int step)
{
    const struct waiting *waiting = context;
    return add_wait(waiting->list, step, waiting->on);
}

static enum status add_number(void *context, int step)
{
    return json_array_append_new(context, json_integer(step)) == 0 ? OK : E_NOMEM;
}

static enum status mark_end(void *context, int step)
{
    json_t *steps = context;
    return json_object_set_new(json_array_get(steps, (size_t)step), "ends", json_true()) == 0
               ? OK
               : E_NOMEM;
}

/* ---- what a node waits for ---- */

/* Of a workflow all steps must have ended; how it has ended as a whole is asked then (`needs`). */
static enum flow_on on_end(const struct level_node *before, enum after_on on)
{
    return before->inner ? FLOW_ALWAYS : (enum flow_on)on;
}

/* `finally`: all whose end no other step implies, however they ended. */
static enum status wait_for_last(const struct level *level, json_t *after)
{
    struct waiting waiting = {after, FLOW_ALWAYS};
    enum status st = OK;
    for (size_t i = 0; i < level->workflow->step_count && st == OK; i++) {
        const struct level_node *node = &level->nodes[i];
        if (!node->definition->is_final && !node->is_followed)
            st = each_end(node, wait_for, &waiting);
    }
    return st;
}

/* The steps that a node waits for. */
static enum status list_after(const struct level *level, const struct level_node *node,
                              json_t *after)
{
    const struct job_step *definition = node->definition;
    enum status st = OK;
    if (!definition->after_count && definition->is_final)
        return wait_for_last(level, after);
    if (!definition->after_count)
        return level->up ? list_after(level->up, level->of, after) : OK;
    for (size_t i = 0; i < definition->after_count && st == OK; i++) {
        const struct level_node *before = level_find(level, definition->after[i].step);
        struct waiting waiting = {after, on_end(before, definition->after[i].on)};
        st = each_end(before, wait_for, &waiting);
    }
    return st;
}

/* How many of them are enough; 0: all. */
static int join_of(const struct level *level, const struct level_node *node)
{
    const struct job_step *definition = node->definition;
    if (!definition->after_count && !definition->is_final)
        return level->up ? join_of(level->up, level->of) : 0;
    return waits_for_all(definition) ? 0 : definition->join;
}

/* The workflows that it waits for, which are asked how they have ended. */
static enum status list_needs(const struct level *level, const struct level_node *node,
                              json_t *needs)
{
    const struct job_step *definition = node->definition;
    enum status st = OK;
    for (size_t i = 0; i < definition->after_count && st == OK; i++) {
        const struct level_node *before = level_find(level, definition->after[i].step);
        if (before->inner)
            st = add_wait(needs, before->inner->scope, (enum flow_on)definition->after[i].on);
    }
    return st;
}

/* The steps alone that a workflow waits for. */
static enum status list_steps(const struct level *level, const struct level_node *node,
                              json_t *after)
{
    const struct job_step *definition = node->definition;
    enum status st = OK;
    for (size_t i = 0; i < definition->after_count && st == OK; i++) {
        const struct level_node *before = level_find(level, definition->after[i].step);
        if (!before->inner)
            st = add_wait(after, before->step, (enum flow_on)definition->after[i].on);
    }
    return st;
}

static bool add_list(json_t *map, const char *name, json_t *list)
{
    return json_array_size(list) == 0 || json_object_set(map, name, list) == 0;
}

static enum status link_node(struct planning *p, const struct level *level,
                             const struct level_node *node)
{
    const struct level *inner = node->inner;
    json_t *map = inner ? json_array_get(p->scopes, (size_t)inner->scope - 1)
                        : json_array_get(p->steps, (size_t)node->step);
    json_t *after = json_array(), *needs = json_array(), *results = json_array();
    int join = inner && !node->definition->after_count ? 0 : join_of(level, node);
    enum status st = after && needs && results ? OK : E_NOMEM;
    if (st == OK)
        st = inner ? list_steps(level, node, after) : list_after(level, node, after);
    if (st == OK)
        st = list_needs(level, node, needs);
    if (st == OK && inner)
        st = each_result(inner, add_number, results);
    if (st == OK && (!add_list(map, "after", after) || !add_list(map, "needs", needs) ||
                     !add_list(map, "results", results) ||
                     (join && json_object_set_new(map, "join", json_integer(join)) != 0)))
        st = E_NOMEM;
    json_decref(after);
    json_decref(needs);
    json_decref(results);
    return st;
}

static enum status link_level(struct planning *p, const struct level *level)
{
    enum status st = OK;
    for (size_t i = 0; i < level->workflow->step_count && st == OK; i++) {
        st = link_node(p, level, &level->nodes[i]);
        if (st == OK && level->nodes[i].inner)
            st = link_level(p, level->nodes[i].inner);
    }
    return st;
}

enum status levels_link(struct planning *p, struct level *top)
{
    enum status st = mark(p, top);
    if (st == OK)
        st = link_level(p, top);
    return st == OK ? each_result(top, mark_end, p->steps) : st;
}
