/* The nodes, and their drains. */
#include "cluster/nodes.h"

#include <stdio.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "live/health.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"
#include "text/message.h"

/* Is it the agent that serves the call? Another one may have its name. */
static bool is_self(const struct peers *peers, const struct known_peer *known)
{
    return strcmp(known->peer.name, peers->self->name) == 0 &&
           id_compare(&known->peer.instance, &peers->self->instance) == 0;
}

static bool is_gone(const struct known_peer *known)
{
    return !known->peer.is_alive;
}

const char *node_state(const struct known_peer *known)
{
    if (is_gone(known))
        return "gone";
    if (known->is_drained)
        return known->peer.running ? "draining" : "drained";
    return known->peer.refusal ? peer_refusal_word(&known->peer) : "ready";
}

/* How far its clock is from the cluster's; false: not known. */
static bool node_skew(const struct peers *peers, const struct known_peer *known, int64_t *ret_ms)
{
    bool is_own = is_self(peers, known);
    if (is_gone(known) || (!is_own && !known->heard_count))
        return false;
    *ret_ms = peers->skew_ms + (is_own ? 0 : known->offset_ms);
    return true;
}

/* "disk=ssd,zone=eu" -> {"disk": "ssd", "zone": "eu"}; a label without a value has an empty one. */
static json_t *encode_labels(const char *labels)
{
    json_t *value = json_object();
    int failed = !value;
    while (*labels && !failed) {
        char name[512];
        size_t length = strcspn(labels, ","), name_length = strcspn(labels, "=,");
        size_t value_at = name_length + (labels[name_length] == '=');
        snprintf(name, sizeof(name), "%.*s", (int)name_length, labels);
        failed |=
            json_object_set_new(value, name, json_stringn(labels + value_at, length - value_at));
        labels += length + (labels[length] == ',');
    }
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static json_t *encode_roles(unsigned roles)
{
    json_t *value = json_array();
    int failed = !value;
    if (roles & PEER_API)
        failed |= json_array_append_new(value, json_string("api"));
    if (roles & PEER_WORKER)
        failed |= json_array_append_new(value, json_string("worker"));
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

bool node_tell_refusal(const struct known_peer *known, struct now now, enum language language,
                       char *text, size_t size)
{
    if (is_gone(known) && known->heard.ms)
        snprintf(text, size, message_in(language, "has not been heard of for %lld s"),
                 (long long)((now.boot.ms - known->heard.ms) / 1000));
    else if (is_gone(known))
        snprintf(text, size, "%s", message_in(language, "has never been heard of"));
    else if (known->is_drained)
        snprintf(text, size, message_in(language, "drained by %.64s"), known->drained_by);
    else if (known->peer.refusal)
        snprintf(text, size, "%s", message_in(language, peer_refusal_text(known->peer.refusal)));
    else
        return false;
    return true;
}

/* Null: it takes them. */
static json_t *encode_detail(const struct known_peer *known, struct now now, enum language language)
{
    char text[200];
    return node_tell_refusal(known, now, language, text, sizeof(text)) ? json_words(text)
                                                                       : json_null();
}

static json_t *encode_percent(int percent)
{
    return percent < 0 ? json_null() : json_integer(percent);
}

json_t *encode_node(const struct peers *peers, const struct known_peer *known, struct now now,
                    enum language language)
{
    const struct peer *peer = &known->peer;
    int64_t skew_ms = 0;
    bool has_skew = node_skew(peers, known, &skew_ms);
    json_t *value = json_pack(
        "{s:o, s:s, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:I}", "node", json_words(peer->name),
        "state", node_state(known), "detail", encode_detail(known, now, language), "self",
        is_self(peers, known), "leader", strcmp(peer->name, peers->leader) == 0, "drained",
        known->is_drained, "drained_by", json_words_or_null(known->drained_by), "heard_at",
        known->heard.ms ? json_time(wall_at(now, known->heard)) : json_null(), "skew_ms",
        has_skew ? json_integer(skew_ms) : json_null(), "running", (json_int_t)peer->running);
    json_t *rest = json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "max_running", (json_int_t)peer->max_running, "capacity", (json_int_t)peer->capacity,
        "cpu_pressure", encode_percent(peer->cpu_pressure), "memory_pressure",
        encode_percent(peer->memory_pressure), "cpu_load", encode_percent(peer->cpu_load),
        "memory_used", encode_percent(peer->memory_used), "free",
        encode_percent((int)(100 * peer_free_share(peer) + 0.5)), "roles",
        encode_roles(peer->roles), "labels", encode_labels(peer->labels), "version",
        json_words_or_null(peer->version), "spawner_version",
        json_words_or_null(peer->spawner_version), "program", json_words_or_null(peer->program),
        "program_version",
        peer_is_program(peer) ? json_integer(peer->program_version) : json_null(), "via",
        json_words_or_null(peer->via), "address", json_words_or_null(peer->address), "started_at",
        json_time(peer->started_ms));
    return json_joined(value, rest);
}

/* ---- the calls ---- */

struct listing {
    const struct call *call;
    struct now now;
    json_t *items;
    bool failed;
};

/* Its watch lag; null: not known. */
static json_t *encode_lag(const struct engine *engine, const struct known_peer *known,
                          struct now now)
{
    bool is_own = is_self(engine_peers(engine), known);
    int64_t lag_ms = is_own ? engine_watch_lag_ms(engine, now) : known->peer.lag_ms;
    return is_gone(known) || lag_ms < 0 ? json_null() : json_integer(lag_ms);
}

/* "shared", "own", or why it can't be read from here. */
static json_t *encode_history(const struct call *call, const struct known_peer *known)
{
    const struct api_ports *ports = &call->api->ports;
    const char *why = ports->history_state ? ports->history_state(ports->context, known) : "";
    if (*why)
        return json_words(message_in(call->language, why));
    return json_words(known->peer.has_history ? "own" : "shared");
}

struct load {
    const char *node;
    json_int_t runs;
};

static void count_on_node(void *context, const struct run *run)
{
    struct load *load = context;
    load->runs += !run_state_is_end(run->state) && strcmp(run->node, load->node) == 0;
}

/* Callers with limited rights see the nodes and their states, since jobs wait for them; but not
 * their addresses, who drained them, nor how many runs others have there. */
static int hide_others(const struct call *call, const struct known_peer *known, json_t *node)
{
    struct load load = {.node = known->peer.name};
    if (scope_is_whole(&call->principal.scope))
        return 0;
    call_each_open_run(call, count_on_node, &load);
    int failed = json_object_set_new(node, "running", json_integer(load.runs));
    failed |= json_object_set_new(node, "address", json_null());
    failed |= json_object_set_new(node, "drained_by", json_null());
    if (known->is_drained && known->peer.is_alive)
        failed |= json_object_set_new(node, "detail", json_null());
    return failed;
}

struct known_peer node_as_it_is(const struct engine *engine, const struct known_peer *known,
                                struct now now)
{
    struct known_peer fresh = *known;
    if (is_self(engine_peers(engine), known)) {
        fresh.heard = now.boot;
        fresh.peer.running = (int)engine_open_runs(engine);
        engine_read_pressure(engine, &fresh.peer);
    }
    return fresh;
}

static json_t *encode_known(const struct call *call, const struct known_peer *known, struct now now)
{
    const struct api_ports *ports = &call->api->ports;
    struct known_peer fresh = node_as_it_is(ports->engine, known, now);
    json_t *value = encode_node(engine_peers(ports->engine), &fresh, now, call->language);
    if (value && hide_others(call, known, value) == 0 &&
        json_object_set_new(value, "watch_lag_ms", encode_lag(ports->engine, known, now)) == 0 &&
        json_object_set_new(value, "history", encode_history(call, known)) == 0)
        return value;
    json_decref(value);
    return NULL;
}

/* The agent that serves the call, while another one has its name: listed beside it. */
static json_t *encode_shut_out(const struct call *call, struct now now)
{
    struct engine *engine = call->api->ports.engine;
    struct known_peer own = {.peer = *engine_peers(engine)->self, .heard = now.boot};
    struct strbuf why;
    own.peer.is_alive = true;
    strbuf_init(&why);
    health_explain_shut_out(call->api, call->language, &why);
    json_t *value = encode_known(call, &own, now);
    bool is_told = scope_is_whole(&call->principal.scope); /* the other one's address */
    int failed = !value;
    failed |= json_object_set_new(value, "state", json_string("shut_out"));
    failed |= json_object_set_new(value, "leader", json_false());
    failed |= json_object_set_new(value, "detail", is_told ? json_words(why.text) : json_null());
    strbuf_release(&why);
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static void add_item(struct listing *listing, json_t *item)
{
    if (json_array_append_new(listing->items, item) != 0)
        listing->failed = true;
}

static bool add_node(void *context, const struct known_peer *known)
{
    struct listing *listing = context;
    const struct engine *engine = listing->call->api->ports.engine;
    add_item(listing, encode_known(listing->call, known, listing->now));
    if (known == engine_peers(engine)->me && engine_is_shut_out(engine))
        add_item(listing, encode_shut_out(listing->call, listing->now));
    return !listing->failed;
}

void list_nodes(struct call *call)
{
    struct listing listing = {.call = call, .now = clock_now(), .items = json_array()};
    if (listing.items)
        peers_each(engine_peers(call->api->ports.engine), add_node, &listing);
    if (listing.failed) {
        json_decref(listing.items);
        listing.items = NULL;
    }
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", listing.items, "next"));
}

static const struct known_peer *find_node(struct call *call)
{
    const struct known_peer *known =
        peers_find(engine_peers(call->api->ports.engine), call->argument);
    if (!known)
        call_fail(call, 404, "there is no node %.60s", call->argument);
    return known;
}

void get_node(struct call *call)
{
    const struct known_peer *known = find_node(call);
    if (known)
        call_reply(call, 200, encode_known(call, known, clock_now()));
}

static void drain_done(struct call *call)
{
    const struct store_drain *drain = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    note_other(call, drain->drained ? CHANGE_DRAIN : CHANGE_UNDRAIN, TARGET_NODE, drain->node);
    note_write(call, get_node);
}

static void set_drain(struct call *call, bool drained)
{
    if (!find_node(call))
        return;
    struct store_drain *drain = call_state(call, sizeof(*drain), NULL);
    if (!drain)
        return;
    drain->drained = drained;
    snprintf(drain->node, sizeof(drain->node), "%s", call->argument);
    snprintf(drain->by, sizeof(drain->by), "%s", call->principal.name);
    call_submit(call, STORE_DRAIN, drain, 1, drain_done);
}

void drain_node(struct call *call)
{
    set_drain(call, true);
}

void undrain_node(struct call *call)
{
    set_drain(call, false);
}
