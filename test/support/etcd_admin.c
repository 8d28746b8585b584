#include "etcd_admin.h"

#include "etcd_internal.h"

enum { DEACTIVATE = 2 };

enum status etcd_compact(struct kv_client *client, int64_t revision, bool physical,
                         const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/Compact",
                                              .decode = etcd_decode_header};
    Etcdpb__CompactRequest message = ETCDPB__COMPACT_REQUEST__INIT;
    message.revision = revision;
    message.physical = physical;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_disarm(struct kv_client *client, uint64_t member_id, enum etcd_alarm alarm,
                        const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Maintenance/Alarm",
                                              .decode = etcd_decode_alarms};
    Etcdpb__AlarmRequest message = ETCDPB__ALARM_REQUEST__INIT;
    message.action = DEACTIVATE;
    message.member_id = member_id;
    message.alarm = (int32_t)alarm;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

enum status etcd_defragment(struct kv_client *client, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Maintenance/Defragment",
                                              .decode = etcd_decode_header,
                                              .any_member = true};
    Etcdpb__DefragmentRequest message = ETCDPB__DEFRAGMENT_REQUEST__INIT;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}

static enum status decode_time_to_live(struct arena *arena, const uint8_t *bytes, size_t length,
                                       struct kv_result *ret)
{
    Etcdpb__LeaseTimeToLiveResponse *answer = etcd_unpack_answer(
        arena, &etcdpb__lease_time_to_live_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    ret->lease.id = answer->id;
    ret->lease.ttl_s = answer->ttl;
    ret->op.count = (int64_t)answer->n_keys;
    return OK;
}

enum status etcd_lease_time_to_live(struct kv_client *client, int64_t id,
                                    const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.Lease/LeaseTimeToLive",
                                              .decode = decode_time_to_live,
                                              .is_read = true};
    Etcdpb__LeaseTimeToLiveRequest message = ETCDPB__LEASE_TIME_TO_LIVE_REQUEST__INIT;
    message.id = id;
    message.keys = true;
    return etcd_call_start(client, &method, &message.base, reply, ret);
}
