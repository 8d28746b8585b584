#include "etcd_serve.h"

#include <stdlib.h>
#include <string.h>

#include "etcd_internal.h"

enum {
    MONITOR_MS = 3000,    /* streams are ended after so long without a leader */
    LIMBO_MS = 7000,      /* calls fail */
    EXPIRE_LATE_MS = 500, /* at most */
    TTL_MIN_S = 2,
};

/* ---- the leader ---- */

static int members_up(const struct etcd_serve *serve)
{
    int count = 0;
    for (int i = 0; i < NET_MEMBERS; i++)
        count += !serve->net->is_down[i];
    return count;
}

bool etcd_serve_has_leader(const struct etcd_serve *serve)
{
    return serve->stage->now_ms >= serve->leader_from_ms && members_up(serve) > NET_MEMBERS / 2;
}

struct serve_limbo {
    struct net_stream *stream;
    int64_t since_ms;
    TAILQ_ENTRY(serve_limbo) entry;
    size_t length;
    uint8_t bytes[];
};

static void decide(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                   size_t length);

/* What waited for a leader is done, or is not. */
static void end_limbo(struct etcd_serve *serve)
{
    static const char why[] =
        "etcdserver: request timed out, possibly due to previous leader failure";
    for (struct serve_limbo *limbo; (limbo = TAILQ_FIRST(&serve->limbo));) {
        TAILQ_REMOVE(&serve->limbo, limbo, entry);
        bool is_late = serve->stage->now_ms - limbo->since_ms > LIMBO_MS;
        if (is_late)
            net_end(limbo->stream, GRPC_UNAVAILABLE, why);
        if (stage_chance(serve->stage, is_late ? 300 : 600))
            decide(serve, limbo->stream, limbo->bytes, limbo->length);
        else if (!is_late)
            net_end(limbo->stream, GRPC_UNAVAILABLE, why);
        net_stream_release(limbo->stream);
        free(limbo);
    }
}

/* A new leader, in a term of its own, counts all leases anew. */
static void on_lead(struct task *task)
{
    struct etcd_serve *serve =
        (struct etcd_serve *)((char *)task - offsetof(struct etcd_serve, lead));
    if (!etcd_serve_has_leader(serve)) {
        serve_end_streams(serve);
        if (serve->leader_from_ms > serve->stage->now_ms)
            task_at(serve->stage, &serve->lead, serve->leader_from_ms);
        return;
    }
    serve->model.term++;
    for (size_t i = 0; i < serve->model.lease_count; i++)
        serve_renew(serve, &serve->model.leases[i]);
    serve_set_expiry(serve);
    end_limbo(serve);
}

static void without_leader(struct etcd_serve *serve, int64_t ms)
{
    int64_t until_ms = serve->stage->now_ms + ms;
    if (until_ms > serve->leader_from_ms)
        serve->leader_from_ms = until_ms;
    task_stop(serve->stage, &serve->expire);
    int64_t look_ms = ms > MONITOR_MS ? MONITOR_MS : ms;
    task_at(serve->stage, &serve->lead, serve->stage->now_ms + look_ms);
}

void etcd_serve_lose_leader(struct etcd_serve *serve, int64_t ms)
{
    without_leader(serve, ms);
}

void etcd_serve_set_down(struct etcd_serve *serve, int member, bool is_down)
{
    if (serve->net->is_down[member] == is_down)
        return;
    net_set_down(serve->net, member, is_down);
    without_leader(serve, 500 + stage_below(serve->stage, 1500));
}

/* What was on its way to the one before never gets to this one. */
void etcd_serve_restore(struct etcd_serve *serve, int64_t revision, bool keeps_id)
{
    for (struct serve_limbo *limbo; (limbo = TAILQ_FIRST(&serve->limbo));) {
        TAILQ_REMOVE(&serve->limbo, limbo, entry);
        net_stream_release(limbo->stream);
        free(limbo);
    }
    net_tear(serve->net);
    etcd_model_restore(&serve->model, revision, keeps_id);
    without_leader(serve, 500 + stage_below(serve->stage, 1500));
}

