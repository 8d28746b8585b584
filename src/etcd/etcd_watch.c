/* All watches of a client on one stream. Each knows the first revision that it has not delivered
 * yet, so that a new stream resumes where the old one broke.
 *
 *     PENDING -> ASKED -> LIVE -> ENDED (compacted, refused)
 *        ^---------'-------'  the stream broke
 */
#include "kv_watch.h"

#include <stdlib.h>
#include <string.h>

#include "transport/long_stream.h"

enum watch_state {
    WATCH_PENDING,
    WATCH_ASKED,
    WATCH_LIVE,
    WATCH_ENDED,
};

/* What the watches of a client share. */
struct watch_hub {
    struct long_stream stream;
    struct table items; /* by id */
    int64_t last_id;
    uint64_t asked_count;
};

struct etcd_watch {
    struct kv_watch base; /* first */
    struct watch_hub *hub;
    int64_t id;
    enum watch_state state;
    uint64_t asked; /* sequence number: requests are answered in order */
    uint8_t *key, *end;
    size_t key_length, end_length;
    bool want_previous, want_progress;
    bool was_denied;     /* the last request was denied */
    size_t told_of_part; /* events delivered of a response whose last fragment has not come */
    size_t skip;         /* number of coming events that were delivered already */
};

static const struct table_type watch_table = {.key_at = offsetof(struct etcd_watch, id),
                                              .key_size = sizeof(int64_t)};

static struct etcd_watch *find_watch(struct watch_hub *hub, int64_t id)
{
    return table_find(&hub->items, &id);
}

static void tell(struct etcd_watch *watch, const struct kv_watch_notice *notice)
{
    watch->base.notify(watch->base.context, notice); /* may have freed the watch */
}

/* ---- requests ---- */

/* Resumes one revision early. A compaction at exactly the revision from which a watch resumes can
 * drop the deletes of that revision silently; for the revision before, etcd reports the
 * compaction. */
static int64_t start_revision(const struct etcd_watch *watch)
{
    return watch->base.next_revision > 1 ? watch->base.next_revision - 1
                                         : watch->base.next_revision;
}

static void ask(struct etcd_watch *watch)
{
    Etcdpb__WatchCreate create = ETCDPB__WATCH_CREATE__INIT;
    Etcdpb__WatchRequest request = ETCDPB__WATCH_REQUEST__INIT;
    create.key = (ProtobufCBinaryData){watch->key_length, watch->key};
    create.range_end = (ProtobufCBinaryData){watch->end_length, watch->end};
    create.start_revision = start_revision(watch);
    create.progress_notify = watch->want_progress;
    create.prev_kv = watch->want_previous;
    create.watch_id = watch->id;
    create.fragment = true;
    request.request_case = ETCDPB__WATCH_REQUEST__REQUEST_CREATE;
    request.create = &create;
    if (long_stream_send(&watch->hub->stream, &request.base)) {
        watch->state = WATCH_ASKED;
        watch->asked = ++watch->hub->asked_count;
    }
}

static void ask_to_cancel(struct etcd_watch *watch)
{
    Etcdpb__WatchCancel cancel = ETCDPB__WATCH_CANCEL__INIT;
    Etcdpb__WatchRequest request = ETCDPB__WATCH_REQUEST__INIT;
    cancel.watch_id = watch->id;
    request.request_case = ETCDPB__WATCH_REQUEST__REQUEST_CANCEL;
    request.cancel = &cancel;
    long_stream_send(&watch->hub->stream, &request.base);
}

static void on_opened(void *context)
{
    struct watch_hub *hub = context;
    struct etcd_watch *watch;
    for (size_t at = 0; (watch = table_next(&hub->items, &at));)
        if (watch->state == WATCH_PENDING)
            ask(watch);
}

/* ---- answers ---- */

static void read_event(const Etcdpb__Event *from, struct kv_event *ret)
{
    *ret = (struct kv_event){
        .is_delete = from->type == 1,
        .kv = etcd_read_kv(from->kv),
        .previous = etcd_read_kv(from->prev_kv),
    };
}

/* Number of leading events whose revisions were delivered before. */
static size_t count_old(const struct etcd_watch *watch, const Etcdpb__WatchResponse *answer)
{
    size_t count = 0;
    while (count < answer->n_events && answer->events[count]->kv &&
           answer->events[count]->kv->mod_revision < watch->base.next_revision)
        count++;
    return count;
}

