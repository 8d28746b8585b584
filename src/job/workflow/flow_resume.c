/* A plan of which a part is done: an instance that goes on where an earlier one has failed, or that
 * is to run some of the steps only. What is done has no run in the new instance. The steps behind
 * it wait for the others alone, as if it had just ended as OK. */
#include <string.h>

#include "workflow/flow_internal.h"

static enum status mark_done(struct flow *flow, const json_t *done, char *why, size_t size)
{
    const char *name;
    json_t *value;
    if (!json_is_object(done))
        return flow_fail(why, size, "what is done can't be read");
    json_object_foreach ((json_t *)done, name, value) {
        int step = flow_find(flow, name);
        if (step < 0)
            return flow_fail(why, size, "there is no step %.63s", name);
        if (!json_is_object(value))
            return flow_fail(why, size, "what is done of step %s can't be read", name);
        flow->steps[step].done = value;
    }
    return OK;
}

/* What is done has ended as it should, or never will. With enough of it the step waits for none. */
static void shorten(const struct flow *flow, struct flow_gate *gate)
{
    size_t left = 0;
    for (size_t i = 0; i < gate->after_count; i++) {
        const struct flow_wait *wait = &gate->after[i];
        if (!flow->steps[wait->of].done)
            gate->after[left++] = *wait;
        else if (run_state_is_in(flow_states(wait->on), RUN_OK))
            gate->join--;
    }
    gate->join = gate->join > 0 ? gate->join : 0;
    gate->after_count = gate->join ? left : 0;
}

static void cut_edges(const struct flow *flow, struct flow_step *step)
{
    size_t left = 0;
    for (size_t i = 0; i < step->edge_count; i++) {
        const struct flow_edge *edge = &step->edges[i];
        if (edge->step < 0 || !flow->steps[edge->step].done)
            step->edges[left++] = *edge;
    }
    step->edge_count = left;
}

enum status flow_resume(struct flow *flow, char *why, size_t size)
{
    const json_t *resume = json_object_get(flow->document, "resume");
    int first = 0;
    if (!resume)
        return OK;
    enum status st = mark_done(flow, json_object_get(resume, "done"), why, size);
    for (int i = 0; i < flow->count && st == OK; i++) {
        struct flow_step *step = &flow->steps[i];
        cut_edges(flow, step);
        if (step->done) {
            flow->last_count -= step->ends;
            continue;
        }
        shorten(flow, &step->gate);
        first += !step->gate.after_count;
    }
    if (st == OK && !flow->last_count)
        st = flow_fail(why, size, "no step is left to run");
    if (st == OK && first > STEPS_FIRST_MAX)
        st = flow_fail(why, size, "%d steps begin with the instance; at most %d are possible",
                       first, STEPS_FIRST_MAX);
    return st;
}

bool flow_is_done(const struct flow *flow, int step)
{
    return flow->steps[step].done != NULL;
}

const char *flow_done_run(const struct flow *flow, int step)
{
    return json_string_value(json_object_get(flow->steps[step].done, "run"));
}

enum run_state flow_end_state(const struct flow *flow, const struct flow_scope *scope, int step)
{
    if (flow->steps[step].done)
        return RUN_OK;
    const struct run *end = scope->end(scope->context, step);
    return end ? end->state : RUN_QUEUED;
}

int flow_item_count(const struct flow *flow, const struct flow_scope *scope, int step)
{
    const json_t *done = flow->steps[step].done;
    if (done)
        return (int)json_array_size(json_object_get(done, "items"));
    const struct run *end = scope->end(scope->context, step);
    return end ? end->joins.expected : 0;
}

enum status flow_output_of(const struct flow *flow, const struct flow_scope *scope, int step,
                           int item, json_t **ret, json_error_t *reterr)
{
    const json_t *done = flow->steps[step].done;
    if (done) {
        *ret = json_incref(item < 0 ? json_object_get(done, "values")
                                    : json_array_get(json_object_get(done, "items"), (size_t)item));
        return OK;
    }
    const char *text = scope->output(scope->context, step, item);
    return text ? flow_parse(text, strlen(text), ret, reterr) : OK;
}
