#include "workflow/waits.h"

#include <string.h>

#include "auth/visible.h"
#include "runs/encode.h"
#include "server.h"
#include "workflow/instance_read.h"

enum { INSTANCES_TOLD = 10, STEPS_TOLD = 20 };

/* ---- the steps of one ---- */

static json_t *encode_step(const struct instance_view *view, int step, const char *text)
{
    const struct instance_step *shown = &view->steps[step];
    return json_pack("{s:o, s:s, s:o, s:o}", "name", json_words(instance_step_name(view, step)),
                     "state", instance_step_state(view, step), "run_id",
                     shown->is_known ? json_id(&shown->run.id) : json_null(), "text",
                     json_words(text));
}

static bool waits(const struct instance_view *view, int step)
{
    const char *state = instance_step_state(view, step);
    return strcmp(state, "waiting") == 0 || strcmp(state, run_state_name(RUN_DUE)) == 0;
}

/* What each waits for is looked up for those that are told. NULL: out of memory. */
static json_t *encode_steps(const struct call *call, const struct instance_view *view,
                            int *ret_more)
{
    json_t *list = json_array();
    *ret_more = 0;
    for (int i = 0; list && i < view->count; i++) {
        struct strbuf text;
        if (json_array_size(list) == STEPS_TOLD) {
            *ret_more += waits(view, i);
            continue;
        }
        strbuf_init(&text);
        instance_tell_wait(view, i, call->language, &text);
        if (text.length && json_array_append_new(list, encode_step(view, i, text.text)) != 0) {
            json_decref(list);
            list = NULL;
        }
        strbuf_release(&text);
    }
    return list;
}

static json_t *encode_instance(const struct call *call, const struct run *run)
{
    struct instance_view view;
    json_t *value = NULL;
    int more;
    enum status st =
        instance_view_init(&view, run, engine_find_input(call->api->ports.engine, &run->input));
    if (st == OK)
        st = instance_read_open(call, &view);
    if (st == OK) {
        json_t *steps = encode_steps(call, &view, &more);
        value = json_pack("{s:o, s:o, s:s, s:o, s:o, s:i}", "run_id", json_id(&run->id), "tick",
                          json_tick(run->tick_ms), "state", run_state_name(run->state), "counts",
                          instance_view_counts(&view), "steps", steps, "more", more);
    }
    instance_view_release(&view);
    return value;
}

/* ---- the instances ---- */

struct newest {
    struct id job_uid;
    int64_t tick_ms;
    struct run runs[INSTANCES_TOLD]; /* newest first */
    size_t count;
};

static void take(void *context, const struct run *run)
{
    struct newest *newest = context;
    size_t at = newest->count;
    if (!run_is_instance(run) || run->state != RUN_RUNNING ||
        id_compare(&run->job_uid, &newest->job_uid) != 0 ||
        (newest->tick_ms != NEVER_MS && run->tick_ms != newest->tick_ms))
        return;
    if (at == INSTANCES_TOLD && id_compare(&run->id, &newest->runs[at - 1].id) < 0)
        return;
    if (at == INSTANCES_TOLD)
        at--;
    else
        newest->count++;
    for (; at > 0 && id_compare(&run->id, &newest->runs[at - 1].id) > 0; at--)
        newest->runs[at] = newest->runs[at - 1];
    newest->runs[at] = *run;
}

json_t *waits_encode(const struct call *call, const struct id *job_uid, int64_t tick_ms)
{
    struct newest newest = {.job_uid = *job_uid, .tick_ms = tick_ms};
    json_t *list = json_array();
    call_each_open_run(call, take, &newest);
    for (size_t i = 0; list && i < newest.count; i++) {
        if (json_array_append_new(list, encode_instance(call, &newest.runs[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}
