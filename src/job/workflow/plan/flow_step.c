/* What a step runs, as fields of a definition: its own, or those of the job that it refers to. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "workflow/flow_internal.h"

/* Under construction. */
struct making {
    json_t *job, *env, *values;
    const char *name;
    bool is_fan_out, is_script; /* a script is being read */
    char *why;
    size_t size;
};

bool flow_is_template(const char *text)
{
    return strstr(text, "${");
}

static enum status fail(const struct making *m, const char *what)
{
    return flow_fail(m->why, m->size, "step %s: %s", m->name, what);
}

/* ---- fields ---- */

/* Is it one that a step has, or that a workflow has for all of its steps? Its time-out is that of
 * the instance. */
static bool is_kept(const struct field *field, bool are_defaults)
{
    if (are_defaults)
        return field->of == OF_EITHER && field->offset != offsetof(struct job, timeout_s);
    return field_is_of_step(field) || field->kind == FIELD_PARAMS;
}

/* The fields of a definition that a step keeps. NULL: out of memory. */
static json_t *fields_of(const struct job *job, bool are_defaults)
{
    struct job bare = *job; /* its steps are long, and not asked for */
    bare.steps = NULL;
    bare.step_count = 0;
    json_t *all = job_encode_json(&bare, false), *fields = json_object();
    bool is_good = all && fields;
    for (const struct field *field = job_fields; field->name && is_good; field++) {
        json_t *value = json_object_get(all, field->name);
        if (value && is_kept(field, are_defaults))
            is_good = json_object_set(fields, field->name, value) == 0;
    }
    json_decref(all);
    if (is_good)
        return fields;
    json_decref(fields);
    return NULL;
}

json_t *flow_defaults(const struct job *workflow)
{
    return fields_of(workflow, true);
}

/* Adds the fields that are not there yet. An HTTP call and a function have no process. */
static enum status add_defaults(const struct making *m, const json_t *defaults)
{
    bool has_process = json_object_get(m->job, "command") || json_object_get(m->job, "shell");
    for (const struct field *field = job_fields; field->name; field++) {
        json_t *value = json_object_get(defaults, field->name);
        if (!value || json_object_get(m->job, field->name) || field->kind == FIELD_PAIRS ||
            (field->of_process && !has_process))
            continue;
        if (json_object_set(m->job, field->name, value) != 0)
            return E_NOMEM;
    }
    return OK;
}

/* Variables, of which later ones win. */
static enum status add_env(const struct making *m, const json_t *env, bool are_templates)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)env, name, value) {
        bool is_filled = are_templates && flow_is_template(json_string_value(value));
        json_object_del(is_filled ? m->env : m->values, name);
        if (json_object_set(is_filled ? m->values : m->env, name, value) != 0)
            return E_NOMEM;
    }
    return OK;
}

/* ---- ${REFERENCE} in scripts and HTTP calls ---- */

/* A script has ${item} as it is, from a variable of that name, which a loop in it may use, too. */
static void name_variable(const struct making *m, const struct ref *ref,
                          char name[FLOW_VARIABLE_SIZE])
{
    static const char *const fixed[][2] = {
        [REF_ITEM] = {"PEAL_ITEM", "item"},
        [REF_INDEX] = {"PEAL_INDEX", "index"},
        [REF_INSTANCE] = {"PEAL_INSTANCE", "instance"},
    };
    if (ref->kind == REF_PARAM)
        snprintf(name, FLOW_VARIABLE_SIZE, PARAM_VARIABLE "%s", ref->name);
    else if (ref->kind >= REF_ITEM)
        snprintf(name, FLOW_VARIABLE_SIZE, "%s", fixed[ref->kind][m->is_script]);
    else
        snprintf(name, FLOW_VARIABLE_SIZE, STEP_VARIABLE "%s_%s", ref->step, ref->name);
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at))
            *at = '_';
    }
}

/* The variable that has the value of the reference, such as PEAL_STEPS_load_rows. Of two names that
 * would become the same one, a-b and a_b, the later gets a number. */
