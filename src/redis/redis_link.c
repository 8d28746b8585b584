/* A connection that is kept up. Jobs are sent in a pipeline, and answered in their order.
 *
 *     closed -> opening -> open -> closed ...
 *
 * With replicas, what is sent in one turn is followed by a WAIT, in the same write: only when
 * enough of them have it, the jobs are over. A WAIT waits for the last write of its connection, so
 * one is made before it, for answers that show what others have written. The server does what is
 * behind a WAIT when that is answered, so one more turn is sent meanwhile; what comes later is sent
 * together next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

enum {
    RETRY_FIRST_MS = 20,
    RETRY_LAST_MS = 320,
    SILENT_MS = 5000, /* jobs are under way, and nothing comes: the server is gone, or frozen */
    WAIT_MS = 1000,   /* for replicas, before the jobs are sent once more */
    WAITS = 2,        /* under way at once */
    MARKS = 2,        /* replies of the write before a WAIT, and of the WAIT */
};
#define WAIT_TEXT "1000"
_Static_assert(WAIT_MS == 1000, "as a text");

/* ---- queues ---- */

static void queue_init(struct redis_queue *queue)
{
    *queue = (struct redis_queue){.end = &queue->first};
}

static void queue_push(struct redis_queue *queue, struct redis_job *job)
{
    job->next = NULL;
    *queue->end = job;
    queue->end = &job->next;
}

static struct redis_job *queue_pop(struct redis_queue *queue)
{
    struct redis_job *job = queue->first;
    if (!job)
        return NULL;
    queue->first = job->next;
    if (!queue->first)
        queue->end = &queue->first;
    return job;
}

/* What is in `from` goes to the end of `to`. */
static void queue_move(struct redis_queue *from, struct redis_queue *to)
{
    struct redis_job *job;
    while ((job = queue_pop(from)))
        queue_push(to, job);
}

void redis_job_drop_reply(struct redis_job *job)
{
    if (job->reply)
        freeReplyObject(job->reply);
    job->reply = NULL;
}

static void finish(struct redis_job *job, bool is_lost)
{
    if (is_lost)
        redis_job_drop_reply(job);
    if (!job->is_dropped) {
        job->type->over(job, is_lost);
        return;
    }
    redis_job_drop_reply(job);
    job->type->free(job);
}

static void finish_all(struct redis_queue *queue, bool is_lost)
{
    struct redis_queue own;
    struct redis_job *job;
    queue_init(&own);
    queue_move(queue, &own); /* what comes now is not of these */
    while ((job = queue_pop(&own)))
        finish(job, is_lost);
}

/* ---- closing ---- */

static void close_wire(struct redis_link *link)
{
    struct redis_queue lost;
    bool was_open = link->wire != NULL;
    link->wire = redis_wire_free(link->wire);
    link->waits = link->marks = 0;
    queue_init(&lost);
    queue_move(&link->held, &lost);
    queue_move(&link->sent, &lost);
    if (was_open && link->is_for_calls)
        redis_leases_broken(link->client);
    else if (was_open)
        redis_feed_broken(link->client, link->why.text);
    finish_all(&lost, true);
}

static void retry_later(struct redis_link *link)
{
    int64_t pause_ms = RETRY_FIRST_MS;
    for (int i = 0; i < link->failures && pause_ms < RETRY_LAST_MS; i++)
        pause_ms *= 2;
    link->failures++;
    loop_timer_set(link->timer, pause_ms);
}

void redis_link_lose(struct redis_link *link, const char *why)
{
    if (!link->wire)
        return;
    link->must_close = link->is_working;
    strbuf_reset(&link->why);
    redis_explain(&link->client->place, why, &link->why);
    if (link->is_working)
        return;
    link->status = E_UNREACHABLE;
    close_wire(link);
    retry_later(link);
}

void redis_links_lose(struct redis_client *client, const char *why)
{
    redis_link_lose(&client->stream, why);
    redis_link_lose(&client->calls, why);
}

void redis_link_move(struct redis_link *link, const char *why)
{
    link->opening = redis_opening_free(link->opening);
    redis_link_lose(link, why);
    link->failures = 0;
    if (!link->wire) /* else when the replies at hand are taken */
        loop_timer_set(link->timer, 0);
}

/* ---- sending ---- */

