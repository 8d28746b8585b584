/* Watches, and leases that are kept alive. */
#include <stdlib.h>
#include <string.h>

#include "etcd_serve.h"

enum { PROGRESS_MS = 10 * 60 * 1000, FRAGMENT_EVENTS = 2 };

static const char watch_path[] = "/etcdserverpb.Watch/Watch";

struct serve_watch {
    struct net_stream *stream;
    int64_t id, from; /* what is before that revision is not told */
    ProtobufCBinaryData key, end;
    bool want_previous, want_progress;
    bool has_told; /* since the last progress */
    TAILQ_ENTRY(serve_watch) entry;
};

/* ---- what is told ---- */

static void send_response(struct etcd_serve *serve, struct serve_watch *watch,
                          Etcdpb__WatchResponse *response, int64_t revision)
{
    if (watch->stream->is_stuck)
        return;
    response->watch_id = watch->id;
    response->header = serve_header(serve, revision);
    net_send(watch->stream, &response->base, false);
}

/* As the revision before left the key, if that is still there. */
static const struct model_version *version_before(const struct model_version *version)
{
    const struct model_key *key = version->key;
    for (size_t i = key->count; i-- > 0;)
        if (key->versions[i]->mod_revision < version->mod_revision)
            return key->versions[i]->version ? key->versions[i] : NULL;
    return NULL;
}

static Etcdpb__Event *event_of(struct etcd_serve *serve, const struct serve_watch *watch,
                               const struct model_version *version)
{
    Etcdpb__Event *event = arena_alloc(&serve->arena, sizeof(*event));
    etcdpb__event__init(event);
    event->type = version->version == 0;
    event->kv = etcd_model_kv(&serve->arena, version, true);
    const struct model_version *before = watch->want_previous ? version_before(version) : NULL;
    if (before)
        event->prev_kv = etcd_model_kv(&serve->arena, before, true);
    return event;
}

/* What is told to a watch of some versions, and to those that are like it: most nodes watch the
 * same, under the same number. Made in the arena. */
struct telling {
    const struct serve_watch *watch; /* for which it was made; NULL: none */
    Etcdpb__Event **events;
    size_t count;
    uint8_t *bytes; /* all of it in one response; NULL: not packed yet */
    size_t length;
};

enum { TELLINGS = 4 }; /* a node has a few watches */

static bool are_same(ProtobufCBinaryData one, ProtobufCBinaryData other)
{
    return one.len == other.len && memcmp(one.data, other.data, one.len) == 0;
}

static bool are_alike(const struct serve_watch *one, const struct serve_watch *other)
{
    return one->id == other->id && one->want_previous == other->want_previous &&
           are_same(one->key, other->key) && are_same(one->end, other->end);
}

/* Those of them that it watches. */
static struct telling telling_of(struct etcd_serve *serve, const struct serve_watch *watch,
                                 struct model_version *const *versions, size_t count)
{
    struct telling telling = {.watch = watch};
    for (size_t i = 0; i < count; i++) {
        if (!etcd_model_in_span(versions[i]->key, watch->key, watch->end))
            continue;
        if (!telling.events)
            telling.events = arena_array(&serve->arena, count, sizeof(struct Etcdpb__Event *));
        telling.events[telling.count++] = event_of(serve, watch, versions[i]);
    }
    return telling;
}

static void tell_whole(struct etcd_serve *serve, struct serve_watch *watch, struct telling *telling)
{
    if (watch->stream->is_stuck || !telling->count)
        return;
    if (!telling->bytes) {
        Etcdpb__WatchResponse response = ETCDPB__WATCH_RESPONSE__INIT;
        response.events = telling->events;
        response.n_events = telling->count;
        response.watch_id = watch->id;
        response.header = serve_header(serve, serve->model.revision);
        telling->length = protobuf_c_message_get_packed_size(&response.base);
        telling->bytes = arena_alloc(&serve->arena, telling->length);
        protobuf_c_message_pack(&response.base, telling->bytes);
    }
    net_send_packed(watch->stream, telling->bytes, telling->length);
}

