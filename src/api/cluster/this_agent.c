/* The agent that serves the call: version, health, values set aside; and its drain. */
#include <string.h>
#include <unistd.h>

#include "auth/visible.h"
#include "definition/job_codec.h"
#include "documents/documents.h"
#include "handlers.h"
#include "live/health.h"
#include "note.h"
#include "otlp.h"
#include "runs/encode.h"
#include "server.h"
#include "text/message.h"

static const char *state_of(const struct engine *engine)
{
    if (engine_is_draining(engine))
        return "draining";
    if (engine_is_shut_out(engine))
        return "shut_out";
    return engine_is_loaded(engine) ? "running" : "loading";
}

/* Paths and addresses are only for callers who may view everything. */
static json_t *place(const struct call *call, const char *text)
{
    return scope_is_whole(&call->principal.scope) ? json_words(text) : json_null();
}

static void add_key(json_t *list, const char *key, const char *why)
{
    json_array_append_new(list,
                          json_pack("{s:o, s:o}", "key", json_words(key), "why", json_words(why)));
}

struct asides {
    const struct call *call;
    json_t *list;
};

static void add_aside(void *context, const struct store_aside *aside)
{
    const struct asides *asides = context;
    const char *why =
        aside->why == E_VERSION ? "written by a newer peal" : "damaged, or not peal's";
    add_key(asides->list, aside->key, message_in(asides->call->language, why));
}

static void add_docs(const struct asides *asides)
{
    const struct undecoded_doc *doc;
    char why[UNDECODED_WHY];
    for (size_t at = 0; (doc = table_next(&asides->call->api->undecoded.docs, &at));) {
        undecoded_print_why(doc->path, asides->call->language, why);
        add_key(asides->list, doc->key, why);
    }
}

enum { LISTED_MAX = 100 };

/* The name for people, and the key to remove it from the store. */
static bool add_broken_job(void *context, const struct catalog_job *job)
{
    const struct asides *asides = context;
    enum language language = asides->call->language;
    struct job_error error = {0};
    struct job *read = NULL;
    char key[ID_TEXT + 8] = "jobs/", why[UNDECODED_WHY], named[UNDECODED_WHY + 200];
    if (!job->broken)
        return true;
    if (json_array_size(asides->list) >= LISTED_MAX)
        return false;
    if (job_decode_stored(job->json, asides->call->api->ports.zones, &read, &error) == OK)
        job_free(read);
    id_format(&job->uid, key + strlen(key));
    undecoded_print_why(error.path, language, why);
    snprintf(named, sizeof(named), message_in(language, "the definition of %s: %s"), job->name,
             why);
    add_key(asides->list, key, named);
    return true;
}

/* Keys whose values can't be decoded, by the store or by its readers. */
static json_t *set_aside(const struct call *call)
{
    struct asides asides = {call, json_array()};
    if (!asides.list || !scope_is_whole(&call->principal.scope))
        return asides.list;
    store_each_aside(call->api->ports.store, add_aside, &asides);
    add_docs(&asides);
    catalog_each(engine_catalog(call->api->ports.engine), NULL, false, add_broken_job, &asides);
    return asides.list;
}

static json_t *store_state(const struct call *call)
{
    json_t *state = encode_store_health(call);
    if (state && (json_object_set_new(state, "url", place(call, call->api->store_url)) != 0 ||
                  json_object_set_new(state, "set_aside", set_aside(call)) != 0)) {
        json_decref(state);
        return NULL;
    }
    return state;
}

static json_t *encode_jobs_user(const struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    struct jobs_user user;
    if (!ports->jobs_user || !scope_is_whole(&call->principal.scope))
        return json_null();
    ports->jobs_user(ports->context, call->language, &user);
    return json_pack("{s:o, s:b, s:b, s:o}", "name", json_words_or_null(user.name), "ok", user.ok,
                     "shared", user.is_shared, "detail", json_words(user.detail));
}

static json_t *encode_program(const struct spawner_state *state)
{
    return json_pack("{s:o, s:o, s:I, s:b, s:o}", "version", json_words_or_null(state->version),
                     "revision", json_words_or_null(state->revision), "pid", (json_int_t)state->pid,
                     "ok", state->ok, "detail", json_words(state->detail));
}

static json_t *encode_spawner(const struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    struct spawner_state state;
    if (!ports->spawner || !scope_is_whole(&call->principal.scope))
        return json_null();
    ports->spawner(ports->context, call->language, &state);
    return encode_program(&state);
}

