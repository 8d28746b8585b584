/* The values of references, and texts that are filled with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/flow_internal.h"

enum status flow_lookup_init(struct flow_lookup *lookup, const struct flow *flow, int in,
                             const struct flow_scope *scope, char *why, size_t size)
{
    *lookup =
        (struct flow_lookup){.flow = flow, .scope = scope, .in = in, .index = -1, .size = size};
    lookup->why = why;
    lookup->gates = calloc((size_t)flow->scope_count, sizeof(*lookup->gates));
    return lookup->gates ? OK : E_NOMEM;
}

void flow_lookup_release(struct flow_lookup *lookup)
{
    free(lookup->gates);
    lookup->gates = NULL;
}

/* ---- parameters ---- */

static enum status check_param(const struct flow_lookup *lookup, const char *name,
                               const json_t *param, const char *value)
{
    char why[PARAM_WHY_SIZE];
    const char *type = json_string_value(json_object_get(param, "type"));
    const json_t *allowed = json_object_get(param, "allowed"), *each;
    struct job_param like = {.type = PARAM_STRING};
    bool is_allowed = !json_array_size(allowed);
    size_t i;
    for (int k = 0; type && param_type_names[k]; k++) {
        if (strcmp(type, param_type_names[k]) == 0)
            like.type = (enum param_type)k;
    }
    json_array_foreach (allowed, i, each)
        is_allowed |= json_is_string(each) && strcmp(json_string_value(each), value) == 0;
    if (param_value_check(&like, value, why) == OK && is_allowed)
        return OK;
    return flow_fail(lookup->why, lookup->size, "parameter %s of workflow step %s: %s", name,
                     lookup->flow->scopes[lookup->in].name,
                     is_allowed ? why : "the value is not one of those that are allowed");
}

/* Of a workflow that is used as a step: what the step around it has said, in the scope of that. */
static enum status get_inner_param(const struct flow_lookup *lookup, const char *name,
                                   struct strbuf *out)
{
    const struct flow_part *part = &lookup->flow->scopes[lookup->in];
    const json_t *param = json_object_get(part->params, name);
    const char *text = json_string_value(json_object_get(param, "value"));
    if (!text)
        return OK;
    if (json_is_true(json_object_get(param, "plain"))) {
        strbuf_adds(out, text);
        return OK;
    }
    struct flow_lookup around = *lookup;
    size_t before = out->length;
    around.in = part->in;
    enum status st = flow_fill(&around, text, out);
    if (st == OK)
        st = strbuf_status(out);
    return st == OK ? check_param(lookup, name, param, out->text + before) : st;
}

static enum status get_param(const struct flow_lookup *lookup, const char *name, struct strbuf *out)
{
    if (lookup->in)
        return get_inner_param(lookup, name, out);
    const char *text = json_string_value(json_object_get(lookup->flow->params, name));
    if (text)
        strbuf_adds(out, text);
    return OK;
}

/* ---- outputs ---- */

/* The value of a key in a JSON object of texts. */
static enum status get_key(const struct flow_lookup *lookup, const struct ref *ref,
                           const char *output, struct strbuf *out)
{
    json_error_t error;
    json_t *map = NULL;
    if (!output)
        return OK;
    enum status st = flow_parse(output, strlen(output), &map, &error);
    if (st == E_INVALID)
        flow_say(lookup->why, lookup->size, "what step %s has written can't be read: %s", ref->step,
                 error.text);
    const char *text = json_string_value(json_object_get(map, ref->name));
    if (text)
        strbuf_adds(out, text);
    json_decref(map);
    return st;
}

static enum status too_large(const struct flow_lookup *lookup, const struct ref *ref)
{
    return flow_fail(lookup->why, lookup->size, "steps.%s.%s is larger than %d KiB", ref->step,
                     ref->name, FLOW_VALUE_MAX / 1024);
}

/* Of a fan-out: the values of its items, as a list of JSON. */
static enum status get_list(const struct flow_lookup *lookup, int step, const struct ref *ref,
                            struct strbuf *out)
{
    const struct flow_scope *scope = lookup->scope;
    const struct run *end = scope->end(scope->context, step);
    int count = end ? end->joins.expected : 0;
    struct strbuf text;
    json_t *list = json_array();
    size_t bytes = 0;
    enum status st = list ? OK : E_NOMEM;
    for (int i = 0; i < count && i < EACH_ITEMS_MAX && st == OK; i++) {
        strbuf_init(&text);
        st = get_key(lookup, ref, scope->output(scope->context, step, i), &text);
        if (st == OK)
            st = strbuf_status(&text);
        bytes += text.length;
        if (st == OK && bytes > FLOW_VALUE_MAX)
            st = too_large(lookup, ref);
        if (st == OK && json_array_append_new(list, json_stringn(text.text, text.length)) != 0)
            st = E_NOMEM;
        strbuf_release(&text);
    }
    char *dump = st == OK ? flow_dump(list) : NULL;
    if (dump)
        strbuf_adds(out, dump);
    else if (st == OK)
        st = E_NOMEM;
    free(dump);
    json_decref(list);
    return st;
}

