/* An answer that is given piece by piece, as long as the client is there: server-sent events, or a
 * file that is too long to be held in memory. */
#ifndef PEAL_STREAM_H
#define PEAL_STREAM_H

#include <stdbool.h>
#include <stddef.h>

struct call;
struct evbuffer;
struct http_request;
struct stream_seat;
struct table;

struct stream {
    struct http_request *request;
    struct stream_seat *seat; /* among those of its account; NULL: it is not counted */
};

/* How many streams each account has open: api->streams. */
void streams_init(struct table *streams);
void streams_release(struct table *streams);

/* Sends the headers and takes the connection over from the call, which has no client any more.
 * `gone` is called when the client leaves; not after stream_end. False: the client has left
 * already. For HEAD the call is answered, and false; also if its account has too many open. */
bool stream_start(struct call *call, struct stream *ret, void (*gone)(void *context),
                  void *context);

/* The same for a file, whose Content-Length is given before. */
bool stream_start_file(struct call *call, int status, const char *type, struct stream *ret,
                       void (*gone)(void *context), void *context);

/* Empties `text`. */
void stream_send(const struct stream *stream, struct evbuffer *text);

/* What comes is sent to many, and counted by the caller; see http_stream_share. */
void stream_share(const struct stream *stream, int kernel_bytes);

/* Bytes that the client has not taken yet, but for the kernel's. */
size_t stream_unsent(const struct stream *stream);

/* The last byte has been sent: the connection is free for the next request. */
void stream_end(const struct stream *stream);

/* What was promised can't be given: the connection is closed, and `gone` is called. */
void stream_break(const struct stream *stream);

#endif
