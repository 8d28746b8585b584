#include "kv_feed.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"

struct kv_feed_watch {
    struct kv_watch base; /* first */
    struct kv_feed_watch *next;
    enum { PENDING, LIVE, ENDED } state;
    char *low, *high; /* keys from low, below high */
    size_t low_length, high_length;
};

/* ---- telling: a callback may make and free watches, also its own ---- */

static bool is_there(const struct kv_feed *feed, const struct kv_feed_watch *watch)
{
    const struct kv_feed_watch *each = feed->watches;
    while (each && each != watch)
        each = each->next;
    return each != NULL;
}

static void tell(struct kv_feed_watch *watch, const struct kv_watch_notice *notice)
{
    watch->base.notify(watch->base.context, notice);
}

/* The watches as they are now, to be told one by one. NULL: none, or out of memory. */
static struct kv_feed_watch **all_watches(const struct kv_feed *feed, size_t *ret_count)
{
    size_t count = 0;
    for (const struct kv_feed_watch *watch = feed->watches; watch; watch = watch->next)
        count++;
    struct kv_feed_watch **all = count ? malloc(count * sizeof(struct kv_feed_watch *)) : NULL;
    *ret_count = all ? count : 0;
    count = 0;
    for (struct kv_feed_watch *watch = feed->watches; watch && all; watch = watch->next)
        all[count++] = watch;
    return all;
}

static bool wants(const struct kv_feed_watch *watch, const struct kv_event *event)
{
    const struct kv_bytes low = {watch->low, watch->low_length};
    const struct kv_bytes high = {watch->high, watch->high_length};
    return kv_compare_bytes(event->kv.key, low) >= 0 && kv_compare_bytes(event->kv.key, high) < 0;
}

static void tell_events(struct kv_feed_watch *watch, const struct kv_event *events, size_t count,
                        int64_t rev)
{
    struct kv_event *own = malloc((count + 1) * sizeof(*own));
    size_t own_count = 0;
    if (!own)
        return; /* as if the connection were lost: it is read again */
    for (size_t i = 0; i < count; i++)
        if (wants(watch, &events[i]))
            own[own_count++] = events[i];
    watch->base.next_revision = rev + 1;
    if (own_count)
        tell(watch, &(struct kv_watch_notice){.kind = KV_WATCH_EVENTS,
                                              .events = own,
                                              .event_count = own_count,
                                              .revision = rev,
                                              .message = ""});
    free(own);
}

static void end_watch(struct kv_feed_watch *watch, int64_t floor)
{
    watch->state = ENDED;
    tell(watch, &(struct kv_watch_notice){.kind = KV_WATCH_COMPACTED,
                                          .compact_revision = floor,
                                          .message = "the revision has been compacted"});
}

/* ---- the connection ---- */

static int64_t lowest_wanted(const struct kv_feed *feed)
{
    int64_t lowest = INT64_MAX;
    for (const struct kv_feed_watch *watch = feed->watches; watch; watch = watch->next)
        if (watch->state != ENDED && watch->base.next_revision &&
            watch->base.next_revision < lowest)
            lowest = watch->base.next_revision;
    return lowest;
}

void kv_feed_opened(struct kv_feed *feed, int64_t rev)
{
    int64_t wanted = lowest_wanted(feed);
    feed->cursor = wanted == INT64_MAX ? rev : wanted - 1;
}

void kv_feed_broken(struct kv_feed *feed, const char *why)
{
    size_t count;
    struct kv_feed_watch **all = all_watches(feed, &count);
    for (size_t i = 0; i < count; i++) {
        if (!is_there(feed, all[i]) || all[i]->state != LIVE)
            continue;
        all[i]->state = PENDING;
        tell(all[i], &(struct kv_watch_notice){.kind = KV_WATCH_BROKEN, .message = why});
    }
    free(all);
}

int64_t kv_feed_begin(struct kv_feed *feed)
{
    int64_t wanted = lowest_wanted(feed);
    if (wanted - 1 < feed->cursor)
        feed->cursor = wanted - 1;
    feed->asked = feed->cursor;
    return feed->asked;
}

bool kv_feed_is_behind(const struct kv_feed *feed)
{
    return lowest_wanted(feed) <= feed->cursor;
}

/* ---- an answer ---- */

