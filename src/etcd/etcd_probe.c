/* The leader probe. A member whose leader has died still takes requests, forwards them to nobody
 * and is silent for seconds. So when a call is overdue, a small read that needs a leader is sent to
 * one member after the other until one answers. That member is used from then on, and overdue calls
 * are sent to it again if they may be repeated.
 *
 * An etcd that is merely slow answers the probe, too: then each call is repeated after twice the
 * time of the copy before, so as not to slow it further. */
#include <stdlib.h>

#include "etcd_call_queue.h"

enum {
    PROBE_MS = 150, /* for an answer */
    PROBE_AGAIN_MS = 25,
};

static bool is_any_overdue(const struct etcd_client *client)
{
    int64_t now_ms = kv_now_ms();
    for (size_t i = 0; i < client->wakes.count; i++)
        if (call_is_overdue(client->wakes.entries[i].item, now_ms))
            return true;
    return false;
}

static void probe_later(struct etcd_client *client)
{
    client->probe.is_timed = true;
    loop_timer_set(client->probe.timer, PROBE_AGAIN_MS);
}

/* A call that was sent before the probe and is overdue; NULL: none is left. A call for one cluster
 * is not repeated on another, such as a restored one: the revisions that it compares mean something
 * else there. */
static struct etcd_call *find_overdue(const struct etcd_client *client, uint64_t cluster_id,
                                      int64_t now_ms)
{
    for (size_t i = 0; i < client->wakes.count; i++) {
        struct etcd_call *call = client->wakes.entries[i].item;
        bool is_same = !call->cluster_id || call->cluster_id == cluster_id;
        if (call_is_overdue(call, now_ms) && call->sent_ms <= client->probe.sent_ms && is_same)
            return call;
    }
    return NULL;
}

static void repeat_overdue(struct etcd_client *client, uint64_t cluster_id)
{
    int64_t now_ms = kv_now_ms();
    for (struct etcd_call *call; (call = find_overdue(client, cluster_id, now_ms));) {
        if (call->stream)
            grpc_stream_cancel(call->stream);
        call->stream = NULL;
        free(call->answer);
        call->answer = NULL;
        call->is_lost = false;
        call->is_repeated = true;
        call->patience_ms *= 2;
        call_wait_in_line(call);
        call_look_again_at(call, call->deadline_at_ms);
    }
    etcd_calls_flush(client);
}

static void on_probe(void *context, const struct kv_result *result)
{
    struct etcd_client *client = context;
    client->probe.call = NULL;
    if (result->status == OK)
        repeat_overdue(client, result->cluster_id);
    else
        grpc_channel_turn(&client->calls, result->message);
    if (!is_any_overdue(client))
        return;
    probe_later(client);
    if (result->status != OK)
        kv_client_is_away(&client->base, result->message);
}

void etcd_probe_leader(struct etcd_client *client)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/Range",
                                              .decode = etcd_decode_range,
                                              .is_read = true,
                                              .is_probe = true};
    struct etcd_probe *probe = &client->probe;
    Etcdpb__RangeRequest message;
    if (probe->call || probe->is_timed)
        return;
    etcdpb__range_request__init(&message);
    message.key = etcd_slice(kv_text("peal"));
    message.count_only = true;
    probe->sent_ms = kv_now_ms();
    struct kv_reply reply = {.done = on_probe, .context = client, .deadline_ms = PROBE_MS};
    if (etcd_call_start(&client->base, &method, &message.base, &reply, &probe->call) != OK)
        probe_later(client); /* out of memory */
}

static void on_timer(void *context)
{
    struct etcd_client *client = context;
    client->probe.is_timed = false;
    if (is_any_overdue(client))
        etcd_probe_leader(client);
}

enum status etcd_probe_init(struct etcd_client *client)
{
    return loop_timer_new(client->base.loop, on_timer, client, &client->probe.timer);
}

void etcd_probe_release(struct etcd_client *client)
{
    client->probe.timer = loop_timer_free(client->probe.timer);
}
