/* Leases that are kept alive, all on one stream.
 *
 *     ASKING -> HELD -> LOST
 *          \-> LOST (not granted)
 */
#include "etcd_lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "transport/long_stream.h"

enum {
    RENEWALS_PER_TTL = 3,
    LINGER_MS = 5000,        /* for which it is renewed often though that is no longer asked for */
    PATIENCE_MS = 1000,      /* for an answer, before the connection is probed ... */
    PATIENCE_OFTEN_MS = 500, /* ... while it is renewed often */
    AGAIN_MS = 100,          /* when it is time to renew, and not possible */
};

enum lease_state {
    LEASE_ASKING,
    LEASE_HELD,
    LEASE_LOST,
};

struct etcd_lease {
    struct stream_hub *hub;
    enum lease_state state;
    etcd_lease_notify *notify;
    void *context;
    struct etcd_call *call; /* ASKING */
    struct loop_timer *timer;
    int64_t id, ttl_ms;
    int64_t held_until_ms;
    int64_t sent_at_ms; /* of the request whose answer is awaited, or of the last one */
    bool is_awaited;
    bool is_often;          /* renewed every ETCD_LEASE_OFTEN_MS ... */
    int64_t often_until_ms; /* ... or until then */
};

static const struct table_type lease_table = {.key_at = offsetof(struct etcd_lease, id),
                                              .key_size = sizeof(int64_t)};

static void end_lease(struct etcd_lease *lease, enum etcd_lease_kind kind, enum status st,
                      const char *message)
{
    struct etcd_lease_notice notice = {.kind = kind, .status = st, .message = message};
    struct stream_hub *hub = lease->hub;
    if (lease->state == LEASE_HELD) {
        table_remove(&hub->items, lease);
        if (hub->items.count == 0)
            long_stream_want(&hub->stream, false);
    }
    lease->state = LEASE_LOST;
    loop_timer_stop(lease->timer);
    lease->notify(lease->context, &notice); /* may have freed the lease */
}

static void lose_silent(struct etcd_lease *lease)
{
    char text[96];
    snprintf(text, sizeof(text), "no sign of the lease for its TTL of %" PRId64 " s",
             lease->ttl_ms / 1000);
    end_lease(lease, ETCD_LEASE_LOST, E_UNREACHABLE, text);
}

/* ---- keeping alive ---- */

static bool is_often(const struct etcd_lease *lease, int64_t now_ms)
{
    return lease->is_often || now_ms < lease->often_until_ms;
}

static int64_t patience_ms(const struct etcd_lease *lease, int64_t now_ms)
{
    return is_often(lease, now_ms) ? PATIENCE_OFTEN_MS : PATIENCE_MS;
}

static int64_t interval_ms(const struct etcd_lease *lease, int64_t now_ms)
{
    return is_often(lease, now_ms) ? ETCD_LEASE_OFTEN_MS : lease->ttl_ms / RENEWALS_PER_TTL;
}

static void set_timer(struct etcd_lease *lease, int64_t now_ms)
{
    int64_t next_ms = lease->sent_at_ms +
                      (lease->is_awaited ? patience_ms(lease, now_ms) : interval_ms(lease, now_ms));
    if (next_ms <= now_ms) /* the connection is probed, or there is none: check again later */
        next_ms = now_ms + (lease->is_awaited ? PATIENCE_MS : AGAIN_MS);
    if (next_ms > lease->held_until_ms)
        next_ms = lease->held_until_ms;
    loop_timer_set(lease->timer, next_ms > now_ms ? next_ms - now_ms : 0);
}

static void renew(struct etcd_lease *lease, int64_t now_ms)
{
    Etcdpb__LeaseKeepAliveRequest request = ETCDPB__LEASE_KEEP_ALIVE_REQUEST__INIT;
    request.id = lease->id;
    if (long_stream_send(&lease->hub->stream, &request.base)) {
        lease->sent_at_ms = now_ms;
        lease->is_awaited = true;
    }
}

static void on_timer(void *context)
{
    struct etcd_lease *lease = context;
    int64_t now_ms = etcd_now_ms();
    if (now_ms >= lease->held_until_ms) {
        lose_silent(lease);
        return;
    }
    if (!lease->is_awaited)
        renew(lease, now_ms);
    else if (now_ms - lease->sent_at_ms >= patience_ms(lease, now_ms))
        long_stream_probe(&lease->hub->stream);
    set_timer(lease, now_ms);
}

static void on_opened(void *context)
{
    struct stream_hub *hub = context;
    struct etcd_lease *lease;
    int64_t now_ms = etcd_now_ms();
    for (size_t at = 0; (lease = table_next(&hub->items, &at));) {
        renew(lease, now_ms);
        set_timer(lease, now_ms);
    }
}

