/* The dependencies of a job, and its dependents. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/after_check.h"
#include "handlers.h"
#include "input.h"
#include "jobs/step_names.h"
#include "runs/encode.h"
#include "server.h"

static json_t *encode_wait(const struct call *call, const struct job_wait *wait)
{
    const struct catalog_job *other =
        catalog_awaited(engine_catalog(call->api->ports.engine), wait->name);
    if (other && !call_sees(call, other->name))
        other = NULL;
    bool has_run = other && !id_is_zero(&other->last.run_id);
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:b}", "job", other ? other->name : wait->name,
                     "on", after_on_names[wait->on], "exists", other != NULL, "state",
                     has_run ? json_string(run_state_name(other->last.state)) : json_null(),
                     "ended_at", json_time(has_run ? other->last.ended_ms : 0), "met",
                     after_is_met(wait->job, wait->on, other));
}

static json_t *encode_waits(const struct call *call, const struct job_waits *waits)
{
    json_t *list = json_array();
    for (size_t i = 0; waits && i < waits->count && list; i++) {
        if (json_array_append_new(list, encode_wait(call, &waits->waits[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int compare_names(const void *a, const void *b)
{
    const struct job_wait *const *one = a, *const *other = b;
    return strcmp((*one)->job->name, (*other)->job->name);
}

/* The dependents that the caller may see, by name. */
static json_t *encode_followers(const struct call *call, const char *name)
{
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    struct dependents all = catalog_dependents(catalog, name);
    size_t count = 0, at = 0;
    for (const struct job_wait *wait; (wait = dependents_next(&all));)
        count += call_sees(call, wait->job->name);
    const struct job_wait **sorted = calloc(count + 1, sizeof(const struct job_wait *));
    json_t *list = sorted ? json_array() : NULL;
    all = catalog_dependents(catalog, name);
    for (const struct job_wait *wait; list && (wait = dependents_next(&all));) {
        if (call_sees(call, wait->job->name))
            sorted[at++] = wait;
    }
    if (list)
        qsort(sorted, count, sizeof(const struct job_wait *), compare_names);
    for (size_t i = 0; i < count && list; i++) {
        json_t *item = json_pack("{s:s, s:s}", "job", sorted[i]->job->name, "on",
                                 after_on_names[sorted[i]->on]);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(sorted);
    return list;
}

struct workflow_list {
    const struct call *call;
    json_t *names;
};

static bool add_workflow(void *context, const struct catalog_job *workflow)
{
    const struct workflow_list *list = context;
    return !call_sees(list->call, workflow->name) ||
           json_array_append_new(list->names, json_string(workflow->name)) == 0;
}

/* The workflows of which it is a step. */
static json_t *encode_workflows(const struct call *call, const struct catalog_job *job)
{
    struct workflow_list list = {call, json_array()};
    if (list.names)
        step_names_each(engine_catalog(call->api->ports.engine), job, false, add_workflow, &list);
    return list.names;
}

void get_dependencies(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    if (job)
        call_reply(call, 200,
                   json_pack("{s:o, s:o, s:o}", "after", encode_waits(call, job->waits), "before",
                             encode_followers(call, job->name), "step_of",
                             encode_workflows(call, job)));
}
