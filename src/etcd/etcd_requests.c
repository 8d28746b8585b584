/* Requests with one answer: keys and values, leases, maintenance. */
#include <stdlib.h>
#include <string.h>

#include "etcd_internal.h"

ProtobufCBinaryData etcd_slice(struct kv_bytes bytes)
{
    return (ProtobufCBinaryData){bytes.length, (uint8_t *)bytes.data};
}

/* Key and end of a range as etcd wants them; a prefix of nothing is every key. */
static enum status make_span(struct arena *arena, struct kv_bytes key, struct kv_bytes end,
                             bool prefix, ProtobufCBinaryData *ret_key,
                             ProtobufCBinaryData *ret_end)
{
    if (prefix) {
        enum status st = kv_prefix_end(arena, key, &end);
        if (st != OK)
            return st;
        if (key.length == 0)
            key = (struct kv_bytes){"", 1};
    }
    *ret_key = etcd_slice(key);
    *ret_end = etcd_slice(end);
    return OK;
}

static const struct {
    int order, target;
} sorts[] = {
    [KV_SORT_NONE] = {0, 0},
    [KV_SORT_KEY_DESCENDING] = {2, 0},
    [KV_SORT_CREATED_ASCENDING] = {1, 2},
    [KV_SORT_CREATED_DESCENDING] = {2, 2},
    [KV_SORT_CHANGED_ASCENDING] = {1, 3},
    [KV_SORT_CHANGED_DESCENDING] = {2, 3},
};

enum status etcd_make_range(struct arena *arena, const struct kv_range *request,
                            Etcdpb__RangeRequest *ret)
{
    etcdpb__range_request__init(ret);
    ret->limit = request->limit;
    ret->revision = request->revision;
    ret->sort_order = sorts[request->sort].order;
    ret->sort_target = sorts[request->sort].target;
    ret->serializable = request->serializable;
    ret->keys_only = request->keys_only;
    ret->count_only = request->count_only;
    ret->max_create_revision = request->max_create_revision;
    return make_span(arena, request->key, request->end, request->prefix, &ret->key,
                     &ret->range_end);
}

enum status etcd_make_delete(struct arena *arena, const struct kv_delete *request,
                             Etcdpb__DeleteRequest *ret)
{
    etcdpb__delete_request__init(ret);
    ret->prev_kv = request->want_previous;
    return make_span(arena, request->key, request->end, request->prefix, &ret->key,
                     &ret->range_end);
}

void etcd_make_put(const struct kv_put *request, Etcdpb__PutRequest *ret)
{
    etcdpb__put_request__init(ret);
    ret->key = etcd_slice(request->key);
    ret->value = etcd_slice(request->value);
    ret->lease = request->lease;
    ret->prev_kv = request->want_previous;
}

/* ---- keys and values ---- */

enum status etcd_range(struct kv_client *client, const struct kv_range *request,
                       const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {
        .path = "/etcdserverpb.KV/Range", .decode = etcd_decode_range, .is_read = true};
    Etcdpb__RangeRequest message;
    struct arena
        arena; /* not the client's, which may hold the result that the caller is handling */
    arena_init(&arena);
    enum status st = etcd_make_range(&arena, request, &message);
    if (st == OK)
        st = etcd_call_start(client, &method, &message.base, reply, ret);
    arena_release(&arena);
    return st;
}

enum status etcd_put(struct kv_client *client, const struct kv_put *request,
                     const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/Put",
                                              .decode = etcd_decode_put};
    Etcdpb__PutRequest message;
    etcd_make_put(request, &message);
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_delete(struct kv_client *client, const struct kv_delete *request,
                        const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/DeleteRange",
                                              .decode = etcd_decode_delete};
    Etcdpb__DeleteRequest message;
    struct arena arena;
    arena_init(&arena);
    enum status st = etcd_make_delete(&arena, request, &message);
    if (st == OK)
        st = etcd_call_start(client, &method, &message.base, reply, ret);
    arena_release(&arena);
    return st;
}

/* ---- leases ---- */

enum status etcd_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                             struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Lease/LeaseGrant",
                                              .decode = etcd_decode_grant};
    Etcdpb__LeaseGrantRequest message = ETCDPB__LEASE_GRANT_REQUEST__INIT;
    message.ttl = ttl_s;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                              struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Lease/LeaseRevoke",
                                              .decode = etcd_decode_header};
    Etcdpb__LeaseRevokeRequest message = ETCDPB__LEASE_REVOKE_REQUEST__INIT;
    message.id = id;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    static const struct etcd_method method = {
        .path = "/etcdserverpb.Lease/LeaseTimeToLive", .decode = etcd_decode_look, .is_read = true};
    Etcdpb__LeaseTimeToLiveRequest message = ETCDPB__LEASE_TIME_TO_LIVE_REQUEST__INIT;
    message.id = id;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

/* ---- maintenance ---- */

enum status etcd_status(struct kv_client *client, const struct kv_reply *reply,
                        struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Maintenance/Status",
                                              .decode = etcd_decode_status,
                                              .is_read = true,
                                              .any_member = true};
    Etcdpb__StatusRequest message = ETCDPB__STATUS_REQUEST__INIT;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_alarms(struct kv_client *client, const struct kv_reply *reply,
                        struct kv_call **ret)
{
    static const struct etcd_method method = {
        .path = "/etcdserverpb.Maintenance/Alarm", .decode = etcd_decode_alarms, .is_read = true};
    Etcdpb__AlarmRequest message = ETCDPB__ALARM_REQUEST__INIT; /* all of them */
    return etcd_call_start(client, &method, &message.base, reply, ret);
}