static bool send_wait(struct redis_link *link)
{
    struct redis_command write = {.script = REDIS_NO_SCRIPT}, wait = write;
    char replicas[16];
    snprintf(replicas, sizeof(replicas), "%d", link->facts.replicas);
    redis_adds(&write, "INCR");
    redis_adds(&write, link->keys.text[REDIS_KEY_GUARD]);
    redis_adds(&wait, "WAIT");
    redis_adds(&wait, replicas);
    redis_adds(&wait, WAIT_TEXT);
    link->waits++;
    return redis_send(link->wire, &link->keys, &write) == OK &&
           redis_send(link->wire, &link->keys, &wait) == OK;
}

static void flush(struct redis_link *link)
{
    struct redis_job *job = NULL;
    int replicas = link->facts.replicas;
    bool is_fine = true;
    if (!link->wire || !link->waiting.first || (replicas > 0 && link->waits == WAITS))
        return;
    if (!link->sent.first) {
        link->heard_ms = kv_now_ms();
        loop_timer_set(link->timer, SILENT_MS);
    }
    while (is_fine && link->waiting.first) {
        job = queue_pop(&link->waiting);
        job->replicas = replicas;
        job->is_last = replicas > 0 && !link->waiting.first;
        queue_push(&link->sent, job);
        is_fine = redis_send(link->wire, &link->keys, &job->command) == OK;
    }
    if (is_fine && replicas > 0)
        is_fine = send_wait(link);
    if (!is_fine)
        redis_link_lose(link, "out of memory");
}

static void on_soon(void *context)
{
    struct redis_link *link = context;
    if (!link->is_working)
        flush(link);
}

void redis_link_submit(struct redis_link *link, struct redis_job *job)
{
    job->is_dropped = false;
    queue_push(&link->waiting, job);
    if (!link->wire || link->is_working)
        return;
    if (link->facts.replicas > 0) /* one WAIT for all of this turn */
        loop_timer_set(link->soon, 0);
    else
        flush(link);
}

bool redis_link_withdraw(struct redis_link *link, struct redis_job *job)
{
    struct redis_job **at = &link->waiting.first;
    while (*at && *at != job)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = job->next;
    if (!*at)
        link->waiting.end = at;
    return true;
}

/* ---- replies ---- */

static void take_wait(struct redis_link *link, int64_t have)
{
    char text[96];
    link->waits--;
    if (have < link->facts.replicas) {
        snprintf(text, sizeof(text), "only %d of %d replicas have the change", (int)have,
                 link->facts.replicas);
        strbuf_reset(&link->why);
        redis_explain(&link->client->place, text, &link->why);
    }
    finish_all(&link->held, have < link->facts.replicas);
}

static void take_mark(struct redis_link *link, const struct redisReply *reply)
{
    int64_t number;
    if (reply->type == REDIS_REPLY_ERROR || !redis_read_number(reply, &number)) {
        redis_link_lose(link, reply->type == REDIS_REPLY_ERROR ? reply->str : "no answer to WAIT");
        finish_all(&link->held, true);
    } else if (--link->marks == 0) {
        take_wait(link, number);
    }
}

/* A job that was sent before a replica was counted counts for nothing now. */
static void take_answer(struct redis_link *link, struct redis_job *job, struct redisReply *reply)
{
    job->reply = reply;
    if (!job->replicas) {
        finish(job, link->facts.replicas > 0);
        return;
    }
    if (job->is_last)
        link->marks = MARKS;
    queue_push(&link->held, job);
}

static void on_reply(void *context, struct redisReply *reply)
{
    struct redis_link *link = context;
    struct redis_job *job = link->marks ? NULL : queue_pop(&link->sent);
    link->is_working = true;
    link->heard_ms = kv_now_ms();
    if (job) {
        take_answer(link, job, reply);
        return;
    }
    if (link->marks)
        take_mark(link, reply);
    else
        redis_link_lose(link, reply->type == REDIS_REPLY_ERROR ? reply->str : "a stray answer");
    freeReplyObject(reply);
}

static void on_paused(void *context)
{
    struct redis_link *link = context;
    link->is_working = false;
    if (link->must_close) {
        link->must_close = false;
        close_wire(link);
        retry_later(link);
        return;
    }
    flush(link);
}

static void on_closed(void *context, const char *why)
{
    struct redis_link *link = context;
    link->is_working = false;
    link->must_close = false;
    redis_link_lose(link, why);
}

static void on_connected_again(void *context)
{
    (void)context; /* a wire is handed over when it is open */
}

static const struct redis_wire_events wire_events = {
    .opened = on_connected_again, .reply = on_reply, .paused = on_paused, .closed = on_closed};

