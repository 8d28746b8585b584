#include "transport/long_stream.h"

#include <stdlib.h>

enum {
    PAUSE_FIRST_MS = 20,
    PAUSE_MAX_MS = 250,
};

static void pause_stream(struct long_stream *stream)
{
    int64_t pause_ms = PAUSE_FIRST_MS;
    for (int i = 0; i < stream->failures && pause_ms < PAUSE_MAX_MS; i++)
        pause_ms *= 2;
    stream->failures++;
    stream->is_pausing = true;
    loop_timer_set(stream->timer, pause_ms);
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct long_stream *stream = context;
    stream->failures = 0;
    grpc_channel_worked(&stream->client->streams, grpc_stream_connection(stream->stream));
    return stream->events->message(stream->context, bytes, length);
}

static void on_ended(void *context, const struct grpc_end *end)
{
    struct long_stream *stream = context;
    struct etcd_client *client = stream->client;
    const struct h2_connection *connection = grpc_stream_connection(stream->stream);
    stream->stream = NULL;
    if (etcd_auth_is_stale(client, end->code, end->message))
        etcd_auth_forget(client);
    else if (end->code == GRPC_UNAVAILABLE) /* this member has no leader, or is going down */
        grpc_channel_avoid(&client->streams, connection, end->message);
    pause_stream(stream);
    stream->events->broken(stream->context,
                           end->status == OK ? "the server ended the stream" : end->message);
}

static const struct grpc_stream_events stream_events = {.message = on_message, .ended = on_ended};

static void open_stream(struct long_stream *stream, struct h2_connection *connection)
{
    struct grpc_request request = {
        .path = stream->path,
        .token = stream->client->auth.token,
        .require_leader = true,
    };
    if (grpc_stream_open(connection, &request, &stream_events, stream, &stream->stream) == OK)
        stream->events->opened(stream->context);
    else
        pause_stream(stream);
}

void long_stream_flush(struct long_stream *stream)
{
    if (!stream->is_wanted || stream->is_pausing)
        return;
    struct h2_connection *connection = grpc_channel_get(&stream->client->streams);
    if (!connection || !etcd_auth_ready(stream->client))
        return;
    if (stream->stream && grpc_stream_connection(stream->stream) == connection)
        return;
    if (stream->stream) {
        grpc_stream_cancel(stream->stream);
        stream->stream = NULL;
        stream->events->broken(stream->context, "moved to another connection");
    }
    if (stream->is_wanted) /* still, after what `broken` did */
        open_stream(stream, connection);
}

static void close_stream(struct long_stream *stream)
{
    if (stream->stream)
        grpc_stream_cancel(stream->stream);
    stream->stream = NULL;
}

static void on_timer(void *context)
{
    struct long_stream *stream = context;
    stream->is_pausing = false;
    if (stream->is_short) {
        stream->is_short = false;
        long_stream_restart(stream);
        stream->events->broken(stream->context, "out of memory");
        return;
    }
    long_stream_flush(stream);
}

enum status long_stream_init(struct long_stream *stream, struct etcd_client *client,
                             const char *path, const struct long_stream_events *events,
                             void *context)
{
    *stream = (struct long_stream){
        .client = client,
        .path = path,
        .events = events,
        .context = context,
    };
    return loop_timer_new(client->base.loop, on_timer, stream, &stream->timer);
}

void long_stream_release(struct long_stream *stream)
{
    close_stream(stream);
    stream->timer = loop_timer_free(stream->timer);
}

void long_stream_want(struct long_stream *stream, bool is_wanted)
{
    if (stream->is_wanted == is_wanted)
        return;
    stream->is_wanted = is_wanted;
    if (!is_wanted)
        close_stream(stream);
    else if (!stream->is_pausing)
        loop_timer_set(stream->timer, 0);
}

void long_stream_restart(struct long_stream *stream)
{
    close_stream(stream);
    pause_stream(stream);
}

bool long_stream_send(struct long_stream *stream, const ProtobufCMessage *message)
{
    size_t length = protobuf_c_message_get_packed_size(message);
    uint8_t small[512];
    uint8_t *bytes = length <= sizeof(small) ? small : malloc(length);
    if (!stream->stream || !bytes)
        goto out;
    protobuf_c_message_pack(message, bytes);
    if (grpc_stream_send(stream->stream, bytes, length) != OK) {
        stream->is_short = true; /* of memory: start again, as if the stream had broken */
        loop_timer_set(stream->timer, 0);
    }
out:
    if (bytes != small)
        free(bytes);
    return stream->stream != NULL;
}

void long_stream_probe(struct long_stream *stream)
{
    if (stream->stream)
        h2_connection_probe(grpc_stream_connection(stream->stream));
}
