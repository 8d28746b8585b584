/* What workflows read: an expression (w), what a step has written (o), a plan (p), by the first
 * byte. Refused with words, or what follows holds together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/flow.h"
#include "workflow/steps.h"
#include "workflow/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

static enum status get(void *context, const struct ref *ref, struct strbuf *out)
{
    (void)context;
    strbuf_adds(out, ref->name);
    return OK;
}

/* What can be read can be evaluated, and the other way round. */
static void try_when(const char *text)
{
    struct parse_error err = {0}, again = {0};
    const struct ref_values values = {get, NULL};
    bool truth = false;
    enum status st = when_check(text, NULL, &err);
    require(when_eval(text, &values, &truth, &again) == st);
    if (st != OK)
        require(err.message[0] && err.column > 0 && (size_t)err.column <= strlen(text) + 1 &&
                err.column == again.column);
}

/* A value that was read is read again the same. */
static void try_output(const char *text, size_t length)
{
    char why[200] = "";
    char *got = NULL, *again = NULL;
    if (flow_read_output(text, length, &got, why, sizeof(why)) != OK) {
        require(why[0]);
        return;
    }
    if (!got)
        return;
    require(strlen(got) <= FLOW_OUTPUT_MAX);
    require(flow_read_output(got, strlen(got), &again, why, sizeof(why)) == OK);
    require(again && strcmp(got, again) == 0);
    free(got);
    free(again);
}

static const struct run *end(void *context, int step)
{
    const struct run *runs = context;
    return step % 3 == 2 ? NULL : &runs[step % 3];
}

static const char *output(void *context, int step, int item)
{
    (void)context;
    return (step + item) % 2 ? "{\"k\":\"a b\",\"n\":\"-1\"}" : "{\"k\":\"[1,\\\"x\\\"]\"}";
}

static void try_step(const struct flow *flow, int step, const struct flow_scope *scope)
{
    char why[200] = "", name[STEP_NAME_SIZE];
    struct job *job = NULL;
    bool runs;
    int items = 1, part = flow_part_of(step);
    size_t count;
    const struct flow_edge *edges = flow_edges(flow, step, &count);
    for (size_t i = 0; i < count; i++)
        require(edges[i].step >= -1 && edges[i].step < flow_count(flow) && edges[i].states);
    require(flow_join(flow, step) <= flow_inputs(flow, step));
    require(flow_at_once(flow, step) >= 1 && flow_find(flow, flow_name(flow, step)) >= 0);
    if (flow_when(flow, step, scope, &runs, why, sizeof(why)) != OK)
        require(why[0]);
    if (flow_is_fan_out(flow, step)) {
        part *= FLOW_ITEMS;
        if (flow_items(flow, step, scope, &items, why, sizeof(why)) != OK)
            require(why[0]);
        require(items <= EACH_ITEMS_MAX);
    }
    flow_name_part(flow, part, name);
    if (flow_job(flow, part, scope, &job, why, sizeof(why)) != OK)
        require(why[0]);
    job_free(job);
}

static void try_plan(const char *text)
{
    struct run runs[2] = {{.state = RUN_OK, .joins.expected = 2}, {.state = RUN_FAILED}};
    const struct flow_scope scope = {end, output, runs, &runs[0]};
    struct flow *flow = NULL;
    if (flow_decode(text, &flow) != OK)
        return;
    require(flow_count(flow) > 0 && flow_last_count(flow) > 0);
    for (int i = 0; i < flow_count(flow); i++)
        try_step(flow, i, &scope);
    flow_free(flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *text = malloc(size);
    require(text);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] == 'w')
        try_when(text);
    else if (data[0] == 'o')
        try_output(text, size - 1);
    else
        try_plan(text);
    free(text);
    return 0;
}
