/* Leases: a renewal raises the counter of its lease, without a revision. Every client looks at all
 * counters several times a second, and ends the lease whose counter has not moved for its TTL. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "redis_internal.h"

enum { LOOK_MS = 250 };

static void free_job(struct redis_job *job)
{
    free(job);
}

/* ---- our own ---- */

struct beat {
    struct redis_job job; /* first */
    struct redis_client *client;
    int64_t id;
    char id_text[24];
};

static void beat_over(struct redis_job *job, bool is_lost)
{
    struct beat *beat = (struct beat *)job;
    int64_t ttl_ms;
    if (!is_lost && job->reply->type != REDIS_REPLY_ERROR &&
        redis_read_number(redis_at(job->reply, 1), &ttl_ms))
        kv_lease_renewed(&beat->client->base, beat->id, ttl_ms);
    else
        kv_leases_broken(&beat->client->base); /* so that they are renewed again */
    redis_job_drop_reply(job);
    free(job);
}

static const struct redis_job_type beat_type = {.over = beat_over, .free = free_job};

bool redis_lease_renew(struct kv_client *base, int64_t id)
{
    struct redis_client *client = (struct redis_client *)base;
    struct beat *beat = client->calls.wire ? calloc(1, sizeof(*beat)) : NULL;
    if (!beat)
        return false;
    beat->job = (struct redis_job){.type = &beat_type, .command.script = REDIS_MAY_NOT_GROW};
    beat->client = client;
    beat->id = id;
    snprintf(beat->id_text, sizeof(beat->id_text), "%" PRId64, id);
    redis_adds(&beat->job.command, "beat");
    redis_adds(&beat->job.command, beat->id_text);
    redis_link_submit(&client->calls, &beat->job);
    return true;
}

void redis_leases_want(struct kv_client *client, bool are_any)
{
    (void)client;
    (void)are_any; /* the connection is there in any case */
}

void redis_leases_doubt(struct kv_client *client)
{
    (void)client; /* the link has a deadline of its own */
}

/* ---- those of others ---- */

struct end {
    struct redis_job job; /* first */
    char id[24], beats[24], tag[24];
};

static void end_over(struct redis_job *job, bool is_lost)
{
    (void)is_lost; /* with the next look */
    redis_job_drop_reply(job);
    free(job);
}

static const struct redis_job_type end_type = {.over = end_over, .free = free_job};

/* Unless it has beaten since: the counter is compared. */
void redis_lease_end(struct redis_client *client, const struct kv_observed *lease)
{
    struct end *end = calloc(1, sizeof(*end));
    if (!end)
        return; /* with the next look */
    end->job = (struct redis_job){.type = &end_type, .command.script = REDIS_MAY_NOT_GROW};
    snprintf(end->id, sizeof(end->id), "%" PRId64, lease->id);
    snprintf(end->beats, sizeof(end->beats), "%" PRId64, lease->beats);
    snprintf(end->tag, sizeof(end->tag), "%" PRId64, kv_random());
    redis_adds(&end->job.command, "revoke");
    redis_adds(&end->job.command, end->id);
    redis_adds(&end->job.command, end->beats);
    redis_adds(&end->job.command, end->tag);
    redis_link_submit(&client->calls, &end->job);
}

static void end_lease(void *context, const struct kv_observed *lease)
{
    redis_lease_end(context, lease);
}

enum { LEASE_WIDTH = 4 }; /* id, TTL, beats, age */

int64_t redis_lease_age_ms(const struct redisReply *reply, int64_t id)
{
    const struct redisReply *list = redis_at(reply, 1);
    int64_t one, age_ms;
    for (size_t i = 0; list && i + LEASE_WIDTH <= list->elements; i += LEASE_WIDTH)
        if (redis_read_number(list->element[i], &one) && one == id)
            return redis_read_number(list->element[i + 3], &age_ms) ? age_ms : 0;
    return 0;
}

bool redis_leases_saw(struct redis_client *client, const struct redisReply *reply)
{
    const struct redisReply *list = redis_at(reply, 1);
    int64_t now_ms = kv_now_ms(), id, ttl_ms, beats;
    if (!list || list->type != REDIS_REPLY_ARRAY || list->elements % LEASE_WIDTH != 0)
        return false;
    kv_observer_begin(&client->observer);
    for (size_t i = 0; i < list->elements; i += LEASE_WIDTH)
        if (!redis_read_number(list->element[i], &id) ||
            !redis_read_number(list->element[i + 1], &ttl_ms) ||
            !redis_read_number(list->element[i + 2], &beats) ||
            kv_observer_saw(&client->observer, id, ttl_ms, beats, now_ms) != OK)
            return false;
    kv_observer_end(&client->observer);
    return true;
}

static struct redis_client *looker(struct redis_job *job)
{
    return (struct redis_client *)((char *)job - offsetof(struct redis_client, look_job));
}

static void look_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client = looker(job);
    struct redis_head head;
    client->is_looking = false;
    if (is_lost)
        kv_observer_forget(&client->observer); /* what was seen before does not count */
    else if (job->reply->type == REDIS_REPLY_ERROR ||
             !redis_read_head(redis_at(job->reply, 0), &head) ||
             head.incarnation != client->calls.facts.head.incarnation ||
             !redis_leases_saw(client, job->reply))
        redis_link_lose(&client->calls, "its leases can't be read");
    else {
        redis_learn(client, &head);
        kv_observer_each_over(&client->observer, kv_now_ms(), end_lease, client);
    }
    redis_job_drop_reply(job);
    loop_timer_set(client->look_timer, LOOK_MS);
}

static void look_free(struct redis_job *job)
{
    (void)job;
}

static const struct redis_job_type look_type = {.over = look_over, .free = look_free};

static void on_timer(void *context)
{
    struct redis_client *client = context;
    if (!client->calls.wire || client->is_looking)
        return;
    client->is_looking = true;
    client->look_job = (struct redis_job){.type = &look_type, .command.script = REDIS_MAY_NOT_GROW};
    redis_adds(&client->look_job.command, "look");
    redis_link_submit(&client->calls, &client->look_job);
}

void redis_leases_opened(struct redis_client *client)
{
    kv_observer_forget(&client->observer);
    on_timer(client);
    kv_leases_opened(&client->base);
}

void redis_leases_broken(struct redis_client *client)
{
    kv_observer_forget(&client->observer);
    kv_leases_broken(&client->base);
}

enum status redis_leases_init(struct redis_client *client)
{
    kv_observer_init(&client->observer);
    return loop_timer_new(client->base.loop, on_timer, client, &client->look_timer);
}

void redis_leases_release(struct redis_client *client)
{
    client->look_timer = loop_timer_free(client->look_timer);
    kv_observer_release(&client->observer);
}
