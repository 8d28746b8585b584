/* One connection on the loop. Jobs are sent in a pipeline, each with a Sync of its own, so that
 * each is a transaction of its own; results come in their order.
 *
 *     closed -> opening (a thread) -> open -> closed ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pg_internal.h"

enum {
    RETRY_FIRST_MS = 20,
    RETRY_LAST_MS = 1000,
    SILENT_MS = 5000, /* jobs are under way, and nothing comes: the server is gone, or frozen */
};

static void open_now(void *context);
static void flush(struct pg_link *link);

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

static void finish(struct pg_job *job, bool is_lost)
{
    if (job->is_dropped)
        job->type->free(job);
    else
        job->type->over(job, is_lost);
}

/* ---- closing ---- */

static void close_conn(struct pg_link *link)
{
    struct pg_queue sent = link->sent;
    struct pg_job *job;
    bool was_open = link->conn != NULL;
    link->fd = loop_fd_free(link->fd);
    PQfinish(link->conn);
    link->conn = NULL;
    if (!sent.first)
        sent.end = &sent.first;
    queue_init(&link->sent);
    if (was_open && link->role == PG_STREAM) {
        pg_leases_broken(link->client);
        pg_feed_broken(link->client, link->why.length ? link->why.text : "the connection is lost");
    }
    while ((job = queue_pop(&sent)))
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
    if (!link->conn)
        return;
    strbuf_reset(&link->why);
    pg_explain(&link->client->address, why, &link->why);
    link->status = E_UNREACHABLE;
    close_conn(link);
    retry_later(link);
}

/* ---- sending ---- */

