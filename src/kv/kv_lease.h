/* A lease that is kept alive. It counts as lost as soon as the server may have let it expire: its
 * TTL runs on the boot clock (which goes on while the machine sleeps) from the time when the last
 * answered keep-alive was sent. */
#ifndef PEAL_KV_LEASE_H
#define PEAL_KV_LEASE_H

#include "kv.h"

struct kv_lease;

enum kv_lease_kind {
    KV_LEASE_GRANTED, /* usable from now on */
    KV_LEASE_LOST,    /* the end: expired, revoked, or not renewed within its TTL */
    KV_LEASE_FAILED,  /* the end: it could not be granted; `status` and `message` say why */
};

struct kv_lease_notice {
    enum kv_lease_kind kind;
    enum status status;
    const char *message;
};

/* Comes from the loop, never from within a call. It may free the lease. */
typedef void kv_lease_notify(void *context, const struct kv_lease_notice *notice);

/* Asks for a lease of `ttl_s` seconds (2 at least, the server may give more). */
MUST_CHECK enum status kv_lease_new(struct kv_client *client, int64_t ttl_s,
                                    kv_lease_notify *notify, void *context, struct kv_lease **ret);

/* True: it is renewed twice a second from now on, and at once if it was not within the last half
 * second, so that kv_lease_look shows soon that its owner is gone. False: 5 s from now, three
 * times per TTL again, as at first. */
enum { KV_LEASE_OFTEN_MS = 500 };
void kv_lease_renew_often(struct kv_lease *lease, bool is_often);

/* Stops the keep-alives; the lease expires by itself, or see kv_lease_revoke. Accepts NULL;
 * returns NULL. */
struct kv_lease *kv_lease_free(struct kv_lease *lease);

int64_t kv_lease_id(const struct kv_lease *lease); /* 0: not granted yet, or lost */

/* Until when the lease is surely held, unless someone revokes it; 0 when it is not held. */
int64_t kv_lease_held_until_boot_ms(const struct kv_lease *lease);

#endif
