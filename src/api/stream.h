/* An answer in pieces: server-sent events, or a file that is too large for memory. */
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
    struct stream_seat *seat; /* its place in the account's count; NULL: not counted */
};

/* api->streams: the open streams per account. */
void streams_init(struct table *streams);
void streams_release(struct table *streams);

/* Sends the headers and takes the connection over from the call, which has no client any more.
 * `gone` is called when the client leaves; not after stream_end. False: the client has left
 * already; or the call was answered, because it is a HEAD or its account has too many streams. */
bool stream_start(struct call *call, struct stream *ret, void (*gone)(void *context),
                  void *context);

/* The same for a file, whose Content-Length must be set before. */
bool stream_start_file(struct call *call, int status, const char *type, struct stream *ret,
                       void (*gone)(void *context), void *context);

/* Empties `text`. */
void stream_send(const struct stream *stream, struct evbuffer *text);

/* The text is shared with other streams and counted by the caller; see http_stream_share. */
void stream_share(const struct stream *stream, int kernel_bytes);

/* Bytes that the client has not read yet, without those in the kernel. */
size_t stream_unsent(const struct stream *stream);

/* The last byte has been sent: the connection is free for the next request. */
void stream_end(const struct stream *stream);

/* The stream can't be completed: closes the connection and calls `gone`. */
void stream_break(const struct stream *stream);

#endif