/* ---- leases ---- */

void serve_renew(struct etcd_serve *serve, struct model_lease *lease)
{
    lease->renewed_ms = serve->stage->now_ms;
    lease->expires_ms =
        serve->stage->now_ms + lease->ttl_s * 1000 + stage_below(serve->stage, EXPIRE_LATE_MS + 1);
}

void serve_set_expiry(struct etcd_serve *serve)
{
    int64_t first_ms = INT64_MAX;
    for (size_t i = 0; i < serve->model.lease_count; i++)
        if (serve->model.leases[i].expires_ms < first_ms)
            first_ms = serve->model.leases[i].expires_ms;
    if (first_ms == INT64_MAX || !etcd_serve_has_leader(serve))
        task_stop(serve->stage, &serve->expire);
    else
        task_at(serve->stage, &serve->expire, first_ms);
}

static void on_expire(struct task *task)
{
    struct etcd_serve *serve =
        (struct etcd_serve *)((char *)task - offsetof(struct etcd_serve, expire));
    for (size_t i = 0; i < serve->model.lease_count;) {
        const struct model_lease *lease = &serve->model.leases[i];
        if (lease->expires_ms > serve->stage->now_ms) {
            i++;
            continue;
        }
        stage_log(serve->stage, "etcd: lease %llx expires", (unsigned long long)lease->id);
        etcd_model_revoke(&serve->model, lease->id);
    }
    serve_set_expiry(serve);
}

void etcd_serve_expire(struct etcd_serve *serve, int64_t lease)
{
    etcd_model_revoke(&serve->model, lease);
    serve_set_expiry(serve);
}

/* ---- calls ---- */

Etcdpb__Header *serve_header(struct etcd_serve *serve, int64_t revision)
{
    Etcdpb__Header *header = arena_alloc(&serve->arena, sizeof(*header));
    etcdpb__header__init(header);
    header->revision = revision;
    header->member_id = MODEL_MEMBER_ID;
    header->cluster_id = serve->model.cluster_id;
    header->raft_term = serve->model.term;
    return header;
}

void *serve_unpack(struct etcd_serve *serve, const ProtobufCMessageDescriptor *type,
                   const uint8_t *bytes, size_t length)
{
    ProtobufCAllocator allocator = etcd_allocator(&serve->arena);
    void *message = protobuf_c_message_unpack(type, &allocator, length, bytes);
    if (!message)
        stage_fail(serve->stage, "etcd can't read a request");
    return message;
}

static void answer(struct net_stream *stream, struct model_end end, const ProtobufCMessage *message)
{
    if (end.code == GRPC_OK)
        net_send(stream, message, true);
    else
        net_end(stream, end.code, end.message);
}

static void answer_header(struct etcd_serve *serve, struct net_stream *stream, struct model_end end)
{
    Etcdpb__HeaderResponse response = ETCDPB__HEADER_RESPONSE__INIT;
    response.header = serve_header(serve, serve->model.revision);
    answer(stream, end, &response.base);
}

static void do_range(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                     size_t length)
{
    Etcdpb__RangeResponse response = ETCDPB__RANGE_RESPONSE__INIT;
    answer(stream,
           etcd_model_range(&serve->model, &serve->arena,
                            serve_unpack(serve, &etcdpb__range_request__descriptor, bytes, length),
                            &response),
           &response.base);
}

static void do_put(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                   size_t length)
{
    Etcdpb__PutResponse response = ETCDPB__PUT_RESPONSE__INIT;
    answer(stream,
           etcd_model_put(&serve->model, &serve->arena,
                          serve_unpack(serve, &etcdpb__put_request__descriptor, bytes, length),
                          &response),
           &response.base);
}

static void do_delete(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                      size_t length)
{
    Etcdpb__DeleteResponse response = ETCDPB__DELETE_RESPONSE__INIT;
    answer(stream,
           etcd_model_delete(
               &serve->model, &serve->arena,
               serve_unpack(serve, &etcdpb__delete_request__descriptor, bytes, length), &response),
           &response.base);
}

