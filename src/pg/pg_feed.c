/* Watches: one reader of the changes, which hands each to the watches that want it. NOTIFY only
 * wakes it; what it reads is what is above its cursor, in the order of revisions, without a gap.
 *
 * A watch that begins further back than the cursor moves the cursor back; the others know what they
 * have had. A watch is live when it was told where the feed stands.
 *
 *     PENDING -> LIVE -> ENDED (compacted)
 *        ^--------'  the connection is lost
 */
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum {
    POLL_MS = 1000,
    KEEP = 50000,          /* changes that are kept in any case ... */
    COMPACT_EVERY = 10000, /* ... and after how many the older ones are removed */
};

enum { FEED_REV, INCARNATION, FLOOR, REV, TAG, KEYS, VALUES, CREATES, VERSIONS, LEASES, COLUMNS };

struct pg_watch {
    struct kv_watch base; /* first */
    struct pg_client *client;
    struct pg_watch *next;
    enum { PENDING, LIVE, ENDED } state;
    char *low, *high; /* keys from low, below high */
    size_t low_length, high_length;
    bool want_progress;
};

static const struct pg_job_type feed_type, compact_type;

/* ---- reading ---- */

static int64_t lowest_wanted(const struct pg_client *client)
{
    int64_t lowest = INT64_MAX;
    for (const struct pg_watch *watch = client->watches; watch; watch = watch->next)
        if (watch->state != ENDED && watch->base.next_revision &&
            watch->base.next_revision < lowest)
            lowest = watch->base.next_revision;
    return lowest;
}

static void poll_later(struct pg_client *client)
{
    loop_timer_set(client->poll_timer, POLL_MS);
}

void pg_feed_read(struct pg_client *client)
{
    if (!client->stream.conn)
        return;
    client->must_read_feed = client->is_feed_asked;
    if (client->is_feed_asked)
        return;
    int64_t wanted = lowest_wanted(client);
    if (wanted - 1 < client->cursor)
        client->cursor = wanted - 1;
    client->is_feed_asked = true;
    client->feed_job = (struct pg_job){
        .type = &feed_type, .statement = PG_CHANGES, .params = &client->feed_params};
    pg_write_int8(client->cursor_bytes, client->cursor);
    client->feed_params = (struct pg_params){
        .count = 1, .values = {client->cursor_bytes}, .lengths = {sizeof(client->cursor_bytes)}};
    pg_link_submit(&client->stream, &client->feed_job);
}

static void on_poll(void *context)
{
    struct pg_client *client = context;
    pg_feed_read(client);
    poll_later(client);
}

/* ---- telling: a callback may make and free watches, also its own ---- */

static bool is_there(const struct pg_client *client, const struct pg_watch *watch)
{
    const struct pg_watch *each = client->watches;
    while (each && each != watch)
        each = each->next;
    return each != NULL;
}

static void tell(struct pg_watch *watch, const struct kv_watch_notice *notice)
{
    watch->base.notify(watch->base.context, notice);
}

/* The watches as they are now, to be told one by one. NULL: none, or out of memory. */
static struct pg_watch **all_watches(const struct pg_client *client, size_t *ret_count)
{
    size_t count = 0;
    for (const struct pg_watch *watch = client->watches; watch; watch = watch->next)
        count++;
    struct pg_watch **all = count ? malloc(count * sizeof(struct pg_watch *)) : NULL;
    *ret_count = all ? count : 0;
    count = 0;
    for (struct pg_watch *watch = client->watches; watch && all; watch = watch->next)
        all[count++] = watch;
    return all;
}

/* ---- one change ---- */

struct elements {
    const char *at, *end;
    int32_t count;
};

static bool open_array(const PGresult *rows, int row, int column, struct elements *ret)
{
    struct kv_bytes bytes = pg_bytes_at(rows, row, column);
    const char *at = bytes.data;
    if (bytes.length < 12)
        return false;
    int32_t dimensions = pg_read_int4(at);
    if (dimensions > 1 || (dimensions == 1 && bytes.length < 20))
        return false;
    *ret = (struct elements){at + (dimensions ? 20 : 12), at + bytes.length,
                             dimensions ? pg_read_int4(at + 12) : 0};
    return true;
}