static enum status add_variable(const struct making *m, const struct ref *ref, const char *text,
                                size_t length, char name[FLOW_VARIABLE_SIZE])
{
    json_t *value = json_stringn(text, length);
    name_variable(m, ref, name);
    size_t end = strlen(name);
    if (!value)
        return E_NOMEM;
    for (int n = 2;
         json_object_get(m->env, name) ||
         (json_object_get(m->values, name) && !json_equal(json_object_get(m->values, name), value));
         n++)
        snprintf(name + end, FLOW_VARIABLE_SIZE - end, "_%d", n);
    return json_object_set_new(m->values, name, value) == 0 ? OK : E_NOMEM;
}

/* A variable that a script already names as the reference does, unless it has one of its own. */
static enum status add_plain_variable(const struct making *m, const struct ref *ref,
                                      const char *text, size_t length)
{
    char name[FLOW_VARIABLE_SIZE];
    name_variable(m, ref, name);
    if (json_object_get(m->env, name) || json_object_get(m->values, name) ||
        (!m->is_fan_out && ref->kind != REF_INSTANCE))
        return OK;
    return json_object_set_new(m->values, name, json_stringn(text, length)) == 0 ? OK : E_NOMEM;
}

/* Whatever reads this text later, a shell or the template of an HTTP call, finds a value where it
 * looks for those of variables, and never reads it as a part of the text. */
static enum status use_variables(const struct making *m, json_t **inout_text)
{
    const char *text = json_string_value(*inout_text), *at = text, *from = text, *end, *complaint;
    struct strbuf out;
    struct ref ref;
    enum status st = OK;
    if (!text)
        return OK;
    strbuf_init(&out);
    for (; st == OK && ref_next(&at, &end, &ref, &complaint); at = from = end) {
        char name[FLOW_VARIABLE_SIZE];
        if (complaint) {
            st = flow_fail(m->why, m->size, "step %s: %.*s %s", m->name,
                           (int)(end - at < 80 ? end - at : 80), at, complaint);
            break;
        }
        strbuf_add(&out, from, (size_t)(at - from));
        if (m->is_script && ref.kind >= REF_ITEM) {
            st = add_plain_variable(m, &ref, at, (size_t)(end - at));
            strbuf_add(&out, at, (size_t)(end - at));
            continue;
        }
        st = add_variable(m, &ref, at, (size_t)(end - at), name);
        strbuf_addf(&out, "${%s}", name);
    }
    strbuf_adds(&out, from);
    if (st == OK)
        st = strbuf_status(&out);
    json_t *changed = st == OK ? json_stringn(out.text, out.length) : NULL;
    strbuf_release(&out);
    if (st == OK && !changed)
        st = E_NOMEM;
    if (st == OK)
        *inout_text = changed;
    return st;
}

/* The same for a member of a map, which may be missing. */
static enum status use_in(const struct making *m, json_t *map, const char *name)
{
    json_t *text = json_object_get(map, name);
    if (!json_is_string(text))
        return OK;
    enum status st = use_variables(m, &text);
    return st == OK && json_object_set_new(map, name, text) != 0 ? E_NOMEM : st;
}

static enum status use_in_http(const struct making *m)
{
    json_t *http = json_object_get(m->job, "http");
    json_t *headers = json_object_get(http, "headers");
    enum status st = use_in(m, m->job, "http"); /* a URL alone */
    if (st == OK)
        st = use_in(m, http, "url");
    if (st == OK)
        st = use_in(m, http, "body");
    for (void *at = json_object_iter(headers); at && st == OK;
         at = json_object_iter_next(headers, at))
        st = use_in(m, headers, json_object_iter_key(at));
    return st;
}

