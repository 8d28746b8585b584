/* What an operator of etcd does, and peal does not. */
#ifndef PEAL_ETCD_ADMIN_H
#define PEAL_ETCD_ADMIN_H

#include "etcd.h"

/* `physical`: answers when the space is really free. */
MUST_CHECK enum status etcd_compact(struct kv_client *client, int64_t revision, bool physical,
                                    const struct kv_reply *reply, struct kv_call **ret);
/* An alarm as etcd_alarms tells it. */
MUST_CHECK enum status etcd_disarm(struct kv_client *client, uint64_t member_id,
                                   enum etcd_alarm alarm, const struct kv_reply *reply,
                                   struct kv_call **ret);
/* The member at the other end; it answers nothing else meanwhile, so give it a long deadline. */
MUST_CHECK enum status etcd_defragment(struct kv_client *client, const struct kv_reply *reply,
                                       struct kv_call **ret);
/* lease.ttl_s is what remains, -1: no such lease; op.count the number of its keys. */
MUST_CHECK enum status etcd_lease_time_to_live(struct kv_client *client, int64_t id,
                                               const struct kv_reply *reply, struct kv_call **ret);

#endif
