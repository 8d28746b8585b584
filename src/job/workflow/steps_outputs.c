/* The outputs that steps declare, and the references to outputs in all texts of a workflow. */
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "workflow/refs.h"
#include "workflow/steps.h"
#include "workflow/when.h"

const char *const *step_known_outputs(const struct job_step *step)
{
    static const char *const of_call[] = {"status", NULL};
    if (step->job && step->job->kind == JOB_HTTP)
        return of_call;
    return (const char *const *)step->outputs;
}

/* ---- references ---- */

struct search {
    const struct job_step *step;
    steps_visit_ref *visit;
    void *context;
};

static const char *take(void *context, const struct ref *ref)
{
    const struct search *search = context;
    search->visit(search->context, search->step, ref);
    return NULL;
}

/* A text that is wrong was told of before. */
static enum status look_at(struct search *search, const char *text)
{
    const struct ref_names names = {take, search};
    struct parse_error error;
    enum status st = text ? refs_check(text, &names, &error) : OK;
    return st == E_NOMEM ? st : OK;
}

static enum status look_at_list(struct search *search, char *const *texts)
{
    enum status st = OK;
    for (size_t i = 0; texts && texts[i] && st == OK; i++)
        st = look_at(search, texts[i]);
    return st;
}

static enum status look_at_pairs(struct search *search, const struct job_pairs *pairs)
{
    enum status st = OK;
    for (size_t i = 0; i < pairs->count && st == OK; i++)
        st = look_at(search, pairs->items[i].value);
    return st;
}

static enum status look_at_job(struct search *search, const struct job *job)
{
    enum status st = look_at_list(search, job->command);
    if (st == OK)
        st = look_at(search, job->script);
    if (st == OK)
        st = look_at(search, job->stdin_text);
    if (st == OK)
        st = look_at_pairs(search, &job->env);
    if (st == OK)
        st = look_at(search, job->http.url);
    if (st == OK)
        st = look_at(search, job->http.body);
    return st == OK ? look_at_pairs(search, &job->http.headers) : st;
}

/* `when`, and the output that `each` is of, are references without ${}. */
static enum status look_at_conditions(struct search *search, const struct job_step *step)
{
    const struct ref_names names = {take, search};
    struct parse_error error;
    struct ref ref;
    enum status st = step->when ? when_check(step->when, &names, &error) : OK;
    if (st == E_NOMEM)
        return st;
    if (step->each.of && !ref_read(step->each.of, strlen(step->each.of), &ref))
        take(search, &ref);
    return look_at_list(search, step->each.items);
}

enum status steps_each_ref(const struct job *job, steps_visit_ref *visit, void *context)
{
    enum status st = OK;
    for (size_t i = 0; i < job->step_count && st == OK; i++) {
        const struct job_step *step = &job->steps[i];
        struct search search = {step, visit, context};
        st = look_at_conditions(&search, step);
        if (st == OK)
            st = look_at_pairs(&search, &step->with);
        if (st == OK && step->job)
            st = look_at_job(&search, step->job);
    }
    return st;
}

static const struct job_step *find_step(const struct job *job, const char *name, size_t length)
{
    for (size_t i = 0; i < job->step_count; i++) {
        const char *other = job->steps[i].name;
        if (strncmp(other, name, length) == 0 && !other[length])
            return &job->steps[i];
    }
    return NULL;
}

static bool can_write(const struct job_step *step, const char *key)
{
    const char *const *known = step_known_outputs(step);
    for (size_t i = 0; known && known[i]; i++) {
        if (strcmp(known[i], key) == 0)
            return true;
    }
    return !known;
}

const char *steps_complain_inner(const struct job *workflow, const struct ref *ref,
                                 steps_find_job *find, void *context)
{
    const char *name = ref->step;
    const struct job *job = workflow;
    for (;; name += strcspn(name, "/") + 1) {
        size_t length = strcspn(name, "/");
        const struct job_step *step = find_step(job, name, length);
        if (!step)
            return "names a step that does not exist";
        if (!name[length] && step->workflow && ref->kind == REF_OUTPUT)
            return "names a workflow, which has no outputs; name a step of it: steps.NAME/STEP.KEY";
        if (!name[length] && ref->kind == REF_OUTPUT && !can_write(step, ref->name))
            return "names an output that the step does not declare";
        if (!name[length])
            return NULL;
        if (!step->workflow)
            return "names a step of a workflow, but the step in front of the / is none";
        job = find(context, step->workflow);
        if (!job || job->kind != JOB_WORKFLOW)
            return NULL;
    }
}

/* ---- those that nobody refers to ---- */

struct used {
    char name[STEP_NAME_SIZE + PARAM_NAME_MAX + 2]; /* STEP.KEY */
};

struct uses {
    struct table names;
    bool failed;
};

static const struct table_type used_type = {.key_at = offsetof(struct used, name)};

static void print_used(struct used *used, const char *step, const char *key)
{
    *used = (struct used){.name = ""};
    snprintf(used->name, sizeof(used->name), "%s.%s", step, key);
}

static void add_use(void *context, const struct job_step *step, const struct ref *ref)
{
    struct uses *uses = context;
    struct used used;
    (void)step;
    if (ref->kind != REF_OUTPUT)
        return;
    print_used(&used, ref->step, ref->name);
    if (!table_find(&uses->names, used.name))
        uses->failed |= !table_add(&uses->names, &used, sizeof(used));
}

enum status steps_find_unused(const struct job *job, steps_unused_found *found, void *context)
{
    struct uses uses = {.failed = false};
    table_init(&uses.names, &used_type);
    enum status st = steps_each_ref(job, add_use, &uses);
    if (st == OK && uses.failed)
        st = E_NOMEM;
    for (size_t i = 0; i < job->step_count && st == OK; i++) {
        const struct job_step *step = &job->steps[i];
        for (size_t k = 0; step->outputs && step->outputs[k]; k++) {
            struct used used;
            print_used(&used, step->name, step->outputs[k]);
            if (!table_find(&uses.names, used.name))
                found(context, step, step->outputs[k]);
        }
    }
    table_release_items(&uses.names);
    return st;
}
