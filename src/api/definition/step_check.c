#include "definition/step_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "auth/visible.h"
#include "server.h"
#include "text/hint.h"
#include "text/parsed.h"
#include "workflow/flow.h"
#include "workflow/refs.h"
#include "workflow/steps.h"

bool job_has_references(const struct job *job)
{
    for (size_t i = 0; i < job->step_count; i++) {
        if (job->steps[i].ref || job->steps[i].workflow)
            return true;
    }
    return false;
}

/* ---- errors ---- */

/* A step of the workflow that is checked. */
struct place {
    const struct after_check *check;
    const struct job *job;
    size_t step;
    struct job_error *err;
    bool is_whole; /* the step, not the job or workflow that it names */
};

/* steps[2].job: message */
static enum status fail(const struct place *place, const struct strbuf *message)
{
    const struct job_step *step = &place->job->steps[place->step];
    const char *list = step->is_final ? "finally" : "steps";
    const char *field = place->is_whole ? "" : step->ref ? "/job" : "/workflow";
    size_t index = place->step;
    for (size_t i = 0; step->is_final && i < place->step; i++)
        index -= !place->job->steps[i].is_final;
    if (strbuf_status(message) != OK)
        return E_NOMEM;
    snprintf(place->err->path, sizeof(place->err->path), "/%s/%zu%s", list, index, field);
    snprintf(place->err->message, sizeof(place->err->message), "%s[%zu]%s%s%s%s", list, index,
             *field ? "." : "", *field ? field + 1 : "",
             place->check->call->language == LANGUAGE_ZH ? "：" : ": ", message->text);
    return E_INVALID;
}

