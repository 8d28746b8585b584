#include <unistd.h>

#include "encode.h"
#include "handlers.h"
#include "health.h"
#include "note.h"
#include "server.h"
#include "visible.h"

static const char *state_of(const struct engine *engine)
{
    if (engine_is_draining(engine))
        return "draining";
    return engine_is_loaded(engine) ? "running" : "loading";
}

static json_t *store_state(const struct api *api)
{
    json_t *state = encode_store_health(api);
    if (state && json_object_set_new(state, "url", json_words(api->store_url)) != 0) {
        json_decref(state);
        return NULL;
    }
    return state;
}

static bool count_job(void *context, const struct catalog_job *job)
{
    (void)job;
    ++*(json_int_t *)context;
    return true;
}

static void count_run(void *context, const struct run *run)
{
    *(json_int_t *)context += !run_state_is_end(run->state);
}

/* As far as they are theirs to see. */
static void count(const struct call *call, json_int_t *ret_jobs, json_int_t *ret_running)
{
    struct engine *engine = call->api->ports.engine;
    *ret_jobs = *ret_running = 0;
    if (scope_is_whole(&call->principal.scope)) {
        *ret_jobs = (json_int_t)catalog_count(engine_catalog(engine));
        *ret_running = (json_int_t)engine_open_runs(engine);
        return;
    }
    call_each_job(call, NULL, false, count_job, ret_jobs);
    call_each_open_run(call, count_run, ret_running);
}

void get_agent(struct call *call)
{
    const struct api *api = call->api;
    struct engine *engine = api->ports.engine;
    const struct peers *peers = engine_peers(engine);
    json_int_t jobs, running;
    count(call, &jobs, &running);
    call_reply(call, 200,
               json_pack("{s:o, s:s, s:i, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:I, s:o}",
                         "node", json_words(api->node), "version", api->version, "pid",
                         (int)getpid(), "state", state_of(engine), "started_at",
                         json_time(api->started_ms), "data", json_words(api->data_dir), "timezone",
                         json_words(api->default_tz), "jobs", jobs, "running", running, "store",
                         store_state(api), "history", encode_history_health(api), "nodes",
                         (json_int_t)peers->by_name.count, "leader",
                         json_words_or_null(peers->leader)));
}

void drain_agent(struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    ports->drain(ports->context);
    note_other(call, CHANGE_DRAIN, TARGET_NODE, call->api->node);
    note_write(call, get_agent);
}