/* Words of a command are filled when it starts, but none that an interpreter reads as code. */
static enum status check_words(const struct making *m, char *const *argv)
{
    for (size_t i = 0; argv && argv[i]; i++) {
        const char *at = argv[i], *end, *complaint;
        struct ref ref;
        if (!ref_next(&at, &end, &ref, &complaint))
            continue;
        if (complaint)
            return flow_fail(m->why, m->size, "step %s: %.*s %s", m->name,
                             (int)(end - at < 80 ? end - at : 80), at, complaint);
        if (i == 0)
            return fail(m, "the program can't be a value");
        if (argv_word_is_code(argv, i))
            return flow_fail(m->why, m->size,
                             "step %s: the value of %.*s would be read as code here; give it a "
                             "name in \"env\", and use that",
                             m->name, (int)(end - at < 80 ? end - at : 80), at);
    }
    return OK;
}

/* ---- of a job that is referred to ---- */

/* A function without a name has that of its job. What its program has registered is the job, not
 * the step. */
static enum status name_function(const struct making *m, const char *name)
{
    json_t *function = json_object_get(m->job, "function");
    if (!function)
        return OK;
    json_t *whole =
        json_is_string(function) ? json_pack("{s:O}", "program", function) : flow_copy(function);
    if (!whole)
        return E_NOMEM;
    json_object_del(whole, "digest");
    json_object_del(whole, "version");
    bool is_good = json_object_get(whole, "name") ||
                   json_object_set_new(whole, "name", json_string(name)) == 0;
    if (is_good)
        is_good = json_object_set(m->job, "function", whole) == 0;
    json_decref(whole);
    return is_good ? OK : E_NOMEM;
}

static enum status find_job(const struct making *m, const struct job_step *definition,
                            const struct flow_source *source, struct job **ret)
{
    struct job_error error = {0};
    const char *text = source->find(source->context, definition->ref);
    if (!text)
        return flow_fail(m->why, m->size, "step %s: there is no job %s", m->name, definition->ref);
    enum status st = job_decode_stored(text, NULL, ret, &error);
    if (st == E_NOMEM)
        return st;
    if (st != OK)
        return flow_fail(m->why, m->size, "step %s: job %s can't be read: %s", m->name,
                         definition->ref, error.message);
    if ((*ret)->kind == JOB_WORKFLOW)
        return flow_fail(m->why, m->size, "step %s: %s is a workflow; write \"workflow: %s\"",
                         m->name, definition->ref, definition->ref);
    return OK;
}

/* Values that are known now are checked now; the others when the step runs. */
static enum status check_with(const struct making *m, const struct job_step *definition,
                              const struct job *job)
{
    char why[PARAM_WHY_SIZE];
    for (size_t i = 0; i < definition->with.count; i++) {
        const struct job_pair *pair = &definition->with.items[i];
        const struct job_param *param =
            job_params_find(&job->params, pair->name, strlen(pair->name));
        if (!param)
            return flow_fail(m->why, m->size, "step %s: %s is no parameter of job %s", m->name,
                             pair->name, definition->ref);
        if (!flow_is_template(pair->value) && param_value_check(param, pair->value, why) != OK)
            return flow_fail(m->why, m->size, "step %s: parameter %s: %s", m->name, pair->name,
                             why);
    }
    for (size_t i = 0; i < job->params.count; i++) {
        const struct job_param *param = &job->params.items[i];
        bool is_given = param->initial;
        for (size_t k = 0; k < definition->with.count; k++)
            is_given |= strcmp(definition->with.items[k].name, param->name) == 0;
        if (!is_given)
            return flow_fail(m->why, m->size,
                             "step %s: parameter %s of job %s has no default; give a value in "
                             "\"with\"",
                             m->name, param->name, definition->ref);
    }
    return OK;
}

