/* Manual runs, and retries. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"
#include "trace_headers.h"
#include "workflow/resume.h"

struct order_state {
    struct store_add_run add;
    char *input;               /* of the run; NULL: none */
    enum change_action action; /* RUN or RETRY */
};

static void release_order(void *state)
{
    free(((struct order_state *)state)->input);
}

void fill_run(const struct call *call, const struct catalog_job *job, enum run_cause cause,
              int64_t tick_ms, struct run *ret)
{
    *ret = (struct run){
        .id = call_make_id(call),
        .job_uid = job->uid,
        .tick_ms = tick_ms,
        .attempt = 1,
        .attempts = catalog_job_attempts(job),
        .cause = cause,
        .job_revision = job->revision,
        .not_before_ms = tick_ms < call->now_ms ? tick_ms : call->now_ms,
        .exit_code = -1,
    };
    snprintf(ret->job_name, sizeof(ret->job_name), "%s", job->name);
    catalog_fill_groups(engine_catalog(call->api->ports.engine), job, job->name, ret->groups,
                        &ret->priority);
    snprintf(ret->by, sizeof(ret->by), "%s", call->principal.name);
}

static void fail_overlap(struct call *call, const struct store_add_run *add)
{
    json_t *more = json_pack("{s:o}", "run_id", json_id(&add->open_run));
    char id[ID_TEXT + 1];
    id_format(&add->open_run, id);
    if (add->overlap == OVERLAP_QUEUE)
        call_fail_with(call, 409, more, "%d runs of \"%s\" wait already (overlap: queue)",
                       add->queue_limit, add->run.job_name);
    else
        call_fail_with(call, 409, more, "run %s of \"%s\" is still under way (overlap: %s)", id,
                       add->run.job_name, overlap_policy_name(add->overlap));
}

void call_fail_not_added(struct call *call, const struct store_add_run *add)
{
    if (id_is_zero(&add->open_run))
        call_fail(call, 404, "\"%s\" no longer exists", add->run.job_name);
    else
        fail_overlap(call, add);
}

static void reply_started(struct call *call)
{
    const struct order_state *state = call->state;
    const struct run *run = &state->add.run;
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    const struct maintenance *maintenance =
        known_maintenance_at(&catalog->maintenance, run->job_name, call->now_ms);
    json_t *value =
        json_pack("{s:o, s:s}", "run_id", json_id(&run->id), "state", run_state_name(run->state));
    if (maintenance) /* it starts all the same */
        value = json_joined(
            value, json_pack("{s:s}", "during", maintenance->is_pause ? "pause" : "maintenance"));
    call_reply(call, 202, value);
}

static void run_added(struct call *call)
{
    struct order_state *state = call->state;
    struct store_add_run *add = &state->add;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    if (add->added) {
        note_run(call, state->action, &add->run);
        run_input_note(call, &add->run, state->input);
        note_write(call, reply_started);
        return;
    }
    call_fail_not_added(call, add);
}

void run_start(struct call *call, const struct catalog_job *job, enum change_action action,
               const char *before, const json_t *resume)
{
    struct job *definition = stored_job(call, job);
    if (!definition)
        return;
    struct order_state *state = call_state(call, sizeof(*state), release_order);
    if (state && run_input_read(call, definition, before, resume, &state->input) &&
        resume_is_good(call, definition, state->input)) {
        state->action = action;
        state->add.is_for_now = true;
        state->add.overlap = definition->overlap;
        state->add.queue_limit = definition->queue_limit;
        state->add.at_once = definition->overlap_at_once;
        int64_t tick_ms = run_tick_of_now(call->now_ms);
        fill_run(call, job, CAUSE_MANUAL, tick_ms, &state->add.run);
        state->add.run.id = idempotency_run_id(call);
        state->add.input = state->input;
        if (state->input)
            state->add.run.input = state->add.run.id;
        call_take_trace(call, &state->add.run);
        if (run_node_read(call, definition, &state->add.run))
            call_submit(call, STORE_ADD_RUN, &state->add, 1, run_added);
    }
    job_free(definition);
}

void run_job(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    struct job *definition = job ? stored_job(call, job) : NULL;
    json_t *resume = NULL;
    if (definition && resume_read(call, definition, &resume))
        run_start(call, job, CHANGE_RUN, NULL, resume);
    json_decref(resume);
    job_free(definition);
}

/* ---- again ---- */

static void start_again(struct call *call, const struct run *run, const char *input)
{
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &run->job_uid);
    if (!call_may_on(call, RIGHT_OPERATE, job ? job->name : run->job_name))
        return;
    if (!run_state_is_end(run->state))
        call_fail(call, 409, "the run is still under way: %s", run_state_name(run->state));
    else if (!job || job->deleted)
        call_fail(call, 404, "\"%s\" no longer exists", run->job_name);
    else if (run_is_instance(run))
        resume_instance(call, run, input);
    else
        run_start(call, job, CHANGE_RETRY, run_is_step(run) ? NULL : input, NULL);
}

static void ended_read(struct call *call)
{
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (!call->log.found)
        fail_no_run(call);
    else
        start_again(call, &call->log.run, call->log.input);
}

void retry_run(struct call *call)
{
    struct id id;
    if (!path_run_id(call, &id))
        return;
    const struct run *open = call_open_run(call, &id);
    if (open) {
        start_again(call, open, engine_find_input(call->api->ports.engine, &open->input));
        return;
    }
    call->log.run_id = id;
    call->log.with_input = true;
    call_read_log(call, ended_read);
}
