/* An HTTP/1.1 server on one listening socket, plain or with TLS. A connection has one request at a
 * time; what comes early waits. What is not framed as head.h wants is refused before anybody else
 * sees it. SIGPIPE must be ignored: clients go away when they like.
 *
 * The service is asked twice: with the head, when it says who may send how much of a body, and when
 * all of it is there. It answers each request once, with http_answer or with a stream, then or
 * later; one that is answered before its body has come is the last of its connection. */
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

/* What clients may cost: how many there are, how long a request may take to come and its answer to
 * be taken, how many bytes wait in memory. */
struct http_limits {
    size_t connections;
    int64_t request_ms; /* from its first byte to its last, and ... */
    int64_t answer_ms;
    int64_t idle_ms;
    size_t bytes_per_s;  /* ... a second more for so many bytes */
    size_t held_bytes;   /* of all requests that have come in part; see holders.h */
    size_t unsent_bytes; /* of all answers that clients have not taken yet */
};

struct http_service {
    /* A connection was accepted. The answer is kept for its requests, see http_mark: what can be
     * told of a client only as long as it is surely there. May be NULL: 0. */
    int (*accepted)(void *context, int fd);
    /* A head is there. Either http_admit, for its body, or an answer. */
    void (*head)(void *context, struct http_request *request);
    /* All of it is there, to be answered now or later. */
    void (*request)(void *context, struct http_request *request);
    /* The body has, or will have, more bytes than were admitted; to be answered now. */
    void (*too_large)(void *context, struct http_request *request, uint64_t length);
    /* Writes the whole answer to what is not HTTP, with `Connection: close`; `why` completes the
     * sentence "it has ...". */
    void (*refuse)(int status, const char *why, struct strbuf *out);
    /* http_server_sending may have become less. May be NULL. */
    void (*sent)(void *context);
    void *context;
};

/* Listens on `fd`, which is taken over in any case. `tls`, NULL for plain, must stay as long. */
MUST_CHECK enum status http_server_new(struct loop *loop, const struct http_limits *limits,
                                       struct server_tls *tls, const struct http_service *service,
                                       int fd, struct http_server **ret);

/* Closes all connections, and tells who owns a request. Accepts NULL; returns NULL. */
struct http_server *http_server_free(struct http_server *server);

size_t http_server_connections(const struct http_server *server);
uint64_t http_server_cut(const struct http_server *server); /* closed for time or memory, ever */

/* Answers that have been on their way for less than a second; streams do not count. Costs as much
 * as there are connections, and so does the next. */
size_t http_server_sending(const struct http_server *server);

/* Bytes that clients have not taken yet. */
size_t http_server_unsent(const struct http_server *server);

/* Clients have left so much of their answers that there is no room for more. Those who hold more
 * than their share, and do not read, are cut with the next sweep. */
bool http_server_is_full(const struct http_server *server);

/* ---- what is asked ---- */

enum http_method http_method(const struct http_request *request);
const char *http_target(const struct http_request *request);

/* The first field, or the last, of that name; NULL: there is none. */
const char *http_field(const struct http_request *request, const char *name);
const char *http_last_field(const struct http_request *request, const char *name);

/* Ended by a NUL that does not count; NULL: it has none, or it was dropped. */
const char *http_body(const struct http_request *request, size_t *ret_length);
void http_drop_body(struct http_request *request);  /* its memory is free for others */
char *http_take_body(struct http_request *request); /* it is the caller's; NULL: there was none */

/* The address at the other end; "" on a UNIX socket, where the kernel knows the user. */
const char *http_peer(const struct http_request *request);
bool http_peer_uid(const struct http_request *request, uid_t *ret);
int http_mark(const struct http_request *request);           /* as `accepted` has said */
struct ssl_st *http_ssl(const struct http_request *request); /* SSL *; NULL: plain */

/* ---- serving ---- */

/* `gone` is called if the client goes away, after which the request must not be used; never after
 * an answer. */
void http_own(struct http_request *request, void *owner, void (*gone)(void *owner));
void *http_owner(const struct http_request *request);

/* The body may have so many bytes. `is_known`: the client is authenticated; see holders.h. */
void http_admit(struct http_request *request, size_t body_max, bool is_known);

/* ---- answers: the request is gone afterwards ---- */

/* A field of the answer, instead of one with that name. Controls in the value become blanks. */
void http_set(struct http_request *request, const char *name, const char *value);
bool http_is_set(const struct http_request *request, const char *name);

/* One more field of a name that may be there already, as Set-Cookie. */
void http_add(struct http_request *request, const char *name, const char *value);

/* Takes `body` over, which malloc made; NULL: none. It is not sent to HEAD, whose Content-Length is
 * `length` all the same, nor with 304. */
void http_answer(struct http_request *request, int status, char *body, size_t length);

/* The words of a status: "Not Found". */
const char *http_status_title(int status);

/* ---- streams: answers piece by piece ---- */

/* Sends the head; the request is the stream's handle from now on. Without a Content-Length that was
 * set before, only http_stream_end ends it. A client that has not had all that it was sent for
 * `answer_ms` is cut, unless it takes its bytes_per_s meanwhile. */
void http_stream(struct http_request *request, int status, void *owner, void (*gone)(void *owner));

/* Empties `text`. */
void http_stream_send(struct http_request *request, struct evbuffer *text);

/* What is sent from now on is sent to many, and counted elsewhere. The kernel keeps no more than
 * about so many bytes of it for the client; else it may be megabytes. */
void http_stream_share(struct http_request *request, int kernel_bytes);

/* Bytes that the client has not taken yet, but for the kernel's. */
size_t http_stream_unsent(const struct http_request *request);

/* The last byte has been sent: the connection is free for the next request. */
void http_stream_end(struct http_request *request);

/* What was promised can't be given: the connection is closed, and `gone` is called. */
void http_stream_break(struct http_request *request);

#endif
