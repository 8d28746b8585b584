/* The fields `steps` and `finally`: lists of steps, each with the fields of job_fields that a step
 * has, and those of step_fields. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_decode.h"
#include "function/job_function.h"
#include "workflow/steps.h"

/* ---- the fields that only steps have ---- */

static const struct field on_field = {"on", FIELD_CHOICE, .words = after_on_names};
static const char *const join_words[] = {"all", "any", NULL};

static enum status append_after(struct job_step *step, const char *name, enum after_on on)
{
    char *copy = strdup(name);
    if (!copy || array_grow(&step->after, step->after_count, sizeof(*step->after)) != OK) {
        free(copy);
        return E_NOMEM;
    }
    struct step_after *after = &step->after[step->after_count++];
    after->step = copy;
    after->on = on;
    return OK;
}

static enum status decode_after_name(const struct decoder *d, const struct spot *spot,
                                     enum after_on on)
{
    struct job_step *step = d->object;
    const char *name;
    enum status st = get_text(d, spot, false, &name);
    if (st != OK)
        return st;
    const char *complaint = step_name_complaint(name);
    if (complaint)
        return spot_fail(d->err, spot, "\"%.60s\" %s", name, complaint);
    for (size_t i = 0; i < step->after_count; i++) {
        if (strcmp(step->after[i].step, name) == 0)
            return spot_fail(d->err, spot, "\"%.60s\" is named twice", name);
    }
    return append_after(step, name, on);
}

static enum status decode_after_map(const struct decoder *d, const struct spot *spot)
{
    struct spot name = {spot, "step", 0, node_get(spot->node, "step")};
    struct spot on = {spot, "on", 0, node_get(spot->node, "on")};
    int word = AFTER_SUCCESS;
    for (const struct entry *entry = spot->node->entries; entry; entry = entry->next) {
        struct spot key = {spot, entry->key->text, 0, entry->key};
        if (entry->value != name.node && entry->value != on.node)
            return spot_fail(d->err, &key, "unknown field; \"step\" and \"on\" may stand here");
    }
    if (!name.node)
        return spot_fail(d->err, spot, "needs a \"step\" to wait for");
    enum status st = on.node ? find_word(d, &on_field, &on, &word) : OK;
    return st == OK ? decode_after_name(d, &name, (enum after_on)word) : st;
}

static enum status decode_after_item(const struct decoder *d, const struct spot *spot)
{
    return spot->node->kind == NODE_MAP ? decode_after_map(d, spot)
                                        : decode_after_name(d, spot, AFTER_SUCCESS);
}

enum status decode_step_after(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct spot item = {.up = spot};
    enum status st = OK;
    if (spot->node->kind != NODE_LIST)
        return decode_after_item(d, spot);
    if ((int64_t)spot->node->count < field->min)
        return spot_fail(d->err, spot, "names no step; leave it out, or name one to wait for");
    if ((int64_t)spot->node->count > field->max)
        return spot_fail(d->err, spot, "a step can wait for %lld others, not more",
                         (long long)field->max);
    for (const struct entry *entry = spot->node->entries; entry && st == OK; entry = entry->next) {
        item.node = entry->value;
        st = decode_after_item(d, &item);
        item.index++;
    }
    return st;
}

enum status decode_join(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct job_step *step = d->object;
    const struct node *node = spot->node;
    const struct field number = {.kind = FIELD_INT,
                                 .offset = offsetof(struct job_step, join),
                                 .min = field->min,
                                 .max = field->max};
    for (int i = 0; node->kind == NODE_SCALAR && join_words[i]; i++) {
        if (strcmp(node->text, join_words[i]) == 0) {
            step->join = i;
            return OK;
        }
    }
    if (node->kind == NODE_SCALAR && node->plain && plain_kind(node->text) == PLAIN_NUMBER)
        return field_decode(d, &number, spot);
    return spot_fail(d->err, spot, "expected all, any or a number, found %s", node_describe(node));
}

enum status decode_items(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct job_step *step = d->object;
    const struct node *list = spot->node;
    struct spot item = {.up = spot};
    if (list->kind != NODE_LIST)
        return spot_fail(d->err, spot,
                         "expected a list of items, or a map: {of: steps.NAME.KEY}, {from: 1, to: "
                         "10} or {shards: 8}; found %s",
                         node_describe(list));
    if ((int64_t)list->count < field->min || (int64_t)list->count > field->max)
        return spot_fail(d->err, spot, "expected a list of 1 to %lld items, found %zu",
                         (long long)field->max, list->count);
    step->each.items = calloc(list->count + 1, sizeof(char *));
    enum status st = step->each.items ? OK : E_NOMEM;
    for (const struct entry *entry = list->entries; entry && st == OK; entry = entry->next) {
        const char *text;
        item.node = entry->value;
        st = get_text(d, &item, true, &text);
        if (st == OK)
            st = job_set_text(&step->each.items[item.index], text);
        item.index++;
    }
    return st;
}

/* ---- a step ---- */

