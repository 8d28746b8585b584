/* A connection that is kept up. Jobs are sent in a pipeline, each a transaction of its own; results
 * come in their order.
 *
 *     closed -> opening -> open -> closed ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_internal.h"

enum {
    RETRY_FIRST_MS = 20,
    RETRY_LAST_MS = 1000,
    SILENT_MS = 5000, /* jobs are under way, and nothing comes: the server is gone, or frozen */
};

/* ---- queues ---- */

static void queue_init(struct pg_queue *queue)
{
    *queue = (struct pg_queue){.end = &queue->first};
}

static void queue_push(struct pg_queue *queue, struct pg_job *job)
{
    job->next = NULL;
    *queue->end = job;
    queue->end = &job->next;
    queue->count++;
}

static struct pg_job *queue_pop(struct pg_queue *queue)
{
    struct pg_job *job = queue->first;
    if (!job)
        return NULL;
    queue->first = job->next;
    if (!queue->first)
        queue->end = &queue->first;
    queue->count--;
    return job;
}

/* What is in `from` goes to the end of `to`. */
static void queue_move(struct pg_queue *from, struct pg_queue *to)
{
    struct pg_job *job;
    while ((job = queue_pop(from)))
        queue_push(to, job);
}

static void finish(struct pg_job *job, bool is_lost)
{
    if (job->is_dropped)
        job->type->free(job);
    else
        job->type->over(job, is_lost);
}

/* ---- closing ---- */

/* What waits for the stream is asked anew on the next one, by those whose it is: sent there as
 * well, it would be in the queue twice. What waits for the calls was not sent, and is sent then. */
static void close_wire(struct pg_link *link)
{
    struct pg_queue lost;
    struct pg_job *job;
    bool was_open = link->wire != NULL;
    link->wire = pg_wire_free(link->wire);
    queue_init(&lost);
    queue_move(&link->sent, &lost);
    if (link->role == PG_STREAM)
        queue_move(&link->waiting, &lost);
    if (was_open && link->role == PG_STREAM) {
        pg_leases_broken(link->client);
        pg_feed_broken(link->client, link->why.length ? link->why.text : "the connection is lost");
    }
    while ((job = queue_pop(&lost)))
        finish(job, true);
}

static void retry_later(struct pg_link *link)
{
    int64_t pause_ms = RETRY_FIRST_MS;
    for (int i = 0; i < link->failures && pause_ms < RETRY_LAST_MS; i++)
        pause_ms *= 2;
    link->failures++;
    loop_timer_set(link->timer, pause_ms < RETRY_LAST_MS ? pause_ms : RETRY_LAST_MS);
}

void pg_link_lose(struct pg_link *link, const char *why)
{
    if (!link->wire)
        return;
    strbuf_reset(&link->why);
    pg_explain(&link->client->address, why, &link->why);
    link->must_close = link->is_working;
    if (link->is_working)
        return;
    link->status = E_UNREACHABLE;
    close_wire(link);
    retry_later(link);
}

/* ---- sending ---- */

static void flush(struct pg_link *link)
{
    struct pg_job *job;
    bool is_fine = true;
    if (!link->wire || !link->waiting.first)
        return;
    if (!link->sent.first) {
        link->heard_ms = kv_now_ms();
        loop_timer_set(link->timer, SILENT_MS);
    }
    while (is_fine && (job = queue_pop(&link->waiting))) {
        queue_push(&link->sent, job);
        is_fine = pg_wire_send(link->wire, job->statement, job->params) == OK;
    }
    if (!is_fine || pg_wire_flush(link->wire) != OK)
        pg_link_lose(link, pg_wire_why(link->wire));
}

void pg_link_submit(struct pg_link *link, struct pg_job *job)
{
    job->is_dropped = false;
    queue_push(&link->waiting, job);
    if (link->wire && !link->is_working)
        flush(link);
}

bool pg_link_withdraw(struct pg_link *link, struct pg_job *job)
{
    struct pg_job **at = &link->waiting.first;
    while (*at && *at != job)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = job->next;
    if (!*at)
        link->waiting.end = at;
    link->waiting.count--;
    return true;
}

/* ---- results ---- */

static void on_rows(void *context, PGresult *rows)
{
    struct pg_link *link = context;
    struct pg_job *job = link->sent.first;
    link->is_working = true;
    if (!job || job->is_dropped || !job->type->rows(job, rows))
        PQclear(rows);
}

/* Nobody waits for the answer of a dropped one any more, but the next request would meet the same
 * lock. */
static void on_error(void *context, const struct pg_error *error)
{
    struct pg_link *link = context;
    struct pg_job *job = link->sent.first;
    enum status st;
    link->is_working = true;
    if (job && !job->is_dropped && job->type->error)
        job->type->error(job, error);
    else if (job && job->is_dropped && pg_judge(error->state, &st) == PG_BLOCKED)
        pg_unblock(link->client);
}

