/* The client's ends: connections and streams, as h2_connection.h and grpc_stream.h have them. */
#include <stdlib.h>

#include "net_internal.h"

/* ---- the end of a connection ---- */

void net_stream_free(struct grpc_stream *stream)
{
    if (stream->far) {
        stream->far->near = NULL;
        net_stream_release(stream->far);
    }
    TAILQ_REMOVE(&stream->connection->streams, stream, entry);
    free(stream);
}

void net_close_after(struct h2_connection *connection, const char *why, int64_t after_ms)
{
    if (connection->why)
        return;
    connection->why = why;
    task_at(connection->loop->stage, &connection->change,
            connection->loop->stage->now_ms + after_ms);
}

void net_close_if_drained(struct h2_connection *connection)
{
    if (connection->state == LINK_DRAINING && TAILQ_EMPTY(&connection->streams))
        net_close_after(connection, "drained", 0);
}

static void close_connection(struct h2_connection *connection, const char *why)
{
    struct grpc_end end = {E_UNKNOWN, GRPC_NO_CODE, why, false};
    for (struct grpc_stream *stream; (stream = TAILQ_FIRST(&connection->streams));) {
        stream->events->ended(stream->context, &end);
        net_stream_free(stream);
    }
}

static void on_change(struct task *task)
{
    struct h2_connection *connection =
        (struct h2_connection *)((char *)task - offsetof(struct h2_connection, change));
    if (!connection->why) {
        connection->state = LINK_READY;
        connection->events->ready(connection->context, connection);
        return;
    }
    connection->state = LINK_CLOSED;
    close_connection(connection, connection->why);
    connection->events->closed(connection->context, connection, connection->why);
}

/* It asks for a sign of life, and closes when there is none. */
static void on_ping(struct task *task)
{
    struct h2_connection *connection =
        (struct h2_connection *)((char *)task - offsetof(struct h2_connection, ping));
    if (net_link_cuts(connection->link) && connection->state != LINK_CONNECTING)
        net_close_after(connection, "no sign of life", 0);
}

void net_expect_ping(struct h2_connection *connection, int64_t after_ms)
{
    struct stage *stage = connection->loop->stage;
    if (!task_is_set(&connection->ping))
        task_at(stage, &connection->ping, stage->now_ms + after_ms);
}

/* ---- h2_connection.h ---- */

enum status h2_connection_new(struct loop *loop, const struct h2_address *address,
                              const struct h2_connection_events *events, void *context,
                              struct h2_connection **ret)
{
    if (loop->is_ghost)
        return E_IO;
    struct net *net = loop->net;
    struct h2_connection *connection = calloc(1, sizeof(*connection));
    struct net_link *link = calloc(1, sizeof(*link));
    if (!connection || !link)
        abort();
    *link = (struct net_link){.net = net,
                              .near = connection,
                              .machine = loop->number,
                              .member = address->port % 10,
                              .holders = 1};
    TAILQ_INIT(&link->up.messages);
    TAILQ_INIT(&link->down.messages);
    TAILQ_INIT(&link->streams);
    TAILQ_INSERT_TAIL(&net->links, link, entry);
    *connection = (struct h2_connection){.link = link,
                                         .loop = loop,
                                         .events = events,
                                         .context = context,
                                         .name = address->name,
                                         .timeout_ms = address->timeout_ms};
    TAILQ_INIT(&connection->streams);
    task_init(&connection->change, loop, on_change);
    task_init(&connection->ping, loop, on_ping);
    int64_t round_ms = 1 + stage_below(net->stage, 2 * net->latency_ms[loop->number] + 1);
    if (net->is_down[link->member])
        net_close_after(connection, "Connection refused", round_ms);
    else if (net_link_cuts(link))
        net_close_after(connection, "no connection within its time", address->timeout_ms);
    else
        task_at(net->stage, &connection->change, net->stage->now_ms + round_ms);
    *ret = connection;
    return OK;
}

struct h2_connection *h2_connection_free(struct h2_connection *connection)
{
    if (!connection)
        return NULL;
    struct stage *stage = connection->loop->stage;
    close_connection(connection, "closed");
    task_stop(stage, &connection->change);
    task_stop(stage, &connection->ping);
    if (connection->link->near)
        net_link_give_up(connection->link);
    net_link_release(connection->link);
    free(connection);
    return NULL;
}

bool h2_connection_is_ready(const struct h2_connection *connection)
{
    return connection && connection->state == LINK_READY && !connection->why;
}

bool h2_connection_is_tls(const struct h2_connection *connection)
{
    (void)connection;
    return false;
}

const char *h2_connection_name(const struct h2_connection *connection)
{
    return connection->name;
}

void h2_connection_drain(struct h2_connection *connection)
{
    if (connection->state == LINK_READY)
        connection->state = LINK_DRAINING;
    net_close_if_drained(connection);
}

void h2_connection_probe(struct h2_connection *connection)
{
    if (net_link_cuts(connection->link)) {
        task_stop(connection->loop->stage, &connection->ping);
        net_expect_ping(connection, PING_MS);
    }
}

/* ---- grpc_stream.h ---- */

enum status grpc_stream_open(struct h2_connection *connection, const struct grpc_request *request,
                             const struct grpc_stream_events *events, void *context,
                             struct grpc_stream **ret)
{
    struct net_link *link = connection->link;
    struct grpc_stream *stream = calloc(1, sizeof(*stream));
    struct net_stream *far = calloc(1, sizeof(*far));
    if (!stream || !far)
        abort();
    *far = (struct net_stream){.link = link,
                               .near = stream,
                               .path = request->path,
                               .member = link->member,
                               .is_long = !request->bytes,
                               .is_listed = !request->bytes && link->near,
                               .require_leader = request->require_leader,
                               .holders = 1};
    link->holders++;
    if (far->is_listed) {
        net_stream_hold(far);
        TAILQ_INSERT_TAIL(&link->streams, far, link_entry);
    }
    *stream = (struct grpc_stream){connection, far, events, context, {NULL, NULL}};
    TAILQ_INSERT_TAIL(&connection->streams, stream, entry);
    if (request->bytes)
        net_post(far, true, MESSAGE_DATA, request->bytes + GRPC_PREFIX,
                 request->length - GRPC_PREFIX, 0, "");
    *ret = stream;
    return OK;
}

enum status grpc_stream_send(struct grpc_stream *stream, const void *bytes, size_t length)
{
    net_post(stream->far, true, MESSAGE_DATA, bytes, length, 0, "");
    return OK;
}

void grpc_stream_cancel(struct grpc_stream *stream)
{
    struct h2_connection *connection = stream->connection;
    if (stream->far->is_long && connection->link->near && !connection->loop->is_ghost)
        net_post(stream->far, true, MESSAGE_CANCEL, NULL, 0, 0, "");
    net_stream_free(stream);
    net_close_if_drained(connection);
}

struct h2_connection *grpc_stream_connection(const struct grpc_stream *stream)
{
    return stream->connection;
}
