/* The client's side of leases: when to renew, and until when one is surely held.
 *
 *     ASKING -> HELD -> LOST
 *          \-> LOST (not granted)
 */
#include "kv_lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv_backend.h"

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

struct kv_lease {
    struct kv_client *client;
    enum lease_state state;
    kv_lease_notify *notify;
    void *context;
    struct kv_call *call; /* ASKING */
    struct loop_timer *timer;
    int64_t id, ttl_ms;
    int64_t held_until_ms;
    int64_t sent_at_ms; /* of the request whose answer is awaited, or of the last one */
    bool is_awaited;
    bool is_often;          /* renewed every KV_LEASE_OFTEN_MS ... */
    int64_t often_until_ms; /* ... or until then */
};

const struct table_type kv_lease_type = {.key_at = offsetof(struct kv_lease, id),
                                         .key_size = sizeof(int64_t)};

/* It is not renewed any more. */
static void leave(struct kv_lease *lease)
{
    struct kv_client *client = lease->client;
    if (lease->state != LEASE_HELD)
        return;
    table_remove(&client->leases, lease);
    if (client->leases.count == 0)
        client->ops->leases_want(client, false);
}

static void end_lease(struct kv_lease *lease, enum kv_lease_kind kind, enum status st,
                      const char *message)
{
    struct kv_lease_notice notice = {.kind = kind, .status = st, .message = message};
    leave(lease);
    lease->state = LEASE_LOST;
    loop_timer_stop(lease->timer);
    lease->notify(lease->context, &notice); /* may have freed the lease */
}

static void lose_silent(struct kv_lease *lease)
{
    char text[96];
    snprintf(text, sizeof(text), "no sign of the lease for its TTL of %" PRId64 " s",
             lease->ttl_ms / 1000);
    end_lease(lease, KV_LEASE_LOST, E_UNREACHABLE, text);
}

/* ---- keeping alive ---- */

static bool is_often(const struct kv_lease *lease, int64_t now_ms)
{
    return lease->is_often || now_ms < lease->often_until_ms;
}

static int64_t patience_ms(const struct kv_lease *lease, int64_t now_ms)
{
    return is_often(lease, now_ms) ? PATIENCE_OFTEN_MS : PATIENCE_MS;
}

static int64_t interval_ms(const struct kv_lease *lease, int64_t now_ms)
{
    return is_often(lease, now_ms) ? KV_LEASE_OFTEN_MS : lease->ttl_ms / RENEWALS_PER_TTL;
}

static void set_timer(struct kv_lease *lease, int64_t now_ms)
{
    int64_t next_ms = lease->sent_at_ms +
                      (lease->is_awaited ? patience_ms(lease, now_ms) : interval_ms(lease, now_ms));
    if (next_ms <= now_ms) /* the connection is probed, or there is none: check again later */
        next_ms = now_ms + (lease->is_awaited ? PATIENCE_MS : AGAIN_MS);
    if (next_ms > lease->held_until_ms)
        next_ms = lease->held_until_ms;
    loop_timer_set(lease->timer, next_ms > now_ms ? next_ms - now_ms : 0);
}

static void renew(struct kv_lease *lease, int64_t now_ms)
{
    if (!lease->client->ops->lease_renew(lease->client, lease->id))
        return;
    lease->sent_at_ms = now_ms;
    lease->is_awaited = true;
}

static void on_timer(void *context)
{
    struct kv_lease *lease = context;
    int64_t now_ms = kv_now_ms();
    if (now_ms >= lease->held_until_ms) {
        lose_silent(lease);
        return;
    }
    if (!lease->is_awaited)
        renew(lease, now_ms);
    else if (now_ms - lease->sent_at_ms >= patience_ms(lease, now_ms))
        lease->client->ops->leases_doubt(lease->client);
    set_timer(lease, now_ms);
}

void kv_leases_opened(struct kv_client *client)
{
    struct kv_lease *lease;
    int64_t now_ms = kv_now_ms();
    for (size_t at = 0; (lease = table_next(&client->leases, &at));) {
        renew(lease, now_ms);
        set_timer(lease, now_ms);
    }
}

