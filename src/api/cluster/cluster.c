/* The cluster: its store, its leader, the state of the nodes. */
#include <string.h>

#include "auth/visible.h"
#include "cluster/nodes.h"
#include "documents/documents.h"
#include "handlers.h"
#include "live/health.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

struct census {
    const struct engine *engine;
    struct now now;
    json_t *by_state;
    bool failed;
};

static bool count_node(void *context, const struct known_peer *known)
{
    struct census *census = context;
    struct known_peer fresh = node_as_it_is(census->engine, known, census->now);
    const char *state = node_state(&fresh);
    json_int_t count = json_integer_value(json_object_get(census->by_state, state));
    census->failed = json_object_set_new(census->by_state, state, json_integer(count + 1)) != 0;
    return !census->failed;
}

static json_t *count_nodes(const struct engine *engine)
{
    struct census census = {.engine = engine, .now = clock_now(), .by_state = json_object()};
    if (census.by_state)
        peers_each(engine_peers(engine), count_node, &census);
    if (!census.failed)
        return census.by_state;
    json_decref(census.by_state);
    return NULL;
}

static void count_open(void *context, const struct run *run)
{
    size_t *count = context;
    *count += !run_state_is_end(run->state);
}

/* Of "etcd://user@a:1,b:2/prefix": ["a:1", "b:2"]. */
static json_t *encode_endpoints(const char *hosts, size_t length)
{
    json_t *value = json_array();
    int failed = !value;
    while (length && !failed) {
        const char *comma = memchr(hosts, ',', length);
        size_t size = comma ? (size_t)(comma - hosts) : length;
        failed |= json_array_append_new(value, json_stringn(hosts, size));
        size += comma != NULL;
        hosts += size;
        length -= size;
    }
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

/* rediss+sentinel and valkey are Redis, too. */
static const char *kind_of(const char *url)
{
    static const struct {
        const char *scheme, *kind;
    } kinds[] = {
        {"etcd", "etcd"},
        {"postgres", "postgresql"},
        {"redis", "redis"},
        {"valkey", "redis"},
    };
    for (size_t i = 0; strstr(url, "://") && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strncmp(url, kinds[i].scheme, strlen(kinds[i].scheme)) == 0)
            return kinds[i].kind;
    return "sqlite";
}

/* The store's URL in parts; that of a file has none. Addresses are only for callers who may view
 * everything. */
static json_t *encode_url(const char *url, bool is_told)
{
    const char *hosts = strstr(url, "://");
    bool is_file = strncmp(url, "sqlite", strlen("sqlite")) == 0;
    const char *kind = kind_of(url);
    if (!is_told)
        return json_pack("{s:s, s:n, s:[], s:n}", "kind", kind, "url", "endpoints", "prefix");
    if (!hosts || is_file)
        return json_pack("{s:s, s:s, s:[], s:n}", "kind", kind, "url", url, "endpoints", "prefix");
    hosts += 3;
    size_t length = strcspn(hosts, "/?");
    const char *prefix = hosts + length, *sign = memchr(hosts, '@', length);
    if (sign)
        hosts = sign + 1;
    return json_pack("{s:s, s:s, s:o, s:s}", "kind", kind, "url", url, "endpoints",
                     encode_endpoints(hosts, (size_t)(prefix - hosts)), "prefix", prefix);
}

static json_t *encode_store(const struct call *call)
{
    const struct api *api = call->api;
    struct strbuf why;
    strbuf_init(&why);
    bool is_halted = health_of_store(api, call->language, &why) == E_ROLLED_BACK;
    strbuf_release(&why);
    json_t *value = json_joined(encode_url(api->store_url, scope_is_whole(&call->principal.scope)),
                                encode_store_health(call));
    return json_joined(value, json_pack("{s:b}", "halted", is_halted));
}

void get_cluster(struct call *call)
{
    const struct api *api = call->api;
    struct engine *engine = api->ports.engine;
    const struct peers *peers = engine_peers(engine);
    size_t open_runs = 0;
    call_each_open_run(call, count_open, &open_runs);
    call_reply(call, 200,
               json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:I, s:b, s:I, s:I, s:o}", "store",
                         encode_store(call), "history", encode_history_health(call), "clock",
                         encode_clock_health(call), "node", json_words(api->node), "leader",
                         json_words_or_null(peers->leader), "leads", engine_leads(engine), "nodes",
                         count_nodes(engine), "skew_ms", (json_int_t)peers->skew_ms, "clock_ok",
                         !peers->is_skewed && engine_clock(engine).doubt == DOUBT_NONE, "jobs",
                         (json_int_t)call_count_jobs(call), "open_runs", (json_int_t)open_runs,
                         "maintenance", encode_active_maintenance(call)));
}

/* ---- after a restore ---- */

static void advanced(struct call *call)
{
    if (call->answer == OK) {
        note_other(call, CHANGE_ADVANCE_CURSORS, TARGET_CLUSTER, call->api->store_url);
        note_write(call, get_cluster);
    } else if (call->answer == E_CONFLICT) {
        call_fail(call, 409, "another node has done it already; see GET /cluster");
    } else {
        call_fail_store(call, call->answer);
    }
}

static bool is_halted(const struct call *call)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_health(call->api->ports.store, &why);
    strbuf_release(&why);
    return st == E_ROLLED_BACK;
}

/* All jobs go on from this node's time: behind that of the others what has run would run again,
 * ahead of it nothing would run until then. False: the call has failed. */
static bool has_time(struct call *call)
{
    const struct engine *engine = call->api->ports.engine;
    const struct engine_clock clock = engine_clock(engine);
    if (engine_trusts_clock(engine, clock_now()))
        return true;
    if (clock.is_skewed)
        call_fail(
            call, 409,
            "all jobs would go on from this node's time, and its clock differs from the other "
            "nodes' by %+lld ms: do it on another node, or set this clock first",
            (long long)clock.skew_ms);
    else if (clock.doubt != DOUBT_NONE)
        call_fail(call, 409,
                  "all jobs would go on from this node's time, and its clock is not trusted (%s): "
                  "do it on another node, or set this clock first",
                  message_in(call->language, engine_doubt_text(clock.doubt)));
    else
        call_fail(call, 409,
                  "all jobs would go on from this node's time, and its clock is still being "
                  "compared with the other nodes': try again in a few seconds");
    return false;
}

void advance_cursors(struct call *call)
{
    const struct api_ports *ports = &call->api->ports;
    if (is_halted(call) && !has_time(call))
        return;
    enum status st = ports->advance
                         ? ports->advance(ports->context, call->principal.name, call_answer, call)
                         : E_NOT_FOUND;
    struct strbuf why;
    strbuf_init(&why);
    if (st == E_NOT_FOUND && store_health(ports->store, &why) != OK)
        st = E_UNREACHABLE; /* unknown */
    strbuf_release(&why);
    if (st == OK)
        call_wait(call, advanced);
    else if (st == E_NOT_FOUND)
        call_fail(call, 409,
                  "there is nothing to advance: the store was not restored from a backup");
    else if (st == E_BUSY)
        call_fail(call, 409, "it is under way already; see GET /cluster");
    else
        call_fail_store(call, st);
}