static bool send_job(struct pg_link *link, struct pg_job *job)
{
    static const int formats[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct pg_params *params = job->params;
    return PQsendQueryPrepared(link->conn, pg_statement_name(job->statement), params->count,
                               params->values, params->lengths, formats, 1) &&
           PQpipelineSync(link->conn);
}

static void want(struct pg_link *link)
{
    int unsent = PQflush(link->conn);
    if (unsent < 0)
        pg_link_lose(link, PQerrorMessage(link->conn));
    else
        loop_fd_want(link->fd, LOOP_READ | (unsent ? LOOP_WRITE : 0));
}

static void flush(struct pg_link *link)
{
    struct pg_job *job;
    if (!link->conn || !link->waiting.first)
        return;
    if (!link->sent.first) {
        link->heard_ms = kv_now_ms();
        loop_timer_set(link->timer, SILENT_MS);
    }
    while (link->conn && (job = queue_pop(&link->waiting))) {
        queue_push(&link->sent, job);
        if (!send_job(link, job)) {
            pg_link_lose(link, PQerrorMessage(link->conn));
            return;
        }
    }
    want(link);
}

void pg_link_submit(struct pg_link *link, struct pg_job *job)
{
    job->is_dropped = false;
    queue_push(&link->waiting, job);
    if (link->conn && !link->is_working)
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

/* Nobody waits for this answer any more, but the next request would meet the same lock. */
static void take_unwanted(struct pg_link *link, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    enum status st;
    if (state && pg_judge(state, &st) == PG_BLOCKED)
        pg_unblock(link->client);
}

/* Takes in all that has come; false: the connection is lost. */
static bool read_results(struct pg_link *link)
{
    while (link->conn && link->sent.first && !PQisBusy(link->conn)) {
        PGresult *result = PQgetResult(link->conn);
        struct pg_job *job = link->sent.first;
        if (!result) {
            if (PQstatus(link->conn) == CONNECTION_BAD)
                return false;
            continue; /* the end of a statement's results */
        }
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_PIPELINE_SYNC)
            finish(queue_pop(&link->sent), false);
        else if (job->is_dropped)
            take_unwanted(link, result);
        else if (status != PGRES_PIPELINE_ABORTED && job->type->result(job, result))
            result = NULL;
        PQclear(result);
    }
    return link->conn != NULL;
}

static void take_notifies(struct pg_link *link)
{
    PGnotify *notify;
    bool is_any = false;
    while (link->conn && (notify = PQnotifies(link->conn))) {
        is_any = true;
        PQfreemem(notify);
    }
    if (is_any)
        pg_feed_read(link->client);
}

static void on_ready(void *context, unsigned events)
{
    struct pg_link *link = context;
    (void)events;
    if (!PQconsumeInput(link->conn)) {
        pg_link_lose(link, PQerrorMessage(link->conn));
        return;
    }
    link->heard_ms = kv_now_ms();
    link->is_working = true;
    bool is_there = read_results(link);
    link->is_working = false;
    if (!is_there) {
        if (link->conn)
            pg_link_lose(link, PQerrorMessage(link->conn));
        return;
    }
    if (link->must_close) {
        link->must_close = false;
        pg_link_lose(link, "the server ended the session");
        return;
    }
    take_notifies(link);
    if (!link->conn)
        return;
    flush(link);
    if (link->conn)
        want(link);
}

/* ---- opening ---- */

static void take_memory(const struct pg_link *link, struct pg_memory *ret)
{
    const struct pg_client *client = link->client;
    const struct table *leases = &client->base.leases;
    const int64_t *id;
    *ret = (struct pg_memory){.mark = client->base.mark,
                              .old_backend_pid = link->facts.backend_pid,
                              .client_id = client->client_id};
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
    if (client->base.mark.incarnation != link->facts.incarnation) /* what was seen is no more */
        client->base.mark = (struct kv_mark){.incarnation = link->facts.incarnation};
    if (loop_fd_new(client->base.loop, PQsocket(link->conn), on_ready, link, &link->fd) != OK) {
        pg_link_lose(link, "out of memory");
        return;
    }
    loop_fd_want(link->fd, LOOP_READ);
    if (link->role == PG_STREAM) {
        pg_leases_opened(client);
        pg_feed_opened(client);
    }
    flush(link);
}

static void on_opened(void *context, unsigned events)
{
    struct pg_link *link = context;
    struct pg_client *client = link->client;
    struct pg_facts facts = link->facts;
    (void)events;
    link->opening_fd = loop_fd_free(link->opening_fd);
    link->status = pg_opening_take(link->opening, &link->conn, &facts, &link->why);
    link->opening = pg_opening_free(link->opening);
    if (link->status == OK) {
        link->facts = facts;
        opened(link);
        return;
    }
    retry_later(link);
    kv_client_is_away(&client->base, link->why.text ? link->why.text : "");
    if (link->status == E_INVALID || link->status == E_VERSION)
        kv_requests_refuse(&client->requests, link->status, link->why.text ? link->why.text : "");
}

static void open_now(void *context)
{
    struct pg_link *link = context;
    struct pg_memory memory;
    int fd = -1;
    if (link->conn || link->opening)
        return;
    take_memory(link, &memory);
    if (pg_opening_new(&link->client->address, link->role, &memory, &link->opening, &fd) != OK) {
        retry_later(link);
        return;
    }
    if (loop_fd_new(link->client->base.loop, fd, on_opened, link, &link->opening_fd) != OK) {
        link->opening = pg_opening_free(link->opening);
        retry_later(link);
        return;
    }
    loop_fd_want(link->opening_fd, LOOP_READ);
}

/* The next attempt to open it; of one that is open, a look whether the server still answers. */
static void on_timer(void *context)
{
    struct pg_link *link = context;
    if (!link->conn) {
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
    link->opening_fd = loop_fd_free(link->opening_fd);
    link->opening = pg_opening_free(link->opening);
    link->fd = loop_fd_free(link->fd);
    PQfinish(link->conn);
    link->conn = NULL;
    while ((job = queue_pop(&link->sent)) || (job = queue_pop(&link->waiting)))
        job->type->free(job);
    link->timer = loop_timer_free(link->timer);
    strbuf_release(&link->why);
}