static enum status tell_events(struct etcd_watch *watch, const Etcdpb__WatchResponse *answer)
{
    size_t old = count_old(watch, answer), count = answer->n_events - old;
    if (count == 0)
        return OK;
    struct kv_event *events =
        arena_array(&watch->hub->stream.client->arena, count, sizeof(*events));
    size_t told = count < watch->skip ? count : watch->skip;
    if (!events)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++)
        read_event(answer->events[old + i], &events[i]);
    watch->skip -= told;
    watch->told_of_part += count;
    if (!answer->fragment) { /* only now is the last revision complete */
        watch->base.next_revision = events[count - 1].kv.mod_revision + 1;
        watch->told_of_part = 0;
    }
    struct kv_watch_notice notice = {
        .kind = KV_WATCH_EVENTS,
        .events = events + told,
        .event_count = count - told,
        .is_part = answer->fragment,
        .revision = answer->header ? answer->header->revision : 0,
        .message = "",
    };
    if (notice.event_count > 0 || !answer->fragment)
        tell(watch, &notice);
    return OK;
}

static void on_broken(void *context, const char *why);

static void tell_end(struct etcd_watch *watch, const Etcdpb__WatchResponse *answer)
{
    struct watch_hub *hub = watch->hub;
    bool is_denied = strstr(answer->cancel_reason, "ermission denied") ||
                     strstr(answer->cancel_reason, "PermissionDenied");
    if (is_denied && hub->stream.client->auth.user && !watch->was_denied) {
        watch->was_denied = true; /* the token may have expired: retry once with a new one */
        etcd_auth_forget(hub->stream.client);
        long_stream_restart(&hub->stream);
        on_broken(hub, answer->cancel_reason);
        return;
    }
    struct kv_watch_notice notice = {
        .kind = answer->compact_revision ? KV_WATCH_COMPACTED : KV_WATCH_FAILED,
        .compact_revision = answer->compact_revision,
        .message = answer->compact_revision   ? "the revision has been compacted"
                   : answer->cancel_reason[0] ? answer->cancel_reason
                                              : "cancelled by the server",
    };
    watch->state = WATCH_ENDED;
    tell(watch, &notice);
}

/* etcd 3.4 answers a refused watch without its id: it is the oldest request without an answer. */
static struct etcd_watch *first_asked(struct watch_hub *hub)
{
    struct etcd_watch *watch, *first = NULL;
    for (size_t at = 0; (watch = table_next(&hub->items, &at));)
        if (watch->state == WATCH_ASKED && (!first || watch->asked < first->asked))
            first = watch;
    return first;
}

static void tell_alive(struct etcd_watch *watch, const Etcdpb__WatchResponse *answer)
{
    int64_t revision = answer->header ? answer->header->revision : 0;
    if (answer->created) {
        watch->state = WATCH_LIVE;
        watch->was_denied = false;
        if (watch->base.next_revision == 0)
            watch->base.next_revision = revision + 1;
    } else if (watch->told_of_part == 0 && revision >= watch->base.next_revision) {
        watch->base.next_revision = revision + 1;
    }
    tell(watch, &(struct kv_watch_notice){
                    .kind = answer->created ? KV_WATCH_LIVE : KV_WATCH_PROGRESS,
                    .revision = revision,
                    .cluster_id = answer->header ? answer->header->cluster_id : 0,
                    .message = "",
                });
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct watch_hub *hub = context;
    struct arena *arena = &hub->stream.client->arena;
    arena_reset(arena);
    Etcdpb__WatchResponse *answer =
        etcd_unpack(arena, &etcdpb__watch_response__descriptor, bytes, length);
    if (!answer)
        return E_CORRUPT;
    struct etcd_watch *watch =
        answer->watch_id < 0 ? first_asked(hub) : find_watch(hub, answer->watch_id);
    if (!watch || watch->state == WATCH_ENDED)
        return OK; /* freed meanwhile */
    if (answer->canceled)
        tell_end(watch, answer);
    else if (answer->n_events > 0)
        return tell_events(watch, answer);
    else
        tell_alive(watch, answer);
    return OK;
}

/* ---- the stream broke ---- */

static void rewind_watch(struct etcd_watch *watch)
{
    if (watch->state == WATCH_ENDED)
        return;
    watch->state = WATCH_PENDING;
    watch->skip += watch->told_of_part; /* the same events come again, in the same order */
    watch->told_of_part = 0;
}