/* The next element; NULL data: a NULL. */
static bool next_element(struct elements *array, struct kv_bytes *ret)
{
    if (array->end - array->at < 4)
        return false;
    int32_t length = pg_read_int4(array->at);
    array->at += 4;
    if (length > array->end - array->at)
        return false;
    *ret = (struct kv_bytes){length < 0 ? NULL : array->at, length < 0 ? 0 : (size_t)length};
    array->at += length < 0 ? 0 : length;
    return true;
}

static bool next_int8(struct elements *array, int64_t *ret)
{
    struct kv_bytes bytes;
    if (!next_element(array, &bytes) || bytes.length != 8)
        return false;
    *ret = pg_read_int8(bytes.data);
    return true;
}

/* The events of a change, from malloc; NULL: it can't be read, or out of memory. */
static struct kv_event *read_events(const PGresult *rows, int row, size_t *ret_count)
{
    struct elements keys, values, creates, versions, leases;
    if (!open_array(rows, row, KEYS, &keys) || !open_array(rows, row, VALUES, &values) ||
        !open_array(rows, row, CREATES, &creates) || !open_array(rows, row, VERSIONS, &versions) ||
        !open_array(rows, row, LEASES, &leases) || keys.count < 0)
        return NULL;
    struct kv_event *events = calloc((size_t)keys.count + 1, sizeof(*events));
    bool is_whole = events != NULL;
    for (int i = 0; is_whole && i < keys.count; i++) {
        struct kv_pair *kv = &events[i].kv;
        is_whole = next_element(&keys, &kv->key) && next_element(&values, &kv->value) &&
                   next_int8(&creates, &kv->create_revision) &&
                   next_int8(&versions, &kv->version) && next_int8(&leases, &kv->lease);
        kv->mod_revision = pg_int8_at(rows, row, REV);
        events[i].is_delete = is_whole && !kv->value.data;
        if (events[i].is_delete)
            *kv = (struct kv_pair){
                .key = kv->key, .value.data = "", .mod_revision = kv->mod_revision};
        events[i].previous = (struct kv_pair){.key.data = "", .value.data = ""};
    }
    if (!is_whole) {
        free(events);
        return NULL;
    }
    *ret_count = (size_t)keys.count;
    return events;
}

static int compare_bytes(struct kv_bytes a, const char *b, size_t b_length)
{
    size_t shorter = a.length < b_length ? a.length : b_length;
    int order = shorter ? memcmp(a.data, b, shorter) : 0;
    return order ? order : a.length < b_length ? -1 : a.length > b_length;
}

static bool wants(const struct pg_watch *watch, const struct kv_event *event)
{
    return compare_bytes(event->kv.key, watch->low, watch->low_length) >= 0 &&
           compare_bytes(event->kv.key, watch->high, watch->high_length) < 0;
}

