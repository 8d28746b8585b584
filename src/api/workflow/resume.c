#include "workflow/resume.h"

#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "id_json.h"
#include "input.h"
#include "jobs/jobs.h"
#include "server.h"
#include "workflow/instance_read.h"
#include "workflow/steps.h"

/* ---- the plan of the definition, as it is now ---- */

/* False: the call has failed. */
static bool make_plan(struct call *call, const struct job *definition, const char *input,
                      struct flow **ret)
{
    const struct flow_source source = {catalog_step_text, engine_catalog(call->api->ports.engine)};
    char why[256] = "";
    char *text = NULL;
    enum status st = flow_text(definition, input, &source, &text, why, sizeof(why));
    if (st == OK)
        st = flow_decode(text, ret);
    free(text);
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (st != OK)
        call_fail(call, 422, "\"%s\" can't run: %s", definition->name, why);
    return st == OK;
}

bool resume_is_good(struct call *call, const struct job *definition, const char *input)
{
    struct flow *flow = NULL;
    bool is_good = definition->kind != JOB_WORKFLOW || make_plan(call, definition, input, &flow);
    flow_free(flow);
    return is_good;
}

/* ---- by name ---- */

/* Is it the step, or a step of the workflow that is that step? */
static bool is_of(const char *step, const char *name)
{
    size_t length = strlen(name);
    return strncmp(step, name, length) == 0 && (step[length] == '\0' || step[length] == '/');
}

static bool is_listed(const json_t *list, const char *step)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (is_of(step, json_string_value(json_array_get(list, i))))
            return true;
    return false;
}

static bool is_step_name(const struct flow *flow, const char *name)
{
    for (int i = 0; name && i < flow_count(flow); i++)
        if (is_of(flow_name(flow, i), name))
            return true;
    return false;
}

/* A list of steps of the plan, or nothing. False: the call has failed. */
static bool read_names(struct call *call, const char *field, const struct flow *flow,
                       const json_t **ret)
{
    const json_t *list = json_object_get(call->body, field);
    char pointer[64];
    *ret = list;
    snprintf(pointer, sizeof(pointer), "/%s", field);
    if (list && (!json_is_array(list) || !json_array_size(list))) {
        call_fail_at(call, pointer, "%s: expected a list of steps", field);
        return false;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (is_step_name(flow, name))
            continue;
        snprintf(pointer, sizeof(pointer), "/%s/%zu", field, i);
        call_fail_at(call, pointer, "%s: there is no step \"%.63s\"", field, name ? name : "");
        return false;
    }
    return true;
}

/* {"done": DONE}, which is taken over; NULL: out of memory. */
static json_t *pack(json_t *done, const struct run *of)
{
    return of ? json_pack("{s:o, s:o}", "of", json_id(&of->id), "done", done)
              : json_pack("{s:o}", "done", done);
}

static bool read_left_out(struct call *call, const struct flow *flow, json_t **ret)
{
    const json_t *only, *skip;
    if (!read_names(call, "only", flow, &only) || !read_names(call, "skip", flow, &skip))
        return false;
    json_t *done = json_object();
    int left = flow_count(flow);
    for (int i = 0; i < flow_count(flow) && done; i++) {
        const char *name = flow_name(flow, i);
        if ((!only || is_listed(only, name)) && !is_listed(skip, name))
            continue;
        left--;
        if (json_object_set_new(done, name, json_object()) != 0) {
            json_decref(done);
            done = NULL;
        }
    }
    *ret = done ? pack(done, NULL) : NULL;
    if (!*ret)
        call_fail(call, 500, "out of memory");
    else if (!left)
        call_fail(call, 422, "no step is left to run");
    return *ret && left;
}

bool resume_read(struct call *call, const struct job *definition, json_t **ret)
{
    bool is_asked = json_object_get(call->body, "only") || json_object_get(call->body, "skip");
    struct flow *flow = NULL;
    char *input = NULL;
    *ret = NULL;
    if (!is_asked)
        return true;
    if (definition->kind != JOB_WORKFLOW) {
        call_fail(call, 422, "\"%s\" is not a workflow: it has no steps", definition->name);
        return false;
    }
    bool is_good = run_input_read(call, definition, NULL, NULL, &input) &&
                   make_plan(call, definition, input, &flow) && read_left_out(call, flow, ret);
    free(input);
    flow_free(flow);
    return is_good;
}

/* ---- an earlier instance ---- */

struct resume_call {
    struct instance_read read; /* first member */
    struct run instance;
    char *plan;        /* of the instance; NULL: it is gone */
    json_t *before;    /* what was done before that instance: by the names of steps; NULL: none */
    struct flow *flow; /* of the definition as it is now */
    bool *again;       /* by the steps of the instance: they are to run */
    json_t *done;
    int next;
};

static void release(void *state)
{
    struct resume_call *resume = state;
    instance_read_release(&resume->read);
    flow_free(resume->flow);
    free(resume->plan);
    free(resume->again);
    json_decref(resume->done);
    json_decref(resume->before);
}

static const struct catalog_job *job_of(const struct call *call, const struct run *run)
{
    return catalog_by_uid(engine_catalog(call->api->ports.engine), &run->job_uid);
}