/* A field of the workflow, or a mistyped one. */
static enum status unknown_field(const struct decoder *d, const struct spot *spot,
                                 const struct node *key)
{
    const struct field *next = job_fields;
    const struct field *field = field_find(job_fields, &next, key->text, key->length);
    struct spot at_key = {spot, key->text, 0, key};
    if (field && !field->meta && field->of == OF_WHOLE)
        return spot_fail(d->err, &at_key, "belongs to the workflow, not to a step");
    if (field && !field->meta)
        return spot_fail(d->err, &at_key,
                         "is not for steps; one with \"each\" runs once for each item");
    const char *nearest = field_nearest(step_fields, false, key->text);
    if (!nearest)
        nearest = field_nearest(job_fields, false, key->text);
    at_key = (struct spot){spot->up, spot->name, spot->index, key};
    if (nearest)
        spot_set(d->err, &at_key, "unknown field \"%.60s\"; did you mean \"%s\"?", key->text,
                 nearest);
    else
        spot_set(d->err, &at_key, "unknown field \"%.60s\"", key->text);
    at_key = (struct spot){spot, key->text, 0, key};
    spot_point(d->err, &at_key);
    return status_invalid();
}

/* Each field in the order of the tables, the step's own first: their names hide those of a job. */
static enum status decode_fields(const struct decoder *d, struct job_step *step,
                                 const struct spot *spot)
{
    struct decoder own = *d, of_job = *d;
    enum status st = OK, worst = OK;
    own.object = step;
    of_job.object = own.job = of_job.job = step->job;
    own.workflow = of_job.workflow = d->job;
    for (const struct entry *entry = spot->node->entries; entry && st == OK; entry = entry->next) {
        if (!step_field_find(entry->key->text, entry->key->length))
            st = decoder_go_on(d, unknown_field(d, spot, entry->key), &worst);
    }
    for (const struct field *field = step_fields; field->name && st == OK; field++) {
        struct spot here = {spot, field->name, 0, node_get(spot->node, field->name)};
        if (here.node)
            st = decoder_go_on(d, field_decode(&own, field, &here), &worst);
    }
    for (const struct field *field = job_fields; field->name && st == OK; field++) {
        struct spot here = {spot, field->name, 0, NULL};
        if (field_is_of_step(field))
            here.node = node_get(spot->node, field->name);
        if (here.node)
            st = decoder_go_on(d, field_decode(&of_job, field, &here), &worst);
        if (here.node && step->ref)
            step->given |= step_field_bit(field);
    }
    job_settle_kind(step->job);
    return st == OK ? worst : st;
}

/* Exactly one of what a step can run. */
static enum status check_what(const struct decoder *d, const struct job_step *step,
                              const struct spot *spot)
{
    static const char *const kinds[] = {"command", "shell", "http", "function", "job", "workflow"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!node_get(spot->node, kinds[i]))
            continue;
        if (first)
            return spot_fail(d->err, spot, "step \"%s\" has both \"%s\" and \"%s\"", step->name,
                             first, kinds[i]);
        first = kinds[i];
    }
    if (!first)
        return spot_fail(d->err, spot,
                         "step \"%s\" needs a \"command\", \"shell\", \"http\", \"function\", "
                         "\"job\" or \"workflow\"",
                         step->name);
    return OK;
}

static enum status check_call(const struct decoder *d, const struct job_step *step,
                              const struct spot *spot)
{
    struct decoder inner = *d;
    struct spot http = {spot, "http", 0, node_get(spot->node, "http")};
    struct spot function = {spot, "function", 0, node_get(spot->node, "function")};
    inner.workflow = d->job;
    inner.object = inner.job = step->job;
    if (http.node && !step->job->http.url)
        return spot_fail(d->err, &http, "needs a \"url\"");
    if (http.node)
        return check_http(&inner, spot);
    enum status st = function.node ? check_function(&inner, spot) : OK;
    if (st == OK && function.node && !step->job->function.name)
        return spot_fail(d->err, &function, "needs a \"name\", that of the function");
    return st;
}

/* Beside a reference only what is used instead of the job's. */
static enum status check_reference(const struct decoder *d, const struct job_step *step,
                                   const struct spot *spot)
{
    struct spot with = {spot, "with", 0, node_get(spot->node, "with")};
    struct spot each = {spot, "each", 0, node_get(spot->node, "each")};
    struct spot outputs = {spot, "outputs", 0, node_get(spot->node, "outputs")};
    if (with.node && !step->ref && !step->workflow)
        return spot_fail(
            d->err, &with,
            "is for the parameters of a \"job\" or a \"workflow\"; this step has none");
    if (each.node && step->workflow)
        return spot_fail(d->err, &each, "is not for a \"workflow\"; its own steps can have it");
    if (outputs.node && step->workflow)
        return spot_fail(d->err, &outputs, "is not for a \"workflow\"; its own steps can have it");
    if (outputs.node && step->job->kind == JOB_HTTP)
        return spot_fail(d->err, &outputs, "is not for an HTTP call, which has one output: status");
    for (const struct field *field = job_fields; field->name && (step->ref || step->workflow);
         field++) {
        struct spot here = {spot, field->name, 0, NULL};
        if (field_is_of_step(field))
            here.node = node_get(spot->node, field->name);
        if (here.node && step->workflow)
            return spot_fail(d->err, &here, "belongs to the steps of workflow \"%.128s\"",
                             step->workflow);
        if (here.node && !field->in_reference)
            return spot_fail(d->err, &here, "belongs to job \"%.128s\", which this step runs",
                             step->ref);
    }
    return OK;
}

