/* Internals that the files of the server share.
 *
 *     RECEIVING -> SERVING -> SENDING -> IDLE -> RECEIVING ...
 *          \            \-> STREAMING -/   \
 *           \-> SENDING, refused            \-> DRAINING, after the last answer
 */
#ifndef PEAL_HTTP_INTERNAL_H
#define PEAL_HTTP_INTERNAL_H

#include "chunked.h"
#include "holders.h"
#include "http.h"

struct bufferevent;
struct evconnlistener;
struct loop_timer;

enum http_phase {
    HTTP_IDLE,
    HTTP_RECEIVING, /* a request, or nothing yet on a new connection */
    HTTP_SERVING,   /* the service has it */
    HTTP_SENDING,   /* its answer */
    HTTP_STREAMING,
    HTTP_DRAINING, /* half-closed after the last answer: input is dropped */
};

struct http_request {
    struct http_connection *connection;
    struct http_head *head; /* NULL: a stream, which no longer needs it */
    char *text;             /* the head, with NULs behind its parts; NULL: incomplete */
    char *body;
    size_t body_length, body_room, body_max;
    struct http_chunked chunked;
    bool is_admitted;
    bool is_whole; /* the body is complete, or there is none */
    void *owner;
    void (*gone)(void *owner);
    struct strbuf fields; /* of the answer, as lines */
    bool sends_chunks;    /* of a stream */
};

struct http_connection {
    struct http_server *server;
    struct bufferevent *bev;
    int fd;
    int mark; /* what service.accepted returned */
    enum http_phase phase;
    int64_t since_ms; /* boot time: when the phase began */
    size_t bytes;     /* received (RECEIVING, DRAINING), to be sent (SENDING) or sent (STREAMING) */
    size_t held;      /* memory of its incomplete request */
    size_t unsent;    /* bytes of answers, unless is_shared */
    struct http_request *request; /* NULL: there is none, or it is answered */
    struct http_address *address;
    char peer[INET6_ADDRSTRLEN]; /* the client's address; "" on a UNIX socket */
    bool is_known;               /* the last head was admitted as known; written by holders.c */
    bool closes;                 /* after this answer */
    bool is_paused;              /* reading is off: the next request has come early */
    bool is_ended;               /* the client sends no more */
    bool is_waking;              /* in server->waking */
    bool is_shared;              /* the sender counts its unsent bytes */
    bool is_closed;              /* freed in the next turn, so that callers can still look at it */
    TAILQ_ENTRY(http_connection) link, in_address, in_waking;
};

struct http_server {
    struct loop *loop;
    struct http_limits limits;
    struct server_tls *tls; /* NULL: plain */
    struct http_service service;
    struct evconnlistener *listener;
    struct http_connection_list all;
    struct http_connection_list waking; /* with pipelined input, to be read in the next turn */
    struct http_connection_list closed; /* to be freed then */
    struct loop_timer *wake;            /* fires in that turn */
    struct http_holders holders;
    size_t count;
    size_t unsent_bytes; /* without those of shared streams, which their senders count */
    uint64_t cut;
    bool is_paused; /* the listener is off */
    bool will_sweep;
    struct loop_timer *sweep; /* closes connections whose time is over, once a second */
    struct strbuf head;       /* of the answer that is being sent */
    int64_t date_s;           /* the second that `date` shows */
    char date[32];
};

/* ---- http_connection.c ---- */

/* The timer server->wake: reads pipelined input, frees closed connections. */
void http_wake(void *context);
void http_free_closed(struct http_server *server);

/* Takes `fd` over in any case. */
void http_connection_open(struct http_server *server, int fd, const struct sockaddr *peer);

/* Calls `gone` of the request, if there is one. */
void http_connection_close(struct http_connection *connection);

/* The only writer of ->phase. */
void http_set_phase(struct http_connection *connection, enum http_phase phase, size_t bytes);

/* The kernel has the last byte of an answer: goes on with the next request, or half-closes. */
void http_answer_sent(struct http_connection *connection);

/* A stream has begun: turns reading on, to notice that the client closes the connection. */
void http_watch_for_end(struct http_connection *connection);

size_t http_unsent(const struct http_connection *connection);

/* ---- http_request.c ---- */

struct http_request *http_request_new(struct http_connection *connection); /* NULL: no memory */
void http_request_free(struct http_request *request);                      /* accepts NULL */

/* Copies the complete head at `bytes`; false: out of memory. */
bool http_request_keep_head(struct http_request *request, const char *bytes);

/* Room for so many more bytes of the body; false: out of memory. */
bool http_request_make_room(struct http_request *request, size_t length);

/* ---- http_answer.c ---- */

/* Answers a malformed request; the last answer of the connection. */
void http_refuse(struct http_connection *connection, int status, const char *why);

/* "100 Continue". */
void http_send_continue(struct http_connection *connection);

/* ---- http_server.c ---- */

/* Turns the listener on again if there is room for connections. */
void http_server_accept(struct http_server *server);

#endif
