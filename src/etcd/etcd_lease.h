/* A lease that is kept alive. It counts as lost as soon as the server may have let it expire: its
 * TTL runs on the boot clock (which goes on while the machine sleeps) from the time when the last
 * answered keep-alive was sent. */
#ifndef PEAL_ETCD_LEASE_H
#define PEAL_ETCD_LEASE_H

#include "etcd.h"

struct etcd_lease;

enum etcd_lease_kind {
    ETCD_LEASE_GRANTED, /* usable from now on */
    ETCD_LEASE_LOST,    /* the end: expired, revoked, or not renewed within its TTL */
    ETCD_LEASE_FAILED,  /* the end: it could not be granted; `status` and `message` say why */
};

struct etcd_lease_notice {
    enum etcd_lease_kind kind;
    enum status status;
    const char *message;
};

/* Comes from the loop, never from within a call. It may free the lease. */
typedef void etcd_lease_notify(void *context, const struct etcd_lease_notice *notice);

/* Asks for a lease of `ttl_s` seconds (2 at least, the server may give more). */
MUST_CHECK enum status etcd_lease_new(struct etcd_client *client, int64_t ttl_s,
                                      etcd_lease_notify *notify, void *context,
                                      struct etcd_lease **ret);

/* True: it is renewed twice a second from now on, and at once if it was not within the last half
 * second, so that etcd_lease_look shows soon that its owner is gone. False: 5 s from now, three
 * times per TTL again, as at first. */
enum { ETCD_LEASE_OFTEN_MS = 500 };
void etcd_lease_renew_often(struct etcd_lease *lease, bool is_often);

/* Stops the keep-alives; the lease expires by itself, or see etcd_lease_revoke. Accepts NULL;
 * returns NULL. */
struct etcd_lease *etcd_lease_free(struct etcd_lease *lease);

int64_t etcd_lease_id(const struct etcd_lease *lease); /* 0: not granted yet, or lost */

/* Until when the lease is surely held, unless someone revokes it; 0 when it is not held. */
int64_t etcd_lease_held_until_boot_ms(const struct etcd_lease *lease);

#endif
