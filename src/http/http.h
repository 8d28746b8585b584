/* An HTTP/1.1 server on one listening socket, plain or with TLS. A connection has one request at a
 * time; pipelined requests wait. A request whose framing head.h refuses never reaches the service.
 * SIGPIPE must be ignored: clients go away when they like.
 *
 * The service is called twice per request: with the head, to admit a body of some size or to
 * refuse, and with the complete request. It answers each request once, with http_answer or with a
 * stream, at once or later. An answer before the body has come ends the connection. */
#ifndef PEAL_HTTP_H
#define PEAL_HTTP_H

#include <sys/types.h>

#include "head.h"
#include "strbuf.h"

struct evbuffer;
struct http_request;
struct http_server;
struct loop;
struct server_tls;
struct ssl_st;

/* Limits on clients: connections, time to send a request and to read its answer, bytes in
 * memory. */
struct http_limits {
    size_t connections;
    int64_t request_ms; /* from its first byte to its last, and ... */
    int64_t answer_ms;
    int64_t idle_ms;
    size_t bytes_per_s;  /* ... a second more for so many bytes */
    size_t held_bytes;   /* of all incomplete requests; see holders.h */
    size_t unsent_bytes; /* of all answers that clients have not read yet */
};

struct http_service {
    /* A connection was accepted. The result is kept for its requests, see http_mark: for facts
     * about a client that can only be found while it is surely connected. May be NULL: 0. */
    int (*accepted)(void *context, int fd);
    /* A head has come: to be answered, or admitted with http_admit. */
    void (*head)(void *context, struct http_request *request);
    /* The request is complete, to be answered now or later. */
    void (*request)(void *context, struct http_request *request);
    /* The body has, or will have, more bytes than were admitted; to be answered now. */
    void (*too_large)(void *context, struct http_request *request, uint64_t length);
    /* Writes the whole answer to a malformed request, with `Connection: close`; `why` completes the
     * sentence "it has ...". */
    void (*refuse)(int status, const char *why, struct strbuf *out);
    /* http_server_sending may have become less. May be NULL. */
    void (*sent)(void *context);
    void *context;
};

/* Listens on `fd`, which is taken over in any case. `tls`, NULL for plain, must outlive the
 * server. */
MUST_CHECK enum status http_server_new(struct loop *loop, const struct http_limits *limits,
                                       struct server_tls *tls, const struct http_service *service,
                                       int fd, struct http_server **ret);

/* Closes all connections and calls `gone` of their requests' owners. Accepts NULL; returns NULL. */
struct http_server *http_server_free(struct http_server *server);

size_t http_server_connections(const struct http_server *server);
uint64_t
http_server_cut(const struct http_server *server); /* connections closed for time or memory, ever */

/* Answers that have been sending for less than a second, without streams. Takes time in proportion
 * to the connections, as does http_server_unsent. */
size_t http_server_sending(const struct http_server *server);

/* Bytes that clients have not read yet. */
size_t http_server_unsent(const struct http_server *server);

/* Unread answers fill `unsent_bytes`. Clients that hold more than their share and do not read are
 * cut with the next sweep. */
bool http_server_is_full(const struct http_server *server);

/* ---- what is asked ---- */

enum http_method http_method(const struct http_request *request);
const char *http_target(const struct http_request *request);

/* The first field, or the last, of that name; NULL: there is none. */
const char *http_field(const struct http_request *request, const char *name);
const char *http_last_field(const struct http_request *request, const char *name);

/* NUL-terminated; NULL: the request has no body, or it was dropped. */
const char *http_body(const struct http_request *request, size_t *ret_length);
void http_drop_body(struct http_request *request); /* frees its memory */
char *
http_take_body(struct http_request *request); /* the caller's from now on; NULL: there was none */

/* The client's address; "" on a UNIX socket, where http_peer_uid has the user from the kernel. */
const char *http_peer(const struct http_request *request);
bool http_peer_uid(const struct http_request *request, uid_t *ret);
int http_mark(const struct http_request *request);           /* what `accepted` returned */
struct ssl_st *http_ssl(const struct http_request *request); /* SSL *; NULL: plain */

/* ---- serving ---- */

/* `gone` is called if the client goes away, after which the request must not be used; never after
 * an answer. */
void http_own(struct http_request *request, void *owner, void (*gone)(void *owner));
void *http_owner(const struct http_request *request);

/* Admits a body of at most `body_max` bytes. `is_known`: the client is authenticated; see
 * holders.h. */
void http_admit(struct http_request *request, size_t body_max, bool is_known);

/* ---- answers: the request is gone afterwards ---- */

/* Sets a field of the answer, replacing one of that name. Control characters in the value become
 * blanks. */
void http_set(struct http_request *request, const char *name, const char *value);
bool http_is_set(const struct http_request *request, const char *name);

/* Adds a field whose name may occur several times, as Set-Cookie. */
void http_add(struct http_request *request, const char *name, const char *value);

/* Takes over `body`, which is from malloc; NULL: none. It is not sent with 304, nor to HEAD, where
 * `length` is still the Content-Length. */
void http_answer(struct http_request *request, int status, char *body, size_t length);

/* The reason phrase of a status: "Not Found". */
const char *http_status_title(int status);

/* ---- streams: answers piece by piece ---- */

/* Sends the head; the request is the stream's handle from now on. Without a Content-Length that was
 * set before, only http_stream_end ends it. A client that has unread bytes for `answer_ms` is cut,
 * unless it reads bytes_per_s meanwhile. */
void http_stream(struct http_request *request, int status, void *owner, void (*gone)(void *owner));

/* Empties `text`. */
void http_stream_send(struct http_request *request, struct evbuffer *text);

/* From now on the bytes sent are shared with other streams, and the sender counts them. The
 * kernel's send buffer is limited to about `kernel_bytes`; else it may grow to megabytes. */
void http_stream_share(struct http_request *request, int kernel_bytes);

/* Bytes that the client has not read yet, without those in the kernel. */
size_t http_stream_unsent(const struct http_request *request);

/* The last byte has been sent: the connection is free for the next request. */
void http_stream_end(struct http_request *request);

/* The stream can't be completed: closes the connection and calls `gone`. */
void http_stream_break(struct http_request *request);

#endif
