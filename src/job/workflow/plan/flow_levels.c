/* A workflow and those that are used as its steps become one list of steps. */
#include "workflow/plan/flow_levels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "params/run_input.h"

static enum status build(struct planning *p, struct level *level);

struct level *level_free(struct level *level)
{
    if (!level)
        return NULL;
    for (size_t i = 0; level->nodes && i < level->workflow->step_count; i++)
        level_free(level->nodes[i].inner);
    free(level->nodes);
    free(level->by_name);
    free(level->prefix);
    json_decref(level->env);
    job_free(level->owned);
    free(level);
    return NULL;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct level_node *const *left = a, *const *right = b;
    return strcmp((*left)->definition->name, (*right)->definition->name);
}

struct level_node *level_find(const struct level *level, const char *name)
{
    const struct job_step like = {.name = (char *)name};
    const struct level_node node = {.definition = &like}, *key = &node;
    struct level_node **found = bsearch(&key, level->by_name, level->workflow->step_count,
                                        sizeof(*level->by_name), compare_nodes);
    return found ? *found : NULL;
}

/* "outer/inner" */
static enum status name_of(const struct planning *p, const struct level *level,
                           const struct job_step *definition, json_t **ret)
{
    char name[STEP_NAME_SIZE];
    int length = snprintf(name, sizeof(name), "%s%s", level->prefix, definition->name);
    if (length > STEP_NAME_MAX)
        return flow_fail(p->why, p->size, "step %s%s: the name is longer than %d bytes",
                         level->prefix, definition->name, STEP_NAME_MAX);
    *ret = json_string(name);
    return *ret ? OK : E_NOMEM;
}

/* ---- a step ---- */

