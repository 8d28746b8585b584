/* Asks a Sentinel who is the master, again and again, for a frozen master says nothing of another
 * one. When the answer changes, both connections go to the new master.
 *
 *     connecting -> asked -> pause -> asked ...
 *         ^-- the next Sentinel, if this one does not answer in time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_internal.h"

enum {
    ANSWER_MS = 1000,
    POLL_MS = 100,   /* between questions */
    PAUSE_MS = 100,  /* before the next Sentinel is turned to */
    DOUBT_MS = 1000, /* that one is given before another one is asked about the master */
};

static struct redis_sentinel *sentinel_of(struct redis_client *client)
{
    return &client->sentinel;
}

static void blame(struct redis_client *client, const char *why)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    const struct redis_host *host = &client->place.hosts[sentinel->at];
    strbuf_reset(&sentinel->why);
    strbuf_addf(&sentinel->why, "Sentinel at %.120s:%d: %.200s", host->host, host->port, why);
}

static void turn_to_next(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    sentinel->wire = redis_wire_free(sentinel->wire);
    sentinel->is_asked = false;
    sentinel->at = (sentinel->at + 1) % client->place.host_count;
    sentinel->changed_ms = kv_now_ms();
    loop_timer_set(sentinel->timer, PAUSE_MS);
}

/* ---- questions and answers ---- */

static bool say(struct redis_client *client, const char *const words[], int count)
{
    struct redis_command command = {.script = REDIS_NO_SCRIPT};
    for (int i = 0; i < count; i++)
        redis_adds(&command, words[i]);
    return redis_send(sentinel_of(client)->wire, NULL, &command) == OK;
}

static void ask(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    sentinel->is_asked = say(
        client, (const char *[]){"SENTINEL", "get-master-addr-by-name", client->place.master}, 3);
    loop_timer_set(sentinel->timer, ANSWER_MS);
}

static void learn(struct redis_client *client, const char *host, int port)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    char why[320];
    if (port == sentinel->port && strcmp(host, sentinel->host) == 0)
        return;
    snprintf(sentinel->host, sizeof(sentinel->host), "%s", host);
    sentinel->port = port;
    snprintf(why, sizeof(why), "the master is at %.255s:%d now", host, port);
    redis_link_move(&client->calls, why);
    redis_link_move(&client->stream, why);
}

/* {host, port}, or nothing: it has no such master. */
static void take(struct redis_client *client, const struct redisReply *reply)
{
    struct kv_bytes host;
    int64_t port;
    if (reply->type == REDIS_REPLY_ERROR)
        blame(client, reply->str);
    else if (redis_read_bytes(redis_at(reply, 0), &host) && host.length && host.length < 256 &&
             redis_read_number(redis_at(reply, 1), &port) && port > 0 && port < 65536)
        learn(client, host.data, (int)port);
    else
        blame(client, "it watches no master of that name");
}

static void on_opened(void *context)
{
    struct redis_client *client = context;
    sentinel_of(client)->skip = 0;
    if (client->password) { /* many Sentinels have none, and say so */
        (void)say(client, (const char *[]){"AUTH", client->password}, 2);
        sentinel_of(client)->skip = 1;
    }
    ask(client);
}

static void on_reply(void *context, struct redisReply *reply)
{
    struct redis_client *client = context;
    struct redis_sentinel *sentinel = sentinel_of(client);
    if (sentinel->skip) {
        sentinel->skip--;
    } else {
        sentinel->is_asked = false;
        take(client, reply);
        loop_timer_set(sentinel->timer, POLL_MS);
    }
    freeReplyObject(reply);
}

static void on_paused(void *context)
{
    (void)context;
}

static void on_closed(void *context, const char *why)
{
    blame(context, why);
    turn_to_next(context);
}

static const struct redis_wire_events wire_events = {
    .opened = on_opened, .reply = on_reply, .paused = on_paused, .closed = on_closed};

/* ---- the connection ---- */

static void connect_to(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    const struct redis_host *host = &client->place.hosts[sentinel->at];
    const struct redis_address address = {
        .host = host->host, .port = host->port, .tls = client->tls, .names = client->names};
    if (redis_wire_new(client->base.loop, &address, &wire_events, client, &sentinel->wire) != OK)
        sentinel->wire = NULL; /* with the timer */
    loop_timer_set(sentinel->timer, ANSWER_MS);
}

static void on_timer(void *context)
{
    struct redis_client *client = context;
    struct redis_sentinel *sentinel = sentinel_of(client);
    bool is_connected = sentinel->wire && redis_wire_is_open(sentinel->wire);
    if (!sentinel->wire) {
        connect_to(client);
    } else if (is_connected && !sentinel->is_asked) {
        ask(client);
    } else {
        blame(client, "it does not answer");
        turn_to_next(client);
    }
}

/* One that was cut off with a former master goes on naming that. */
void redis_sentinel_doubt(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    if (client->place.is_sentinel && client->place.host_count > 1 && sentinel->wire &&
        kv_now_ms() - sentinel->changed_ms >= DOUBT_MS)
        turn_to_next(client);
}

const struct redis_host *redis_master(struct redis_client *client, struct redis_host *ret)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    if (!client->place.is_sentinel)
        return &client->place.hosts[0];
    *ret = (struct redis_host){sentinel->host, sentinel->port};
    return sentinel->port ? ret : NULL;
}

enum status redis_sentinel_init(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    strbuf_init(&sentinel->why);
    strbuf_adds(&sentinel->why, "no Sentinel has answered yet");
    if (!client->place.is_sentinel)
        return OK;
    enum status st = loop_timer_new(client->base.loop, on_timer, client, &sentinel->timer);
    if (st == OK)
        loop_timer_set(sentinel->timer, 0);
    return st;
}

void redis_sentinel_release(struct redis_client *client)
{
    struct redis_sentinel *sentinel = sentinel_of(client);
    sentinel->wire = redis_wire_free(sentinel->wire);
    sentinel->timer = loop_timer_free(sentinel->timer);
    strbuf_release(&sentinel->why);
}