static enum status fail_with(const struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum status fail_with(const struct place *place, const char *format, ...)
{
    struct strbuf message;
    va_list args;
    strbuf_init(&message);
    va_start(args, format);
    strbuf_addv(&message, format, args);
    va_end(args);
    enum status st = fail(place, &message);
    strbuf_release(&message);
    return st;
}

static enum status no_such_job(const struct place *place, const char *name)
{
    enum language language = place->check->call->language;
    const char *nearest = after_nearest_job(place->check->call, name);
    struct strbuf message;
    strbuf_init(&message);
    strbuf_addf(&message, message_in(language, "there is no job \"%.128s\""), name);
    if (nearest && strlen(nearest) < 80) {
        snprintf(place->err->hint, sizeof(place->err->hint), "did you mean \"%.80s\"?", nearest);
        strbuf_adds(&message, language == LANGUAGE_ZH ? "；" : "; ");
        hint_print(language, place->err->hint, &message);
    }
    enum status st = fail(place, &message);
    strbuf_release(&message);
    return st;
}

/* ---- the jobs that are named ---- */

/* Calls `visit` with the definition of the job, which is NULL if there is none. */
typedef enum status with_job(void *context, const struct job *job);

static enum status look_up(const struct after_check *check, const char *name, with_job *visit,
                           void *context)
{
    bool is_gone = false;
    const struct job *planned = check->planned(check->context, name, &is_gone);
    const struct catalog *catalog = engine_catalog(check->call->api->ports.engine);
    const struct catalog_job *there = planned || is_gone ? NULL : catalog_by_name(catalog, name);
    struct job *stored = NULL;
    struct job_error err;
    if (!there)
        return visit(context, planned);
    enum status st = job_decode_stored(there->json, NULL, &stored, &err);
    if (st == OK || st == E_INVALID) /* one that can't be decoded is not run either */
        st = visit(context, stored);
    job_free(stored);
    return st;
}

/* ---- workflows within each other ---- */

struct descent {
    const struct place *place;
    const char *path[FLOW_DEPTH_MAX + 2];
    int depth;
    json_t *done; /* names of workflows without a cycle below them */
};

static const char *shown(const struct after_check *check, const char *name)
{
    return call_sees(check->call, name) ? name : "...";
}

static enum status fail_way(const struct descent *descent, bool is_circle)
{
    const struct place *place = descent->place;
    enum language language = place->check->call->language;
    struct strbuf way;
    strbuf_init(&way);
    for (int i = 0; i < descent->depth; i++)
        strbuf_addf(&way, "%s%s", i ? " -> " : "", shown(place->check, descent->path[i]));
    enum status st = strbuf_status(&way);
    if (st == OK && is_circle)
        st =
            fail_with(place, message_in(language, "a workflow would contain itself: %s"), way.text);
    else if (st == OK)
        st = fail_with(place, message_in(language, "too many workflows within each other: %s"),
                       way.text);
    strbuf_release(&way);
    return st;
}

static with_job descend_into;

/* At most FLOW_DEPTH_MAX deep. NOLINTNEXTLINE(misc-no-recursion) */
static enum status descend(struct descent *descent, const char *name)
{
    bool is_circle = false;
    if (json_object_get(descent->done, name))
        return OK;
    for (int i = 0; i < descent->depth && !is_circle; i++)
        is_circle = strcmp(descent->path[i], name) == 0;
    descent->path[descent->depth++] = name;
    if (is_circle || descent->depth > FLOW_DEPTH_MAX)
        return fail_way(descent, is_circle);
    enum status st = look_up(descent->place->check, name, descend_into, descent);
    descent->depth--;
    if (st == OK && json_object_set_new(descent->done, name, json_true()) != 0)
        st = E_NOMEM;
    return st;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static enum status descend_into(void *context, const struct job *job)
{
    enum status st = OK;
    for (size_t i = 0; job && i < job->step_count && st == OK; i++) {
        if (job->steps[i].workflow)
            st = descend(context, job->steps[i].workflow);
    }
    return st;
}

/* ---- a step ---- */

static enum status check_kind(void *context, const struct job *job)
{
    const struct place *place = context;
    const struct job_step *step = &place->job->steps[place->step];
    const char *name = step->ref ? step->ref : step->workflow;
    enum language language = place->check->call->language;
    bool is_workflow = job && job->kind == JOB_WORKFLOW;
    if (!job)
        return no_such_job(place, name);
    if (step->ref && is_workflow)
        return fail_with(place,
                         message_in(language, "\"%.128s\" is a workflow; use \"workflow\" instead"),
                         name);
    if (step->workflow && !is_workflow)
        return fail_with(
            place, message_in(language, "\"%.128s\" is not a workflow; use \"job\" instead"), name);
    return OK;
}

static enum status check_step(struct place *place, struct descent *descent)
{
    const struct after_check *check = place->check;
    const struct job_step *step = &place->job->steps[place->step];
    const char *name = step->ref ? step->ref : step->workflow;
    if (!call_sees(check->call, name))
        return no_such_job(place, name);
    if (!scope_may(&check->call->principal.scope, RIGHT_DEFINE, name))
        return fail_with(place,
                         message_in(check->call->language,
                                    "needs the right to define \"%.128s\", which the step runs"),
                         name);
    enum status st = look_up(check, name, check_kind, place);
    return st == OK && step->workflow ? descend(descent, name) : st;
}

/* ---- references to steps of workflows that are steps ---- */

struct inner {
    struct place *place;
    struct job **kept; /* decoded for the check */
    size_t count;
    enum status st;
};

static const struct job *find_inner(void *context, const char *name)
{
    struct inner *inner = context;
    const struct after_check *check = inner->place->check;
    bool is_gone = false;
    const struct job *planned = check->planned(check->context, name, &is_gone);
    const struct catalog *catalog = engine_catalog(check->call->api->ports.engine);
    const struct catalog_job *there = planned || is_gone ? NULL : catalog_by_name(catalog, name);
    struct job *stored = NULL;
    struct job_error err;
    if (!there || array_grow(&inner->kept, inner->count, sizeof(struct job *)) != OK ||
        job_decode_stored(there->json, NULL, &stored, &err) != OK)
        return planned; /* cppcheck-suppress returnDanglingLifetime ; not the address of is_gone */
    inner->kept[inner->count++] = stored;
    return stored;
}

static void check_inner(void *context, const struct job_step *step, const struct ref *ref)
{
    struct inner *inner = context;
    struct place *place = inner->place;
    if (inner->st != OK || !strchr(ref->step, '/'))
        return;
    const char *complaint = steps_complain_inner(place->job, ref, find_inner, inner);
    if (!complaint)
        return;
    place->step = (size_t)(step - place->job->steps);
    char english[400];
    struct strbuf message;
    strbuf_init(&message);
    snprintf(english, sizeof(english), "${steps.%s.%s} %s", ref->step, ref_key(ref), complaint);
    message_translate(place->check->call->language, english, &message);
    place->is_whole = true;
    inner->st = fail(place, &message);
    strbuf_release(&message);
}

static enum status check_references(struct place *place)
{
    struct inner inner = {.place = place, .st = OK};
    enum status st = steps_each_ref(place->job, check_inner, &inner);
    for (size_t i = 0; i < inner.count; i++)
        job_free(inner.kept[i]);
    free(inner.kept);
    return st == OK ? inner.st : st;
}

enum status step_check_job(const struct after_check *check, const struct job *job,
                           struct job_error *reterr)
{
    struct place place = {.check = check, .job = job, .err = reterr};
    struct descent descent = {&place, {job->name}, 1, json_object()};
    enum status st = descent.done ? OK : E_NOMEM;
    for (; place.step < job->step_count && st == OK; place.step++) {
        const struct job_step *step = &job->steps[place.step];
        descent.depth = 1;
        if (step->ref || step->workflow)
            st = check_step(&place, &descent);
    }
    json_decref(descent.done);
    return st == OK ? check_references(&place) : st;
}
