#include "transport/grpc_channel.h"

#include <stdlib.h>

#include "clock.h"

enum { RETURN_MS = 2000 }; /* how often a preferred endpoint is tried again */

/* One connection: coming, current, or leaving (neither: until its streams have ended). */
struct grpc_channel_link {
    struct grpc_channel *channel;
    struct h2_connection *connection;
    struct endpoint *endpoint;
    struct grpc_channel_link *next;
};

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void unlink_link(struct grpc_channel_link *link)
{
    struct grpc_channel *channel = link->channel;
    struct grpc_channel_link **at = &channel->links;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    if (channel->current == link)
        channel->current = NULL;
    if (channel->coming == link)
        channel->coming = NULL;
}

static void start(struct grpc_channel *channel);

static void on_ready(void *context, struct h2_connection *connection)
{
    (void)connection;
    struct grpc_channel_link *link = context;
    struct grpc_channel *channel = link->channel;
    struct grpc_channel_link *before = channel->current;
    channel->coming = NULL;
    channel->current = link;
    channel->is_wanted = false;
    if (before)
        h2_connection_drain(before->connection);
    if (link->endpoint != channel->config->endpoints->items)
        loop_timer_set(channel->timer, RETURN_MS);
    channel->ready(channel->context);
}

/* Streams on the connection may still end well. */
static void on_draining(void *context, struct h2_connection *connection)
{
    (void)connection;
    struct grpc_channel_link *link = context;
    struct grpc_channel *channel = link->channel;
    if (channel->current == link) {
        channel->current = NULL;
        channel->is_wanted = true;
        loop_timer_set(channel->timer, 0);
    }
}

static void on_closed(void *context, struct h2_connection *connection, const char *why)
{
    struct grpc_channel_link *link = context;
    struct grpc_channel *channel = link->channel;
    bool is_failure = channel->current == link || channel->coming == link;
    unlink_link(link);
    if (is_failure)
        endpoints_failed(channel->config->endpoints, link->endpoint, now_ms(), why);
    h2_connection_free(connection);
    free(link);
    if (channel->is_wanted)
        start(channel);
    else if (channel->current && is_failure)
        loop_timer_set(channel->timer, RETURN_MS);
}

static const struct h2_connection_events connection_events = {
    .ready = on_ready,
    .draining = on_draining,
    .closed = on_closed,
};

static enum status connect_to(struct grpc_channel *channel, struct endpoint *endpoint)
{
    const struct grpc_channel_config *config = channel->config;
    struct h2_address address = {
        .host = endpoint->host,
        .port = endpoint->port,
        .name = endpoint->name,
        .tls = endpoint->use_tls ? config->tls : NULL,
        .server_name = config->server_name ? config->server_name : endpoint->host,
        .names = config->names,
        .timeout_ms = config->connect_timeout_ms,
    };
    struct grpc_channel_link *link = calloc(1, sizeof(*link));
    if (!link)
        return E_NOMEM;
    link->channel = channel;
    link->endpoint = endpoint;
    link->next = channel->links;
    enum status st =
        h2_connection_new(config->loop, &address, &connection_events, link, &link->connection);
    if (st != OK) {
        free(link);
        return st;
    }
    channel->links = link;
    channel->coming = link;
    return OK;
}

/* Connects to the best endpoint, or sets the timer for when there is one to try. */
static void start(struct grpc_channel *channel)
{
    int64_t now = now_ms(), at_ms;
    if (channel->coming ||
        (channel->current && h2_connection_is_ready(channel->current->connection)))
        return;
    struct endpoint *endpoint = endpoints_pick(channel->config->endpoints, now, &at_ms);
    if (!endpoint)
        loop_timer_set(channel->timer, at_ms - now);
    else if (connect_to(channel, endpoint) != OK)
        loop_timer_set(channel->timer, RETURN_MS);
}

static void on_timer(void *context)
{
    struct grpc_channel *channel = context;
    struct endpoints *endpoints = channel->config->endpoints;
    if (!channel->current) {
        if (channel->is_wanted)
            start(channel);
        return;
    }
    if (channel->coming || channel->current->endpoint == endpoints->items)
        return;
    struct endpoint *better = endpoints_better(endpoints, channel->current->endpoint, now_ms());
    if (!better || connect_to(channel, better) != OK)
        loop_timer_set(channel->timer, RETURN_MS);
}

enum status grpc_channel_init(struct grpc_channel *channel,
                              const struct grpc_channel_config *config,
                              void (*ready)(void *context), void *context)
{
    *channel = (struct grpc_channel){.config = config, .ready = ready, .context = context};
    return loop_timer_new(config->loop, on_timer, channel, &channel->timer);
}

void grpc_channel_release(struct grpc_channel *channel)
{
    struct grpc_channel_link *link;
    channel->current = channel->coming = NULL;
    while ((link = channel->links)) {
        channel->links = link->next;
        h2_connection_free(link->connection);
        free(link);
    }
    channel->timer = loop_timer_free(channel->timer);
}

struct h2_connection *grpc_channel_get(struct grpc_channel *channel)
{
    if (channel->current && h2_connection_is_ready(channel->current->connection))
        return channel->current->connection;
    channel->is_wanted = true;
    if (!channel->current) /* else the connection is about to close, and on_closed goes on */
        start(channel);
    return NULL;
}

void grpc_channel_avoid(struct grpc_channel *channel, const struct h2_connection *connection,
                        const char *why)
{
    struct grpc_channel_link *link = channel->current;
    if (!link || link->connection != connection)
        return;
    endpoints_failed(channel->config->endpoints, link->endpoint, now_ms(), why);
    channel->current = NULL;
    h2_connection_drain(link->connection);
}

void grpc_channel_turn(struct grpc_channel *channel, const char *why)
{
    if (channel->current)
        grpc_channel_avoid(channel, channel->current->connection, why);
}

void grpc_channel_worked(struct grpc_channel *channel, const struct h2_connection *connection)
{
    struct grpc_channel_link *link = channel->current;
    if (link && link->connection == connection && link->endpoint->failures)
        endpoints_worked(link->endpoint);
}
