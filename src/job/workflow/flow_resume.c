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

/* ---- what the others wait for ---- */

struct shortened {
    const struct flow *flow;
    struct flow_wait *after;
    size_t count;
    bool *seen;       /* by step */
    bool is_hopeless; /* it waits for a failure that has not been */
};

/* Waits for the step; if that is done, for what it would have waited for: a step that is skipped
 * keeps its place in the order. */
static void wait_for(struct shortened *s, const struct flow_wait *wait)
{
    const struct flow_step *step = &s->flow->steps[wait->of];
    if (s->seen[wait->of])
        return;
    s->seen[wait->of] = true;
    if (!step->done) {
        s->after[s->count++] = *wait;
        return;
    }
    s->is_hopeless |= !run_state_is_in(flow_states(wait->on), RUN_OK);
    for (size_t i = 0; i < step->gate.after_count; i++)
        wait_for(s, &step->gate.after[i]);
}

/* Of some steps, of which a number is enough: those that are done count at once. */
static void count_done(struct shortened *s, struct flow_gate *gate)
{
    for (size_t i = 0; i < gate->after_count; i++) {
        const struct flow_wait *wait = &gate->after[i];
        if (!s->flow->steps[wait->of].done)
            s->after[s->count++] = *wait;
        else if (run_state_is_in(flow_states(wait->on), RUN_OK))
            gate->join--;
    }
    gate->join = gate->join > 0 ? gate->join : 0;
    s->count = gate->join ? s->count : 0;
}

static enum status shorten(const struct flow *flow, struct flow_gate *gate)
{
    bool is_all = gate->join == (int)gate->after_count;
    struct shortened s = {.flow = flow,
                          .after = calloc((size_t)flow->count + 1, sizeof(*s.after)),
                          .seen = calloc((size_t)flow->count + 1, sizeof(bool))};
    enum status st = s.after && s.seen ? OK : E_NOMEM;
    for (size_t i = 0; st == OK && is_all && i < gate->after_count; i++)
        wait_for(&s, &gate->after[i]);
    if (st == OK && is_all)
        gate->join = (int)s.count + s.is_hopeless;
    else if (st == OK)
        count_done(&s, gate);
    free(s.seen);
    if (st != OK) {
        free(s.after);
        return st;
    }
    free(gate->after);
    gate->after = s.after;
    gate->after_count = s.count;
    return OK;
}

/* A step that is done waits for none, and none waits for it. */
static void take_out(struct flow_step *step)
{
    step->gate.after_count = 0;
    step->gate.join = 0;
    step->ends = false;
}

enum status flow_mark_done(struct flow *flow, char *why, size_t size)
{
    const json_t *resume = json_object_get(flow->document, "resume");
    return resume ? mark_done(flow, json_object_get(resume, "done"), why, size) : OK;
}

enum status flow_cut_done(struct flow *flow, char *why, size_t size)
{
    enum status st = OK;
    int first = 0, ends = 0;
    for (int i = 0; i < flow->count && st == OK; i++)
        st = flow->steps[i].done ? OK : shorten(flow, &flow->steps[i].gate);
    for (int i = 0; i < flow->count && st == OK; i++) {
        struct flow_step *step = &flow->steps[i];
        if (step->done)
            take_out(step);
        else
            first += !step->gate.after_count;
        ends += step->ends;
        if (step->gate.after_count > STEP_AFTER_MAX)
            st = flow_fail(why, size, "step %s would wait for %zu steps; at most %d are possible",
                           step->name, step->gate.after_count, STEP_AFTER_MAX);
    }
    if (st == OK && !ends)
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