static void do_txn(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                   size_t length)
{
    Etcdpb__TxnResponse response = ETCDPB__TXN_RESPONSE__INIT;
    answer(stream,
           etcd_model_txn(&serve->model, &serve->arena,
                          serve_unpack(serve, &etcdpb__txn_request__descriptor, bytes, length),
                          &response),
           &response.base);
}

static void do_compact(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                       size_t length)
{
    const Etcdpb__CompactRequest *request =
        serve_unpack(serve, &etcdpb__compact_request__descriptor, bytes, length);
    answer_header(serve, stream, etcd_model_compact(&serve->model, request->revision));
}

static void do_grant(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                     size_t length)
{
    Etcdpb__LeaseGrantResponse response = ETCDPB__LEASE_GRANT_RESPONSE__INIT;
    const Etcdpb__LeaseGrantRequest *request =
        serve_unpack(serve, &etcdpb__lease_grant_request__descriptor, bytes, length);
    int64_t id = request->id ? request->id : (int64_t)(++serve->last_lease * 0x10001);
    int64_t ttl_s = request->ttl > TTL_MIN_S ? request->ttl : TTL_MIN_S;
    struct model_end end = etcd_model_grant(&serve->model, id, ttl_s);
    if (end.code == GRPC_OK) {
        struct model_lease *lease = etcd_model_lease(&serve->model, id);
        lease->machine = net_stream_machine(stream);
        serve_renew(serve, lease);
    }
    serve_set_expiry(serve);
    response.header = serve_header(serve, serve->model.revision);
    response.id = id;
    response.ttl = ttl_s;
    answer(stream, end, &response.base);
}

static void do_revoke(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                      size_t length)
{
    const Etcdpb__LeaseRevokeRequest *request =
        serve_unpack(serve, &etcdpb__lease_revoke_request__descriptor, bytes, length);
    const struct model_lease *lease = etcd_model_lease(&serve->model, request->id);
    if (lease && serve->revoking && lease->machine != net_stream_machine(stream))
        serve->revoking(serve->context, lease->machine);
    struct model_end end = etcd_model_revoke(&serve->model, request->id);
    serve_set_expiry(serve);
    answer_header(serve, stream, end);
}

static void do_look(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                    size_t length)
{
    Etcdpb__LeaseTimeToLiveResponse response = ETCDPB__LEASE_TIME_TO_LIVE_RESPONSE__INIT;
    const Etcdpb__LeaseTimeToLiveRequest *request =
        serve_unpack(serve, &etcdpb__lease_time_to_live_request__descriptor, bytes, length);
    const struct model_lease *lease = etcd_model_lease(&serve->model, request->id);
    response.header = serve_header(serve, serve->model.revision);
    response.id = request->id;
    int64_t left_ms =
        lease ? lease->renewed_ms + lease->ttl_s * 1000 - serve->stage->now_ms : -1000;
    response.ttl = lease && left_ms < 0 ? 0 : left_ms / 1000;
    response.granted_ttl = lease ? lease->ttl_s : 0;
    ProtobufCBinaryData *keys = arena_array(&serve->arena, serve->model.key_count, sizeof(*keys));
    for (size_t i = 0; lease && request->keys && i < serve->model.key_count; i++) {
        struct model_key *key = serve->model.keys[i];
        const struct model_version *version =
            etcd_model_get(&serve->model, key->bytes, key->length);
        if (version && version->lease == lease->id)
            keys[response.n_keys++] = (ProtobufCBinaryData){key->length, key->bytes};
    }
    response.keys = keys;
    net_send(stream, &response.base, true);
}

static void do_status(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                      size_t length)
{
    (void)bytes;
    (void)length;
    static char version[] = "3.4.23";
    Etcdpb__StatusResponse response = ETCDPB__STATUS_RESPONSE__INIT;
    response.header = serve_header(serve, serve->model.revision);
    response.version = version;
    response.leader = etcd_serve_has_leader(serve);
    net_send(stream, &response.base, true);
}

