/* Reads the changes for the watches (kv_feed.h). NOTIFY only wakes it; what it reads is what is
 * above its cursor, in the order of revisions, without a gap. */
#include <stdlib.h>

#include "pg_internal.h"

enum {
    POLL_MS = 1000,
    KEEP = 50000,          /* changes that are kept in any case ... */
    COMPACT_EVERY = 10000, /* ... and after how many the older ones are removed */
};

enum { FEED_REV, INCARNATION, FLOOR, REV, TAG, KEYS, VALUES, CREATES, VERSIONS, LEASES, COLUMNS };

static const struct pg_job_type feed_type, compact_type;

/* ---- reading ---- */

static void poll_later(struct pg_client *client)
{
    loop_timer_set(client->poll_timer, POLL_MS);
}

void pg_feed_read(struct pg_client *client)
{
    if (!client->stream.wire)
        return;
    client->must_read_feed = client->is_feed_asked;
    if (client->is_feed_asked)
        return;
    client->is_feed_asked = true;
    client->feed_job = (struct pg_job){
        .type = &feed_type, .statement = PG_CHANGES, .params = &client->feed_params};
    pg_write_int8(client->cursor_bytes, kv_feed_begin(&client->feed));
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

/* ---- an answer ---- */

/* False: it can't be read. */
static bool take_change(struct pg_client *client, const PGresult *rows, int row, int64_t floor)
{
    int64_t rev = pg_int8_at(rows, row, REV);
    size_t count = 0;
    struct kv_event *events = read_events(rows, row, &count);
    if (!events)
        return false;
    pg_learn(client, &client->stream, rev, pg_int8_at(rows, row, INCARNATION),
             pg_int8_at(rows, row, TAG));
    kv_feed_change(&client->feed, rev, floor, events, count);
    free(events);
    return true;
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

static struct pg_client *reader(struct pg_job *job)
{
    return (struct pg_client *)((char *)job - offsetof(struct pg_client, feed_job));
}

static bool feed_rows(struct pg_job *job, PGresult *result)
{
    struct pg_client *client = reader(job);
    int count = PQntuples(result);
    if (count == 0 || PQnfields(result) != COLUMNS) {
        pg_link_lose(&client->stream, "the feed can't be read");
        return false;
    }
    int64_t rev = pg_int8_at(result, 0, FEED_REV), floor = pg_int8_at(result, 0, FLOOR);
    int64_t incarnation = pg_int8_at(result, 0, INCARNATION);
    if (incarnation != client->stream.facts.incarnation) { /* all watches begin anew, with the other
                                                              cluster id */
        pg_link_lose(&client->stream, "commits were lost");
        return false;
    }
    bool is_any = !PQgetisnull(result, 0, REV);
    kv_feed_head(&client->feed, rev, floor, pg_cluster_id(&client->stream.facts, incarnation));
    for (int row = 0; is_any && row < count; row++)
        if (!take_change(client, result, row, floor))
            pg_link_lose(&client->stream, "a change can't be read");
    pg_learn(client, &client->stream, rev, incarnation, 0);
    if (!is_any && client->feed.cursor < rev)
        kv_feed_compacted(&client->feed, rev, floor);
    if (client->feed.cursor >= rev)
        kv_feed_told(&client->feed, rev);
    else
        client->must_read_feed = true; /* there is more */
    compact(client, rev);
    return false;
}

static void feed_error(struct pg_job *job, const struct pg_error *error)
{
    pg_link_lose(&reader(job)->stream, error->words);
}

static void feed_over(struct pg_job *job, bool is_lost)
{
    struct pg_client *client = reader(job);
    client->is_feed_asked = false;
    if (!is_lost && (client->must_read_feed || kv_feed_is_behind(&client->feed)))
        pg_feed_read(client);
}

static void feed_free(struct pg_job *job)
{
    (void)job;
}

static const struct pg_job_type feed_type = {
    .rows = feed_rows, .error = feed_error, .over = feed_over, .free = feed_free};

static bool compact_rows(struct pg_job *job, PGresult *rows)
{
    (void)job;
    (void)rows;
    return false;
}

static void compact_over(struct pg_job *job, bool is_lost)
{
    (void)is_lost;
    ((struct pg_client *)((char *)job - offsetof(struct pg_client, compact_job)))->is_compacting =
        false;
}

static const struct pg_job_type compact_type = {
    .rows = compact_rows, .over = compact_over, .free = feed_free};

/* ---- the connection ---- */

void pg_feed_opened(struct pg_client *client)
{
    kv_feed_opened(&client->feed, client->stream.facts.rev);
    client->is_feed_asked = false;
    pg_feed_read(client);
    poll_later(client);
}

void pg_feed_broken(struct pg_client *client, const char *why)
{
    client->is_feed_asked = false;
    kv_feed_broken(&client->feed, why);
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

enum status pg_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                         kv_watch_notify *notify, void *context, struct kv_watch **ret)
{
    struct pg_client *client = (struct pg_client *)base;
    enum status st = kv_feed_watch_new(&client->feed, base, config, notify, context, ret);
    if (st == OK)
        pg_feed_read(client);
    return st;
}

void pg_watch_free(struct kv_watch *watch)
{
    kv_feed_watch_free(&((struct pg_client *)watch->client)->feed, watch);
}

void pg_watch_restart(struct kv_watch *watch)
{
    pg_link_lose(&((struct pg_client *)watch->client)->stream, "the feed is silent");
}
