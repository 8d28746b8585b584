/* How many replicas are connected, asked once a second: one that comes while a connection is open
 * may be promoted, too, so what is answered from then on waits for it. One that goes is waited for
 * as long as the server lives: it may be promoted, and lack what was answered without it. The first
 * replica of a master makes it begin another history, by whose name connections know each other:
 * all are opened anew then.
 *
 * Each connection goes by what it was told itself: the other may be closed, or being opened, while
 * a replica comes. The feed asks with a reading; for calls it is done here. */
#include <stddef.h>

#include "redis_internal.h"

static struct redis_client *client_of(struct redis_job *job)
{
    return (struct redis_client *)((char *)job - offsetof(struct redis_client, count_job));
}

void redis_replicas_take(struct redis_link *link, const struct redisReply *reply)
{
    struct kv_bytes info;
    if (!redis_read_bytes(reply, &info))
        return;
    int replicas = redis_info_replicas(info.data, info.length);
    if (link->facts.replicas < replicas)
        link->facts.replicas = replicas;
    if (!redis_info_has_moved(&link->facts.server, info.data, info.length))
        return;
    if (link->is_for_calls)
        redis_links_lose(link->client, "it has begun another history");
    else
        redis_link_lose(link, "it has begun another history"); /* calls find out themselves */
}

/* ---- for calls ---- */

static void count_over(struct redis_job *job, bool is_lost)
{
    struct redis_client *client = client_of(job);
    client->is_counting = false;
    if (!is_lost)
        redis_replicas_take(&client->calls, job->reply);
    redis_job_drop_reply(job);
    loop_timer_set(client->count_timer, REDIS_COUNT_MS);
}

static void count_free(struct redis_job *job)
{
    (void)job; /* it is the client's */
}

static const struct redis_job_type count_type = {.over = count_over, .free = count_free};

static void on_timer(void *context)
{
    struct redis_client *client = context;
    if (!client->calls.wire || client->is_counting)
        return;
    client->is_counting = true;
    client->count_job = (struct redis_job){.type = &count_type, .command.script = REDIS_NO_SCRIPT};
    redis_adds(&client->count_job.command, "INFO");
    redis_adds(&client->count_job.command, "replication");
    redis_link_submit(&client->calls, &client->count_job);
}

void redis_replicas_opened(struct redis_client *client)
{
    if (client->place.replicas == REDIS_REPLICAS_SEEN)
        loop_timer_set(client->count_timer, REDIS_COUNT_MS);
}

enum status redis_replicas_init(struct redis_client *client)
{
    return loop_timer_new(client->base.loop, on_timer, client, &client->count_timer);
}

void redis_replicas_release(struct redis_client *client)
{
    client->count_timer = loop_timer_free(client->count_timer);
}
