/* A run that somebody asks for, now. */
#include <string.h>

#include "encode.h"
#include "handlers.h"
#include "input.h"
#include "jobs.h"
#include "server.h"

enum { TRIES = 20 };

struct order_state {
    struct store_add_run add;
    int tries;
};

void fill_run(const struct call *call, const struct catalog_job *job, enum run_cause cause,
              int64_t tick_ms, struct run *ret)
{
    *ret = (struct run){
        .id = call_make_id(call),
        .job_uid = job->uid,
        .tick_ms = tick_ms,
        .attempt = 1,
        .cause = cause,
        .job_revision = job->revision,
        .not_before_ms = call->now_ms,
        .exit_code = -1,
    };
    snprintf(ret->job_name, sizeof(ret->job_name), "%s", job->name);
    snprintf(ret->by, sizeof(ret->by), "%s", call->principal.name);
}

static void submit_run(struct call *call);

static void fail_overlap(struct call *call, const struct store_add_run *add)
{
    json_t *more = json_pack("{s:o}", "run_id", json_id(&add->open_run));
    char id[ID_TEXT + 1];
    id_format(&add->open_run, id);
    if (add->overlap == OVERLAP_QUEUE)
        call_fail_with(call, 409, more, "%d runs of \"%s\" wait already (overlap: queue)",
                       add->queue_limit, call->argument);
    else
        call_fail_with(call, 409, more, "run %s of \"%s\" is still under way (overlap: %s)", id,
                       call->argument, overlap_policy_name(add->overlap));
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
        call_reply(call, 202,
                   json_pack("{s:o, s:s}", "run_id", json_id(&add->run.id), "state",
                             run_state_name(add->run.state)));
        return;
    }
    if (id_is_zero(&add->open_run)) {
        call_fail(call, 404, "\"%s\" is gone by now", call->argument);
        return;
    }
    const struct run *open = engine_find_run(call->api->ports.engine, &add->open_run);
    bool same_instant = open && open->tick_ms == add->run.tick_ms;
    if (same_instant && add->overlap != OVERLAP_SKIP && ++state->tries < TRIES) {
        add->run.tick_ms++; /* somebody else asked in the same millisecond */
        submit_run(call);
        return;
    }
    fail_overlap(call, add);
}

static void submit_run(struct call *call)
{
    struct order_state *state = call->state;
    call_submit(call, STORE_ADD_RUN, &state->add, 1, run_added);
}

void run_job(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    struct job *definition = job ? stored_job(call, job) : NULL;
    if (!definition)
        return;
    struct order_state *state = call_state(call, sizeof(*state), NULL);
    if (state) {
        state->add.overlap = definition->overlap;
        state->add.queue_limit = definition->queue_limit;
        /* Whole seconds are the ticks of schedules: a manual run never takes one's place. */
        int64_t tick_ms = call->now_ms % 1000 ? call->now_ms : call->now_ms + 1;
        fill_run(call, job, CAUSE_MANUAL, tick_ms, &state->add.run);
        state->add.run.id = idempotency_run_id(call);
        submit_run(call);
    }
    job_free(definition);
}
