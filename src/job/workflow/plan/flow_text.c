/* A new plan: the definition, what it refers to, and what was handed over for the instance. */
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "params/run_input.h"
#include "workflow/plan/flow_levels.h"

/* The values of the parameters are chosen and checked once, here. */
static enum status choose_params(const struct job *workflow, const struct run_input *given,
                                 json_t **ret, char *why, size_t size)
{
    struct input_error error = {0};
    enum status st = input_choose_params(workflow, given->params, ret, &error);
    if (st == E_INVALID)
        flow_say(why, size, "parameter %s: %s", error.name, error.why);
    return st;
}

static enum status check_input(const char *input, char *why, size_t size)
{
    json_error_t error;
    json_t *document = NULL;
    enum status st = input ? flow_parse(input, strlen(input), &document, &error) : OK;
    if (st == OK && document && !json_is_object(document))
        st = E_INVALID;
    json_decref(document);
    if (st == E_INVALID)
        flow_say(why, size, "what was handed over with the request can't be read");
    return st;
}

/* The plan, as a member of the document. NULL: out of memory. */
static json_t *pack_plan(const struct job *workflow, const struct run_input *given,
                         const struct planning *p)
{
    char uid[ID_TEXT + 1];
    int64_t timeout_s = given->timeout_s >= 0 ? given->timeout_s : workflow->timeout_s;
    json_t *plan =
        json_pack("{s:i, s:s, s:I, s:O, s:O}", "version", FLOW_VERSION, "workflow", workflow->name,
                  "timeout_s", (json_int_t)timeout_s, "steps", p->steps, "scopes", p->scopes);
    id_format(&workflow->uid, uid);
    if (plan && !id_is_zero(&workflow->uid) &&
        json_object_set_new(plan, "uid", json_string(uid)) != 0) {
        json_decref(plan);
        plan = NULL;
    }
    return plan;
}

static enum status pack_document(const struct job *workflow, const struct run_input *given,
                                 json_t *params, const struct planning *p, json_t **ret)
{
    json_t *plan = pack_plan(workflow, given, p);
    json_t *document =
        plan ? json_pack("{s:O, s:O*, s:O*, s:O*, s:O}", "params", params, "env", given->env,
                         "body", given->body, "tracestate", given->tracestate, "plan", plan)
             : NULL;
    json_decref(plan);
    if (document && given->timeout_s >= 0 &&
        json_object_set_new(document, "timeout_s", json_integer(given->timeout_s)) != 0) {
        json_decref(document);
        document = NULL;
    }
    *ret = document;
    return document ? OK : E_NOMEM;
}

static enum status write_text(const json_t *document, char **ret, char *why, size_t size)
{
    char *text = flow_dump(document);
    if (!text)
        return E_NOMEM;
    if (strlen(text) > FLOW_TEXT_MAX) {
        flow_say(why, size, "the plan of the instance is larger than %d KiB", FLOW_TEXT_MAX / 1024);
        free(text);
        return E_TOO_LARGE;
    }
    *ret = text;
    return OK;
}

/* The same document with what is done: the whole was checked before, and is cut now. */
static enum status leave_out(json_t *document, const json_t *resume, char *why, size_t size)
{
    struct flow *cut = NULL;
    if (!resume)
        return OK;
    if (json_object_set(document, "resume", (json_t *)resume) != 0)
        return E_NOMEM;
    enum status st = flow_load(json_incref(document), false, &cut, why, size);
    flow_free(cut);
    return st;
}

/* Reads the plan as it will be read, and checks it as a whole. */
static enum status check_and_write(json_t *document, const json_t *resume, char **ret, char *why,
                                   size_t size)
{
    struct flow *flow = NULL;
    enum status st = flow_load(document, false, &flow, why, size);
    if (st == OK)
        st = flow_check(flow, why, size);
    if (st == OK)
        st = leave_out(flow->document, resume, why, size);
    if (st == OK)
        st = write_text(flow->document, ret, why, size);
    flow_free(flow);
    return st;
}

enum status flow_text(const struct job *workflow, const char *input,
                      const struct flow_source *source, char **ret, char *why, size_t size)
{
    struct planning p = {
        .source = source, .steps = json_array(), .scopes = json_array(), .why = why, .size = size};
    struct run_input given = input_decode(input);
    json_t *params = NULL, *document = NULL;
    enum status st = p.steps && p.scopes ? check_input(input, why, size) : E_NOMEM;
    if (st == OK)
        st = choose_params(workflow, &given, &params, why, size);
    if (st == OK)
        st = levels_build(&p, workflow);
    if (st == OK)
        st = levels_link(&p, p.top);
    if (st == OK)
        st = pack_document(workflow, &given, params, &p, &document);
    if (st == OK)
        st = check_and_write(document, given.resume, ret, why, size);
    level_free(p.top);
    json_decref(params);
    json_decref(p.steps);
    json_decref(p.scopes);
    input_release(&given);
    return st;
}