/* Exactly one form, and a range that has both ends. */
static enum status check_each(const struct decoder *d, struct job_step *step,
                              const struct spot *spot)
{
    struct spot each = {spot, "each", 0, node_get(spot->node, "each")};
    struct step_each *form = &step->each;
    bool has_from = form->from != EACH_UNSET, has_to = form->to != EACH_UNSET;
    bool is_range = has_from || has_to || form->by;
    int forms = (form->items != NULL) + (form->of != NULL) + (form->shards != 0) + is_range;
    if (!each.node)
        return OK;
    if (forms != 1)
        return spot_fail(d->err, &each,
                         "needs one of items, of, from with to, or shards; found %d of them",
                         forms);
    if (!is_range)
        return OK;
    if (!has_from || !has_to)
        return spot_fail(d->err, &each, "a range needs \"from\" and \"to\"");
    form->by = form->by ? form->by : 1;
    if (form->from > form->to)
        return spot_fail(d->err, &each, "\"from\" is larger than \"to\"");
    if ((form->to - form->from) / form->by >= EACH_ITEMS_MAX)
        return spot_fail(d->err, &each, "has more than %d items", EACH_ITEMS_MAX);
    return OK;
}

static enum status check_join(const struct decoder *d, const struct job_step *step,
                              const struct spot *spot)
{
    struct spot join = {spot, "join", 0, node_get(spot->node, "join")};
    if (join.node && !step->after_count)
        return spot_fail(d->err, &join,
                         "is for a step that waits for others; this one has no "
                         "\"after\"");
    if (step->join > 0 && (size_t)step->join > step->after_count)
        return spot_fail(d->err, &join,
                         "%d is more than the number of steps in \"after\", which is %zu",
                         step->join, step->after_count);
    return OK;
}

/* The fields of one step together; each check has an error of its own. */
static enum status check_step(const struct decoder *d, struct job_step *step,
                              const struct spot *spot)
{
    enum status worst = OK;
    if (!step->name)
        return spot_fail(d->err, spot, "a step needs a \"name\"");
    enum status st = check_what(d, step, spot);
    if (st == OK)
        st = check_call(d, step, spot);
    if (st == OK)
        st = check_reference(d, step, spot);
    if (st == OK) {
        struct decoder inner = *d;
        inner.job = step->job;
        st = check_expect(&inner, spot);
        if (st == OK)
            st = check_run_limits(&inner, spot);
    }
    st = decoder_go_on(d, st, &worst);
    if (st == OK)
        st = decoder_go_on(d, check_each(d, step, spot), &worst);
    if (st == OK)
        st = decoder_go_on(d, check_join(d, step, spot), &worst);
    return st == OK ? worst : st;
}

static enum status decode_step(const struct decoder *d, struct job_step *step,
                               const struct spot *spot)
{
    if (spot->node->kind != NODE_MAP)
        return spot_fail(d->err, spot, "expected a step (a map with name and command), found %s",
                         node_describe(spot->node));
    fields_set_defaults(step_fields, step);
    step->job = job_new();
    if (!step->job)
        return E_NOMEM;
    enum status st = decode_fields(d, step, spot);
    return st == OK ? check_step(d, step, spot) : st;
}

enum status decode_steps(struct decoder *d, const struct field *field, const struct spot *spot)
{
    struct job *job = d->job;
    const struct node *list = spot->node;
    struct spot item = {.up = spot};
    enum status st = OK, worst = OK;
    if (list->kind != NODE_LIST)
        return spot_fail(d->err, spot, "expected a list of steps, found %s", node_describe(list));
    if ((int64_t)list->count < field->min)
        return spot_fail(d->err, spot, "has no steps");
    if ((int64_t)(job->step_count + list->count) > field->max)
        return spot_fail(d->err, spot, "has %zu steps; a workflow has %lld at most",
                         job->step_count + list->count, (long long)field->max);
    struct job_step *steps =
        realloc(job->steps, (job->step_count + list->count) * sizeof(*job->steps));
    if (!steps)
        return E_NOMEM;
    job->steps = steps;
    for (const struct entry *entry = list->entries; entry && st == OK; entry = entry->next) {
        struct job_step *step = &steps[job->step_count++];
        *step = (struct job_step){.is_final = field->kind == FIELD_FINALLY};
        item.node = entry->value;
        st = decoder_go_on(d, decode_step(d, step, &item), &worst);
        item.index++;
    }
    return st == OK ? worst : st;
}
