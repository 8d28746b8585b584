#include "transport/grpc_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

struct grpc_stream {
    struct h2_stream h2; /* first: the callbacks of h2_stream get this address */
    const struct grpc_stream_events *events;
    void *context;
    const uint8_t *request; /* of a single request; borrowed */
    size_t request_length, request_sent;
    bool is_long;      /* many messages */
    struct strbuf out; /* of a long stream: bytes still to be sent */
    struct grpc_deframer deframer;
    enum status broken; /* not OK: the answer could not be read; deframer.error says why */
    int http_status;
    int code;
    char message[GRPC_TEXT];
};

static struct grpc_stream *grpc_of(struct h2_stream *stream)
{
    return (struct grpc_stream *)(void *)stream;
}

static void on_release(struct h2_stream *h2)
{
    struct grpc_stream *stream = grpc_of(h2);
    grpc_deframer_release(&stream->deframer);
    strbuf_release(&stream->out);
    free(stream);
}

static bool is_name(const char *name, size_t length, const char *want)
{
    return strlen(want) == length && memcmp(name, want, length) == 0;
}

/* Headers and trailers are handled alike; an error without a message has its trailers first. */
static void on_header(struct h2_stream *h2, const char *name, size_t name_length, const char *value,
                      size_t value_length)
{
    struct grpc_stream *stream = grpc_of(h2);
    if (is_name(name, name_length, ":status"))
        stream->http_status = grpc_code_parse(value, value_length);
    else if (is_name(name, name_length, "grpc-status"))
        stream->code = grpc_code_parse(value, value_length);
    else if (is_name(name, name_length, "grpc-message"))
        grpc_text_decode(value, value_length, stream->message);
}

/* Several messages may come at once, and the owner may cancel the stream at the first. */
static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct grpc_stream *stream = context;
    if (stream->h2.is_cancelled)
        return OK;
    return stream->events->message(stream->context, bytes, length);
}

static void on_data(struct h2_stream *h2, const uint8_t *bytes, size_t length)
{
    struct grpc_stream *stream = grpc_of(h2);
    if (stream->broken != OK || stream->http_status != 200)
        return;
    stream->broken = grpc_deframe(&stream->deframer, bytes, length, on_message, stream);
    if (stream->broken != OK && !stream->h2.is_cancelled)
        h2_stream_reset(&stream->h2);
}

static size_t on_body(struct h2_stream *h2, uint8_t *to, size_t room, bool *end)
{
    struct grpc_stream *stream = grpc_of(h2);
    if (stream->is_long) {
        size_t length = stream->out.length < room ? stream->out.length : room;
        memcpy(to, stream->out.text, length);
        memmove(stream->out.text, stream->out.text + length, stream->out.length - length);
        strbuf_truncate(&stream->out, stream->out.length - length);
        return length;
    }
    size_t left = stream->request_length - stream->request_sent;
    size_t length = left < room ? left : room;
    memcpy(to, stream->request + stream->request_sent, length);
    stream->request_sent += length;
    *end = stream->request_sent == stream->request_length;
    return length;
}

/* How the stream ended; the server's own status has precedence. */
static struct grpc_end judge(struct grpc_stream *stream, enum h2_close how, const char *why)
{
    if (stream->broken != OK)
        return (struct grpc_end){
            .status = stream->broken,
            .code = GRPC_NO_CODE,
            .message = stream->deframer.error ? stream->deframer.error : "unreadable message",
        };
    if (stream->code != GRPC_NO_CODE) {
        enum status st = grpc_status(stream->code, stream->message);
        return (struct grpc_end){st, stream->code, stream->message, st == E_UNREACHABLE};
    }
    if (how == H2_CLOSE_REFUSED)
        return (struct grpc_end){E_UNREACHABLE, GRPC_NO_CODE, why, true};
    if (how == H2_CLOSE_BROKEN)
        return (struct grpc_end){E_UNKNOWN, GRPC_NO_CODE, why, false};
    if (stream->http_status != 200)
        snprintf(stream->message, sizeof(stream->message), "HTTP status %d", stream->http_status);
    else
        snprintf(stream->message, sizeof(stream->message), "the answer has no status");
    return (struct grpc_end){E_UNKNOWN, GRPC_NO_CODE, stream->message, false};
}

