/* Reads the feed for the watches (kv_feed.h): a blocking read of the tags, which only waits, and
 * behind it the changes, with the revision, which shows whether something is missing. Each change
 * has a tag, which is small: what is read to wait is thrown away. A blocking read is answered with
 * the first of those that the server makes together; what is behind it is done after all of them,
 * and before their fsync. Where replicas must have a change, nobody is
 * told of it before they have: on the connection for calls, whose jobs end with a WAIT, a job is
 * sent after the reading.
 *
 *     asked (XREAD, changes) -> confirmed (with replicas) -> told -> asked ...
 *
 * A watch that begins further back unblocks the reading, to begin it anew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

enum {
    KEEP = 50000,                  /* changes that are kept, unless they are ... */
    KEEP_BYTES = 64 * 1024 * 1024, /* ... larger than this all together, but ... */
    KEEP_LEAST = 1000,             /* ... these in any case */
    KEEP_TAGS = 200000,
    COMPACT_EVERY = 5000, /* changes, or ... */
    COMPACT_BYTES = 4 * 1024 * 1024,
};
#define READ_CHANGES    "100"
#define KEEP_TEXT       "50000"
#define KEEP_BYTES_TEXT "67108864"
#define KEEP_LEAST_TEXT "1000"
#define KEEP_TAGS_TEXT  "200000"
_Static_assert(KEEP == 50000 && KEEP_BYTES == 67108864 && KEEP_LEAST == 1000 && KEEP_TAGS == 200000,
               "as texts");

static void ask(struct redis_client *client);

static void keep_memory(struct redis_job *job)
{
    (void)job; /* it is the client's */
}

/* ---- old changes ---- */

static void compact_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client =
        (struct redis_client *)((char *)job - offsetof(struct redis_client, compact_job));
    (void)is_lost;
    redis_job_drop_reply(job);
    client->is_compacting = false;
}

static const struct redis_job_type compact_type = {.over = compact_over, .free = keep_memory};

static void compact(struct redis_client *client, int64_t rev)
{
    bool is_due = rev / COMPACT_EVERY != client->compacted / COMPACT_EVERY ||
                  client->feed_bytes > COMPACT_BYTES;
    if (client->is_compacting || !is_due)
        return;
    client->compacted = rev;
    client->feed_bytes = 0;
    client->is_compacting = true;
    client->compact_job =
        (struct redis_job){.type = &compact_type, .command.script = REDIS_MAY_NOT_GROW};
    redis_adds(&client->compact_job.command, "compact");
    redis_adds(&client->compact_job.command, KEEP_TEXT);
    redis_adds(&client->compact_job.command, KEEP_BYTES_TEXT);
    redis_adds(&client->compact_job.command, KEEP_LEAST_TEXT);
    redis_adds(&client->compact_job.command, KEEP_TAGS_TEXT);
    redis_link_submit(&client->calls, &client->compact_job);
}

/* ---- an answer ---- */

static bool take_change(struct redis_client *client, const struct redisReply *item, int64_t floor)
{
    struct kv_bytes change;
    struct kv_event *events;
    size_t count;
    int64_t rev;
    if (!redis_read_item(item, &rev, &change) || rev <= client->feed.cursor ||
        !redis_read_events(change, rev, &events, &count))
        return false;
    client->feed_bytes += change.length;
    kv_feed_change(&client->feed, rev, floor, events, count);
    free(events);
    return true;
}

static bool take_items(struct redis_client *client, const struct redisReply *items, int64_t floor)
{
    bool is_fine = items->type == REDIS_REPLY_ARRAY;
    for (size_t i = 0; is_fine && i < items->elements; i++)
        is_fine = take_change(client, items->element[i], floor);
    return is_fine;
}

/* False: it can't be read, or is of other data: the connection is of no more use. */
static bool take_reading(struct redis_client *client)
{
    const struct redisReply *reply = client->changes_job.reply, *items = redis_at(reply, 1);
    const struct redis_link *stream = &client->stream;
    struct redis_head head;
    if (client->feed_job.reply->type == REDIS_REPLY_ERROR || !items ||
        !redis_read_head(redis_at(reply, 0), &head) ||
        head.incarnation != stream->facts.head.incarnation || head.rev < stream->facts.head.rev)
        return false;
    kv_feed_head(&client->feed, head.rev, head.floor, redis_cluster_id(head.incarnation));
    if (!take_items(client, items, head.floor))
        return false;
    redis_learn(client, &head);
    if (client->feed.cursor >= head.rev) /* else there are more, or they came behind the reading */
        kv_feed_told(&client->feed, head.rev);
    compact(client, head.rev);
    return true;
}

static void tell(struct redis_client *client)
{
    bool is_fine = take_reading(client);
    redis_job_drop_reply(&client->feed_job);
    redis_job_drop_reply(&client->changes_job);
    client->is_feed_asked = false;
    if (!is_fine)
        redis_link_lose(&client->stream, "the feed can't be followed");
    else
        ask(client);
}

/* ---- with replicas ---- */

static void confirm(struct redis_client *client);

static void confirm_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client =
        (struct redis_client *)((char *)job - offsetof(struct redis_client, confirm_job));
    redis_job_drop_reply(job);
    client->is_confirming = false;
    if (!client->feed_job.reply || !client->changes_job.reply)
        return; /* the reading was lost meanwhile */
    if (is_lost || client->must_confirm)
        confirm(client);
    else if (strcmp(client->stream.facts.server.seat, client->calls.facts.server.seat) != 0)
        redis_links_lose(client, "it is no longer the master, or has begun another history");
    else
        tell(client);
}