static enum status get_output(const struct flow_lookup *lookup, const struct ref *ref,
                              struct strbuf *out)
{
    const struct flow_scope *scope = lookup->scope;
    int step = flow_find_in(lookup->flow, lookup->in, ref->step);
    if (step < 0)
        return OK;
    if (flow_is_fan_out(lookup->flow, step))
        return get_list(lookup, step, ref, out);
    return get_key(lookup, ref, scope->output(scope->context, step, -1), out);
}

static enum status get_end(struct flow_lookup *lookup, const struct ref *ref, struct strbuf *out)
{
    const struct flow_scope *scope = lookup->scope;
    int step = flow_find_in(lookup->flow, lookup->in, ref->step);
    int inner = step < 0 ? flow_find_scope(lookup->flow, lookup->in, ref->step) : 0;
    const struct run *end = step < 0 ? NULL : scope->end(scope->context, step);
    enum run_state state = end ? end->state : RUN_QUEUED;
    enum status st = inner ? flow_scope_state(lookup, inner, &state) : OK;
    if (st != OK || !run_state_is_end(state))
        return st;
    if (ref->kind == REF_STATE)
        strbuf_adds(out, run_state_name(state));
    else if (end && end->exit_code >= 0)
        strbuf_addf(out, "%d", end->exit_code);
    return OK;
}

/* ---- all of them ---- */

enum status flow_get(void *context, const struct ref *ref, struct strbuf *out)
{
    struct flow_lookup *lookup = context;
    const struct run *instance = lookup->scope->instance;
    char id[ID_TEXT + 1];
    switch (ref->kind) {
    case REF_PARAM:
        return get_param(lookup, ref->name, out);
    case REF_OUTPUT:
        return get_output(lookup, ref, out);
    case REF_STATE:
    case REF_EXIT_CODE:
        return get_end(lookup, ref, out);
    case REF_ITEM:
        if (lookup->item)
            strbuf_adds(out, lookup->item);
        return OK;
    case REF_INDEX:
        if (lookup->item)
            strbuf_addf(out, "%d", lookup->index);
        return OK;
    case REF_INSTANCE:
        if (instance) {
            id_format(&instance->id, id);
            strbuf_adds(out, id);
        }
        return OK;
    }
    return OK;
}

/* Text between references: $${REFERENCE} is a plain ${REFERENCE}. */
static void add_plain(const char *from, const char *end, struct strbuf *out)
{
    const char *at = from;
    while ((at = memmem(at, (size_t)(end - at), "$${", 3))) {
        const char *name = at + 3, *brace = memchr(name, '}', (size_t)(end - name));
        struct ref ref;
        bool is_ref = brace && !ref_read(name, (size_t)(brace - name), &ref);
        strbuf_add(out, from, (size_t)(at - from) + !is_ref);
        from = at + 1;
        at = name;
    }
    strbuf_add(out, from, (size_t)(end - from));
}

enum status flow_fill(struct flow_lookup *lookup, const char *text, struct strbuf *out)
{
    const char *at = text, *from = text, *end, *complaint;
    struct ref ref;
    enum status st = OK;
    for (; st == OK && ref_next(&at, &end, &ref, &complaint); at = from = end) {
        add_plain(from, at, out);
        if (complaint)
            return flow_fail(lookup->why, lookup->size, "%.*s %s",
                             (int)(end - at < 80 ? end - at : 80), at, complaint);
        st = flow_get(lookup, &ref, out);
        if (st == OK && out->length > FLOW_VALUE_MAX)
            st = flow_fail(lookup->why, lookup->size, "%.*s makes a text of more than %d KiB",
                           (int)(end - at < 80 ? end - at : 80), at, FLOW_VALUE_MAX / 1024);
    }
    if (st == OK)
        add_plain(from, from + strlen(from), out);
    return st;
}

enum status flow_fill_text(struct flow_lookup *lookup, const char *text, char **ret)
{
    struct strbuf out;
    strbuf_init(&out);
    enum status st = flow_fill(lookup, text, &out);
    if (st == OK)
        st = strbuf_status(&out);
    if (st != OK) {
        strbuf_release(&out);
        return st;
    }
    *ret = strbuf_detach(&out);
    return *ret ? OK : E_NOMEM;
}