/* The state goes, and with it what the run is made of. */
static void start(struct call *call, bool with_done)
{
    struct resume_call resume = *(struct resume_call *)call->state;
    const struct catalog_job *job = job_of(call, &resume.instance);
    json_t *left_out = with_done ? pack(json_incref(resume.done), &resume.instance) : NULL;
    free(call->state);
    call->state = NULL;
    call->release = NULL;
    if (!job || job->deleted)
        call_fail(call, 404, "\"%s\" no longer exists", resume.instance.job_name);
    else if (with_done && !left_out)
        call_fail(call, 500, "out of memory");
    else
        run_start(call, job, CHANGE_RETRY, resume.plan, left_out);
    json_decref(left_out);
    release(&resume);
}

static void look_at_next(struct call *call);

/* What the step has written is in its record. */
static void step_read(struct call *call)
{
    struct resume_call *resume = call->state;
    int step = resume->next - 1;
    char id[ID_TEXT + 1];
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    id_format(&resume->read.view.steps[step].run.id, id);
    json_t *done = call->log.found && call->log.input ? json_loads(call->log.input, 0, NULL) : NULL;
    if (!json_is_object(done)) {
        json_decref(done);
        done = json_object();
    }
    if (!done || json_object_set_new(done, "run", json_string(id)) != 0 ||
        json_object_set(resume->done, instance_step_name(&resume->read.view, step), done) != 0)
        call_fail(call, 500, "out of memory");
    else
        look_at_next(call);
    json_decref(done);
}

/* Did it end well, or was it done before, and does the workflow have it still? */
static bool is_done(const struct resume_call *resume, int step)
{
    const struct instance_view *view = &resume->read.view;
    const struct instance_step *shown = &view->steps[step];
    const char *name = instance_step_name(view, step);
    int now = flow_find(resume->flow, name);
    bool is_final = now >= 0 && flow_is_final(resume->flow, now);
    bool is_ok = shown->is_known ? shown->run.state == RUN_OK
                                 : json_object_get(resume->before, name) != NULL;
    return now >= 0 && !is_final && is_ok && !resume->again[step];
}

/* Goes to the next step whose record is to be read; what was done before is known. False: out of
 * memory. */
static bool pass_known(struct resume_call *resume)
{
    const struct instance_view *view = &resume->read.view;
    for (; resume->next < view->count; resume->next++) {
        const char *name = instance_step_name(view, resume->next);
        if (!is_done(resume, resume->next))
            continue;
        if (view->steps[resume->next].is_known)
            return true;
        if (json_object_set(resume->done, name, json_object_get(resume->before, name)) != 0)
            return false;
    }
    return true;
}

static void look_at_next(struct call *call)
{
    struct resume_call *resume = call->state;
    if (!pass_known(resume)) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (resume->next == resume->read.view.count) {
        start(call, json_object_size(resume->done) > 0);
        return;
    }
    call->log.run_id = resume->read.view.steps[resume->next++].run.id;
    call->log.with_input = true;
    call_read_log(call, step_read);
}

/* The listed steps, and all that follow them. */
static void mark_again(struct resume_call *resume, const json_t *names)
{
    const struct instance_view *view = &resume->read.view;
    bool has_more = names != NULL;
    for (int i = 0; names && i < view->count; i++)
        resume->again[i] = is_listed(names, instance_step_name(view, i));
    while (has_more && view->flow) {
        has_more = false;
        for (int i = 0; i < view->count; i++) {
            size_t count;
            const struct flow_edge *edges = flow_edges(view->flow, i, &count);
            for (size_t k = 0; resume->again[i] && k < count; k++) {
                if (edges[k].step < 0 || resume->again[edges[k].step])
                    continue;
                has_more = resume->again[edges[k].step] = true;
            }
        }
    }
}

static void instance_known(struct call *call)
{
    struct resume_call *resume = call->state;
    const json_t *steps = json_object_get(call->body, "steps"), *names = NULL;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    resume->again = calloc((size_t)resume->read.view.count + 1, sizeof(bool));
    resume->done = json_object();
    if (!resume->again || !resume->done) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (json_is_array(steps) && !read_names(call, "steps", resume->flow, &names))
        return;
    mark_again(resume, names);
    look_at_next(call);
}

/* "failed", "all", or a list. False: the call has failed. */
static bool read_steps(struct call *call, bool *ret_all)
{
    const json_t *steps = json_object_get(call->body, "steps");
    const char *word = json_string_value(steps);
    *ret_all = word && strcmp(word, "all") == 0;
    if (!steps || json_is_array(steps) || *ret_all || (word && strcmp(word, "failed") == 0))
        return true;
    call_fail_at(call, "/steps", "steps: expected \"failed\", \"all\" or a list of steps");
    return false;
}

void resume_instance(struct call *call, const struct run *instance, const char *plan)
{
    bool is_all;
    const struct catalog_job *job = job_of(call, instance);
    if (!read_steps(call, &is_all))
        return;
    struct resume_call *resume = call_state(call, sizeof(*resume), release);
    if (!resume)
        return;
    struct run_input before = input_decode(plan);
    resume->before = json_incref(json_object_get(before.resume, "done"));
    input_release(&before);
    resume->instance = *instance;
    resume->plan = plan ? strdup(plan) : NULL;
    if (plan && !resume->plan) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (is_all) {
        start(call, false);
        return;
    }
    struct job *definition = stored_job(call, job);
    char *input = NULL;
    if (definition && run_input_read(call, definition, resume->plan, NULL, &input) &&
        make_plan(call, definition, input, &resume->flow))
        instance_read_begin(call, &resume->instance, resume->plan, instance_known);
    free(input);
    job_free(definition);
}
