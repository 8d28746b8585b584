#include "stream.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static bool start(struct call *call, int status, struct stream *ret, void (*gone)(void *context),
                  void *context)
{
    *ret = (struct stream){call->connection, call->request};
    call->request = NULL;
    call->connection = NULL;
    connection_stream(ret->connection, gone, context);
    evhttp_send_reply_start(ret->request, status, status_title(status));
    return true;
}

/* False: there is nobody any more. */
static bool has_reader(struct call *call, const char *type)
{
    if (!call->request) {
        call_free(call);
        return false;
    }
    call_header(call, "Cache-Control", "no-store");
    call_header(call, "X-Content-Type-Options", "nosniff");
    call_header(call, "X-Request-Id", call->request_id);
    call_header(call, "Content-Type", type);
    return true;
}

bool stream_start(struct call *call, struct stream *ret, void (*gone)(void *context), void *context)
{
    static const char type[] = "text/event-stream";
    if (call->request && call->is_head) {
        call_reply_text(call, 200, type, strdup(""), 0);
        return false;
    }
    if (!has_reader(call, type))
        return false;
    call_header(call, "X-Accel-Buffering", "no"); /* nginx: pass it on at once */
    return start(call, 200, ret, gone, context);
}

bool stream_start_file(struct call *call, int status, const char *type, struct stream *ret,
                       void (*gone)(void *context), void *context)
{
    return has_reader(call, type) && start(call, status, ret, gone, context);
}

void stream_send(const struct stream *stream, struct evbuffer *text)
{
    evhttp_send_reply_chunk(stream->request, text);
    evbuffer_drain(text, evbuffer_get_length(text)); /* what was not taken */
}

void stream_share(const struct stream *stream, int kernel_bytes)
{
    connection_share(stream->connection, kernel_bytes);
}

size_t stream_unsent(const struct stream *stream)
{
    return connection_unsent(stream->connection);
}

void stream_end(const struct stream *stream)
{
    connection_answer(stream->connection, stream->request, stream_unsent(stream));
    evhttp_send_reply_end(stream->request);
}

void stream_break(const struct stream *stream)
{
    connection_cut(stream->connection);
}
