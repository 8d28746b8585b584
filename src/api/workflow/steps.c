/* The steps of one instance. */
#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"
#include "workflow/instance_read.h"

struct steps_call {
    struct instance_read read; /* first member */
    struct id instance;        /* that is looked for */
    bool is_second_look;       /* a step was asked for */
};

static void release(void *state)
{
    instance_read_release(&((struct steps_call *)state)->read);
}

static void look(struct call *call);

static void reply(struct call *call)
{
    const struct steps_call *steps = call->state;
    const struct instance_view *view = &steps->read.view;
    bool is_open = !run_state_is_end(view->instance.state);
    if (call->answer != OK && !is_open) {
        call_fail_history(call, call->answer);
        return;
    }
    json_t *instance = encode_open_run(call, &view->instance);
    json_t *body = json_pack("{s:o, s:o, s:o, s:b}", "instance", instance, "steps",
                             instance_view_steps(view, call->language), "counts",
                             instance_view_counts(view), "has_plan", view->flow != NULL);
    call_reply(call, 200, add_absent(body, &call->read.absent));
}

/* An instance, or a step: then its instance is meant. */
static void show(struct call *call, const struct run *run, const char *plan)
{
    struct steps_call *steps = call->state;
    if (run_is_instance(run)) {
        instance_read_begin(call, run, plan, reply);
    } else if (run_is_step(run) && !steps->is_second_look) {
        steps->is_second_look = true;
        steps->instance = run->instance;
        look(call);
    } else {
        call_fail(call, 404, "run %.60s is not of a workflow: it has no steps", call->argument);
    }
}

static void show_recorded(struct call *call)
{
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
    } else if (!call->log.found) {
        fail_no_run(call);
    } else { /* the log may be asked again */
        struct run run = call->log.run;
        show(call, &run, call->log.input);
    }
}

static void look(struct call *call)
{
    const struct steps_call *steps = call->state;
    const struct run *open = call_open_run(call, &steps->instance);
    if (open) {
        struct run shown = *open;
        snprintf(shown.job_name, sizeof(shown.job_name), "%s",
                 job_name_now(call, &open->job_uid, open->job_name));
        show(call, &shown, engine_find_input(call->api->ports.engine, &open->input));
        return;
    }
    call->log.run_id = steps->instance;
    call->log.with_input = true;
    call_read_log(call, show_recorded);
}

void get_steps(struct call *call)
{
    struct steps_call *steps = call_state(call, sizeof(*steps), release);
    if (steps && path_run_id(call, &steps->instance))
        look(call);
}
