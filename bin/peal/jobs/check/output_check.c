#include "jobs/check/output_check.h"

#include <stdio.h>
#include <string.h>

#include "text/tr.h"
#include "text/tr_parsed.h"
#include "workflow/flow.h"
#include "workflow/refs.h"
#include "workflow/steps.h"

struct step_place step_place(const struct job *job, const struct job_step *step, const char *field)
{
    struct step_place place;
    const char *list = step->is_final ? "finally" : "steps";
    size_t index = 0;
    for (const struct job_step *other = job->steps; other < step; other++)
        index += other->is_final == step->is_final;
    snprintf(place.label, sizeof(place.label), "%s[%zu]%s%s", list, index, *field ? "." : "",
             field);
    snprintf(place.path, sizeof(place.path), "%s/%zu%s%s", list, index, *field ? "/" : "", field);
    return place;
}

static const struct job *find_job(void *context, const char *name)
{
    const struct output_check *check = context;
    for (size_t i = 0; i < check->jobs->count; i++) {
        if (strcmp(check->jobs->items[i]->name, name) == 0)
            return check->jobs->items[i];
    }
    return NULL;
}

/* ---- steps of workflows that are steps ---- */

struct look {
    const struct output_check *check;
    const struct job *job;
    bool is_wrong;
};

static void look_at(void *context, const struct job_step *step, const struct ref *ref)
{
    struct look *look = context;
    char text[400], message[480];
    if (!strchr(ref->step, '/'))
        return;
    const char *complaint = steps_complain_inner(look->job, ref, find_job, (void *)look->check);
    if (!complaint)
        return;
    struct step_place place = step_place(look->job, step, "");
    snprintf(text, sizeof(text), "${steps.%s.%s} %s", ref->step, ref_key(ref), complaint);
    tr_parsed(text, sizeof(text));
    snprintf(message, sizeof(message), "%s: %s", place.label, text);
    job_sources_tell(look->check->sources,
                     &(struct job_mistake){look->job->name, place.path, step->name, message});
    look->is_wrong = true;
}

enum status output_check_references(const struct output_check *check, bool *ret_is_wrong)
{
    enum status st = OK;
    *ret_is_wrong = false;
    for (size_t i = 0; st == OK && i < check->jobs->count; i++) {
        struct look look = {check, check->jobs->items[i], false};
        st = steps_each_ref(look.job, look_at, &look);
        *ret_is_wrong |= look.is_wrong;
    }
    return st;
}

/* ---- outputs that nobody uses ---- */

static bool is_step_of(const struct output_check *check, const char *container, const char *name)
{
    const json_t *other;
    size_t i;
    json_array_foreach (json_object_get(check->contained, container), i, other) {
        if (strcmp(json_string_value(other), name) == 0)
            return true;
    }
    return false;
}

/* Directly, or by way of others; at most FLOW_DEPTH_MAX deep. NOLINTNEXTLINE(misc-no-recursion) */
static bool is_in_unread(const struct output_check *check, const char *name, int depth)
{
    const char *container;
    const json_t *names;
    json_object_foreach ((json_t *)check->contained, container, names) {
        if (depth == FLOW_DEPTH_MAX || !is_step_of(check, container, name))
            continue;
        if (!find_job((void *)check, container) || is_in_unread(check, container, depth + 1))
            return true;
    }
    return false;
}

struct use {
    const char *step, *key;
    bool is_used;
};

/* steps.OUTER/STEP.KEY of another workflow, whatever it calls this one. */
static void look_for_use(void *context, const struct job_step *step, const struct ref *ref)
{
    struct use *use = context;
    const char *slash = strrchr(ref->step, '/');
    (void)step;
    use->is_used |= slash && ref->kind == REF_OUTPUT && strcmp(slash + 1, use->step) == 0 &&
                    strcmp(ref->name, use->key) == 0;
}

struct unused {
    const struct output_check *check;
    const struct job *job;
    enum status st;
};

static void warn(void *context, const struct job_step *step, const char *output)
{
    struct unused *unused = context;
    const struct output_check *check = unused->check;
    struct use use = {step->name, output, is_in_unread(check, unused->job->name, 0)};
    char message[240];
    for (size_t i = 0; unused->st == OK && !use.is_used && i < check->jobs->count; i++)
        unused->st = steps_each_ref(check->jobs->items[i], look_for_use, &use);
    if (use.is_used)
        return;
    snprintf(message, sizeof(message),
             tr("warning: output \"%s\" of step \"%s\" is declared, but nothing refers to it"),
             output, step->name);
    struct step_place place = step_place(unused->job, step, "outputs");
    job_sources_tell(check->sources,
                     &(struct job_mistake){unused->job->name, place.path, output, message});
}

enum status output_check_unused(const struct output_check *check)
{
    struct unused unused = {.check = check, .st = OK};
    for (size_t i = 0; unused.st == OK && i < check->jobs->count; i++) {
        unused.job = check->jobs->items[i];
        enum status st = steps_find_unused(unused.job, warn, &unused);
        unused.st = unused.st == OK ? st : unused.st;
    }
    return unused.st;
}
