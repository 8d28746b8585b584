#include "workflow/instance_view.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/after.h"
#include "runs/encode.h"
#include "workflow/steps.h"

/* The last attempt at an item of a fan-out. */
struct item {
    int part;
    int attempt;
    enum run_state state;
};

static const struct table_type by_part = {.key_at = offsetof(struct item, part),
                                          .key_size = sizeof(int)};

/* ---- gathering ---- */

static enum status make_room(struct instance_view *view, int count)
{
    if (count <= view->count)
        return OK;
    struct instance_step *grown = realloc(view->steps, (size_t)count * sizeof(*grown));
    if (!grown)
        return E_NOMEM;
    memset(grown + view->count, 0, (size_t)(count - view->count) * sizeof(*grown));
    view->steps = grown;
    view->count = count;
    return OK;
}

enum status instance_view_init(struct instance_view *view, const struct run *instance,
                               const char *plan)
{
    *view = (struct instance_view){.instance = *instance};
    table_init(&view->items, &by_part);
    enum status st = plan ? flow_decode(plan, &view->flow) : OK;
    if (st == E_NOMEM)
        return st;
    return view->flow ? make_room(view, flow_count(view->flow)) : OK;
}

void instance_view_release(struct instance_view *view)
{
    flow_free(view->flow);
    table_release_items(&view->items);
    free(view->steps);
    *view = (struct instance_view){0};
}

static enum status add_item(struct instance_view *view, struct instance_step *step,
                            const struct run *run)
{
    struct item fresh = {.part = run->part, .attempt = run->attempt, .state = run->state};
    struct item *item = table_find(&view->items, &run->part);
    step->has_items = true;
    if (!item)
        return table_add(&view->items, &fresh, sizeof(fresh)) ? OK : E_NOMEM;
    if (run->attempt > item->attempt)
        *item = fresh;
    return OK;
}

enum status instance_view_add(struct instance_view *view, const struct run *run)
{
    int nth = flow_step_of(run->part);
    if (!run_is_step(run) || id_compare(&run->instance, &view->instance.id) != 0 || nth < 0 ||
        nth >= (view->flow ? view->count : STEPS_MAX))
        return OK;
    enum status st = make_room(view, nth + 1);
    if (st != OK)
        return st;
    struct instance_step *step = &view->steps[nth];
    if (flow_part_is_item(run->part))
        return add_item(view, step, run);
    if (!step->is_known || run->attempt > step->run.attempt)
        step->run = *run;
    step->is_known = true;
    return OK;
}

void instance_view_settle(struct instance_view *view)
{
    const struct item *item;
    for (size_t at = 0; (item = table_next(&view->items, &at));) {
        struct instance_step *step = &view->steps[flow_step_of(item->part)];
        if (run_state_is_known(item->state))
            step->items[item->state]++;
        step->attempts += item->attempt;
    }
}

/* ---- showing ---- */

const char *instance_step_name(const struct instance_view *view, int step)
{
    return view->flow ? flow_name(view->flow, step) : view->steps[step].run.step;
}

const char *instance_step_state(const struct instance_view *view, int step)
{
    const struct instance_step *shown = &view->steps[step];
    if (shown->is_known && shown->run.state != RUN_QUEUED)
        return run_state_name(shown->run.state);
    return run_state_is_end(view->instance.state) ? "" : "waiting";
}

/* The word of `on`, from the states that an edge accepts. */
static const char *on_word(unsigned states)
{
    bool takes_ok = run_state_is_in(states, RUN_OK),
         takes_failed = run_state_is_in(states, RUN_FAILED);
    return after_on_names[takes_ok && takes_failed ? AFTER_ALWAYS
                          : takes_failed           ? AFTER_FAILURE
                                                   : AFTER_SUCCESS];
}

/* Final steps wait for all others; shown are those that no other waits for. */
static bool is_shown_before(const struct flow *flow, int step, int final)
{
    size_t count;
    const struct flow_edge *edges = flow_edges(flow, step, &count);
    if (!flow_is_final(flow, final) || flow_is_final(flow, step))
        return true;
    for (size_t i = 0; i < count; i++)
        if (edges[i].step >= 0 && !flow_is_final(flow, edges[i].step))
            return false;
    return true;
}