/* peal-call; null before the first HTTP call. */
static json_t *encode_caller(const struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    struct spawner_state state;
    if (!ports->caller || !scope_is_whole(&call->principal.scope) ||
        !ports->caller(ports->context, call->language, &state))
        return json_null();
    return encode_program(&state);
}

static json_t *encode_quota(int64_t limit, int64_t used)
{
    return json_pack("{s:o, s:I}", "limit", limit ? json_integer(limit) : json_null(), "used",
                     (json_int_t)used);
}

/* Usage of the quotas, only for callers who may view everything. */
static json_t *encode_quotas(const struct call *call)
{
    const struct api *api = call->api;
    const struct quotas *quotas = &api->quotas;
    const struct catalog *catalog = engine_catalog(api->ports.engine);
    json_t *namespaces = json_object();
    if (!scope_is_whole(&call->principal.scope)) {
        json_decref(namespaces);
        return json_null();
    }
    for (size_t i = 0; i < quotas->namespace_count && namespaces; i++) {
        const struct quota_namespace *own = &quotas->namespaces[i];
        int64_t used = namespaces_count(&catalog->namespaces, own->name, strlen(own->name));
        json_object_set_new(namespaces, own->name, encode_quota(own->jobs, used));
    }
    return json_pack("{s:o, s:o, s:I, s:o, s:I}", "jobs",
                     encode_quota(quotas->jobs, (int64_t)catalog_count(catalog)), "definitions",
                     encode_quota(quotas->bytes, (int64_t)catalog->json_bytes), "namespace_jobs",
                     (json_int_t)quotas->namespace_jobs, "namespaces", namespaces, "streams",
                     (json_int_t)quotas->streams);
}

static json_t *encode_sandbox(const struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    struct sandbox_state state;
    if (!ports->sandbox || !scope_is_whole(&call->principal.scope))
        return json_null();
    ports->sandbox(ports->context, call->language, &state);
    return json_pack("{s:b, s:b, s:b, s:i, s:b, s:o}", "ok", state.ok, "memory", state.memory,
                     "privileges", state.privileges, "landlock", state.landlock, "seccomp",
                     state.seccomp, "detail", json_words(state.detail));
}

/* An error may name a machine: only for callers who may view everything. */
static json_t *encode_otlp(const struct call *call)
{
    const struct otlp *otlp = call->api->ports.otlp;
    if (!otlp || !scope_is_whole(&call->principal.scope))
        return json_null();
    struct otlp_stats stats = otlp_stats(otlp);
    bool is_failing = stats.failed_ms > stats.sent_ms;
    return json_pack("{s:b, s:o, s:I, s:I, s:I, s:I}", "ok", !is_failing, "detail",
                     is_failing ? json_words(stats.error) : json_null(), "sent",
                     (json_int_t)stats.sent, "dropped", (json_int_t)stats.dropped, "waiting",
                     (json_int_t)stats.waiting, "failed", (json_int_t)stats.failed);
}

static void count_run(void *context, const struct run *run)
{
    *(json_int_t *)context += !run_state_is_end(run->state);
}

/* Only runs that the caller may see. */
static json_int_t count_running(const struct call *call)
{
    json_int_t running = 0;
    if (scope_is_whole(&call->principal.scope))
        return (json_int_t)engine_open_runs(call->api->ports.engine);
    call_each_open_run(call, count_run, &running);
    return running;
}

void get_agent(struct call *call)
{
    const struct api *api = call->api;
    struct engine *engine = api->ports.engine;
    const struct peers *peers = engine_peers(engine);
    call_reply(call, 200,
               json_pack("{s:o, s:s, s:i, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, "
                         "s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}",
                         "node", json_words(api->node), "version", api->version, "pid",
                         (int)getpid(), "state", state_of(engine), "started_at",
                         json_time(api->started_ms), "data", place(call, api->data_dir), "timezone",
                         json_words(api->default_tz), "jobs", (json_int_t)call_count_jobs(call),
                         "running", count_running(call), "store", store_state(call), "history",
                         encode_history_health(call), "clock", encode_clock_health(call),
                         "jobs_user", encode_jobs_user(call), "sandbox", encode_sandbox(call),
                         "spawner", encode_spawner(call), "caller", encode_caller(call), "otlp",
                         encode_otlp(call), "nodes", (json_int_t)peers->by_name.count, "leader",
                         json_words_or_null(peers->leader), "quotas", encode_quotas(call), "starts",
                         encode_starts(call), "maintenance", encode_active_maintenance(call)));
}

void drain_agent(struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    ports->drain(ports->context);
    note_other(call, CHANGE_DRAIN, TARGET_NODE, call->api->node);
    note_write(call, get_agent);
}
