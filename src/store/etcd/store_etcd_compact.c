/* etcd keeps every revision until it is told not to. Which revision is how old is noted twice a
 * minute. */
#include "etcd/store_etcd_internal.h"

enum { NOTE_MS = 30 * 1000 };

void compact_feed_moved(struct store_etcd *store)
{
    struct ages *ages = &store->ages;
    int64_t now_ms = clock_now().boot.ms;
    const struct age *last = &ages->ring[(ages->next + AGES - 1) % AGES];
    if (last->revision && now_ms - last->at_ms < NOTE_MS)
        return;
    ages->ring[ages->next] = (struct age){now_ms, etcd_watch_next_revision(store->watch) - 1};
    ages->next = (ages->next + 1) % AGES;
}

static void on_compacted(void *context, const struct etcd_result *result)
{
    (void)context;
    (void)result; /* another time, or somebody else has */
}

enum status store_etcd_compact(struct store *base, int64_t keep_ms)
{
    struct store_etcd *store = (struct store_etcd *)base;
    struct etcd_reply reply = {on_compacted, NULL, 0};
    int64_t now_ms = clock_now().boot.ms;
    int64_t revision = keep_ms == 0 && store->is_loaded ? store->epoch.seen.revision : 0;
    for (size_t i = 0; i < AGES; i++) {
        const struct age *age = &store->ages.ring[i];
        if (age->revision > revision && now_ms - age->at_ms >= keep_ms)
            revision = age->revision;
    }
    if (revision == 0 || epoch_is_halted(store))
        return E_NOT_FOUND;
    return etcd_compact(store->client, revision, false, &reply, NULL);
}