static json_t *encode_texts(char *const *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; list && texts[i]; i++) {
        if (json_array_append_new(list, json_string(texts[i])) == 0)
            continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

static json_t *encode_each(const struct step_each *each)
{
    int at_once = each->at_once ? each->at_once : EACH_AT_ONCE;
    if (each->items)
        return json_pack("{s:o, s:i}", "items", encode_texts(each->items), "at_once", at_once);
    if (each->of)
        return json_pack("{s:s, s:i}", "of", each->of, "at_once", at_once);
    if (each->shards)
        return json_pack("{s:I, s:i}", "shards", (json_int_t)each->shards, "at_once", at_once);
    return json_pack("{s:I, s:I, s:I, s:i}", "from", (json_int_t)each->from, "to",
                     (json_int_t)each->to, "by", (json_int_t)each->by, "at_once", at_once);
}

/* What a step or a scope has in common; the names are settled. */
static enum status add_common(json_t *map, const struct job_step *definition, const char *scope_key,
                              int scope)
{
    bool is_good = !scope || json_object_set_new(map, scope_key, json_integer(scope)) == 0;
    if (is_good && definition->when)
        is_good = json_object_set_new(map, "when", json_string(definition->when)) == 0;
    return is_good ? OK : E_NOMEM;
}

static enum status add_step(struct planning *p, struct level *level, struct level_node *node,
                            json_t *defaults)
{
    const struct job_step *definition = node->definition;
    json_t *step = json_object(), *name = NULL;
    bool is_final = definition->is_final || level->is_final;
    enum status st = step ? name_of(p, level, definition, &name) : E_NOMEM;
    if (st == OK && json_object_set_new(step, "name", name) != 0)
        st = E_NOMEM;
    if (st == OK)
        st = flow_add_job(step, definition, defaults, level->env, p->source, p->why, p->size);
    if (st == OK)
        st = add_common(step, definition, "scope", level->scope);
    if (st == OK && step_is_fan_out(definition) &&
        json_object_set_new(step, "each", encode_each(&definition->each)) != 0)
        st = E_NOMEM;
    if (st == OK && definition->outputs &&
        json_object_set_new(step, "outputs", encode_texts(definition->outputs)) != 0)
        st = E_NOMEM;
    if (st == OK && is_final && json_object_set_new(step, "final", json_true()) != 0)
        st = E_NOMEM;
    node->step = (int)json_array_size(p->steps);
    if (st == OK && node->step >= STEPS_MAX)
        st = flow_fail(p->why, p->size, "the plan has more than %d steps", STEPS_MAX);
    if (st == OK && json_array_append(p->steps, step) != 0)
        st = E_NOMEM;
    json_decref(step);
    return st;
}

/* ---- a workflow as a step ---- */

static enum status refuse(const struct planning *p, const struct level_node *node, const char *what)
{
    return flow_fail(p->why, p->size, "step %s: %s", node->definition->name, what);
}

/* What can't be kept when the steps of a workflow become steps of another one. */
static enum status check_use(const struct planning *p, const struct level_node *node)
{
    const struct job_step *definition = node->definition;
    const struct job *says = definition->job;
    const struct job usual = job_defaults();
    int all = (int)definition->after_count;
    if (step_is_fan_out(definition))
        return refuse(p, node,
                      "a workflow can't be used with \"each\"; give its steps an \"each\"");
    if (definition->when && definition->join && definition->join != all)
        return refuse(p, node, "a workflow with a \"when\" can't have a \"join\" other than all");
    if (!says)
        return OK;
    if (says->timeout_s || says->retries.count || says->where || says->user || says->cwd ||
        says->stdin_text || says->nice != usual.nice || says->umask_bits != usual.umask_bits)
        return refuse(p, node,
                      "a workflow as a step can have \"with\" and \"env\" only; timeout, retries, "
                      "where and others belong to its steps");
    for (size_t i = 0; i < says->env.count; i++) {
        if (flow_is_template(says->env.items[i].value))
            return refuse(p, node, "\"env\" can't hold ${...} for a workflow; use \"with\"");
    }
    return OK;
}

static bool is_same_job(const struct job *a, const struct job *b)
{
    return !id_is_zero(&a->uid) ? id_compare(&a->uid, &b->uid) == 0 : strcmp(a->name, b->name) == 0;
}

static enum status find_workflow(const struct planning *p, const struct level *level,
                                 const struct level_node *node, struct job **ret)
{
    struct job_error error = {0};
    const char *name = node->definition->workflow;
    const char *text = p->source->find(p->source->context, name);
    if (!text)
        return flow_fail(p->why, p->size, "step %s: there is no workflow %s",
                         node->definition->name, name);
    if (level->depth + 1 >= FLOW_DEPTH_MAX)
        return flow_fail(p->why, p->size,
                         "step %s: workflows are used within each other more than %d times",
                         node->definition->name, FLOW_DEPTH_MAX);
    enum status st = job_decode_stored(text, NULL, ret, &error);
    if (st == E_NOMEM)
        return st;
    if (st != OK)
        return flow_fail(p->why, p->size, "step %s: workflow %s can't be read: %s",
                         node->definition->name, name, error.message);
    if ((*ret)->kind != JOB_WORKFLOW || !(*ret)->step_count)
        return flow_fail(p->why, p->size, "step %s: %s is no workflow; write \"job: %s\"",
                         node->definition->name, name, name);
    if ((*ret)->timeout_s)
        return flow_fail(
            p->why, p->size,
            "step %s: workflow %s has a timeout of its own, which can't be kept within "
            "another one; give its steps timeouts",
            node->definition->name, name);
    for (const struct level *up = level; up; up = up->up) {
        if (is_same_job(*ret, up->workflow))
            return flow_fail(p->why, p->size, "step %s: workflow %s is used within itself",
                             node->definition->name, name);
    }
    return OK;
}

/* {"value": TEXT, "type": TYPE, "allowed": [...]}; the latter two for what is checked later. */
static json_t *encode_param(const struct job_param *param, const char *value)
{
    json_t *map = json_pack("{s:s}", "value", value);
    bool is_good = map;
    if (is_good && flow_is_template(value) && param->type != PARAM_STRING)
        is_good = json_object_set_new(map, "type", json_string(param_type_names[param->type])) == 0;
    if (is_good && flow_is_template(value) && param->allowed)
        is_good = json_object_set_new(map, "allowed", encode_texts(param->allowed)) == 0;
    if (is_good)
        return map;
    json_decref(map);
    return NULL;
}

static enum status add_param(const struct planning *p, const struct level_node *node,
                             const struct job_param *param, json_t *params)
{
    char why[PARAM_WHY_SIZE];
    const struct job_pairs *with = &node->definition->with;
    const char *value = param->initial;
    bool is_given = false;
    for (size_t i = 0; i < with->count; i++) {
        if (strcmp(with->items[i].name, param->name) == 0) {
            value = with->items[i].value;
            is_given = true;
        }
    }
    if (!value)
        return flow_fail(p->why, p->size,
                         "step %s: parameter %s of workflow %s has no default; give a value in "
                         "\"with\"",
                         node->definition->name, param->name, node->definition->workflow);
    if (is_given && !flow_is_template(value) && param_value_check(param, value, why) != OK)
        return flow_fail(p->why, p->size, "step %s: parameter %s: %s", node->definition->name,
                         param->name, why);
    json_t *map =
        is_given ? encode_param(param, value) : json_pack("{s:s, s:b}", "value", value, "plain", 1);
    return json_object_set_new(params, param->name, map) == 0 ? OK : E_NOMEM;
}

static enum status add_params(const struct planning *p, const struct level_node *node,
                              const struct job *workflow, json_t *scope)
{
    const struct job_pairs *with = &node->definition->with;
    json_t *params = json_object();
    enum status st = params ? OK : E_NOMEM;
    for (size_t i = 0; i < with->count && st == OK; i++) {
        if (!job_params_find(&workflow->params, with->items[i].name, strlen(with->items[i].name)))
            st = flow_fail(p->why, p->size, "step %s: %s is no parameter of workflow %s",
                           node->definition->name, with->items[i].name, node->definition->workflow);
    }
    for (size_t i = 0; i < workflow->params.count && st == OK; i++)
        st = add_param(p, node, &workflow->params.items[i], params);
    if (st == OK && json_object_set(scope, "params", params) != 0)
        st = E_NOMEM;
    json_decref(params);
    return st;
}

static enum status add_scope(struct planning *p, struct level *level, struct level_node *node)
{
    struct level *inner = node->inner;
    json_t *scope = json_object(), *name = NULL;
    enum status st = scope ? name_of(p, level, node->definition, &name) : E_NOMEM;
    if (st == OK) {
        size_t length = json_string_length(name) + 2;
        inner->prefix = malloc(length);
        if (inner->prefix)
            snprintf(inner->prefix, length, "%s/", json_string_value(name));
        st = json_object_set_new(scope, "name", name) == 0 && inner->prefix ? OK : E_NOMEM;
    }
    if (st == OK)
        st = add_params(p, node, inner->workflow, scope);
    if (st == OK)
        st = add_common(scope, node->definition, "in", level->scope);
    if (st == OK && json_array_append(p->scopes, scope) != 0)
        st = E_NOMEM;
    inner->scope = (int)json_array_size(p->scopes);
    json_decref(scope);
    return st;
}

/* The environment that this level says for all steps of the inner one; the outermost wins. */
static enum status add_env(const struct level *level, struct level_node *node)
{
    const struct job *says = node->definition->job;
    json_t *env = json_object();
    bool is_good = env;
    for (size_t i = 0; says && i < says->env.count && is_good; i++)
        is_good = json_object_set_new(env, says->env.items[i].name,
                                      json_string(says->env.items[i].value)) == 0;
    if (is_good && level->env)
        is_good = json_object_update(env, level->env) == 0;
    node->inner->env = env;
    return is_good ? OK : E_NOMEM;
}

static enum status add_workflow(struct planning *p, struct level *level, struct level_node *node)
{
    node->step = -1;
    enum status st = check_use(p, node);
    if (st != OK)
        return st;
    struct level *inner = node->inner = calloc(1, sizeof(*inner));
    if (!inner)
        return E_NOMEM;
    inner->up = level;
    inner->of = node;
    inner->depth = level->depth + 1;
    inner->is_final = level->is_final || node->definition->is_final;
    st = find_workflow(p, level, node, &inner->owned);
    inner->workflow = inner->owned;
    if (st == OK)
        st = add_scope(p, level, node);
    if (st == OK)
        st = add_env(level, node);
    return st == OK ? build(p, inner) : st;
}

static enum status build(struct planning *p, struct level *level)
{
    const struct job *workflow = level->workflow;
    json_t *defaults = flow_defaults(workflow);
    level->nodes = calloc(workflow->step_count + 1, sizeof(*level->nodes));
    level->by_name = calloc(workflow->step_count + 1, sizeof(*level->by_name));
    enum status st = defaults && level->nodes && level->by_name ? OK : E_NOMEM;
    for (size_t i = 0; i < workflow->step_count && st == OK; i++) {
        struct level_node *node = &level->nodes[i];
        node->definition = &workflow->steps[i];
        level->by_name[i] = node;
        st = node->definition->workflow ? add_workflow(p, level, node)
                                        : add_step(p, level, node, defaults);
    }
    if (st == OK)
        qsort(level->by_name, workflow->step_count, sizeof(*level->by_name), compare_nodes);
    json_decref(defaults);
    return st;
}

enum status levels_build(struct planning *p, const struct job *workflow)
{
    struct level *top = p->top = calloc(1, sizeof(*top));
    if (!top)
        return E_NOMEM;
    top->workflow = workflow;
    top->prefix = strdup("");
    return top->prefix ? build(p, top) : E_NOMEM;
}
