/* The streams of a connection: nghttp2's callbacks, handed on to the stream that they are about. */
#include <stdio.h>
#include <string.h>

#include "transport/h2_connection_internal.h"

static void link_stream(struct h2_connection *connection, struct h2_stream *stream)
{
    stream->connection = connection;
    stream->next = connection->streams;
    stream->link = &connection->streams;
    if (stream->next)
        stream->next->link = &stream->next;
    connection->streams = stream;
    connection->stream_count++;
}

void h2_stream_unlink(struct h2_stream *stream)
{
    *stream->link = stream->next;
    if (stream->next)
        stream->next->link = stream->link;
    stream->connection->stream_count--;
}

/* ---- nghttp2's callbacks ---- */

static struct h2_stream *stream_of(nghttp2_session *session, int32_t id)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    return stream && !stream->is_cancelled ? stream : NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                     void *context)
{
    (void)flags;
    (void)context;
    struct h2_stream *stream = stream_of(session, frame->hd.stream_id);
    if (stream)
        stream->events->header(stream, (const char *)name, name_length, (const char *)value,
                               value_length);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t length, void *context)
{
    (void)flags;
    (void)context;
    struct h2_stream *stream = stream_of(session, id);
    if (stream)
        stream->events->data(stream, bytes, length);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)session;
    struct h2_connection *connection = context;
    if (frame->hd.type == NGHTTP2_SETTINGS && !(frame->hd.flags & NGHTTP2_FLAG_ACK))
        h2_connection_became_ready(connection);
    else if (frame->hd.type == NGHTTP2_GOAWAY)
        h2_connection_got_goaway(connection);
    return 0;
}

static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (stream && (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) && ends)
        stream->is_sent = true;
    return 0;
}

static void finish(struct h2_stream *stream, enum h2_close how, const char *why)
{
    h2_stream_unlink(stream);
    if (stream->is_cancelled)
        stream->events->release(stream);
    else
        stream->events->closed(stream, how, why);
}

/* A request that nghttp2 never put on the wire: it was reset before, or the peer said GOAWAY.
 * on_stream_close comes next. */
static int on_frame_not_sent(nghttp2_session *session, const nghttp2_frame *frame, int error,
                             void *context)
{
    (void)error;
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (stream && frame->hd.type == NGHTTP2_HEADERS)
        stream->is_unsent = true;
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
    (void)context;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    char why[64];
    if (!stream)
        return 0;
    nghttp2_session_set_stream_user_data(session, id, NULL);
    snprintf(why, sizeof(why), "the stream was reset (%s)", nghttp2_http2_strerror(error));
    if (error == NGHTTP2_NO_ERROR && !stream->is_unsent)
        finish(stream, H2_CLOSE_END, "");
    else
        finish(stream,
               error == NGHTTP2_REFUSED_STREAM || stream->is_unsent ? H2_CLOSE_REFUSED
                                                                    : H2_CLOSE_BROKEN,
               why);
    return 0;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)source;
    (void)context;
    struct h2_stream *stream = stream_of(session, id);
    bool end = false;
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t length = stream->events->body(stream, to, room, &end);
    if (end)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (length == 0)
        return NGHTTP2_ERR_DEFERRED;
    return (ssize_t)length;
}

nghttp2_session *h2_session_new(struct h2_connection *connection)
{
    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    if (nghttp2_session_client_new(&session, callbacks, connection) != 0)
        session = NULL;
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

/* ---- the owner's side ---- */

enum status h2_stream_open(struct h2_connection *connection, struct h2_stream *stream,
                           const struct h2_stream_events *events, const nghttp2_nv *headers,
                           size_t count)
{
    nghttp2_data_provider body = {.read_callback = read_body};
    *stream = (struct h2_stream){.events = events};
    stream->id = nghttp2_submit_request(connection->session, NULL, headers, count, &body, stream);
    if (stream->id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE) {
        h2_connection_got_goaway(
            connection); /* as after a GOAWAY: another connection has to take over */
        loop_timer_set(connection->flush, 0);
    }
    if (stream->id < 0)
        return stream->id == NGHTTP2_ERR_NOMEM ? E_NOMEM : E_UNREACHABLE;
    link_stream(connection, stream);
    loop_timer_set(connection->flush, 0);
    return OK;
}

void h2_stream_resume(struct h2_stream *stream)
{
    nghttp2_session_resume_data(stream->connection->session, stream->id);
    loop_timer_set(stream->connection->flush, 0);
}

void h2_stream_reset(struct h2_stream *stream)
{
    nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id,
                              NGHTTP2_CANCEL);
    loop_timer_set(stream->connection->flush, 0);
}

void h2_stream_cancel(struct h2_stream *stream)
{
    stream->is_cancelled = true;
    h2_stream_reset(stream);
}
