#include "kv_observer.h"

#include <stddef.h>
#include <stdlib.h>

/* Renewals come three times in a TTL, and of those who hold something more often (kv_lease.h). */
enum { SHOW_MS = 3000 };

static const struct table_type observed_table = {.key_at = offsetof(struct kv_observed, id),
                                                 .key_size = sizeof(int64_t)};

void kv_observer_init(struct kv_observer *observer)
{
    observer->round = 0;
    table_init(&observer->leases, &observed_table);
}

void kv_observer_release(struct kv_observer *observer)
{
    table_release_items(&observer->leases);
}

void kv_observer_forget(struct kv_observer *observer)
{
    table_release_items(&observer->leases);
    table_init(&observer->leases, &observed_table);
}

void kv_observer_begin(struct kv_observer *observer)
{
    observer->round++;
}

enum status kv_observer_saw(struct kv_observer *observer, int64_t id, int64_t ttl_ms, int64_t beats,
                            int64_t now_ms)
{
    struct kv_observed *lease = table_find(&observer->leases, &id);
    if (!lease) {
        const struct kv_observed fresh = {id, ttl_ms, beats, now_ms, observer->round};
        return table_add(&observer->leases, &fresh, sizeof(fresh)) ? OK : E_NOMEM;
    }
    if (lease->beats != beats)
        lease->changed_ms = now_ms;
    lease->beats = beats;
    lease->ttl_ms = ttl_ms;
    lease->round = observer->round;
    return OK;
}

/* One at a time, since a walk allows no removal on the way. */
static struct kv_observed *find_gone(const struct kv_observer *observer)
{
    struct kv_observed *lease;
    for (size_t at = 0; (lease = table_next(&observer->leases, &at));)
        if (lease->round != observer->round)
            return lease;
    return NULL;
}

void kv_observer_end(struct kv_observer *observer)
{
    for (struct kv_observed *gone; (gone = find_gone(observer));) {
        table_remove(&observer->leases, gone);
        free(gone);
    }
}

const struct kv_observed *kv_observer_find(const struct kv_observer *observer, int64_t id)
{
    return table_find(&observer->leases, &id);
}

int64_t kv_observer_left_ms(const struct kv_observed *lease, int64_t now_ms)
{
    return lease->ttl_ms - (now_ms - lease->changed_ms);
}

int kv_observer_settle(const struct kv_observed *lease, int64_t age_ms, int64_t now_ms)
{
    if (age_ms < lease->ttl_ms)
        return -1;
    int64_t show_ms = lease->ttl_ms / 2 < SHOW_MS ? lease->ttl_ms / 2 : SHOW_MS;
    return lease->beats == 0 || now_ms - lease->changed_ms >= show_ms;
}

void kv_observer_each_over(const struct kv_observer *observer, int64_t now_ms,
                           void (*visit)(void *context, const struct kv_observed *lease),
                           void *context)
{
    const struct kv_observed *lease;
    for (size_t at = 0; (lease = table_next(&observer->leases, &at));)
        if (kv_observer_left_ms(lease, now_ms) <= 0)
            visit(context, lease);
}
