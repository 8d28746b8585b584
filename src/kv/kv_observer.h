/* Which leases have run out, for servers that keep no time of their own: whoever holds a lease
 * raises its counter of beats, and whoever sees no change of that for the lease's TTL, by its own
 * boot clock and while it is connected, may end the lease. No machine's wall clock matters, and
 * an outage of the server ends nobody's lease: what was seen before it does not count after it. */
#ifndef PEAL_KV_OBSERVER_H
#define PEAL_KV_OBSERVER_H

#include "table.h"

struct kv_observed {
    int64_t id, ttl_ms, beats;
    int64_t changed_ms; /* boot time when the counter was first seen as it is */
    uint64_t round;     /* when it was last seen at all */
};

struct kv_observer {
    struct table leases;
    uint64_t round;
};

void kv_observer_init(struct kv_observer *observer);
void kv_observer_release(struct kv_observer *observer);

/* The connection was lost: every lease is seen for the first time again. */
void kv_observer_forget(struct kv_observer *observer);

/* One look at all leases: begin, saw for each of them, end (which drops those that are gone). */
void kv_observer_begin(struct kv_observer *observer);
MUST_CHECK enum status kv_observer_saw(struct kv_observer *observer, int64_t id, int64_t ttl_ms,
                                       int64_t beats, int64_t now_ms);
void kv_observer_end(struct kv_observer *observer);

/* What is left of the lease, at most its TTL; below 1: it may be ended, if its counter still is
 * `beats`. NULL: no such lease was seen. */
const struct kv_observed *kv_observer_find(const struct kv_observer *observer, int64_t id);
int64_t kv_observer_left_ms(const struct kv_observed *lease, int64_t now_ms);

/* May a lease be ended of which perhaps nobody has seen that it ran out? `age_ms`: since it was
 * renewed or granted, by the server's clock. That can jump, so one that was ever renewed gets some
 * time to show that it still is; one that never was is granted for a time that the server's clock
 * measures. 1: yes, 0: it is not known yet, -1: no. */
int kv_observer_settle(const struct kv_observed *lease, int64_t age_ms, int64_t now_ms);

/* Calls `visit` for each lease that has run out. It may forget or see others, but end none. */
void kv_observer_each_over(const struct kv_observer *observer, int64_t now_ms,
                           void (*visit)(void *context, const struct kv_observed *lease),
                           void *context);

#endif
