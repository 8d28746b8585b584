/* One attempt at a gRPC call on a connection: a request, or several, out; messages and a status in.
 */
#ifndef PEAL_GRPC_STREAM_H
#define PEAL_GRPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/grpc_frame.h"
#include "transport/h2_connection.h"

struct grpc_stream;

struct grpc_request {
    const char *path;     /* "/package.Service/Method" */
    const uint8_t *bytes; /* a message with its prefix, borrowed until the end; NULL: a stream */
    size_t length;
    int64_t timeout_ms;  /* sent to the server; 0: none */
    const char *token;   /* for authentication; NULL: none */
    bool require_leader; /* the server shall fail at once if it has no leader */
};

struct grpc_end {
    enum status status; /* E_UNREACHABLE: surely not executed */
    int code;           /* enum grpc_code */
    const char *message;
    bool is_refused; /* surely not executed; may be sent on another connection */
};

struct grpc_stream_events {
    /* Any other status than OK ends the stream with E_CORRUPT. */
    enum status (*message)(void *context, const uint8_t *bytes, size_t length);
    void (*ended)(void *context, const struct grpc_end *end); /* the last call */
};

/* Events come from the loop, never from within. */
MUST_CHECK enum status grpc_stream_open(struct h2_connection *connection,
                                        const struct grpc_request *request,
                                        const struct grpc_stream_events *events, void *context,
                                        struct grpc_stream **ret);

/* One more message of a stream, without prefix. */
MUST_CHECK enum status grpc_stream_send(struct grpc_stream *stream, const void *bytes,
                                        size_t length);

/* No more events. Not after `ended`. */
void grpc_stream_cancel(struct grpc_stream *stream);

struct h2_connection *grpc_stream_connection(const struct grpc_stream *stream);

#endif