/* A callback may free and make watches, so the table is not walked while callbacks run. */
static void on_broken(void *context, const char *why)
{
    struct watch_hub *hub = context;
    struct etcd_watch *watch;
    size_t count = 0;
    int64_t *ids = malloc((hub->items.count + 1) * sizeof(*ids));
    for (size_t at = 0; (watch = table_next(&hub->items, &at));) {
        if (ids && watch->state == WATCH_LIVE)
            ids[count++] = watch->id;
        rewind_watch(watch);
    }
    for (size_t i = 0; i < count; i++) {
        watch = find_watch(hub, ids[i]);
        if (watch)
            tell(watch, &(struct kv_watch_notice){.kind = KV_WATCH_BROKEN, .message = why});
    }
    free(ids);
}

static const struct long_stream_events stream_events = {
    .opened = on_opened,
    .message = on_message,
    .broken = on_broken,
};

/* ---- watches ---- */

static void watch_release(struct etcd_watch *watch)
{
    free(watch->key);
    free(watch->end);
    free(watch);
}

static uint8_t *copy_bytes(struct kv_bytes bytes)
{
    uint8_t *copy = malloc(bytes.length + 1);
    if (copy && bytes.length)
        memcpy(copy, bytes.data, bytes.length);
    return copy;
}

static enum status copy_span(struct etcd_watch *watch, const struct kv_watch_config *config)
{
    struct kv_bytes key = config->key, end = config->end;
    struct arena arena;
    arena_init(&arena);
    enum status st = config->prefix ? kv_prefix_end(&arena, key, &end) : OK;
    if (config->prefix && key.length == 0)
        key = (struct kv_bytes){"", 1};
    if (st == OK) {
        watch->key = copy_bytes(key);
        watch->key_length = key.length;
        watch->end = copy_bytes(end);
        watch->end_length = end.length;
        st = watch->key && watch->end ? OK : E_NOMEM;
    }
    arena_release(&arena);
    return st;
}

static enum status need_hub(struct etcd_client *client)
{
    if (client->watches)
        return OK;
    struct watch_hub *hub = calloc(1, sizeof(*hub));
    enum status st = hub ? long_stream_init(&hub->stream, client, "/etcdserverpb.Watch/Watch",
                                            &stream_events, hub)
                         : E_NOMEM;
    if (st != OK) {
        free(hub);
        return st;
    }
    table_init(&hub->items, &watch_table);
    client->watches = hub;
    return OK;
}

void etcd_watches_release(struct etcd_client *client)
{
    if (!client->watches)
        return;
    long_stream_release(&client->watches->stream);
    table_release(&client->watches->items);
    free(client->watches);
    client->watches = NULL;
}

void etcd_watches_flush(struct etcd_client *client)
{
    if (client->watches)
        long_stream_flush(&client->watches->stream);
}

enum status etcd_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                           kv_watch_notify *notify, void *context, struct kv_watch **ret)
{
    struct etcd_client *client = (struct etcd_client *)base;
    struct watch_hub *hub = NULL;
    struct etcd_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return E_NOMEM;
    watch->base = (struct kv_watch){base, notify, context, config->start_revision};
    watch->want_previous = config->want_previous;
    watch->want_progress = config->want_progress;
    enum status st = copy_span(watch, config);
    if (st == OK)
        st = need_hub(client);
    if (st == OK) {
        watch->hub = hub = client->watches;
        watch->id = ++hub->last_id;
        st = table_insert(&hub->items, watch);
    }
    if (st != OK) {
        watch_release(watch);
        return st;
    }
    long_stream_want(&hub->stream, true);
    if (hub->stream.stream)
        ask(watch);
    *ret = &watch->base;
    return OK;
}

void etcd_watch_free(struct kv_watch *base)
{
    struct etcd_watch *watch = (struct etcd_watch *)base;
    struct watch_hub *hub = watch->hub;
    table_remove(&hub->items, watch);
    if (hub->items.count == 0)
        long_stream_want(&hub->stream, false);
    else if (watch->state == WATCH_ASKED || watch->state == WATCH_LIVE)
        ask_to_cancel(watch);
    watch_release(watch);
}

void etcd_watch_restart(struct kv_watch *base)
{
    struct watch_hub *hub = ((struct etcd_watch *)base)->hub;
    struct etcd_watch *each;
    for (size_t at = 0; (each = table_next(&hub->items, &at));)
        rewind_watch(each);
    long_stream_restart(&hub->stream);
}
