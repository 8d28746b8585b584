/* The load of the nodes over time: kept, and shown. */
#include "cluster/node_loads.h"

#include "cluster/nodes.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

/* ---- keeping ---- */

struct look {
    struct api *api;
    struct now now;
};

static bool note_node(void *context, const struct known_peer *known)
{
    const struct look *look = context;
    if (!known->peer.is_alive)
        return true;
    struct known_peer fresh = node_as_it_is(look->api->ports.engine, known, look->now);
    const struct peer *peer = &fresh.peer;
    const int values[LOAD_KINDS] = {[LOAD_CPU] = peer->cpu_load,
                                    [LOAD_MEMORY] = peer->memory_used,
                                    [LOAD_RUNNING] = peer->running};
    load_record_note(&look->api->node_loads.record, peer->name, values);
    return true;
}

static void look_at_all(void *context)
{
    struct api *api = context;
    struct load_record *record = &api->node_loads.record;
    struct look look = {api, clock_now()};
    if (engine_is_loaded(api->ports.engine)) {
        load_record_begin(record, look.now.boot);
        peers_each(engine_peers(api->ports.engine), note_node, &look);
        load_record_end(record);
    }
    loop_timer_set(api->node_loads.timer, LOAD_LOOK_S * 1000);
}

enum status node_loads_init(struct node_loads *loads, struct api *api)
{
    load_record_init(&loads->record);
    enum status st = loop_timer_new_patient(api->ports.loop, look_at_all, api, &loads->timer);
    if (st == OK && api->ports.engine)
        loop_timer_set(loads->timer, 0);
    return st;
}

void node_loads_release(struct node_loads *loads)
{
    loop_timer_free(loads->timer);
    loads->timer = NULL;
    if (loads->record.looks)
        load_record_release(&loads->record);
}

/* ---- the calls ---- */

enum { POINTS_MAX = LOAD_SAMPLES };

struct points {
    size_t count, each; /* of points, and of samples in each */
    size_t skipped;     /* the oldest samples, which do not fill a point */
};

/* False: the call has failed. */
static bool read_points(struct call *call, struct points *ret)
{
    size_t samples = call->api->node_loads.record.count;
    int64_t most = POINTS_MAX;
    if (!param_number(call, "points", 1, POINTS_MAX, &most))
        return false;
    ret->each = samples > (size_t)most ? (samples + (size_t)most - 1) / (size_t)most : 1;
    ret->count = samples / ret->each;
    ret->skipped = samples - ret->count * ret->each;
    return true;
}

static json_t *encode_kind(const struct load_node *node, enum load_kind kind,
                           const struct points *points)
{
    json_t *list = json_array();
    int failed = !list;
    for (size_t i = 0; i < points->count && !failed; i++) {
        size_t from = points->skipped + i * points->each;
        int value = load_node_value(node, kind, from, from + points->each);
        failed |= json_array_append_new(list, value < 0 ? json_null() : json_integer(value));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

/* Callers with limited rights do not see how many runs others have. */
static json_t *encode_load(const struct call *call, const struct load_node *node,
                           const struct points *points)
{
    bool is_whole = scope_is_whole(&call->principal.scope);
    return json_pack("{s:s, s:o, s:o, s:o}", "node", node->name, "cpu",
                     encode_kind(node, LOAD_CPU, points), "memory",
                     encode_kind(node, LOAD_MEMORY, points), "running",
                     is_whole ? encode_kind(node, LOAD_RUNNING, points) : json_null());
}

static json_t *encode_axis(const struct load_record *record, const struct points *points)
{
    struct now now = clock_now();
    int64_t under_way_s = (int64_t)record->looks_done * LOAD_LOOK_S;
    int64_t until_ms = now.wall.ms - (now.boot.ms - record->looked.ms) - under_way_s * 1000;
    return json_pack("{s:I, s:o}", "step_s",
                     (json_int_t)((size_t)record->looks * points->each * LOAD_LOOK_S), "until",
                     record->count ? json_time(until_ms) : json_null());
}

void get_node_load(struct call *call)
{
    const struct load_record *record = &call->api->node_loads.record;
    const struct load_node *node = load_record_find(record, call->argument);
    struct points points;
    if (!node)
        call_fail(call, 404, "the load of a node %.60s is not known here", call->argument);
    else if (read_points(call, &points))
        call_reply(call, 200,
                   json_joined(encode_axis(record, &points), encode_load(call, node, &points)));
}

struct listing {
    const struct call *call;
    const struct points *points;
    json_t *items;
    bool failed;
};

static bool add_load(void *context, const struct known_peer *known)
{
    struct listing *listing = context;
    const struct load_node *node =
        load_record_find(&listing->call->api->node_loads.record, known->peer.name);
    listing->failed =
        node && json_array_append_new(listing->items,
                                      encode_load(listing->call, node, listing->points)) != 0;
    return !listing->failed;
}

void list_loads(struct call *call)
{
    const struct load_record *record = &call->api->node_loads.record;
    struct points points;
    if (!read_points(call, &points))
        return;
    struct listing listing = {.call = call, .points = &points, .items = json_array()};
    if (listing.items)
        peers_each(engine_peers(call->api->ports.engine), add_load, &listing);
    if (listing.failed) {
        json_decref(listing.items);
        listing.items = NULL;
    }
    call_reply(call, 200,
               json_joined(encode_axis(record, &points),
                           json_pack("{s:o, s:n}", "items", listing.items, "next")));
}
