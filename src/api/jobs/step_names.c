#include "jobs/step_names.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_name.h"
#include "workflow/steps.h"

/* ---- who names it ---- */

struct naming {
    const struct catalog *catalog;
    const struct catalog_job *job;
    bool by_former;
    bool (*visit)(void *context, const struct catalog_job *workflow);
    void *context;
};

/* A look at the text first, since few of many workflows name it. */
static bool has_name(const char *json, const char *name)
{
    char quoted[JOB_NAME_SIZE + 2];
    snprintf(quoted, sizeof(quoted), "\"%s\"", name);
    return strstr(json, quoted) != NULL;
}

static bool may_name(const struct naming *naming, const struct catalog_job *workflow)
{
    const struct catalog_job *job = naming->job;
    if (!naming->by_former && has_name(workflow->json, job->name))
        return true;
    for (size_t i = 0; job->former && i < job->former->count; i++) {
        if (has_name(workflow->json, job->former->names[i].name))
            return true;
    }
    return false;
}

/* Who may define a job of one namespace, and so make it a step, has no rights in another one: there
 * a former name finds nothing. */
static bool names_it(const struct naming *naming, const char *name)
{
    bool is_former = name && strcmp(name, naming->job->name) != 0;
    return name && (is_former || !naming->by_former) &&
           job_name_is_beside(name, naming->job->name) &&
           catalog_awaited(naming->catalog, name) == naming->job;
}

static bool list_names_it(const struct naming *naming, const json_t *steps)
{
    const json_t *step;
    size_t i;
    json_array_foreach (steps, i, step) {
        if (names_it(naming, json_string_value(json_object_get(step, "job"))) ||
            names_it(naming, json_string_value(json_object_get(step, "workflow"))))
            return true;
    }
    return false;
}

static bool look_at(void *context, const struct catalog_job *workflow)
{
    const struct naming *naming = context;
    if (!workflow->is_workflow || !may_name(naming, workflow))
        return true;
    json_t *definition = json_loads(workflow->json, 0, NULL);
    bool is_found = list_names_it(naming, json_object_get(definition, "steps")) ||
                    list_names_it(naming, json_object_get(definition, "finally"));
    json_decref(definition);
    return !is_found || naming->visit(naming->context, workflow);
}

void step_names_each(struct catalog *catalog, const struct catalog_job *job, bool by_former,
                     bool (*visit)(void *context, const struct catalog_job *workflow),
                     void *context)
{
    struct naming naming = {catalog, job, by_former, visit, context};
    catalog_each(catalog, NULL, false, look_at, &naming);
}

/* ---- replaced ---- */

const char *step_names_replace(const struct catalog *catalog, const struct catalog_job *job,
                               struct job *definition, char former[JOB_NAME_SIZE])
{
    const struct naming naming = {.catalog = catalog, .job = job, .by_former = true};
    const char *found = NULL;
    for (size_t i = 0; i < definition->step_count; i++) {
        struct job_step *step = &definition->steps[i];
        char **name = step->ref ? &step->ref : &step->workflow;
        char *fresh = names_it(&naming, *name) ? strdup(job->name) : NULL;
        if (!fresh)
            continue;
        snprintf(former, JOB_NAME_SIZE, "%s", *name);
        found = former;
        free(*name);
        *name = fresh;
    }
    return found;
}