static const struct redis_job_type confirm_type = {.over = confirm_over, .free = keep_memory};

static void confirm(struct redis_client *client)
{
    client->must_confirm = client->is_confirming; /* one that was sent for a reading before */
    if (client->is_confirming)
        return;
    client->is_confirming = true;
    client->confirm_job =
        (struct redis_job){.type = &confirm_type, .command.script = REDIS_NO_SCRIPT};
    redis_adds(&client->confirm_job.command, "PING");
    redis_link_submit(&client->calls, &client->confirm_job);
}

/* ---- reading ---- */

static void feed_over(struct redis_job *job, bool is_lost)
{
    (void)job;
    (void)is_lost; /* the changes are behind it */
}

static const struct redis_job_type feed_type = {.over = feed_over, .free = keep_memory};

static void changes_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client =
        (struct redis_client *)((char *)job - offsetof(struct redis_client, changes_job));
    if (is_lost || !client->feed_job.reply)
        return;
    if (client->stream.facts.replicas > 0)
        confirm(client);
    else
        tell(client);
}

static const struct redis_job_type changes_type = {.over = changes_over, .free = keep_memory};

static void ask(struct redis_client *client)
{
    if (!client->stream.wire || client->is_feed_asked)
        return;
    const char *patience = client->must_read_feed ? "1" : "1000";
    client->is_feed_asked = true;
    client->must_read_feed = false;
    client->feed_job = (struct redis_job){.type = &feed_type, .command.script = REDIS_NO_SCRIPT};
    client->changes_job =
        (struct redis_job){.type = &changes_type, .command.script = REDIS_MAY_NOT_GROW};
    int64_t after = kv_feed_begin(&client->feed);
    snprintf(client->feed_id, sizeof(client->feed_id), "%" PRId64 "-0", after);
    snprintf(client->after_text, sizeof(client->after_text), "%" PRId64, after);
    const char *const words[] = {"XREAD",
                                 "BLOCK",
                                 patience,
                                 "COUNT",
                                 "1",
                                 "STREAMS",
                                 redis_tags_key(&client->stream.keys),
                                 client->feed_id};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        redis_adds(&client->feed_job.command, words[i]);
    redis_adds(&client->changes_job.command, "changes");
    redis_adds(&client->changes_job.command, client->after_text);
    redis_adds(&client->changes_job.command, READ_CHANGES);
    redis_link_submit(&client->stream, &client->feed_job);
    redis_link_submit(&client->stream, &client->changes_job);
}

/* ---- a reading that waits for changes, while a watch waits for what is there ---- */

static void unblock(struct redis_client *client);

static void unblock_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client =
        (struct redis_client *)((char *)job - offsetof(struct redis_client, unblock_job));
    int64_t was_blocked = 0;
    bool is_known = !is_lost && redis_read_number(job->reply, &was_blocked);
    redis_job_drop_reply(job);
    client->is_unblocking = false;
    if (is_known && !was_blocked && client->must_read_feed)
        unblock(client); /* it came before the reading */
}

static const struct redis_job_type unblock_type = {.over = unblock_over, .free = keep_memory};

static void unblock(struct redis_client *client)
{
    client->must_read_feed = true;
    if (!client->is_feed_asked) {
        ask(client);
        return;
    }
    if (client->is_unblocking || !client->calls.wire)
        return;
    client->is_unblocking = true;
    client->unblock_job =
        (struct redis_job){.type = &unblock_type, .command.script = REDIS_NO_SCRIPT};
    snprintf(client->blocked_id, sizeof(client->blocked_id), "%" PRId64,
             client->stream.facts.client_id);
    redis_adds(&client->unblock_job.command, "CLIENT");
    redis_adds(&client->unblock_job.command, "UNBLOCK");
    redis_adds(&client->unblock_job.command, client->blocked_id);
    redis_link_submit(&client->calls, &client->unblock_job);
}

/* ---- the connection ---- */

static void forget_reading(struct redis_client *client)
{
    redis_job_drop_reply(&client->feed_job);
    redis_job_drop_reply(&client->changes_job);
    client->is_feed_asked = false;
}

void redis_feed_opened(struct redis_client *client)
{
    kv_feed_opened(&client->feed, client->stream.facts.head.rev);
    forget_reading(client);
    client->must_read_feed = true;
    ask(client);
}

void redis_feed_broken(struct redis_client *client, const char *why)
{
    forget_reading(client);
    kv_feed_broken(&client->feed, why);
}

void redis_feed_release(struct redis_client *client)
{
    forget_reading(client);
}

/* ---- watches ---- */

enum status redis_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                            kv_watch_notify *notify, void *context, struct kv_watch **ret)
{
    struct redis_client *client = (struct redis_client *)base;
    enum status st = kv_feed_watch_new(&client->feed, base, config, notify, context, ret);
    if (st == OK)
        unblock(client);
    return st;
}

void redis_watch_free(struct kv_watch *watch)
{
    kv_feed_watch_free(&((struct redis_client *)watch->client)->feed, watch);
}

void redis_watch_restart(struct kv_watch *watch)
{
    redis_link_lose(&((struct redis_client *)watch->client)->stream, "the feed is silent");
}