/* What the step itself says wins, field by field. */
static enum status take_job(const struct making *m, const struct job_step *definition,
                            const json_t *own, const struct flow_source *source)
{
    struct job *job = NULL;
    enum status st = find_job(m, definition, source, &job);
    if (st == OK)
        st = check_with(m, definition, job);
    json_t *fields = st == OK ? fields_of(job, false) : NULL;
    if (st == OK && (!fields || json_object_update(m->job, fields) != 0))
        st = E_NOMEM;
    if (st == OK)
        st = add_env(m, json_object_get(fields, "env"), false);
    for (const struct field *field = job_fields; field->name && st == OK; field++) {
        if (definition->given & step_field_bit(field)) /* its default is not among its own */
            json_object_del(m->job, field->name);
    }
    if (st == OK && json_object_update(m->job, (json_t *)own) != 0)
        st = E_NOMEM;
    if (st == OK)
        st = name_function(m, definition->ref);
    json_decref(fields);
    job_free(job);
    return st;
}

/* ---- both ---- */

static enum status take_own(const struct making *m, const struct job_step *definition,
                            const json_t *own, const json_t *defaults)
{
    if (definition->with.count)
        return fail(m, "\"with\" is for the parameters of a job or a workflow");
    if (json_object_update(m->job, (json_t *)own) != 0)
        return E_NOMEM;
    enum status st = add_defaults(m, defaults);
    return st == OK ? name_function(m, definition->name) : st;
}

/* Variables are made last, when all names of the environment are known. */
static enum status settle_own(struct making *m, const struct job_step *definition)
{
    enum status st = check_words(m, definition->job ? definition->job->command : NULL);
    m->is_script = true;
    if (st == OK)
        st = use_in(m, m->job, "shell");
    m->is_script = false;
    return st == OK ? use_in_http(m) : st;
}

static json_t *encode_with(const struct job_step *definition)
{
    json_t *with = json_object();
    for (size_t i = 0; i < definition->with.count && with; i++) {
        const struct job_pair *pair = &definition->with.items[i];
        if (json_object_set_new(with, pair->name, json_string(pair->value)) != 0) {
            json_decref(with);
            with = NULL;
        }
    }
    return with;
}

/* Empty maps are left out. */
static bool add_map(json_t *to, const char *name, json_t *map)
{
    return json_object_size(map) == 0 || json_object_set(to, name, map) == 0;
}

static enum status make(struct making *m, const struct job_step *definition, const json_t *own,
                        const json_t *defaults, const json_t *env, const struct flow_source *source)
{
    bool is_own = !definition->ref;
    bool has_env = !json_object_get(own, "function");
    enum status st = has_env ? add_env(m, json_object_get(defaults, "env"), true) : OK;
    if (st == OK)
        st = is_own ? take_own(m, definition, own, defaults) : take_job(m, definition, own, source);
    if (st == OK)
        st = add_env(m, json_object_get(own, "env"), true);
    if (st == OK)
        st = add_env(m, env, false);
    if (st == OK && is_own)
        st = settle_own(m, definition);
    json_object_del(m->job, "env");
    if (json_object_get(m->job, "function")) { /* it has the environment of its program */
        json_object_clear(m->env);
        json_object_clear(m->values);
    }
    return st == OK && !add_map(m->job, "env", m->env) ? E_NOMEM : st;
}

enum status flow_add_job(json_t *step, const struct job_step *definition, const json_t *defaults,
                         const json_t *env, const struct flow_source *source, char *why,
                         size_t size)
{
    struct making m = {.job = json_object(),
                       .env = json_object(),
                       .values = json_object(),
                       .name = json_string_value(json_object_get(step, "name")),
                       .is_fan_out = step_is_fan_out(definition),
                       .size = size};
    m.why = why;
    json_t *own = definition->job ? fields_of(definition->job, false) : json_object();
    json_t *with = encode_with(definition);
    enum status st = m.job && m.env && m.values && own && with ? OK : E_NOMEM;
    if (st == OK)
        st = make(&m, definition, own, defaults, env, source);
    if (st == OK && (json_object_set(step, "job", m.job) != 0 ||
                     !add_map(step, "values", m.values) || !add_map(step, "with", with) ||
                     (!definition->ref && json_object_set_new(step, "own", json_true()) != 0)))
        st = E_NOMEM;
    json_decref(with);
    json_decref(own);
    json_decref(m.values);
    json_decref(m.env);
    json_decref(m.job);
    return st;
}
