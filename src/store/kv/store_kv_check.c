/* The periodic check: everything is read again, beside the watch, and compared with the mirror.
 * There should be no difference; if there is one it is fed, and the list replaces the mirror.
 *
 * Events that the watch delivers while the list is read are noted, and those after the list's
 * revision applied to the list. The two are compared when the watch has passed that revision. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "kv/store_kv_internal.h"

enum {
    CHECK_MS = 300 * 1000,
    SPREAD_MS = 60 * 1000, /* so that not all nodes read at once */
    PAGE_DEADLINE_MS = 10000,
    NOTES_MAX = 100000, /* too busy: the check is postponed */
};

struct note {
    struct note *next;
    int64_t revision;
    bool is_delete;
    size_t key_length, value_length;
    char bytes[]; /* key and value */
};

/* ---- what the watch tells meanwhile ---- */

static void forget_notes(struct check *check)
{
    while (check->notes) {
        struct note *note = check->notes;
        check->notes = note->next;
        free(note);
    }
    check->notes_end = &check->notes;
    check->note_count = 0;
}

static void stop(struct store_kv *store)
{
    struct check *check = &store->check;
    kv_list_cancel(check->list);
    check->list = NULL;
    check->is_under_way = false;
    forget_notes(check);
    mirror_release(&check->read);
    mirror_init(&check->read, store->prefix, store->node);
    int64_t every_ms = store->check_ms ? store->check_ms : CHECK_MS;
    int64_t spread_ms = store->check_ms ? 0 : SPREAD_MS;
    uint64_t chance = hash_text((uint64_t)clock_now().boot.ms, store->node);
    loop_timer_set(check->timer,
                   every_ms + (spread_ms ? (int64_t)hash_below(chance, (uint64_t)spread_ms) : 0));
}

void check_note(struct store_kv *store, const struct kv_event *event)
{
    struct check *check = &store->check;
    if (!check->is_under_way)
        return;
    const struct kv_pair *kv = &event->kv;
    struct note *note = check->note_count < NOTES_MAX
                            ? malloc(sizeof(*note) + kv->key.length + kv->value.length)
                            : NULL;
    if (!note) {
        stop(store);
        return;
    }
    *note = (struct note){.revision = kv->mod_revision,
                          .is_delete = event->is_delete,
                          .key_length = kv->key.length,
                          .value_length = kv->value.length};
    memcpy(note->bytes, kv->key.data, kv->key.length);
    if (kv->value.length)
        memcpy(note->bytes + kv->key.length, kv->value.data, kv->value.length);
    *check->notes_end = note;
    check->notes_end = &note->next;
    check->note_count++;
}

static enum status do_notes(struct check *check)
{
    enum status st = OK;
    struct feed nobody = {.is_deaf = true};
    for (const struct note *note = check->notes; note && st == OK; note = note->next) {
        struct kv_pair kv = {.key = {note->bytes, note->key_length},
                             .value = {note->bytes + note->key_length, note->value_length},
                             .mod_revision = note->revision};
        if (note->revision <= check->revision)
            continue;
        st = note->is_delete ? mirror_delete(&check->read, kv.key, &nobody)
                             : mirror_put(&check->read, &kv, &nobody);
    }
    return st;
}

/* ---- the comparison ---- */

static bool have_same_counts(const struct mirror *a, const struct mirror *b)
{
    return a->jobs.count == b->jobs.count && a->names.count == b->names.count &&
           a->runs.count == b->runs.count && a->entries.count == b->entries.count;
}

static void compare(struct store_kv *store)
{
    struct check *check = &store->check;
    struct feed difference = {.place = store->feed.place};
    enum status st = do_notes(check);
    if (st == OK)
        mirror_feed_difference(&store->mirror, &check->read, SAME_PAST, &difference);
    if (st != OK || difference.failed) {
        feed_release(&difference);
        stop(store);
        return;
    }
    store->counters.checks++;
    if (difference.first || !have_same_counts(&store->mirror, &check->read)) {
        struct mirror wrong = store->mirror;
        store->counters.differences++;
        store->mirror = check->read;
        check->read = wrong;
        feed_move(&store->feed, &difference);
        store_kv_wake(store);
    }
    stop(store);
}

void check_feed_moved(struct store_kv *store)
{
    struct check *check = &store->check;
    if (check->is_under_way && !check->list && store->is_loaded &&
        kv_watch_next_revision(store->watch) > check->revision)
        compare(store);
}

/* ---- the list ---- */

static void on_page(void *context, const struct kv_result *result)
{
    struct store_kv *store = context;
    struct check *check = &store->check;
    enum status st = result->status;
    if (st != OK || !result->op.more)
        check->list = NULL;
    if (st == OK && !epoch_saw(store, epoch_sign(result), &check->asked, false))
        st = E_ROLLED_BACK;
    if (st == OK && check->revision == 0)
        check->revision = result->revision;
    for (size_t i = 0; st == OK && i < result->op.kv_count; i++)
        st = mirror_put(&check->read, &result->op.kvs[i], NULL);
    if (st != OK) {
        stop(store);
    } else if (!result->op.more) {
        check_feed_moved(store);
        if (check->is_under_way) /* so that the watch has something to deliver */
            health_probe_now(store);
    }
}

static void start(void *context)
{
    struct store_kv *store = context;
    struct check *check = &store->check;
    struct kv_range all = {.key = kv_text(store->range), .prefix = true};
    struct kv_reply reply = {on_page, store, PAGE_DEADLINE_MS};
    check->revision = 0;
    check->asked = epoch_ask(store);
    check->is_under_way =
        store->is_loaded && kv_list(store->client, &all, &reply, &check->list) == OK;
    if (!check->is_under_way)
        stop(store);
}

void check_abandon(struct store_kv *store)
{
    if (store->check.is_under_way)
        stop(store);
}

enum status check_init(struct store_kv *store)
{
    struct check *check = &store->check;
    check->notes_end = &check->notes;
    mirror_init(&check->read, store->prefix, store->node);
    enum status st = loop_timer_new(store->loop, start, store, &check->timer);
    if (st == OK)
        stop(store); /* which sets the timer */
    return st;
}

void check_release(struct store_kv *store)
{
    kv_list_cancel(store->check.list);
    forget_notes(&store->check);
    mirror_release(&store->check.read);
    loop_timer_free(store->check.timer);
}
