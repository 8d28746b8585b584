/* What the files of the server share.
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
    HTTP_DRAINING, /* the last answer is sent, and we have hung up: what still comes is dropped */
};

struct http_request {
    struct http_connection *connection;
    struct http_head *head; /* NULL: of a stream, which needs it no more */
    char *text;             /* the head, with NULs behind its parts; NULL: it has not all come */
    char *body;
    size_t body_length, body_room, body_max;
    struct http_chunked chunked;
    bool is_admitted;
    bool is_whole; /* the body has come, or there is none */
    void *owner;
    void (*gone)(void *owner);
    struct strbuf fields; /* of the answer, as lines */
    bool sends_chunks;    /* of a stream */
};

struct http_connection {
    struct http_server *server;
    struct bufferevent *bev;
    int fd;
    enum http_phase phase;
    int64_t since_ms; /* boot time: when the phase began */
    size_t bytes;     /* that came (RECEIVING, DRAINING), are to go (SENDING) or went (STREAMING) */
    size_t held;      /* of a request */
    size_t unsent;    /* of answers, unless they are counted elsewhere */
    struct http_request *request; /* NULL: there is none, or it is answered */
    struct http_address *address;
    char peer[INET6_ADDRSTRLEN]; /* the same in full; "" on a UNIX socket */
    bool is_known;               /* who asked last; holders.c writes it */
    bool closes;                 /* after this answer */
    bool is_paused;              /* nothing is read: the next request has come early */
    bool is_ended;               /* the client sends no more */
    bool is_waking;              /* it is in that list of the server */
    bool is_shared;              /* what it is sent is counted elsewhere */
    bool is_closed; /* and is freed in the next turn: whoever works with it need not care */
    TAILQ_ENTRY(http_connection) link, in_address, in_waking;
};

struct http_server {
    struct loop *loop;
    struct http_limits limits;
    struct server_tls *tls; /* NULL: plain */
    struct http_service service;
    struct evconnlistener *listener;
    struct http_connection_list all;
    struct http_connection_list waking; /* will be looked at in the next turn */
    struct http_connection_list closed; /* will be freed then */
    struct loop_timer *wake;            /* that turn */
    struct http_holders holders;
    size_t count;
    size_t unsent_bytes; /* but for what is sent to many, and counted by who does */
    uint64_t cut;
    bool is_paused; /* it accepts nobody */
    bool will_sweep;
    struct loop_timer *sweep; /* those whose time is over are closed */
    struct strbuf head;       /* of the answer that is being sent */
    int64_t date_s;           /* of which `date` is the text */
    char date[32];
};

/* ---- http_connection.c ---- */

/* The turn of those that are waking; and of those that are closed, which are freed. */
void http_wake(void *context);
void http_free_closed(struct http_server *server);

/* Takes `fd` over in any case. */
void http_connection_open(struct http_server *server, int fd, const struct sockaddr *peer);

/* Tells the owner of its request. */
void http_connection_close(struct http_connection *connection);

/* The only writer of ->phase. */
void http_set_phase(struct http_connection *connection, enum http_phase phase, size_t bytes);

/* The last byte of an answer is with the kernel: goes on with the next request, or hangs up. */
void http_answer_sent(struct http_connection *connection);

/* A stream has begun: the client's end must be seen. */
void http_watch_for_end(struct http_connection *connection);

size_t http_unsent(const struct http_connection *connection);

/* ---- http_request.c ---- */

struct http_request *http_request_new(struct http_connection *connection); /* NULL: no memory */
void http_request_free(struct http_request *request);                      /* accepts NULL */

/* The head is whole, and at `bytes`; false: out of memory. */
bool http_request_keep_head(struct http_request *request, const char *bytes);

/* Room for so many more bytes of the body; false: out of memory. */
bool http_request_make_room(struct http_request *request, size_t length);

/* ---- http_answer.c ---- */

/* Answers what is no request, and reads no more of the connection. */
void http_refuse(struct http_connection *connection, int status, const char *why);

/* The client may send the body. */
void http_send_continue(struct http_connection *connection);

/* ---- http_server.c ---- */

/* Not later because of those that come meanwhile: under traffic it would never be. */
void http_sweep_soon(struct http_server *server);

/* There is room for connections again. */
void http_server_accept(struct http_server *server);

#endif