/* NULL for all of a final step's, which is what it always is. */
static json_t *shown_join(const struct flow *flow, int step)
{
    int join = flow_join(flow, step), inputs = flow_inputs(flow, step);
    bool is_plain = !inputs || (flow_is_final(flow, step) && join == inputs);
    return is_plain ? json_null() : json_integer(join);
}

/* What the step waits for, from the edges of the others. */
static json_t *shown_after(const struct instance_view *view, int step)
{
    json_t *list = json_array();
    for (int i = 0; view->flow && list && i < view->count; i++) {
        size_t count;
        const struct flow_edge *edges = flow_edges(view->flow, i, &count);
        for (size_t k = 0; k < count && list; k++) {
            if (edges[k].step != step || !is_shown_before(view->flow, i, step))
                continue;
            json_t *item = json_pack("{s:s, s:s}", "step", flow_name(view->flow, i), "on",
                                     on_word(edges[k].states));
            if (json_array_append_new(list, item) != 0) {
                json_decref(list);
                list = NULL;
            }
        }
    }
    return list;
}

static json_t *shown_items(const struct instance_step *step)
{
    json_t *counts = step->has_items ? json_object() : json_null();
    for (int i = 0; step->has_items && i < RUN_STATES && counts; i++) {
        if (step->items[i] && json_object_set_new(counts, run_state_name((enum run_state)i),
                                                  json_integer(step->items[i])) != 0) {
            json_decref(counts);
            counts = NULL;
        }
    }
    return counts;
}

static json_t *shown_plan(const struct instance_view *view, int step)
{
    const struct flow *flow = view->flow;
    if (!flow)
        return json_pack("{s:[], s:n, s:n, s:n, s:b}", "after", "join", "when", "each", "final",
                         view->steps[step].run.joins.is_final);
    json_t *each = flow_each_shown(flow, step);
    return json_pack("{s:o, s:o, s:o, s:o, s:b}", "after", shown_after(view, step), "join",
                     shown_join(flow, step), "when",
                     flow_when_text(flow, step) ? json_words(flow_when_text(flow, step))
                                                : json_null(),
                     "each", each ? each : json_null(), "final", flow_is_final(flow, step));
}

static json_t *shown_run(const struct instance_view *view, int step, enum language language)
{
    static const struct run none;
    const struct instance_step *shown = &view->steps[step];
    const struct run *run = shown->is_known ? &shown->run : &none;
    const char *state = instance_step_state(view, step);
    struct strbuf why;
    strbuf_init(&why);
    instance_tell_wait(view, step, language, &why);
    json_t *value = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "state",
        *state ? json_string(state) : json_null(), "reason",
        json_words_or_null(run_reason_name(run->reason)), "detail", json_words_or_null(run->detail),
        "run_id", shown->is_known ? json_id(&run->id) : json_null(), "node",
        json_words_or_null(run->node), "started_at", json_time(run->started_ms), "finished_at",
        json_time(run->finished_ms), "exit_code",
        shown->is_known && run_state_is_end(run->state) && run->exit_code >= 0
            ? json_integer(run->exit_code)
            : json_null(),
        "attempt", shown->is_known ? json_integer(run->attempt) : json_null(), "attempts",
        shown->is_known && run->attempts ? json_integer(run->attempts) : json_null(), "items",
        shown_items(shown), "why", json_words_or_null(why.length ? why.text : ""));
    strbuf_release(&why);
    return value;
}

json_t *instance_view_steps(const struct instance_view *view, enum language language)
{
    json_t *list = json_array();
    for (int i = 0; i < view->count && list; i++) {
        if (!view->flow && !view->steps[i].is_known)
            continue;
        json_t *step =
            json_joined(json_pack("{s:o}", "name", json_words(instance_step_name(view, i))),
                        json_joined(shown_plan(view, i), shown_run(view, i, language)));
        if (json_array_append_new(list, step) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *instance_view_counts(const struct instance_view *view)
{
    json_t *counts = json_object();
    for (int i = 0; i < view->count && counts; i++) {
        const char *state = instance_step_state(view, i);
        json_int_t before = json_integer_value(json_object_get(counts, state));
        if (*state && json_object_set_new(counts, state, json_integer(before + 1)) != 0) {
            json_decref(counts);
            counts = NULL;
        }
    }
    return counts;
}