/* Only the clock decides whether a lease is lost. */
void kv_leases_broken(struct kv_client *client)
{
    struct kv_lease *lease;
    for (size_t at = 0; (lease = table_next(&client->leases, &at));)
        lease->is_awaited = false;
}

void kv_lease_renewed(struct kv_client *client, int64_t id, int64_t ttl_ms)
{
    int64_t now_ms = kv_now_ms();
    struct kv_lease *lease = table_find(&client->leases, &id);
    if (!lease || !lease->is_awaited)
        return;
    lease->is_awaited = false;
    if (ttl_ms <= 0) {
        end_lease(lease, KV_LEASE_LOST, E_NOT_FOUND, "the lease has expired or was revoked");
        return;
    }
    lease->ttl_ms = ttl_ms;
    if (lease->sent_at_ms + lease->ttl_ms > lease->held_until_ms)
        lease->held_until_ms = lease->sent_at_ms + lease->ttl_ms;
    if (now_ms >= lease->held_until_ms) /* the machine slept: the answer comes too late */
        lose_silent(lease);
    else
        set_timer(lease, now_ms);
}

/* ---- leases ---- */

static void on_granted(void *context, const struct kv_result *result)
{
    struct kv_lease *lease = context;
    int64_t now_ms = kv_now_ms();
    lease->call = NULL;
    if (result->status != OK) {
        end_lease(lease, KV_LEASE_FAILED, result->status, result->message);
        return;
    }
    lease->id = result->lease.id;
    lease->ttl_ms = result->lease.ttl_s * 1000;
    lease->held_until_ms = lease->sent_at_ms + lease->ttl_ms;
    if (now_ms >= lease->held_until_ms) {
        lose_silent(lease);
        return;
    }
    if (table_insert(&lease->client->leases, lease) != OK) {
        end_lease(lease, KV_LEASE_FAILED, E_NOMEM, status_text(E_NOMEM));
        return;
    }
    lease->state = LEASE_HELD;
    set_timer(lease, now_ms);
    lease->client->ops->leases_want(lease->client, true);
    lease->notify(lease->context,
                  &(struct kv_lease_notice){.kind = KV_LEASE_GRANTED, .message = ""});
}

enum status kv_lease_new(struct kv_client *client, int64_t ttl_s, kv_lease_notify *notify,
                         void *context, struct kv_lease **ret)
{
    struct kv_lease *lease = calloc(1, sizeof(*lease));
    if (!lease)
        return E_NOMEM;
    lease->client = client;
    lease->notify = notify;
    lease->context = context;
    lease->sent_at_ms = kv_now_ms();
    enum status st = loop_timer_new(client->loop, on_timer, lease, &lease->timer);
    if (st == OK)
        st = kv_lease_grant(client, ttl_s, &(struct kv_reply){.done = on_granted, .context = lease},
                            &lease->call);
    if (st != OK) {
        loop_timer_free(lease->timer);
        free(lease);
        return st;
    }
    kv_call_may_repeat(lease->call); /* a second lease that is never used expires by itself */
    *ret = lease;
    return OK;
}

void kv_lease_renew_often(struct kv_lease *lease, bool is_often)
{
    int64_t now_ms = kv_now_ms();
    if (lease->is_often == is_often)
        return;
    lease->is_often = is_often;
    lease->often_until_ms = is_often ? 0 : now_ms + LINGER_MS;
    if (lease->state != LEASE_HELD || !is_often)
        return;
    if (!lease->is_awaited && now_ms - lease->sent_at_ms >= KV_LEASE_OFTEN_MS)
        renew(lease, now_ms);
    set_timer(lease, now_ms);
}

struct kv_lease *kv_lease_free(struct kv_lease *lease)
{
    if (!lease)
        return NULL;
    leave(lease);
    kv_call_cancel(lease->call);
    loop_timer_free(lease->timer);
    free(lease);
    return NULL;
}

int64_t kv_lease_id(const struct kv_lease *lease)
{
    return lease->state == LEASE_HELD ? lease->id : 0;
}

int64_t kv_lease_held_until_boot_ms(const struct kv_lease *lease)
{
    return lease->state == LEASE_HELD ? lease->held_until_ms : 0;
}
