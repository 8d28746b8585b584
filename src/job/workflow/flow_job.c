/* The job to start for a step, or for an item of one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_codec.h"
#include "params/run_body.h"
#include "params/run_input.h"
#include "workflow/flow_internal.h"

/* A job that is filled. */
struct filling {
    struct flow_lookup lookup;
    const struct flow_step *step;
    struct job *job;
    bool is_literal; /* the item is as the definition has it */
};

/* A variable of this name is replaced. */
static enum status set_variable(struct job *job, const char *name, const char *value)
{
    struct job_pairs *env = &job->env;
    for (size_t i = 0; i < env->count; i++) {
        if (strcmp(env->items[i].name, name) == 0)
            return job_set_text(&env->items[i].value, value);
    }
    return job_pairs_add(env, name, value);
}

/* ---- the environment ---- */

static enum status fill_values(struct filling *f)
{
    const char *name;
    json_t *text;
    json_object_foreach ((json_t *)f->step->values, name, text) {
        char *value = NULL;
        enum status st = flow_fill_text(&f->lookup, json_string_value(text), &value);
        if (st == OK)
            st = set_variable(f->job, name, value);
        free(value);
        if (st != OK)
            return st;
    }
    return OK;
}

/* The parameters of the workflow that has the step. A function finds them as its own. */
static enum status fill_param(struct filling *f, const char *name)
{
    struct job_params *params = &f->job->params;
    struct strbuf value;
    struct ref ref = {.kind = REF_PARAM};
    char variable[sizeof(PARAM_VARIABLE) + PARAM_NAME_MAX];
    snprintf(ref.name, sizeof(ref.name), "%s", name);
    snprintf(variable, sizeof(variable), PARAM_VARIABLE "%s", ref.name);
    strbuf_init(&value);
    enum status st = flow_get(&f->lookup, &ref, &value);
    if (st == OK)
        st = strbuf_status(&value);
    if (st == OK && f->job->kind != JOB_FUNCTION) {
        st = set_variable(f->job, variable, value.text);
    } else if (st == OK) {
        st = array_grow(&params->items, params->count, sizeof(*params->items));
        if (st == OK) {
            struct job_param *param = &params->items[params->count++];
            *param = (struct job_param){.name = strdup(name), .value = strdup(value.text)};
            st = param->name && param->value ? OK : E_NOMEM;
        }
    }
    strbuf_release(&value);
    return st;
}