static void on_broken(void *context, const char *why)
{
    (void)why; /* only the clock decides whether a lease is lost */
    struct stream_hub *hub = context;
    struct etcd_lease *lease;
    for (size_t at = 0; (lease = table_next(&hub->items, &at));)
        lease->is_awaited = false;
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct stream_hub *hub = context;
    int64_t now_ms = etcd_now_ms();
    arena_reset(&hub->stream.client->arena);
    Etcdpb__LeaseKeepAliveResponse *answer = etcd_unpack(
        &hub->stream.client->arena, &etcdpb__lease_keep_alive_response__descriptor, bytes, length);
    if (!answer)
        return E_CORRUPT;
    struct etcd_lease *lease = table_find(&hub->items, &answer->id);
    if (!lease || !lease->is_awaited)
        return OK;
    lease->is_awaited = false;
    if (answer->ttl <= 0) {
        end_lease(lease, ETCD_LEASE_LOST, E_NOT_FOUND, "the lease has expired or was revoked");
        return OK;
    }
    lease->ttl_ms = answer->ttl * 1000;
    if (lease->sent_at_ms + lease->ttl_ms > lease->held_until_ms)
        lease->held_until_ms = lease->sent_at_ms + lease->ttl_ms;
    if (now_ms >= lease->held_until_ms) /* the machine slept: the answer comes too late */
        lose_silent(lease);
    else
        set_timer(lease, now_ms);
    return OK;
}

static const struct long_stream_events stream_events = {
    .opened = on_opened,
    .message = on_message,
    .broken = on_broken,
};

/* ---- leases ---- */

static void on_granted(void *context, const struct etcd_result *result)
{
    struct etcd_lease *lease = context;
    int64_t now_ms = etcd_now_ms();
    lease->call = NULL;
    if (result->status != OK) {
        end_lease(lease, ETCD_LEASE_FAILED, result->status, result->message);
        return;
    }
    lease->id = result->lease.id;
    lease->ttl_ms = result->lease.ttl_s * 1000;
    lease->held_until_ms = lease->sent_at_ms + lease->ttl_ms;
    if (now_ms >= lease->held_until_ms) {
        lose_silent(lease);
        return;
    }
    if (table_insert(&lease->hub->items, lease) != OK) {
        end_lease(lease, ETCD_LEASE_FAILED, E_NOMEM, status_text(E_NOMEM));
        return;
    }
    lease->state = LEASE_HELD;
    set_timer(lease, now_ms);
    long_stream_want(&lease->hub->stream, true);
    lease->notify(lease->context,
                  &(struct etcd_lease_notice){.kind = ETCD_LEASE_GRANTED, .message = ""});
}

enum status etcd_lease_new(struct etcd_client *client, int64_t ttl_s, etcd_lease_notify *notify,
                           void *context, struct etcd_lease **ret)
{
    enum status st = stream_hub_need(&client->leases, client, "/etcdserverpb.Lease/LeaseKeepAlive",
                                     &stream_events, &lease_table);
    if (st != OK)
        return st;
    struct etcd_lease *lease = calloc(1, sizeof(*lease));
    if (!lease)
        return E_NOMEM;
    lease->hub = client->leases;
    lease->notify = notify;
    lease->context = context;
    lease->sent_at_ms = etcd_now_ms();
    st = loop_timer_new(client->loop, on_timer, lease, &lease->timer);
    if (st == OK)
        st = etcd_lease_grant(client, ttl_s,
                              &(struct etcd_reply){.done = on_granted, .context = lease},
                              &lease->call);
    if (st != OK) {
        loop_timer_free(lease->timer);
        free(lease);
        return st;
    }
    etcd_call_may_repeat(lease->call); /* a second lease that is never used expires by itself */
    *ret = lease;
    return OK;
}

void etcd_lease_renew_often(struct etcd_lease *lease, bool is_often)
{
    int64_t now_ms = etcd_now_ms();
    if (lease->is_often == is_often)
        return;
    lease->is_often = is_often;
    lease->often_until_ms = is_often ? 0 : now_ms + LINGER_MS;
    if (lease->state != LEASE_HELD || !is_often)
        return;
    if (!lease->is_awaited && now_ms - lease->sent_at_ms >= ETCD_LEASE_OFTEN_MS)
        renew(lease, now_ms);
    set_timer(lease, now_ms);
}

struct etcd_lease *etcd_lease_free(struct etcd_lease *lease)
{
    if (!lease)
        return NULL;
    if (lease->state == LEASE_HELD) {
        table_remove(&lease->hub->items, lease);
        if (lease->hub->items.count == 0)
            long_stream_want(&lease->hub->stream, false);
    }
    etcd_call_cancel(lease->call);
    loop_timer_free(lease->timer);
    free(lease);
    return NULL;
}

int64_t etcd_lease_id(const struct etcd_lease *lease)
{
    return lease->state == LEASE_HELD ? lease->id : 0;
}

int64_t etcd_lease_held_until_boot_ms(const struct etcd_lease *lease)
{
    return lease->state == LEASE_HELD ? lease->held_until_ms : 0;
}
