/* A plan as a whole: every step can be read as a definition, and every reference names something.
 * Whether a step waits for those that it refers to was checked in each definition (steps.h); here
 * they are seen together. */
#include <string.h>

#include "definition/job_codec.h"
#include "workflow/flow_internal.h"
#include "workflow/when.h"

/* Where a text stands. */
struct place {
    const struct flow *flow;
    int in;
    bool has_item;
    const char *name; /* of the step */
    char *why;
    size_t size;
};

static const char *complain_step(const struct place *place, const struct ref *ref)
{
    int step = flow_find_in(place->flow, place->in, ref->step);
    if (step >= 0 && ref->kind == REF_OUTPUT)
        return flow_lacks_output(&place->flow->steps[step], ref->name)
                   ? "names an output that the step does not declare"
                   : NULL;
    if (step >= 0)
        return NULL;
    if (!flow_find_scope(place->flow, place->in, ref->step))
        return "names a step that does not exist";
    return ref->kind == REF_STATE
               ? NULL
               : "names a workflow, which has no outputs; name a step of it: steps.NAME/STEP.KEY";
}

static const char *complain(void *context, const struct ref *ref)
{
    const struct place *place = context;
    const struct flow *flow = place->flow;
    const json_t *params = place->in ? flow->scopes[place->in].params : flow->params;
    switch (ref->kind) {
    case REF_PARAM:
        return json_object_get(params, ref->name) ? NULL : "is no parameter of the workflow";
    case REF_OUTPUT:
    case REF_STATE:
    case REF_EXIT_CODE:
        return complain_step(place, ref);
    case REF_ITEM:
    case REF_INDEX:
        return place->has_item ? NULL : "has a value only in what a step with \"each\" runs";
    case REF_INSTANCE:
        break;
    }
    return NULL;
}

static enum status tell(const struct place *place, const char *field, enum status st,
                        const struct parse_error *err)
{
    if (st == E_INVALID)
        flow_say(place->why, place->size, "step %s: %s:%d: %s", place->name, field, err->column,
                 err->message);
    return st;
}

static enum status check_text(struct place *place, const char *field, const char *text)
{
    struct parse_error err = {0};
    const struct ref_names names = {complain, place};
    return text ? tell(place, field, refs_check(text, &names, &err), &err) : OK;
}

static enum status check_map(struct place *place, const char *field, const json_t *map)
{
    enum status st = OK;
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)map, name, value) {
        if (st == OK)
            st = check_text(place, field, json_string_value(value));
    }
    return st;
}

static enum status check_when(struct place *place, const char *when)
{
    struct parse_error err = {0};
    const struct ref_names names = {complain, place};
    return when ? tell(place, "when", when_check(when, &names, &err), &err) : OK;
}

static enum status check_each(struct place *place, const json_t *each)
{
    const json_t *items = json_object_get(each, "items"), *item;
    const char *of = json_string_value(json_object_get(each, "of"));
    struct ref ref;
    enum status st = OK;
    size_t i;
    json_array_foreach (items, i, item) {
        if (st == OK)
            st = check_text(place, "each", json_string_value(item));
    }
    if (st != OK || !of)
        return st;
    const char *complaint = ref_read(of, strlen(of), &ref);
    if (!complaint)
        complaint = complain(place, &ref);
    return complaint ? flow_fail(place->why, place->size, "step %s: each: %.80s %s", place->name,
                                 of, complaint)
                     : OK;
}

/* What is filled when the step starts. */
static enum status check_job(struct place *place, const struct flow_step *step)
{
    struct job_error error = {0};
    struct job *job = NULL;
    enum status st = job_decode_stored(step->json, NULL, &job, &error);
    if (st != OK)
        return st == E_NOMEM
                   ? st
                   : flow_fail(place->why, place->size, "step %s: %s", step->name, error.message);
    for (size_t i = 0; step->is_own && job->command && job->command[i] && st == OK; i++)
        st = check_text(place, "command", job->command[i]);
    if (step->is_own && st == OK)
        st = check_text(place, "stdin", job->stdin_text);
    job_free(job);
    return st;
}

static enum status check_step(const struct flow *flow, const struct flow_step *step, char *why,
                              size_t size)
{
    struct place place = {flow, step->scope, false, step->name, NULL, size};
    place.why = why;
    enum status st = check_when(&place, step->gate.when);
    if (st == OK)
        st = check_each(&place, step->each);
    place.has_item = step->each;
    if (st == OK)
        st = check_map(&place, "env", step->values);
    if (st == OK)
        st = check_map(&place, "with", step->with);
    return st == OK ? check_job(&place, step) : st;
}

/* What a step says that uses a workflow is looked up where that step stands. */
static enum status check_scope(const struct flow *flow, const struct flow_part *part, char *why,
                               size_t size)
{
    struct place place = {flow, part->in, false, part->name, NULL, size};
    place.why = why;
    enum status st = check_when(&place, part->gate.when);
    const char *name;
    json_t *param;
    json_object_foreach ((json_t *)part->params, name, param) {
        if (st == OK && !json_is_true(json_object_get(param, "plain")))
            st = check_text(&place, "with", json_string_value(json_object_get(param, "value")));
    }
    return st;
}

enum status flow_check(const struct flow *flow, char *why, size_t size)
{
    enum status st = OK;
    for (int i = 1; i < flow->scope_count && st == OK; i++)
        st = check_scope(flow, &flow->scopes[i], why, size);
    for (int i = 0; i < flow->count && st == OK; i++)
        st = check_step(flow, &flow->steps[i], why, size);
    return st;
}
