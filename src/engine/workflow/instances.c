#include "workflow/instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"

/* A decoded plan. The definitions of its steps are read when they are first asked for. */
struct frozen {
    char *text;
    struct flow *flow;
    struct catalog_job **jobs; /* of the steps */
    size_t sharers;
};

/* Which plan the document of this name is. */
struct frozen_ref {
    struct id input;
    struct frozen *frozen; /* NULL: it can't be decoded */
};

struct known_output {
    char name[DOC_NAME_SIZE];
    char text[];
};

static const struct table_type frozen_type = {.key_at = offsetof(struct frozen, text),
                                              .is_pointer = true};
static const struct table_type by_input_type = {.key_at = offsetof(struct frozen_ref, input),
                                                .key_size = sizeof(struct id)};
static const struct table_type outputs_type = {.key_at = offsetof(struct known_output, name)};

void instances_init(struct instances *instances, struct catalog *catalog,
                    const struct open_runs *runs, const struct inputs *inputs,
                    struct zone_db *zones)
{
    *instances =
        (struct instances){.catalog = catalog, .runs = runs, .inputs = inputs, .zones = zones};
    table_init(&instances->frozen, &frozen_type);
    table_init(&instances->by_input, &by_input_type);
    table_init(&instances->outputs, &outputs_type);
}

static void free_frozen(struct instances *instances, struct frozen *frozen)
{
    if (!frozen)
        return;
    for (int i = 0; frozen->jobs && i < flow_count(frozen->flow); i++)
        catalog_free_aside(instances->catalog, frozen->jobs[i]);
    free(frozen->jobs);
    flow_free(frozen->flow);
    free(frozen->text);
    free(frozen);
}

void instances_release(struct instances *instances)
{
    size_t at = 0;
    for (struct frozen *frozen; (frozen = table_next(&instances->frozen, &at));)
        free_frozen(instances, frozen);
    table_release(&instances->frozen);
    table_release_items(&instances->by_input);
    table_release_items(&instances->outputs);
}

/* ---- outputs ---- */

enum status instances_take_output(struct instances *instances, const struct store_doc *doc)
{
    struct known_output *old = table_find(&instances->outputs, doc->name);
    if (old) {
        table_remove(&instances->outputs, old);
        free(old);
    }
    if (!doc->json)
        return OK;
    size_t size = strlen(doc->json) + 1;
    struct known_output *output = malloc(sizeof(*output) + size);
    if (!output)
        return E_NOMEM;
    memcpy(output->name, doc->name, sizeof(output->name));
    memcpy(output->text, doc->json, size);
    enum status st = table_insert(&instances->outputs, output);
    if (st != OK)
        free(output);
    return st;
}

const char *instances_output(const struct instances *instances, const struct id *instance, int part)
{
    char id[ID_TEXT + 1], name[DOC_NAME_SIZE];
    id_format(instance, id);
    snprintf(name, sizeof(name), "%s.%d", id, part);
    const struct known_output *output = table_find(&instances->outputs, name);
    return output ? output->text : NULL;
}

/* ---- plans ---- */

static void drop(struct instances *instances, struct frozen_ref *ref)
{
    struct frozen *frozen = ref->frozen;
    table_remove(&instances->by_input, ref);
    free(ref);
    if (!frozen || --frozen->sharers)
        return;
    table_remove(&instances->frozen, frozen);
    free_frozen(instances, frozen);
}

/* What the document was before is not what it is now: it is decoded when it is next asked for. */
void instances_take_input(struct instances *instances, const struct store_doc *doc)
{
    struct id id;
    struct frozen_ref *ref =
        id_parse(doc->name, &id) == OK ? table_find(&instances->by_input, &id) : NULL;
    if (ref)
        drop(instances, ref);
}

/* E_INVALID, E_NOMEM. */
static enum status freeze(struct instances *instances, const char *text, struct frozen **ret)
{
    struct frozen *frozen = table_find(&instances->frozen, text);
    if (frozen) {
        *ret = frozen;
        return OK;
    }
    frozen = calloc(1, sizeof(*frozen));
    if (!frozen)
        return E_NOMEM;
    enum status st = flow_decode(text, &frozen->flow);
    if (st == OK) {
        frozen->text = strdup(text);
        frozen->jobs = calloc((size_t)flow_count(frozen->flow) + 1, sizeof(frozen->jobs[0]));
        st = frozen->text && frozen->jobs ? table_insert(&instances->frozen, frozen) : E_NOMEM;
    }
    if (st == OK)
        *ret = frozen;
    else
        free_frozen(instances, frozen);
    return st;
}

/* NULL: out of memory. */
static struct frozen_ref *refer(struct instances *instances, const struct id *input,
                                const char *text)
{
    struct frozen_ref ref = {.input = *input};
    if (freeze(instances, text, &ref.frozen) == E_NOMEM)
        return NULL;
    struct frozen_ref *made = table_add(&instances->by_input, &ref, sizeof(ref));
    if (ref.frozen && made)
        ref.frozen->sharers++;
    return made;
}

/* A run that is not an instance yet may have an input, which is no plan. */
static struct frozen *find(struct instances *instances, const struct run *run)
{
    if (id_is_zero(&run->instance) || id_is_zero(&run->input))
        return NULL;
    struct frozen_ref *ref = table_find(&instances->by_input, &run->input);
    const char *text = ref ? NULL : inputs_find(instances->inputs, &run->input);
    if (text)
        ref = refer(instances, &run->input, text);
    return ref ? ref->frozen : NULL;
}

const struct flow *instances_flow(struct instances *instances, const struct run *run)
{
    const struct frozen *frozen = find(instances, run);
    return frozen ? frozen->flow : NULL;
}

const struct catalog_job *instances_terms(struct instances *instances, const struct run *run)
{
    if (!run_is_step(run))
        return catalog_by_uid(instances->catalog, &run->job_uid);
    struct frozen *frozen = find(instances, run);
    int step = flow_step_of(run->part);
    if (!frozen || step < 0 || step >= flow_count(frozen->flow))
        return NULL;
    struct catalog_job **job = &frozen->jobs[step];
    if (!*job)
        *job = catalog_new_aside(instances->catalog, &run->job_uid, run->job_name,
                                 flow_json(frozen->flow, step), instances->zones);
    return *job;
}

/* ---- values ---- */

static const struct run *scope_end(void *context, int step)
{
    const struct instance_scope *scope = context;
    const struct open_run *open =
        members_find(&scope->instances->runs->members, &scope->id, flow_part_of(step));
    return open && run_state_is_end(open->run.state) ? &open->run : NULL;
}

static const char *scope_output(void *context, int step, int item)
{
    const struct instance_scope *scope = context;
    int part = flow_part_of(step);
    return instances_output(scope->instances, &scope->id,
                            item >= 0 ? FLOW_ITEMS * part + item : part);
}

void instances_scope(struct instances *instances, const struct run *run, struct instance_scope *ret)
{
    const struct open_run *instance = open_runs_find(instances->runs, &run->instance);
    *ret = (struct instance_scope){.instances = instances, .id = run->instance};
    ret->flow = (struct flow_scope){.end = scope_end,
                                    .output = scope_output,
                                    .context = ret,
                                    .instance = instance ? &instance->run : run};
}