void kv_feed_head(struct kv_feed *feed, int64_t rev, int64_t floor, uint64_t cluster_id)
{
    size_t count;
    struct kv_feed_watch **all = all_watches(feed, &count);
    feed->cursor = feed->asked;
    for (size_t i = 0; i < count; i++) {
        struct kv_feed_watch *watch = all[i];
        if (!is_there(feed, watch) || watch->state != PENDING)
            continue;
        if (watch->base.next_revision && watch->base.next_revision < floor) {
            end_watch(watch, floor);
            continue;
        }
        watch->state = LIVE;
        if (!watch->base.next_revision)
            watch->base.next_revision = rev + 1;
        tell(watch,
             &(struct kv_watch_notice){
                 .kind = KV_WATCH_LIVE, .revision = rev, .cluster_id = cluster_id, .message = ""});
    }
    free(all);
}

/* What is being read covers this watch. One that was made meanwhile, and begins further back, waits
 * for the next reading. */
static bool is_covered(const struct kv_feed *feed, const struct kv_feed_watch *watch)
{
    return watch->state == LIVE && watch->base.next_revision > feed->asked;
}

static void end_late_ones(struct kv_feed *feed, int64_t rev, int64_t floor)
{
    size_t count;
    struct kv_feed_watch **all = all_watches(feed, &count);
    for (size_t i = 0; i < count; i++)
        if (is_there(feed, all[i]) && is_covered(feed, all[i]) && all[i]->base.next_revision < rev)
            end_watch(all[i], floor);
    free(all);
}

void kv_feed_change(struct kv_feed *feed, int64_t rev, int64_t floor, const struct kv_event *events,
                    size_t event_count)
{
    size_t count;
    if (rev != feed->cursor + 1)
        end_late_ones(feed, rev, floor);
    struct kv_feed_watch **all = all_watches(feed, &count);
    feed->cursor = rev;
    for (size_t i = 0; i < count; i++)
        if (is_there(feed, all[i]) && is_covered(feed, all[i]) && all[i]->base.next_revision <= rev)
            tell_events(all[i], events, event_count, rev);
    free(all);
}

void kv_feed_compacted(struct kv_feed *feed, int64_t rev, int64_t floor)
{
    end_late_ones(feed, rev + 1, floor);
    if (feed->cursor < rev)
        feed->cursor = rev;
}

void kv_feed_told(struct kv_feed *feed, int64_t rev)
{
    for (struct kv_feed_watch *watch = feed->watches; watch; watch = watch->next)
        if (is_covered(feed, watch) && watch->base.next_revision <= rev)
            watch->base.next_revision = rev + 1;
    if (feed->cursor < rev)
        feed->cursor = rev;
}

/* ---- watches ---- */

static char *copy(struct kv_bytes bytes)
{
    char *to = malloc(bytes.length + 1);
    if (to && bytes.length)
        memcpy(to, bytes.data, bytes.length);
    return to;
}

static void free_watch(struct kv_feed_watch *watch)
{
    free(watch->low);
    free(watch->high);
    free(watch);
}

enum status kv_feed_watch_new(struct kv_feed *feed, struct kv_client *client,
                              const struct kv_watch_config *config, kv_watch_notify *notify,
                              void *context, struct kv_watch **ret)
{
    struct kv_feed_watch *watch = calloc(1, sizeof(*watch));
    struct kv_bytes low, high;
    struct arena arena;
    if (!watch)
        return E_NOMEM;
    arena_init(&arena);
    enum status st = kv_span(&arena, config->key, config->end, config->prefix, &low, &high);
    watch->base = (struct kv_watch){client, notify, context, config->start_revision};
    if (st == OK) {
        watch->low = copy(low);
        watch->low_length = low.length;
        watch->high = copy(high);
        watch->high_length = high.length;
        st = watch->low && watch->high ? OK : E_NOMEM;
    }
    arena_release(&arena);
    if (st != OK) {
        free_watch(watch);
        return st;
    }
    watch->next = feed->watches;
    feed->watches = watch;
    *ret = &watch->base;
    return OK;
}

void kv_feed_watch_free(struct kv_feed *feed, struct kv_watch *base)
{
    struct kv_feed_watch *watch = (struct kv_feed_watch *)base, **at = &feed->watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    free_watch(watch);
}