static void on_over(void *context)
{
    struct pg_link *link = context;
    struct pg_job *job = queue_pop(&link->sent);
    link->is_working = true;
    if (job)
        finish(job, false);
}

static void on_notified(void *context)
{
    struct pg_link *link = context;
    link->is_working = true;
    pg_feed_read(link->client);
}

static void on_paused(void *context)
{
    struct pg_link *link = context;
    link->is_working = false;
    link->heard_ms = kv_now_ms();
    if (link->must_close) {
        link->must_close = false;
        link->status = E_UNREACHABLE;
        close_wire(link);
        retry_later(link);
        return;
    }
    flush(link);
}

static void on_closed(void *context, const char *why)
{
    struct pg_link *link = context;
    link->is_working = false;
    link->must_close = false;
    pg_link_lose(link, why);
}

static void on_connected_again(void *context, enum status st, const char *why)
{
    (void)context; /* a wire is handed over when it is open */
    (void)st;
    (void)why;
}

static const struct pg_wire_events wire_events = {.opened = on_connected_again,
                                                  .rows = on_rows,
                                                  .error = on_error,
                                                  .over = on_over,
                                                  .notified = on_notified,
                                                  .paused = on_paused,
                                                  .closed = on_closed};

/* ---- opening ---- */

static void take_memory(const struct pg_link *link, struct pg_memory *ret)
{
    const struct pg_client *client = link->client;
    const struct table *leases = &client->base.leases;
    const int64_t *id;
    *ret =
        (struct pg_memory){.mark = client->base.mark, .old_backend_pid = link->facts.backend_pid};
    memcpy(ret->timeline, link->facts.timeline, sizeof(ret->timeline));
    for (size_t at = 0; ret->own_lease_count < PG_OWN_LEASES_MAX;) {
        const char *lease = table_next(leases, &at);
        if (!lease)
            break;
        id = (const int64_t *)(const void *)(lease + leases->type->key_at);
        ret->own_leases[ret->own_lease_count++] = *id;
    }
}

static void opened(struct pg_link *link)
{
    struct pg_client *client = link->client;
    link->failures = 0;
    link->status = OK;
    link->heard_ms = kv_now_ms();
    link->must_close = link->is_working = false;
    if (client->base.mark.incarnation != link->facts.incarnation) /* what was seen is no more */
        client->base.mark = (struct kv_mark){.incarnation = link->facts.incarnation};
    if (link->role == PG_STREAM) {
        pg_leases_opened(client);
        pg_feed_opened(client);
    }
    flush(link);
}

static void on_opened(void *context, enum status st, const char *why)
{
    struct pg_link *link = context;
    struct pg_client *client = link->client;
    link->status = st;
    strbuf_reset(&link->why);
    strbuf_adds(&link->why, why);
    if (st == OK) {
        link->wire = pg_opening_take(link->opening, &link->facts);
        pg_wire_bind(link->wire, &wire_events, link);
        link->opening = pg_opening_free(link->opening);
        opened(link);
        return;
    }
    link->opening = pg_opening_free(link->opening);
    retry_later(link);
    kv_client_is_away(&client->base, link->why.text ? link->why.text : "");
    if (st == E_INVALID || st == E_VERSION)
        kv_requests_refuse(&client->requests, st, link->why.text ? link->why.text : "");
}

static void open_now(struct pg_link *link)
{
    struct pg_memory memory;
    if (link->wire || link->opening)
        return;
    take_memory(link, &memory);
    if (pg_opening_new(link->client, link->role, &memory, on_opened, link, &link->opening) != OK)
        retry_later(link);
}

/* The next attempt to open it; of one that is open, a look whether the server still answers. */
static void on_timer(void *context)
{
    struct pg_link *link = context;
    if (!link->wire) {
        open_now(link);
        return;
    }
    int64_t silent_ms = kv_now_ms() - link->heard_ms;
    if (link->sent.first && silent_ms >= SILENT_MS)
        pg_link_lose(link, "it does not answer");
    else if (link->sent.first)
        loop_timer_set(link->timer, SILENT_MS - silent_ms);
}

enum status pg_link_init(struct pg_link *link, struct pg_client *client, enum pg_role role)
{
    *link = (struct pg_link){.client = client, .role = role, .status = E_UNREACHABLE};
    queue_init(&link->waiting);
    queue_init(&link->sent);
    strbuf_init(&link->why);
    enum status st = loop_timer_new(client->base.loop, on_timer, link, &link->timer);
    if (st == OK)
        loop_timer_set(link->timer, 0);
    return st;
}

void pg_link_release(struct pg_link *link)
{
    struct pg_job *job;
    if (!link->client)
        return;
    link->opening = pg_opening_free(link->opening);
    link->wire = pg_wire_free(link->wire);
    while ((job = queue_pop(&link->sent)) || (job = queue_pop(&link->waiting)))
        job->type->free(job);
    link->timer = loop_timer_free(link->timer);
    strbuf_release(&link->why);
}
