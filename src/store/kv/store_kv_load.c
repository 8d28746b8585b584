/* Lists at a revision and watches from the next one, into the mirror and the feed. */
#include "kv/store_kv_internal.h"

#include <string.h>

enum { PAGE_DEADLINE_MS = 10000, RELOAD_MS = 1000 };

void load_fail(struct store_kv *store, enum status st, const char *why)
{
    store->is_loaded = false;
    store->watch = kv_watch_free(store->watch);
    kv_list_cancel(store->list);
    store->list = NULL;
    check_abandon(store);
    mirror_release(&store->loading);
    mirror_init(&store->loading, store->prefix, store->node);
    health_ail(store, st, why);
    flow_fail_waiting(store, st);
    loop_timer_set(store->reload_timer, RELOAD_MS);
}

void load_again(struct store_kv *store)
{
    store->watch = kv_watch_free(store->watch);
    store->is_loaded = false;
    check_abandon(store);
    load_start(store);
}

/* Changes that are fed from now on have this revision. */
static void feed_at(struct store_kv *store, const struct epoch *epoch, int64_t revision)
{
    uint64_t halves[2];
    memcpy(halves, epoch->lineage.bytes, sizeof(halves));
    store->feed.place =
        (struct store_place){halves[0] ^ halves[1], place_number(epoch, revision, 0)};
}

/* ---- the watch ---- */

static enum status take_events(struct store_kv *store, const struct kv_watch_notice *notice)
{
    enum status st = OK;
    for (size_t i = 0; st == OK && i < notice->event_count; i++) {
        const struct kv_event *event = &notice->events[i];
        check_note(store, event);
        feed_at(store, &store->mirror.epoch, event->kv.mod_revision);
        st = event->is_delete ? mirror_delete(&store->mirror, event->kv.key, &store->feed)
                              : mirror_put(&store->mirror, &event->kv, &store->feed);
    }
    return st == OK && store->feed.failed ? E_NOMEM : st;
}

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct store_kv *store = context;
    enum status st = OK;
    switch (notice->kind) {
    case KV_WATCH_LIVE:
        if (!epoch_is_same_cluster(store, notice->cluster_id)) {
            load_fail(store, E_UNREACHABLE, "it is another cluster; everything is read again");
            return;
        }
        store->is_watch_broken = false;
        break;
    case KV_WATCH_BROKEN:
        store->is_watch_broken = true;
        health_ail(store, E_UNREACHABLE, notice->message);
        break;
    case KV_WATCH_EVENTS:
        st = take_events(store, notice);
        store->is_half_told = notice->is_part;
        break;
    case KV_WATCH_PROGRESS:
        break;
    case KV_WATCH_COMPACTED: /* away for too long: list again */
        load_again(store);
        return;
    case KV_WATCH_FAILED:
        load_fail(store, E_UNREACHABLE, notice->message);
        return;
    }
    if (st != OK) {
        load_fail(store, st, "a change could not be read");
        return;
    }
    bool is_restored = epoch_is_restore_told(store);
    epoch_feed_moved(store);
    if (is_restored) {
        load_again(store);
        return;
    }
    health_feed_moved(store);
    check_feed_moved(store);
    flow_feed_moved(store);
    if (store->feed.first)
        store_kv_wake(store);
}

static enum status start_watch(struct store_kv *store, int64_t revision)
{
    struct kv_watch_config config = {.key = kv_text(store->range),
                                     .prefix = true,
                                     .start_revision = revision,
                                     .want_progress = true};
    return kv_watch_new(store->client, &config, on_notice, store, &store->watch);
}

/* ---- the list ---- */

static void finish_load(struct store_kv *store)
{
    const struct mirror *before = store->was_loaded ? &store->mirror : NULL;
    enum status st = start_watch(store, store->loading_sign.revision + 1);
    if (st != OK) {
        load_fail(store, st, "the watch could not be started");
        return;
    }
    feed_at(store, &store->loading.epoch, store->loading_sign.revision);
    if (!before)
        feed_move(&store->feed, &store->loading.metas);
    mirror_feed_difference(before, &store->loading, epoch_past(store), &store->feed);
    if (!before)
        feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_LOADED});
    if (store->feed.failed) {
        load_fail(store, E_NOMEM, "out of memory for the list");
        return;
    }
    mirror_release(&store->mirror);
    store->mirror = store->loading;
    mirror_init(&store->loading, store->prefix, store->node);
    store->is_loaded = store->was_loaded = true;
    store->is_half_told = false;
    store->is_watch_broken = false;
    flow_forget_others(store);
    epoch_loaded(store);
    epoch_feed_moved(store);
    health_feed_moved(store);
    flow_feed_moved(store);
    store_kv_wake(store);
}

static void on_page(void *context, const struct kv_result *result)
{
    struct store_kv *store = context;
    enum status st = result->status;
    if (st != OK || !result->op.more)
        store->list = NULL;
    if (st == OK && store->loading_sign.revision == 0)
        store->loading_sign = epoch_sign(result);
    if (st == OK && !epoch_is_same_cluster(store, result->cluster_id)) {
        load_fail(store, E_UNREACHABLE, "it was restored while it was read");
        return;
    }
    for (size_t i = 0; st == OK && i < result->op.kv_count; i++)
        st = mirror_put(&store->loading, &result->op.kvs[i], NULL);
    if (st != OK) {
        load_fail(store, st, result->status == OK ? "a value could not be read" : result->message);
    } else if (!result->op.more) {
        finish_load(store);
    }
}

void load_start(void *context)
{
    struct store_kv *store = context;
    struct kv_range all = {.key = kv_text(store->range), .prefix = true};
    struct kv_reply reply = {on_page, store, PAGE_DEADLINE_MS};
    store->loading_sign.revision = 0;
    store->loading_seen = store->epoch.seen;
    enum status st = kv_list(store->client, &all, &reply, &store->list);
    if (st != OK)
        load_fail(store, st, "the list could not be requested");
}
