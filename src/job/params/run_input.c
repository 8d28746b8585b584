#include "params/run_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_body.h"
#include "trace.h"

static enum status fail(struct input_error *err, const char *name, const char *why)
{
    snprintf(err->field, sizeof(err->field), "params");
    snprintf(err->name, sizeof(err->name), "%s", name);
    snprintf(err->why, sizeof(err->why), "%s", why);
    return E_INVALID;
}

/* ---- choosing ---- */

static bool has_text(const json_t *value)
{
    return json_is_string(value) || json_is_number(value) || json_is_boolean(value);
}

/* A text, a number or a boolean of JSON as the text that a run gets. NULL: out of memory. */
static char *value_text(const json_t *value)
{
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static enum status check(const struct job *job, const struct job_param *param, const char *text,
                         struct input_error *err)
{
    char why[PARAM_WHY_SIZE];
    if (param_value_check(param, text, why) != OK)
        return fail(err, param->name, why);
    if (job->kind == JOB_COMMAND && param_value_is_option(param, text, job->command))
        return fail(err, param->name,
                    "begins with a dash, and the program would read it as an option");
    return OK;
}

/* With the names that it could be, as far as there is room. */
static enum status fail_unknown(const struct job *job, const char *name, struct input_error *err)
{
    char known[PARAM_WHY_SIZE * 3 / 5] = "", why[PARAM_WHY_SIZE];
    size_t used = 0;
    if (!job->params.count)
        return fail(err, name, "is no parameter of this job, which has none");
    for (size_t i = 0; i < job->params.count; i++) {
        const char *each = job->params.items[i].name;
        bool fits = used + strlen(each) + sizeof(", , ...") <= sizeof(known);
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 fits ? each : "...");
        if (!fits)
            break;
    }
    snprintf(why, sizeof(why), "is no parameter of this job; it has %s", known);
    return fail(err, name, why);
}

static enum status check_names(const struct job *job, const json_t *given, struct input_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)given, name, value) {
        (void)value;
        if (!job_params_find(&job->params, name, strlen(name)))
            return fail_unknown(job, name, err);
    }
    return OK;
}

static enum status choose(const struct job *job, const struct job_param *param, const json_t *given,
                          json_t *values, struct input_error *err)
{
    const json_t *value = json_object_get(given, param->name);
    if (value && !has_text(value))
        return fail(err, param->name, "expected a text, a number, true or false");
    if (!value && !param->initial)
        return fail(err, param->name, "has no default; give a value");
    char *text = value ? value_text(value) : NULL;
    if (value && !text)
        return E_NOMEM;
    enum status st = text ? check(job, param, text, err) : OK;
    if (st == OK &&
        json_object_set_new(values, param->name, json_string(text ? text : param->initial)) != 0)
        st = E_NOMEM;
    free(text);
    return st;
}

enum status input_choose_params(const struct job *job, const json_t *given, json_t **ret,
                                struct input_error *reterr)
{
    json_t *values = json_object();
    enum status st = values ? check_names(job, given, reterr) : E_NOMEM;
    for (size_t i = 0; i < job->params.count && st == OK; i++)
        st = choose(job, &job->params.items[i], given, values, reterr);
    if (st == OK)
        *ret = values;
    else
        json_decref(values);
    return st;
}

/* ---- the document ---- */

static enum status fail_env(struct input_error *err, const char *name, const char *why)
{
    fail(err, name, why);
    snprintf(err->field, sizeof(err->field), "env");
    return E_INVALID;
}

enum status input_check_env(const json_t *env, struct input_error *reterr)
{
    const char *name;
    json_t *value;
    if (!json_is_object(env))
        return fail_env(reterr, "", "expected a map of names and texts");
    json_object_foreach ((json_t *)env, name, value) {
        if (!*name || strchr(name, '='))
            return fail_env(reterr, name, "is no name of a variable");
        if (!json_is_string(value))
            return fail_env(reterr, name, "the value is no text");
    }
    return OK;
}

static json_t *none_if_empty(json_t *map)
{
    return json_object_size(map) ? map : NULL;
}

enum status input_encode(const struct run_input *input, char **ret)
{
    *ret = NULL;
    if (!json_object_size(input->params) && !json_object_size(input->env) && !input->body &&
        !input->resume && !input->tracestate && input->timeout_s < 0)
        return OK;
    json_t *document =
        json_pack("{s:O*, s:O*, s:O*, s:O*, s:O*}", "params", none_if_empty(input->params), "env",
                  none_if_empty(input->env), "body", input->body, "resume", input->resume,
                  "tracestate", input->tracestate);
    if (document && input->timeout_s >= 0 &&
        json_object_set_new(document, "timeout_s", json_integer(input->timeout_s)) != 0) {
        json_decref(document);
        document = NULL;
    }
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    if (!text)
        return E_NOMEM;
    if (strlen(text) > (input->body || input->resume ? INPUT_DOC_MAX : INPUT_JSON_MAX)) {
        free(text);
        return E_TOO_LARGE;
    }
    *ret = text;
    return OK;
}