static void tell_in_fragments(struct etcd_serve *serve, struct serve_watch *watch,
                              const struct telling *telling, size_t most)
{
    for (size_t sent = 0; sent < telling->count;) {
        Etcdpb__WatchResponse response = ETCDPB__WATCH_RESPONSE__INIT;
        size_t left = telling->count - sent, part = left > most ? most : left;
        response.events = telling->events + sent;
        response.n_events = part;
        sent += part;
        response.fragment = sent < telling->count;
        send_response(serve, watch, &response, serve->model.revision);
    }
}

static void tell(struct etcd_serve *serve, struct serve_watch *watch, struct telling *telling)
{
    bool is_torn = serve->is_torn[watch->stream->member];
    size_t most = is_torn ? 1 : FRAGMENT_EVENTS;
    watch->has_told |= telling->count > 0;
    if (telling->count > most && (is_torn || stage_chance(serve->stage, 300)))
        tell_in_fragments(serve, watch, telling, most);
    else
        tell_whole(serve, watch, telling);
}

void serve_tell(struct etcd_serve *serve, struct model_version *const *versions, size_t count)
{
    struct telling tellings[TELLINGS] = {0};
    struct serve_watch *watch;
    size_t made = 0, i;
    TAILQ_FOREACH (watch, &serve->watches, entry) {
        if (versions[0]->mod_revision < watch->from)
            continue;
        for (i = 0; i < TELLINGS && tellings[i].watch; i++)
            if (are_alike(tellings[i].watch, watch))
                break;
        if (i == TELLINGS)
            i = made % TELLINGS;
        if (!tellings[i].watch || !are_alike(tellings[i].watch, watch)) {
            tellings[i] = telling_of(serve, watch, versions, count);
            made++;
        }
        tell(serve, watch, &tellings[i]);
    }
}

static void on_progress(struct task *task)
{
    struct etcd_serve *serve =
        (struct etcd_serve *)((char *)task - offsetof(struct etcd_serve, progress));
    struct serve_watch *watch;
    arena_reset(&serve->arena);
    TAILQ_FOREACH (watch, &serve->watches, entry) {
        Etcdpb__WatchResponse response = ETCDPB__WATCH_RESPONSE__INIT;
        if (watch->want_progress && !watch->has_told)
            send_response(serve, watch, &response, serve->model.revision);
        watch->has_told = false;
    }
    task_at(serve->stage, &serve->progress, serve->stage->now_ms + serve->progress_ms);
}

void etcd_serve_set_progress(struct etcd_serve *serve, int64_t every_ms)
{
    serve->progress_ms = every_ms;
    task_at(serve->stage, &serve->progress, serve->stage->now_ms + every_ms);
}

/* ---- watches come and go ---- */

static void watch_free(struct etcd_serve *serve, struct serve_watch *watch)
{
    TAILQ_REMOVE(&serve->watches, watch, entry);
    net_stream_release(watch->stream);
    free(watch->key.data);
    free(watch->end.data);
    free(watch);
}

static ProtobufCBinaryData copy(ProtobufCBinaryData from)
{
    ProtobufCBinaryData to = {from.len, malloc(from.len + 1)};
    if (!to.data)
        abort();
    if (from.len)
        memcpy(to.data, from.data, from.len);
    return to;
}

