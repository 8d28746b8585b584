#include "workflow/opening.h"

#include <stdio.h>
#include <stdlib.h>

#include "definition/job_codec.h"
#include "definition/retry.h"
#include "group/group.h"

void opening_release(struct store_opening *opening)
{
    free(opening->steps);
    free((char *)opening->plan);
    *opening = (struct store_opening){.is_wanted = false};
}

void opening_fill_step(const struct engine_ports *ports, struct instances *instances,
                       struct now now, const struct flow *flow, int part, const struct run *of,
                       struct store_step *ret)
{
    const struct catalog_job *job = of ? instances_terms(instances, of) : NULL;
    *ret = (struct store_step){.id = ports_new_id(ports, now.wall),
                               .part = part,
                               .attempts = job ? catalog_job_attempts(job) : 0,
                               .is_final = flow_is_final(flow, flow_step_of(part))};
    flow_name_part(flow, part, ret->step);
    if (job)
        catalog_fill_groups(instances->catalog, job, of->job_name, ret->groups, &ret->priority);
}

static enum status no_memory_or(enum status st, struct store_opening *opening)
{
    if (st != OK)
        opening_release(opening);
    return st;
}

/* ---- of a workflow ---- */

/* The terms of a step, of a plan that is not in the store yet. */
static void fill_terms(const struct catalog *catalog, const struct flow *flow, const char *job_name,
                       int step, struct store_step *ret)
{
    struct job *definition;
    struct job_error error;
    if (job_decode_stored(flow_json(flow, step), NULL, &definition, &error) != OK)
        return;
    ret->attempts = definition->retries.count ? definition->retries.count + 1 : 0;
    groups_join(definition->groups, ret->groups);
    known_groups_add_spaces(&catalog->groups, job_name, ret->groups);
    ret->priority = ret->groups[0] ? definition->priority : 0;
    job_free(definition);
}

/* The steps that wait for none. */
static enum status fill_first(const struct engine_ports *ports, struct instances *instances,
                              struct now now, const struct flow *flow, const char *job_name,
                              struct store_opening *ret)
{
    ret->expected = flow_last_count(flow);
    ret->steps = calloc(STORE_STEPS_MAX, sizeof(ret->steps[0]));
    if (!ret->steps)
        return E_NOMEM;
    for (int i = 0; i < flow_count(flow); i++) {
        if (flow_inputs(flow, i) || flow_is_done(flow, i) || ret->count == STORE_STEPS_MAX)
            continue;
        struct store_step *step = &ret->steps[ret->count++];
        opening_fill_step(ports, instances, now, flow, flow_part_of(i), NULL, step);
        fill_terms(instances->catalog, flow, job_name, i, step);
    }
    return OK;
}

static enum status fill(const struct engine_ports *ports, struct instances *instances,
                        struct now now, const struct job *definition, const char *input,
                        struct store_opening *ret, char *why, size_t size)
{
    struct flow_source source = {.find = catalog_step_text, .context = instances->catalog};
    struct flow *flow = NULL;
    char *text = NULL;
    enum status st = flow_text(definition, input, &source, &text, why, size);
    if (st != OK)
        return st;
    *ret = (struct store_opening){
        .plan = text, .input = ports_new_id(ports, now.wall), .is_wanted = true};
    st = flow_decode(text, &flow);
    if (st == OK)
        st = fill_first(ports, instances, now, flow, definition->name, ret);
    flow_free(flow);
    return no_memory_or(st, ret);
}

enum status opening_of_workflow(const struct engine_ports *ports, struct instances *instances,
                                struct now now, const struct catalog_job *job,
                                const struct id *input, struct store_opening *ret, char *why,
                                size_t size)
{
    struct job *definition;
    struct job_error error;
    const char *text = inputs_find(instances->inputs, input);
    *ret = (struct store_opening){.is_wanted = false};
    if (!text && !id_is_zero(input)) {
        snprintf(why, size, "what was handed over with the request is gone");
        return E_INVALID;
    }
    enum status st = job_decode_stored(job->json, NULL, &definition, &error);
    if (st != OK) {
        snprintf(why, size, "the workflow's definition can't be read");
        return st;
    }
    snprintf(why, size, "its plan is too large");
    st = fill(ports, instances, now, definition, text, ret, why, size);
    job_free(definition);
    return st;
}

/* ---- of a fan-out ---- */

enum status opening_of_fan_out(const struct engine_ports *ports, struct instances *instances,
                               struct now now, const struct run *run, struct store_opening *ret)
{
    const struct flow *flow = instances_flow(instances, run);
    int step = flow_step_of(run->part), items;
    struct instance_scope scope;
    char why[sizeof(run->detail)];
    *ret = (struct store_opening){.is_wanted = true};
    if (!flow || !flow_is_fan_out(flow, step))
        return E_INVALID;
    instances_scope(instances, run, &scope);
    enum status st = flow_items(flow, step, &scope.flow, &items, why, sizeof(why));
    if (st != OK)
        return st;
    ret->expected = items;
    ret->steps = calloc(STORE_STEPS_MAX, sizeof(ret->steps[0]));
    if (!ret->steps)
        return E_NOMEM;
    int at_once = flow_at_once(flow, step);
    for (int i = 0; i < items && i < at_once && i < STORE_STEPS_MAX; i++)
        opening_fill_step(ports, instances, now, flow, FLOW_ITEMS * run->part + i, run,
                          &ret->steps[ret->count++]);
    return OK;
}