/* A job that is referred to has parameters of its own. */
static enum status fill_params(struct filling *f)
{
    const struct flow *flow = f->lookup.flow;
    const json_t *params = f->step->scope ? flow->scopes[f->step->scope].params : flow->params;
    const char *name;
    json_t *value;
    if (!f->step->is_own)
        return OK;
    json_object_foreach ((json_t *)params, name, value) {
        (void)value;
        enum status st = fill_param(f, name);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status tell_place(struct filling *f)
{
    const struct run *instance = f->lookup.scope->instance;
    char text[ID_TEXT + 1] = "";
    enum status st = set_variable(f->job, "PEAL_WORKFLOW", f->lookup.flow->workflow);
    if (instance)
        id_format(&instance->id, text);
    if (st == OK)
        st = set_variable(f->job, "PEAL_INSTANCE", text);
    if (st == OK)
        st = set_variable(f->job, "PEAL_STEP", f->step->name);
    if (!f->lookup.item || st != OK)
        return st;
    st = set_variable(f->job, "PEAL_ITEM", f->lookup.item);
    snprintf(text, sizeof(text), "%d", f->lookup.index);
    return st == OK ? set_variable(f->job, "PEAL_INDEX", text) : st;
}

/* What the request of the instance has handed over is for all steps that can have it. */
static enum status take_input(struct filling *f)
{
    const json_t *document = f->lookup.flow->document;
    const json_t *body = json_object_get(document, "body");
    json_t *env = json_object_get(document, "env"), *value;
    const char *name;
    bool has_process = f->job->kind == JOB_COMMAND || f->job->kind == JOB_SHELL;
    enum status st = OK;
    json_object_foreach (env, name, value) {
        if (st == OK && *name && !strchr(name, '=') && json_is_string(value))
            st = set_variable(f->job, name, json_string_value(value));
    }
    if (st == OK)
        st = input_apply_tracestate(f->job, document);
    if (st == OK && body && has_process && !f->job->stdin_text)
        st = run_body_decode(body, &f->job->body);
    if (st == E_CORRUPT)
        st = flow_fail(f->lookup.why, f->lookup.size,
                       "what was sent with the request can't be read");
    return st;
}

/* ---- what runs ---- */

static bool is_number(const char *text)
{
    char why[PARAM_WHY_SIZE];
    const struct job_param number = {.type = PARAM_NUMBER};
    return param_value_check(&number, text, why) == OK;
}

/* A value that begins with a dash would be read as an option where a word begins with it, unless
 * the definition itself has the value, or it is a number. */
static enum status check_dash(const struct filling *f, const char *template, const char *word)
{
    const char *at = template, *end, *complaint;
    struct ref ref;
    if (*word != '-' || !ref_next(&at, &end, &ref, &complaint) || at != template ||
        is_number(word) || (ref.kind == REF_ITEM && f->is_literal))
        return OK;
    return flow_fail(f->lookup.why, f->lookup.size,
                     "the value of %.*s begins with a dash, and the program would read it as an "
                     "option",
                     (int)(end - at < 80 ? end - at : 80), at);
}

static enum status fill_words(struct filling *f)
{
    for (size_t i = 1; f->job->command && f->job->command[0] && f->job->command[i]; i++) {
        char *word = NULL;
        enum status st = flow_fill_text(&f->lookup, f->job->command[i], &word);
        if (st == OK)
            st = check_dash(f, f->job->command[i], word);
        if (st != OK) {
            free(word);
            return st;
        }
        free(f->job->command[i]);
        f->job->command[i] = word;
    }
    return OK;
}

static enum status fill_stdin(struct filling *f)
{
    char *text = NULL;
    if (!f->job->stdin_text || !flow_is_template(f->job->stdin_text))
        return OK;
    enum status st = flow_fill_text(&f->lookup, f->job->stdin_text, &text);
    if (st != OK)
        return st;
    free(f->job->stdin_text);
    f->job->stdin_text = text;
    return OK;
}

/* ---- of a job that is referred to ---- */

static enum status fill_given(struct filling *f, json_t *given)
{
    const char *name;
    json_t *text;
    json_object_foreach ((json_t *)f->step->with, name, text) {
        char *value = NULL;
        enum status st = flow_fill_text(&f->lookup, json_string_value(text), &value);
        if (st == OK && json_object_set_new(given, name, json_string(value)) != 0)
            st = E_NOMEM;
        free(value);
        if (st != OK)
            return st;
    }
    return OK;
}

static enum status fill_with(struct filling *f)
{
    struct input_error error = {0};
    json_t *given = json_object(), *values = NULL;
    enum status st = given ? fill_given(f, given) : E_NOMEM;
    if (st == OK) {
        st = input_choose_params(f->job, given, &values, &error);
        if (st == E_INVALID)
            flow_say(f->lookup.why, f->lookup.size, "parameter %s: %s", error.name, error.why);
    }
    for (size_t i = 0; i < f->job->params.count && st == OK; i++) {
        struct job_param *param = &f->job->params.items[i];
        st = job_set_text(&param->value, json_string_value(json_object_get(values, param->name)));
    }
    json_decref(values);
    json_decref(given);
    return st;
}

/* ---- both ---- */

static enum status fill(struct filling *f)
{
    enum status st = OK;
    if (!f->step->is_own)
        st = fill_with(f);
    if (st == OK)
        st = fill_values(f);
    if (st == OK)
        st = fill_params(f);
    if (st == OK)
        st = take_input(f);
    if (st == OK)
        st = tell_place(f);
    if (st == OK && f->step->is_own)
        st = fill_words(f);
    return st == OK && f->step->is_own ? fill_stdin(f) : st;
}

static enum status decode(const struct flow_step *step, struct job **ret, char *why, size_t size)
{
    struct job_error error = {0};
    enum status st = job_decode_stored(step->json, NULL, ret, &error);
    if (st != OK && st != E_NOMEM)
        return flow_fail(why, size, "step %s: %s", step->name, error.message);
    return st;
}

enum status flow_job(const struct flow *flow, int part, const struct flow_scope *scope,
                     struct job **ret, char *why, size_t size)
{
    int number = flow_step_of(part), index = flow_item_of(part);
    if (number < 0 || number >= flow->count ||
        flow_is_fan_out(flow, number) != flow_part_is_item(part))
        return flow_fail(why, size, "the plan has no step of number %d", part);
    struct filling f = {.step = &flow->steps[number]};
    char *item = NULL;
    enum status st = flow_lookup_init(&f.lookup, flow, f.step->scope, scope, why, size);
    if (st == OK && index >= 0)
        st = flow_item(flow, number, scope, index, &item, &f.is_literal, why, size);
    f.lookup.item = item;
    f.lookup.index = index;
    if (st == OK)
        st = decode(f.step, &f.job, why, size);
    if (st == OK)
        st = fill(&f);
    if (st == OK)
        *ret = f.job;
    else
        job_free(f.job);
    flow_lookup_release(&f.lookup);
    free(item);
    return st;
}