struct run_input input_decode(const char *text)
{
    json_t *document = text ? json_loads(text, 0, NULL) : NULL;
    json_t *params = json_object_get(document, "params"), *env = json_object_get(document, "env");
    json_t *timeout = json_object_get(document, "timeout_s");
    json_t *body = json_object_get(document, "body");
    json_t *resume = json_object_get(document, "resume");
    json_t *tracestate = json_object_get(document, "tracestate");
    struct run_input input = {
        .params = json_is_object(params) ? json_incref(params) : NULL,
        .env = json_is_object(env) ? json_incref(env) : NULL,
        .timeout_s = json_is_integer(timeout) ? json_integer_value(timeout) : -1,
        .body = json_is_object(body) ? json_incref(body) : NULL,
        .resume = json_is_object(resume) ? json_incref(resume) : NULL,
        .tracestate = json_is_string(tracestate) ? json_incref(tracestate) : NULL,
    };
    json_decref(document);
    return input;
}

void input_release(struct run_input *input)
{
    json_decref(input->params);
    json_decref(input->env);
    json_decref(input->body);
    json_decref(input->resume);
    json_decref(input->tracestate);
    *input = (struct run_input){.timeout_s = -1};
}

static enum status apply_params(struct job *job, const json_t *given, struct input_error *err)
{
    enum status st = check_names(job, given, err);
    for (size_t i = 0; i < job->params.count && st == OK; i++) {
        struct job_param *param = &job->params.items[i];
        const char *text = json_string_value(json_object_get(given, param->name));
        if (text)
            st = check(job, param, text, err);
        else if (!param->initial)
            st = fail(err, param->name, "has no default; give a value");
        if (st == OK && text)
            st = job_set_text(&param->value, text);
    }
    return st;
}

/* A variable of the job with this name is replaced. Twice is as good as once. */
static enum status set_variable(struct job_pairs *env, const char *name, const char *value)
{
    for (size_t i = 0; i < env->count; i++) {
        if (strcmp(env->items[i].name, name) == 0)
            return job_set_text(&env->items[i].value, value);
    }
    return job_pairs_add(env, name, value);
}

enum status input_apply_tracestate(struct job *job, const json_t *document)
{
    const char *state = json_string_value(json_object_get(document, "tracestate"));
    bool is_good = state && tracestate_is_valid(state);
    return is_good ? job_set_text(&job->tracestate, state) : OK;
}

/* The environment and the time limit. The request had the right to define the job. */
static enum status apply_rest(struct job *job, const json_t *document)
{
    const json_t *timeout = json_object_get(document, "timeout_s");
    json_t *env = json_object_get(document, "env"), *value;
    const char *name;
    enum status st = OK;
    json_object_foreach (env, name, value) {
        if (st == OK && *name && !strchr(name, '=') && json_is_string(value))
            st = set_variable(&job->env, name, json_string_value(value));
    }
    if (json_is_integer(timeout) && json_integer_value(timeout) >= 0)
        job->timeout_s = json_integer_value(timeout);
    return st == OK ? input_apply_tracestate(job, document) : st;
}

static enum status fail_body(struct input_error *err, const char *why)
{
    fail(err, "", why);
    snprintf(err->field, sizeof(err->field), "body");
    return E_INVALID;
}

enum status input_check_body(const struct job *job, struct input_error *reterr)
{
    return job->stdin_text
               ? fail_body(reterr,
                           "the job has a `stdin` of its own, which leaves none for PEAL_INPUT")
               : OK;
}

/* An HTTP call has no file: the body is kept with its run, and that is all. */
static enum status apply_body(struct job *job, const json_t *body, struct input_error *err)
{
    if (!body || job->kind == JOB_HTTP)
        return OK;
    enum status st = input_check_body(job, err);
    if (st == OK && !job->body)
        st = run_body_decode(body, &job->body);
    return st == E_CORRUPT ? fail_body(err, "what was sent with the request can't be read") : st;
}

enum status input_apply(struct job *job, const char *text, struct input_error *reterr)
{
    json_t *document = text ? json_loads(text, 0, NULL) : NULL;
    if (text && !json_is_object(document)) {
        json_decref(document);
        return fail(reterr, "", "what was handed over with the request can't be read");
    }
    enum status st = apply_params(job, json_object_get(document, "params"), reterr);
    if (st == OK)
        st = apply_rest(job, document);
    if (st == OK)
        st = apply_body(job, json_object_get(document, "body"), reterr);
    json_decref(document);
    return st;
}
