/* The connections of one listener, and what each of them may cost: how many there are, how long a
 * request may take to come and its answer to be taken, how many bytes wait in memory. The HTTP
 * library knows only time-outs of silence, which a client that sends a byte now and then never
 * meets.
 *
 *     RECEIVING -> SERVING -> SENDING -> IDLE -> RECEIVING ...
 *                        \-> STREAMING, until one side closes
 */
#ifndef PEAL_CONNECTION_H
#define PEAL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "status.h"

struct bufferevent;
struct connection;
struct evconnlistener;
struct evhttp;
struct evhttp_request;
struct event;
struct loop;
struct loop_timer;
struct server_tls;
struct strbuf;

struct connection_limits {
    size_t connections;
    int64_t request_ms; /* from its first byte to its last, and ... */
    int64_t answer_ms;
    int64_t idle_ms;
    size_t bytes_per_s;  /* ... a second more for so many bytes */
    size_t held_bytes;   /* of all requests that have come in part or are being served */
    size_t unsent_bytes; /* of all answers that clients have not taken yet */
};

TAILQ_HEAD(connection_list, connection);

struct connections {
    struct loop *loop;
    struct connection_limits limits;
    struct server_tls *tls; /* NULL: plain */
    struct evconnlistener *listener;
    struct connection_list all, fresh, refused;
    struct connection **by_fd;
    size_t fd_room;
    size_t count, held_bytes;
    size_t unsent_bytes; /* but for what is sent to many, and counted by who does */
    uint64_t cut;        /* those that took too long or too much, ever */
    bool paused;
    bool will_sweep;
    void (*refuse)(int status, struct strbuf *out);
    struct event *replace;    /* what the HTTP library answered by itself */
    struct event *settle;     /* those that were just accepted get their time */
    struct loop_timer *sweep; /* those whose time is over are closed */
};

/* `http` makes its connections through this from now on; it does not listen yet. `refuse` writes
 * the whole answer to what the HTTP library would not even take for a request. */
MUST_CHECK enum status connections_init(struct connections *connections, struct loop *loop,
                                        const struct connection_limits *limits,
                                        struct server_tls *tls, struct evhttp *http,
                                        void (*refuse)(int status, struct strbuf *out));

/* Listens on `fd`, which is taken over. */
MUST_CHECK enum status connections_listen(struct connections *connections, struct evhttp *http,
                                          int fd);

/* Bytes that clients have not taken yet. Costs as much as there are connections. */
size_t connections_unsent(const struct connections *connections);

/* Clients have left so much of their answers that there is no room for more. Those who hold more
 * than their share, and do not read, are cut with the next sweep. */
bool connections_are_full(const struct connections *connections);

/* Frees `http` (or NULL), and closes them all. */
void connections_release(struct connections *connections, struct evhttp *http);

/* ---- by who serves a request ---- */

/* The request is served from now on; `gone` is called when the client goes away, after which the
 * request must not be used. NULL: there was no memory to watch over it; don't serve it. */
struct connection *connection_serve(struct connections *connections, struct evhttp_request *request,
                                    void (*gone)(void *context), void *context);

/* Right before the answer is handed to the HTTP library: nobody is told any more. */
void connection_answer(struct connection *connection, struct evhttp_request *request,
                       size_t length);

/* The answer has no end: it is open as long as the client is there and takes it. One that has not
 * had all that it was sent for `answer_ms` is cut, unless it takes its bytes_per_s meanwhile. */
void connection_stream(struct connection *connection, void (*gone)(void *context), void *context);

/* What it is sent from now on is sent to many, and counted elsewhere. The kernel keeps no more than
 * about so many bytes of it for the client; else it may be megabytes. */
void connection_share(struct connection *connection, int kernel_bytes);

/* Bytes that the client has not taken yet, but for the kernel's. */
size_t connection_unsent(const struct connection *connection);

/* Closes it; `gone` is called. */
void connection_cut(struct connection *connection);

#endif