/* ---- opening ---- */

static void take_memory(const struct redis_link *link, struct redis_memory *ret)
{
    const struct redis_client *client = link->client;
    const struct table *leases = &client->base.leases;
    const char *lease;
    *ret = (struct redis_memory){.mark = client->base.mark, .client_id = link->facts.client_id};
    memcpy(ret->run_id, link->facts.server.run_id, sizeof(ret->run_id));
    memcpy(ret->seat, link->facts.server.seat, sizeof(ret->seat));
    ret->replicas = link->facts.replicas;
    for (size_t at = 0; ret->lease_count < REDIS_LEASES_MAX && (lease = table_next(leases, &at));)
        memcpy(&ret->leases[ret->lease_count++], lease + leases->type->key_at, sizeof(int64_t));
}

static void opened(struct redis_link *link)
{
    struct redis_client *client = link->client;
    link->failures = 0;
    link->status = OK;
    link->heard_ms = kv_now_ms();
    link->must_close = link->is_working = false;
    if (link->facts.replicas == 0) /* else a replica may lack it: the first WAIT will tell */
        redis_learn(client, &link->facts.head);
    if (link->is_for_calls) {
        redis_leases_opened(client);
        redis_replicas_opened(client);
    } else {
        redis_feed_opened(client);
    }
    flush(link);
}

static void on_opened(void *context, enum status st, const char *why)
{
    struct redis_link *link = context;
    struct redis_client *client = link->client;
    link->status = st;
    if (st == OK) {
        link->wire = redis_opening_take(link->opening, &link->facts, &link->keys);
        redis_wire_bind(link->wire, &wire_events, link);
        link->opening = redis_opening_free(link->opening);
        opened(link);
        return;
    }
    strbuf_reset(&link->why);
    strbuf_adds(&link->why, why);
    link->opening = redis_opening_free(link->opening);
    retry_later(link);
    kv_client_is_away(&client->base, link->why.text);
    if (st == E_INVALID || st == E_VERSION)
        kv_requests_refuse(&client->requests, st, link->why.text);
    else
        redis_sentinel_doubt(client);
}

static void open_now(struct redis_link *link)
{
    struct redis_client *client = link->client;
    struct redis_memory memory;
    struct redis_host room;
    const struct redis_host *host = redis_master(client, &room);
    if (link->wire || link->opening)
        return;
    if (!host) {
        strbuf_reset(&link->why);
        redis_explain(&client->place, client->sentinel.why.text, &link->why);
        retry_later(link);
        kv_client_is_away(&client->base, link->why.text);
        return;
    }
    take_memory(link, &memory);
    if (redis_opening_new(client, host, link->is_for_calls, &memory, on_opened, link,
                          &link->opening) != OK)
        retry_later(link);
}

/* The next attempt to open it; of one that is open, a look whether the server still answers. */
static void on_timer(void *context)
{
    struct redis_link *link = context;
    if (!link->wire) {
        open_now(link);
        return;
    }
    bool is_busy = link->sent.first || link->marks;
    int64_t silent_ms = kv_now_ms() - link->heard_ms;
    if (is_busy && silent_ms >= SILENT_MS)
        redis_link_lose(link, "it does not answer");
    else if (is_busy)
        loop_timer_set(link->timer, SILENT_MS - silent_ms);
}

enum status redis_link_init(struct redis_link *link, struct redis_client *client, bool is_for_calls)
{
    *link = (struct redis_link){
        .client = client, .is_for_calls = is_for_calls, .status = E_UNREACHABLE};
    queue_init(&link->waiting);
    queue_init(&link->sent);
    queue_init(&link->held);
    strbuf_init(&link->why);
    enum status st = loop_timer_new(client->base.loop, on_timer, link, &link->timer);
    if (st == OK)
        st = loop_timer_new(client->base.loop, on_soon, link, &link->soon);
    if (st == OK)
        loop_timer_set(link->timer, 0);
    return st;
}

void redis_link_release(struct redis_link *link)
{
    struct redis_job *job;
    if (!link->client)
        return;
    link->opening = redis_opening_free(link->opening);
    link->wire = redis_wire_free(link->wire);
    while ((job = queue_pop(&link->held)) || (job = queue_pop(&link->sent)) ||
           (job = queue_pop(&link->waiting))) {
        redis_job_drop_reply(job);
        job->type->free(job);
    }
    link->timer = loop_timer_free(link->timer);
    link->soon = loop_timer_free(link->soon);
    strbuf_release(&link->why);
}
