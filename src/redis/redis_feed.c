/* Reads the feed for the watches (kv_feed.h): a blocking read of the tags, which only waits, and
 * behind it the changes, with the revision, which shows whether something is missing. Each change
 * has a tag, which is small: what is read to wait is thrown away. A blocking read is answered with
 * the first of those that the server makes together; what is behind it is done after all of them,
 * and before their fsync. The changes are read by plain commands in one transaction: a script would
 * turn each into text of its own, once for each node that reads it.
 *
 *     asked (XREAD [, INFO], MULTI, HMGET, XRANGE, EXEC [, WAIT]) -> told -> asked ...
 *
 * Where replicas must have a change, nobody is told of it before they have: as all that a link
 * sends, a reading is followed by a WAIT, which thus begins as soon as the change is made. When too
 * few of them have it, it is read again. Once a second a reading asks how many replicas there are,
 * before its changes: those for which nobody has waited then are read again, too.
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

/* The commands of a reading, in their order. */
enum { WAITING, COUNT, MULTI, HEAD, ITEMS, EXEC };
_Static_assert(EXEC + 1 == REDIS_READING, "all of them");

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
    const struct redisReply *reply = client->reading[EXEC].reply, *items = redis_at(reply, 1);
    const struct redis_link *stream = &client->stream;
    struct redis_head head;
    if (!items || !redis_read_head(redis_at(reply, 0), &head) ||
        head.incarnation != stream->facts.head.incarnation || head.rev < stream->facts.head.rev)
        return false;
    if (head.rev > client->feed.asked && items->elements == 0)
        return false; /* the newest ones are kept in any case */
    kv_feed_head(&client->feed, head.rev, head.floor, redis_cluster_id(head.incarnation));
    if (!take_items(client, items, head.floor))
        return false;
    redis_learn(client, &head);
    if (client->feed.cursor >= head.rev) /* else there are more, or they came behind the reading */
        kv_feed_told(&client->feed, head.rev);
    compact(client, head.rev);
    return true;
}

static void forget_reading(struct redis_client *client)
{
    for (int i = 0; i < REDIS_READING; i++) {
        (void)redis_link_withdraw(&client->stream, &client->reading[i]);
        redis_job_drop_reply(&client->reading[i]);
    }
    client->is_feed_asked = false;
}

/* ---- reading ---- */

/* What is behind it tells what there is. An error, as of a server that is no longer the master,
 * ends the connection. */
static void step_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client = job->context;
    if (!is_lost && job->reply->type == REDIS_REPLY_ERROR)
        redis_link_lose(&client->stream, job->reply->str);
    redis_job_drop_reply(job);
}

static void count_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client = job->context;
    if (!is_lost)
        redis_replicas_take(&client->stream, job->reply);
    redis_job_drop_reply(job);
}

static void exec_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client = job->context;
    bool is_fine = is_lost || client->stream.must_close || take_reading(client);
    forget_reading(client);
    if (!is_fine)
        redis_link_lose(&client->stream, "the feed can't be followed");
    else
        ask(client);
}

static const struct redis_job_type step_type = {.over = step_over, .free = keep_memory};
static const struct redis_job_type count_type = {.over = count_over, .free = keep_memory};
static const struct redis_job_type exec_type = {.over = exec_over, .free = keep_memory};

static void submit(struct redis_client *client, int step, const char *const words[], int count)
{
    struct redis_job *job = &client->reading[step];
    *job = (struct redis_job){.type = step == EXEC    ? &exec_type
                                      : step == COUNT ? &count_type
                                                      : &step_type,
                              .context = client,
                              .command.script = REDIS_NO_SCRIPT};
    for (int i = 0; i < count; i++)
        redis_adds(&job->command, words[i]);
    redis_link_submit(&client->stream, job);
}

static void count(struct redis_client *client)
{
    int64_t now_ms = kv_now_ms();
    if (client->place.replicas != REDIS_REPLICAS_SEEN || now_ms < client->feed_count_ms)
        return;
    client->feed_count_ms = now_ms + REDIS_COUNT_MS;
    submit(client, COUNT, (const char *[]){"INFO", "replication"}, 2);
}

static void ask(struct redis_client *client)
{
    const struct redis_link *stream = &client->stream;
    const char *patience = client->must_read_feed ? "1" : "1000";
    const char *meta = stream->keys.text[REDIS_KEY_META];
    const char *feed = stream->keys.text[REDIS_KEY_FEED];
    const char *tags = stream->keys.text[REDIS_KEY_TAGS];
    if (!stream->wire || stream->must_close || client->is_feed_asked)
        return;
    client->is_feed_asked = true;
    client->must_read_feed = false;
    int64_t after = kv_feed_begin(&client->feed);
    snprintf(client->feed_id, sizeof(client->feed_id), "%" PRId64 "-0", after);
    snprintf(client->after_id, sizeof(client->after_id), "(%" PRId64 "-0", after);
    submit(client, WAITING,
           (const char *[]){"XREAD", "BLOCK", patience, "COUNT", "1", "STREAMS", tags,
                            client->feed_id},
           8);
    count(client);
    submit(client, MULTI, (const char *[]){"MULTI"}, 1);
    submit(client, HEAD, (const char *[]){"HMGET", meta, "rev", "inc", "tag", "floor"}, 6);
    submit(client, ITEMS,
           (const char *[]){"XRANGE", feed, client->after_id, "+", "COUNT", READ_CHANGES}, 6);
    submit(client, EXEC, (const char *[]){"EXEC"}, 1);
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

void redis_feed_opened(struct redis_client *client)
{
    kv_feed_opened(&client->feed, client->stream.facts.head.rev);
    forget_reading(client);
    client->must_read_feed = true;
    client->feed_count_ms = 0;
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