static void do_alarm(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                     size_t length)
{
    (void)bytes;
    (void)length;
    Etcdpb__AlarmResponse response = ETCDPB__ALARM_RESPONSE__INIT;
    response.header = serve_header(serve, serve->model.revision);
    net_send(stream, &response.base, true);
}

static const struct {
    const char *path;
    bool is_write;
    void (*handle)(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                   size_t length);
} calls[] = {
    {"/etcdserverpb.KV/Range", false, do_range},
    {"/etcdserverpb.KV/Put", true, do_put},
    {"/etcdserverpb.KV/DeleteRange", true, do_delete},
    {"/etcdserverpb.KV/Txn", true, do_txn},
    {"/etcdserverpb.KV/Compact", true, do_compact},
    {"/etcdserverpb.Lease/LeaseGrant", true, do_grant},
    {"/etcdserverpb.Lease/LeaseRevoke", true, do_revoke},
    {"/etcdserverpb.Lease/LeaseTimeToLive", false, do_look},
    {"/etcdserverpb.Maintenance/Status", false, do_status},
    {"/etcdserverpb.Maintenance/Alarm", true, do_alarm},
};

static void decide(struct etcd_serve *serve, struct net_stream *stream, const uint8_t *bytes,
                   size_t length)
{
    arena_reset(&serve->arena);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i].path, stream->path) == 0) {
            calls[i].handle(serve, stream, bytes, length);
            return;
        }
    }
    stage_fail(serve->stage, "etcd does not know %s", stream->path);
}

static void wait_for_leader(struct etcd_serve *serve, struct net_stream *stream,
                            const uint8_t *bytes, size_t length)
{
    struct serve_limbo *limbo = malloc(sizeof(*limbo) + length);
    if (!limbo)
        abort();
    *limbo =
        (struct serve_limbo){.stream = stream, .since_ms = serve->stage->now_ms, .length = length};
    memcpy(limbo->bytes, bytes, length);
    net_stream_hold(stream);
    TAILQ_INSERT_TAIL(&serve->limbo, limbo, entry);
}

static void on_message(void *context, struct net_stream *stream, const uint8_t *bytes,
                       size_t length)
{
    struct etcd_serve *serve = context;
    bool is_refused = !etcd_serve_has_leader(serve) && stream->require_leader;
    if (is_refused && (stream->is_long || stage_chance(serve->stage, 500)))
        net_end(stream, GRPC_UNAVAILABLE, "etcdserver: no leader");
    else if (is_refused)
        wait_for_leader(serve, stream, bytes, length);
    else if (stream->is_long)
        serve_stream_message(serve, stream, bytes, length);
    else
        decide(serve, stream, bytes, length);
}

static void on_closed(void *context, struct net_stream *stream)
{
    serve_stream_closed(context, stream);
}

/* ---- all of it ---- */

static void on_changed(void *context, struct model_version *const *versions, size_t count)
{
    struct etcd_serve *serve = context;
    if (serve->changed)
        serve->changed(serve->context, versions, count);
    serve_tell(serve, versions, count);
}

void etcd_serve_init(struct etcd_serve *serve, struct stage *stage, struct net *net)
{
    static const struct net_server server = {on_message, on_closed};
    *serve = (struct etcd_serve){.stage = stage, .net = net};
    etcd_model_init(&serve->model);
    serve->model.changed = on_changed;
    serve->model.context = serve;
    arena_init(&serve->arena);
    TAILQ_INIT(&serve->limbo);
    task_init(&serve->lead, NULL, on_lead);
    task_init(&serve->expire, NULL, on_expire);
    serve_streams_init(serve);
    net->server = &server;
    net->context = serve;
}

void etcd_serve_release(struct etcd_serve *serve)
{
    for (struct serve_limbo *limbo; (limbo = TAILQ_FIRST(&serve->limbo));) {
        TAILQ_REMOVE(&serve->limbo, limbo, entry);
        net_stream_release(limbo->stream);
        free(limbo);
    }
    serve_streams_release(serve);
    etcd_model_release(&serve->model);
    arena_release(&serve->arena);
}