static void tell_events(struct pg_watch *watch, const struct kv_event *events, size_t count,
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

/* ---- an answer ---- */

static void end_watch(struct pg_watch *watch, int64_t floor)
{
    watch->state = ENDED;
    tell(watch, &(struct kv_watch_notice){.kind = KV_WATCH_COMPACTED,
                                          .compact_revision = floor,
                                          .message = "the revision has been compacted"});
}

static void make_live(struct pg_client *client, int64_t rev, int64_t incarnation, int64_t floor)
{
    size_t count;
    struct pg_watch **all = all_watches(client, &count);
    for (size_t i = 0; i < count; i++) {
        struct pg_watch *watch = all[i];
        if (!is_there(client, watch) || watch->state != PENDING)
            continue;
        if (watch->base.next_revision && watch->base.next_revision < floor) {
            end_watch(watch, floor);
            continue;
        }
        watch->state = LIVE;
        if (!watch->base.next_revision)
            watch->base.next_revision = rev + 1;
        tell(watch, &(struct kv_watch_notice){.kind = KV_WATCH_LIVE,
                                              .revision = rev,
                                              .cluster_id =
                                                  pg_cluster_id(&client->stream.facts, incarnation),
                                              .message = ""});
    }
    free(all);
}

/* What was read after revision `asked` covers this watch. One that was made meanwhile, and begins
 * further back, waits for the next reading. */
static bool is_covered(const struct pg_watch *watch, int64_t asked)
{
    return watch->state == LIVE && watch->base.next_revision > asked;
}

/* Hands a change on; false: there is a gap before it. */
static bool take_change(struct pg_client *client, const PGresult *rows, int row, int64_t asked)
{
    int64_t rev = pg_int8_at(rows, row, REV);
    size_t event_count = 0, count;
    if (rev != client->cursor + 1)
        return false;
    struct kv_event *events = read_events(rows, row, &event_count);
    if (!events)
        return false;
    struct pg_watch **all = all_watches(client, &count);
    client->cursor = rev;
    pg_learn(client, &client->stream, rev, pg_int8_at(rows, row, INCARNATION),
             pg_int8_at(rows, row, TAG));
    for (size_t i = 0; i < count; i++)
        if (is_there(client, all[i]) && is_covered(all[i], asked) &&
            all[i]->base.next_revision <= rev)
            tell_events(all[i], events, event_count, rev);
    free(all);
    free(events);
    return true;
}

static void end_late_ones(struct pg_client *client, int64_t rev, int64_t floor, int64_t asked)
{
    size_t count;
    struct pg_watch **all = all_watches(client, &count);
    for (size_t i = 0; i < count; i++)
        if (is_there(client, all[i]) && is_covered(all[i], asked) &&
            all[i]->base.next_revision < rev)
            end_watch(all[i], floor);
    free(all);
}

/* Who has had everything may resume after the newest revision. */
static void all_told(struct pg_client *client, int64_t rev, int64_t asked)
{
    for (struct pg_watch *watch = client->watches; watch; watch = watch->next)
        if (is_covered(watch, asked) && watch->base.next_revision <= rev)
            watch->base.next_revision = rev + 1;
    if (client->cursor < rev)
        client->cursor = rev;
}

static void compact(struct pg_client *client, int64_t rev)
{
    if (client->is_compacting || rev / COMPACT_EVERY == client->compacted / COMPACT_EVERY)
        return;
    client->compacted = rev;
    client->is_compacting = true;
    pg_write_int8(client->compact_bytes, rev - KEEP);
    client->compact_params = (struct pg_params){
        .count = 1, .values = {client->compact_bytes}, .lengths = {sizeof(client->compact_bytes)}};
    client->compact_job = (struct pg_job){
        .type = &compact_type, .statement = PG_COMPACT, .params = &client->compact_params};
    pg_link_submit(&client->stream, &client->compact_job);
}

static bool feed_result(struct pg_job *job, PGresult *result)
{
    struct pg_client *client =
        (struct pg_client *)((char *)job - offsetof(struct pg_client, feed_job));
    int count = PQntuples(result);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || count == 0 || PQnfields(result) != COLUMNS) {
        client->stream.must_close = true;
        return false;
    }
    int64_t rev = pg_int8_at(result, 0, FEED_REV), floor = pg_int8_at(result, 0, FLOOR);
    int64_t incarnation = pg_int8_at(result, 0, INCARNATION);
    if (incarnation != client->stream.facts.incarnation) { /* commits were lost: all watches begin
                                                              anew, with the other cluster id */
        client->stream.must_close = true;
        return false;
    }
    int64_t asked = pg_read_int8(client->cursor_bytes);
    bool is_any = !PQgetisnull(result, 0, REV);
    client->cursor = asked;
    make_live(client, rev, incarnation, floor);
    for (int row = 0; is_any && row < count; row++) {
        if (take_change(client, result, row, asked))
            continue;
        end_late_ones(client, pg_int8_at(result, row, REV), floor, asked);
        client->cursor = pg_int8_at(result, row, REV) - 1;
        if (!take_change(client, result, row, asked))
            client->stream.must_close = true;
    }
    pg_learn(client, &client->stream, rev, incarnation, 0);
    if (client->cursor >= rev || !is_any)
        all_told(client, rev, asked);
    else
        client->must_read_feed = true; /* there is more */
    compact(client, rev);
    return false;
}

