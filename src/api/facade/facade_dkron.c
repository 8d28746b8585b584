/* The API of dkron at /v1, for its clients; docs/FROM-OTHERS.md says what is different. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "cluster/nodes.h"
#include "facade/facade.h"
#include "facade/facade_dkron_job.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

enum { EXECUTIONS = 100, END_MAX = 1000000000 };

/* ---- jobs ---- */

static json_t *show(const struct call *call, const struct catalog_job *job)
{
    json_t *native = facade_native_job(call, job);
    json_t *theirs = native ? dkron_show_job(native) : NULL;
    json_decref(native);
    return theirs;
}

/* The native answer is a job. */
/* NOLINTNEXTLINE(readability-non-const-parameter): a call_shape */
static json_t *shape_job(struct call *call, int *status, json_t *native)
{
    json_t *theirs = dkron_show_job(native);
    (void)call;
    (void)status;
    json_decref(native);
    return theirs;
}

static json_t *shape_put(struct call *call, int *status, json_t *native)
{
    *status = 201;
    return shape_job(call, status, native);
}

/* The native answer is a run; dkron's is its job. */
/* NOLINTNEXTLINE(readability-non-const-parameter): a call_shape */
static json_t *shape_run(struct call *call, int *status, json_t *native)
{
    const struct catalog_job *job =
        catalog_by_name(engine_catalog(call->api->ports.engine), call->argument);
    (void)status;
    json_decref(native);
    return job ? show(call, job) : json_object();
}

static void reply_jobs(struct call *call, json_t *items, int64_t total)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)total);
    call_header(call, "X-Total-Count", text);
    call_reply(call, 200, items);
}

void dkron_list_jobs(struct call *call)
{
    int64_t start = 0, end = END_MAX;
    if (param_number(call, "_start", 0, END_MAX, &start) &&
        param_number(call, "_end", 0, END_MAX, &end))
        facade_list_jobs(call, start, end, show, reply_jobs);
}

void dkron_get_job(struct call *call)
{
    call->shape = shape_job;
    get_job(call);
}

void dkron_put_job(struct call *call)
{
    json_t *definition = dkron_read_job(call, call->body);
    if (!definition)
        return;
    if (!facade_name_job(call, json_string_value(json_object_get(call->body, "name")))) {
        json_decref(definition);
        return;
    }
    json_decref(call->body);
    call->body = definition;
    call->shape = shape_put;
    put_job(call);
}

void dkron_delete_job(struct call *call)
{
    call->shape = shape_job;
    delete_job(call);
}

void dkron_run_job(struct call *call)
{
    call->shape = shape_run;
    run_job(call);
}

void dkron_toggle_job(struct call *call)
{
    call->shape = shape_job;
    const struct catalog_job *job = path_job(call);
    if (job && job->paused)
        resume_job(call);
    else if (job)
        pause_job(call);
}

/* ---- executions ---- */

static json_t *show_execution(const struct call *call, const struct run *run, const char *output)
{
    (void)call;
    return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:I, s:i}", "id", json_id(&run->id),
                     "job_name", json_words(run->job_name), "started_at",
                     json_time(run->started_ms), "finished_at", json_time(run->finished_ms),
                     "success", run->state == RUN_OK, "output", json_words(output), "node_name",
                     json_words(run->node), "group", (json_int_t)run->tick_ms, "attempt",
                     run->attempt);
}

void dkron_list_executions(struct call *call)
{
    if (path_job(call))
        facade_list_runs(call, 0, EXECUTIONS, show_execution);
}

struct busy {
    const struct call *call;
    json_t *items;
    bool failed;
};

static void add_busy(void *context, const struct run *run)
{
    struct busy *busy = context;
    if (run->state == RUN_RUNNING && !run_is_step(run))
        busy->failed |=
            json_array_append_new(busy->items, show_execution(busy->call, run, "")) != 0;
}

void dkron_list_busy(struct call *call)
{
    struct busy busy = {.call = call, .items = json_array()};
    call_each_open_run(call, add_busy, &busy);
    if (busy.failed) {
        json_decref(busy.items);
        busy.items = NULL;
    }
    call_reply(call, 200, busy.items);
}

/* ---- nodes ---- */

enum { SERF_ALIVE = 1, SERF_LEFT = 3 };

static json_t *show_member(const struct peers *peers, const struct known_peer *known)
{
    json_t *node = encode_node(peers, known, clock_now(), LANGUAGE_EN);
    const char *address = json_string_value(json_object_get(node, "address"));
    const char *colon = address ? strrchr(address, ':') : NULL;
    json_t *tags = node ? json_copy(json_object_get(node, "labels")) : NULL;
    int failed = json_object_set_new(tags, "version", json_words(known->peer.version));
    failed |= json_object_set_new(tags, "server",
                                  json_string(known->peer.roles & PEER_API ? "true" : "false"));
    json_t *member =
        json_pack("{s:o, s:o, s:o, s:i, s:o, s:i}", "id", json_words(known->peer.name), "Name",
                  json_words(known->peer.name), "Addr",
                  json_stringn(address ? address : "", colon     ? (size_t)(colon - address)
                                                       : address ? strlen(address)
                                                                 : 0),
                  "Port", colon ? atoi(colon + 1) : 0, "Tags", tags, "Status",
                  known->peer.is_alive ? SERF_ALIVE : SERF_LEFT);
    json_decref(node);
    if (!failed)
        return member;
    json_decref(member);
    return NULL;
}

struct members {
    const struct peers *peers;
    json_t *items;
    bool failed;
};

static bool add_member(void *context, const struct known_peer *known)
{
    struct members *members = context;
    members->failed =
        json_array_append_new(members->items, show_member(members->peers, known)) != 0;
    return !members->failed;
}

void dkron_list_members(struct call *call)
{
    struct members members = {.peers = engine_peers(call->api->ports.engine),
                              .items = json_array()};
    peers_each(members.peers, add_member, &members);
    if (members.failed) {
        json_decref(members.items);
        members.items = NULL;
    }
    call_reply(call, 200, members.items);
}

void dkron_get_leader(struct call *call)
{
    const struct peers *peers = engine_peers(call->api->ports.engine);
    const struct known_peer *known = *peers->leader ? peers_find(peers, peers->leader) : NULL;
    if (known)
        call_reply(call, 200, show_member(peers, known));
    else
        call_fail(call, 404, "there is no leader at the moment");
}

void dkron_is_leader(struct call *call)
{
    static const char text[] = "\"I am a leader\"";
    if (engine_leads(call->api->ports.engine))
        call_reply_text(call, 200, "application/json", strdup(text), sizeof(text) - 1);
    else
        call_fail(call, 404, "this node is a follower");
}

void dkron_get_status(struct call *call)
{
    const struct peers *peers = engine_peers(call->api->ports.engine);
    const struct known_peer *self = peers->me;
    json_t *member = self ? show_member(peers, self) : json_pack("{s:{}}", "Tags");
    call_reply(call, 200,
               json_pack("{s:{s:s, s:s}, s:{s:o}, s:O}", "agent", "name", call->api->node,
                         "version", call->api->version, "serf", "members",
                         json_sprintf("%zu", peers->by_name.count), "tags",
                         json_object_get(member, "Tags")));
    json_decref(member);
}