static void on_closed(struct h2_stream *h2, enum h2_close how, const char *why)
{
    struct grpc_stream *stream = grpc_of(h2);
    if (stream->broken == OK && stream->code == GRPC_OK)
        stream->broken = grpc_deframe_end(&stream->deframer);
    struct grpc_end end = judge(stream, how, why);
    stream->events->ended(stream->context, &end);
    on_release(h2);
}

static const struct h2_stream_events h2_events = {
    .header = on_header,
    .data = on_data,
    .body = on_body,
    .closed = on_closed,
    .release = on_release,
};

/* ---- the request ---- */

static nghttp2_nv header(const char *name, const char *value, uint8_t flags)
{
    return (nghttp2_nv){
        .name = (uint8_t *)name,
        .namelen = strlen(name),
        .value = (uint8_t *)value,
        .valuelen = strlen(value),
        .flags = flags,
    };
}

static enum status submit(struct h2_connection *connection, struct grpc_stream *stream,
                          const struct grpc_request *request)
{
    nghttp2_nv headers[10];
    char timeout[32];
    size_t count = 0;
    headers[count++] = header(":method", "POST", 0);
    headers[count++] = header(":scheme", h2_connection_is_tls(connection) ? "https" : "http", 0);
    headers[count++] = header(":path", request->path, 0);
    headers[count++] = header(":authority", h2_connection_name(connection), 0);
    headers[count++] = header("content-type", "application/grpc", 0);
    headers[count++] = header("te", "trailers", 0);
    if (request->require_leader)
        headers[count++] = header("hasleader", "true", 0);
    if (request->token)
        headers[count++] = header("token", request->token, 0);
    if (request->timeout_ms > 0) { /* differs every time: not worth a place in HPACK's table */
        snprintf(timeout, sizeof(timeout), "%lldm", (long long)request->timeout_ms);
        headers[count++] = header("grpc-timeout", timeout, NGHTTP2_NV_FLAG_NO_INDEX);
    }
    return h2_stream_open(connection, &stream->h2, &h2_events, headers, count);
}

enum status grpc_stream_open(struct h2_connection *connection, const struct grpc_request *request,
                             const struct grpc_stream_events *events, void *context,
                             struct grpc_stream **ret)
{
    struct grpc_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return E_NOMEM;
    stream->events = events;
    stream->context = context;
    stream->request = request->bytes;
    stream->request_length = request->length;
    stream->is_long = !request->bytes;
    stream->code = GRPC_NO_CODE;
    strbuf_init(&stream->out);
    grpc_deframer_init(&stream->deframer, GRPC_ANSWER_MAX);
    enum status st = submit(connection, stream, request);
    if (st != OK) {
        free(stream);
        return st;
    }
    *ret = stream;
    return OK;
}

enum status grpc_stream_send(struct grpc_stream *stream, const void *bytes, size_t length)
{
    uint8_t prefix[GRPC_PREFIX];
    size_t before = stream->out.length;
    grpc_prefix_write(prefix, length);
    strbuf_add(&stream->out, prefix, sizeof(prefix));
    strbuf_add(&stream->out, bytes, length);
    enum status st = strbuf_status(&stream->out);
    if (st != OK) {
        strbuf_truncate(&stream->out, before);
        return st;
    }
    h2_stream_resume(&stream->h2);
    return OK;
}

void grpc_stream_cancel(struct grpc_stream *stream)
{
    h2_stream_cancel(&stream->h2);
}

struct h2_connection *grpc_stream_connection(const struct grpc_stream *stream)
{
    return stream->h2.connection;
}