static void feed_over(struct pg_job *job, bool is_lost)
{
    struct pg_client *client =
        (struct pg_client *)((char *)job - offsetof(struct pg_client, feed_job));
    client->is_feed_asked = false;
    if (!is_lost && (client->must_read_feed || lowest_wanted(client) <= client->cursor))
        pg_feed_read(client);
}

static void feed_free(struct pg_job *job)
{
    (void)job;
}

static const struct pg_job_type feed_type = {
    .result = feed_result, .over = feed_over, .free = feed_free};

static bool compact_result(struct pg_job *job, PGresult *result)
{
    (void)job;
    (void)result;
    return false;
}

static void compact_over(struct pg_job *job, bool is_lost)
{
    (void)is_lost;
    ((struct pg_client *)((char *)job - offsetof(struct pg_client, compact_job)))->is_compacting =
        false;
}

static const struct pg_job_type compact_type = {
    .result = compact_result, .over = compact_over, .free = feed_free};

/* ---- the connection ---- */

void pg_feed_opened(struct pg_client *client)
{
    int64_t wanted = lowest_wanted(client);
    client->cursor = wanted == INT64_MAX ? client->stream.facts.rev : wanted - 1;
    client->is_feed_asked = false;
    pg_feed_read(client);
    poll_later(client);
}

void pg_feed_broken(struct pg_client *client, const char *why)
{
    size_t count;
    struct pg_watch **all = all_watches(client, &count);
    client->is_feed_asked = false;
    for (size_t i = 0; i < count; i++) {
        if (!is_there(client, all[i]) || all[i]->state != LIVE)
            continue;
        all[i]->state = PENDING;
        tell(all[i], &(struct kv_watch_notice){.kind = KV_WATCH_BROKEN, .message = why});
    }
    free(all);
}

void pg_feed_release(struct pg_client *client)
{
    client->poll_timer = loop_timer_free(client->poll_timer);
}

enum status pg_feed_init(struct pg_client *client)
{
    return loop_timer_new(client->base.loop, on_poll, client, &client->poll_timer);
}

/* ---- watches ---- */

static char *copy(struct kv_bytes bytes)
{
    char *to = malloc(bytes.length + 1);
    if (to && bytes.length)
        memcpy(to, bytes.data, bytes.length);
    return to;
}

static void free_watch(struct pg_watch *watch)
{
    free(watch->low);
    free(watch->high);
    free(watch);
}

enum status pg_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                         kv_watch_notify *notify, void *context, struct kv_watch **ret)
{
    struct pg_client *client = (struct pg_client *)base;
    struct pg_watch *watch = calloc(1, sizeof(*watch));
    struct kv_bytes low, high;
    struct arena arena;
    if (!watch)
        return E_NOMEM;
    arena_init(&arena);
    enum status st = pg_span(&arena, config->key, config->end, config->prefix, &low, &high);
    watch->base = (struct kv_watch){base, notify, context, config->start_revision};
    watch->client = client;
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
    watch->next = client->watches;
    client->watches = watch;
    pg_feed_read(client);
    *ret = &watch->base;
    return OK;
}

void pg_watch_free(struct kv_watch *base)
{
    struct pg_watch *watch = (struct pg_watch *)base, **at = &watch->client->watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    free_watch(watch);
}

void pg_watch_restart(struct kv_watch *base)
{
    struct pg_client *client = ((struct pg_watch *)base)->client;
    pg_link_lose(&client->stream, "the feed is silent");
}
