#include "stream.h"

#include <string.h>

#include "http.h"
#include "server.h"

static bool start(struct call *call, int status, struct stream *ret, void (*gone)(void *context),
                  void *context)
{
    *ret = (struct stream){call->request};
    call->request = NULL;
    http_stream(ret->request, status, context, gone);
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
    http_stream_send(stream->request, text);
}

void stream_share(const struct stream *stream, int kernel_bytes)
{
    http_stream_share(stream->request, kernel_bytes);
}

size_t stream_unsent(const struct stream *stream)
{
    return http_stream_unsent(stream->request);
}

void stream_end(const struct stream *stream)
{
    http_stream_end(stream->request);
}

void stream_break(const struct stream *stream)
{
    http_stream_break(stream->request);
}