static void create(struct etcd_serve *serve, struct net_stream *stream,
                   const Etcdpb__WatchCreate *request)
{
    struct serve_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        abort();
    *watch = (struct serve_watch){.stream = stream,
                                  .id = request->watch_id,
                                  .from = request->start_revision,
                                  .key = copy(request->key),
                                  .end = copy(request->range_end),
                                  .want_previous = request->prev_kv,
                                  .want_progress = request->progress_notify};
    net_stream_hold(stream);
    TAILQ_INSERT_TAIL(&serve->watches, watch, entry);
    stream->server = serve;
    Etcdpb__WatchResponse created = ETCDPB__WATCH_RESPONSE__INIT;
    created.created = true;
    send_response(serve, watch, &created, serve->model.revision);
    int64_t from = request->start_revision;
    if (from && from < serve->model.compacted) {
        Etcdpb__WatchResponse gone = ETCDPB__WATCH_RESPONSE__INIT;
        gone.canceled = true;
        gone.compact_revision = serve->model.compacted;
        send_response(serve, watch, &gone, 0);
        watch_free(serve, watch);
    } else if (from && from <= serve->model.revision) {
        size_t first = etcd_model_log_from(&serve->model, from);
        struct telling telling =
            telling_of(serve, watch, serve->model.log + first, serve->model.log_count - first);
        tell(serve, watch, &telling);
    }
}

static void cancel(struct etcd_serve *serve, const struct net_stream *stream, int64_t id)
{
    struct serve_watch *next, *watch = TAILQ_FIRST(&serve->watches);
    for (; watch; watch = next) {
        next = TAILQ_NEXT(watch, entry);
        if (watch->stream == stream && watch->id == id)
            watch_free(serve, watch);
    }
}

/* ---- messages ---- */

static void keep_alive(struct etcd_serve *serve, struct net_stream *stream, int64_t id)
{
    Etcdpb__LeaseKeepAliveResponse response = ETCDPB__LEASE_KEEP_ALIVE_RESPONSE__INIT;
    struct model_lease *lease = etcd_model_lease(&serve->model, id);
    if (lease) { /* on_expire comes all the same, and looks again later */
        serve_renew(serve, lease);
        lease->machine = net_stream_machine(stream);
    }
    response.header = serve_header(serve, serve->model.revision);
    response.id = id;
    response.ttl = lease ? lease->ttl_s : 0;
    net_send(stream, &response.base, false);
}

void serve_stream_message(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                          size_t length)
{
    arena_reset(&serve->arena);
    if (strcmp(stream->path, watch_path) != 0) {
        const Etcdpb__LeaseKeepAliveRequest *request =
            serve_unpack(serve, &etcdpb__lease_keep_alive_request__descriptor, bytes, length);
        keep_alive(serve, stream, request->id);
        return;
    }
    const Etcdpb__WatchRequest *request =
        serve_unpack(serve, &etcdpb__watch_request__descriptor, bytes, length);
    if (!stream->is_listed)
        return; /* it is gone by now */
    if (request->request_case == ETCDPB__WATCH_REQUEST__REQUEST_CREATE)
        create(serve, stream, request->create);
    else
        cancel(serve, stream, request->cancel->watch_id);
}

void serve_stream_closed(struct etcd_serve *serve, struct net_stream *stream)
{
    struct serve_watch *next, *watch = TAILQ_FIRST(&serve->watches);
    for (; watch; watch = next) {
        next = TAILQ_NEXT(watch, entry);
        if (watch->stream == stream)
            watch_free(serve, watch);
    }
}

/* ---- all of them ---- */

void serve_end_streams(struct etcd_serve *serve)
{
    for (struct serve_watch *watch; (watch = TAILQ_FIRST(&serve->watches));)
        net_end(watch->stream, GRPC_UNAVAILABLE, "etcdserver: no leader"); /* frees them */
}

void etcd_serve_stick(struct etcd_serve *serve, int machine)
{
    struct serve_watch *watch;
    TAILQ_FOREACH (watch, &serve->watches, entry) {
        if (net_stream_machine(watch->stream) == machine)
            watch->stream->is_stuck = true;
    }
}

void serve_streams_init(struct etcd_serve *serve)
{
    TAILQ_INIT(&serve->watches);
    task_init(&serve->progress, NULL, on_progress);
    etcd_serve_set_progress(serve, PROGRESS_MS);
}

void serve_streams_release(struct etcd_serve *serve)
{
    for (struct serve_watch *watch; (watch = TAILQ_FIRST(&serve->watches));)
        watch_free(serve, watch);
}
