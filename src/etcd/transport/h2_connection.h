/* One HTTP/2 connection as a client: a socket (plain or TLS), nghttp2's session, its streams, and
 * pings that detect a dead peer.
 *
 *     CONNECTING -> READY -> DRAINING -> CLOSED
 *               \________\_____________/
 *
 * READY: the peer's SETTINGS came, so it speaks HTTP/2. DRAINING: no new streams (the peer said
 * GOAWAY, or we are leaving); it closes after its last one. CLOSED: `closed` of every stream has
 * been called. */
#ifndef PEAL_H2_CONNECTION_H
#define PEAL_H2_CONNECTION_H

#include <event2/dns.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <stdbool.h>

#include "loop.h"

struct h2_connection;

struct h2_address {
    const char *host;
    int port;
    const char *name;         /* "host:port", for :authority and messages */
    SSL_CTX *tls;             /* NULL: plain */
    const char *server_name;  /* with TLS: the name in the certificate */
    struct evdns_base *names; /* for a host that is no address */
    int64_t timeout_ms;       /* until READY */
};

/* Come from the loop, never from within a call; but `draining` may come from h2_stream_open. */
struct h2_connection_events {
    void (*ready)(void *context, struct h2_connection *connection);
    /* The peer sent GOAWAY, or the stream ids are used up. */
    void (*draining)(void *context, struct h2_connection *connection);
    /* The last call; the connection may be freed in it. */
    void (*closed)(void *context, struct h2_connection *connection, const char *why);
};

/* Starts to connect. The address is borrowed until `ready` or `closed`; its `name` for ever. */
MUST_CHECK enum status h2_connection_new(struct loop *loop, const struct h2_address *address,
                                         const struct h2_connection_events *events, void *context,
                                         struct h2_connection **ret);

/* Calls `closed` of its streams, not its own. Accepts NULL; returns NULL. */
struct h2_connection *h2_connection_free(struct h2_connection *connection);

bool h2_connection_is_ready(const struct h2_connection *connection); /* takes new streams */
bool h2_connection_is_tls(const struct h2_connection *connection);
const char *h2_connection_name(const struct h2_connection *connection);

/* No new streams; `closed` comes after the last. */
void h2_connection_drain(struct h2_connection *connection);

/* A call waits longer than it should: pings the peer, unless it was pinged lately; without an
 * answer the connection is closed. */
void h2_connection_probe(struct h2_connection *connection);

/* ---- streams ---- */

enum h2_close {
    H2_CLOSE_END,     /* the peer has ended it */
    H2_CLOSE_REFUSED, /* surely not processed by the peer */
    H2_CLOSE_BROKEN,  /* reset, or the connection was lost */
};

struct h2_stream;

/* Callbacks of a stream's owner. */
struct h2_stream_events {
    void (*header)(struct h2_stream *stream, const char *name, size_t name_length,
                   const char *value, size_t value_length);
    void (*data)(struct h2_stream *stream, const uint8_t *bytes, size_t length);
    /* Fills `to` with bytes to send and returns their number; *end: these are the last. 0 without
     * *end: wait for h2_stream_resume. */
    size_t (*body)(struct h2_stream *stream, uint8_t *to, size_t room, bool *end);
    /* The last call; the stream's memory is the owner's again. */
    void (*closed)(struct h2_stream *stream, enum h2_close how, const char *why);
    /* The same after h2_stream_cancel. */
    void (*release)(struct h2_stream *stream);
};

/* Embedded in the owner's own stream; the fields are the connection's. */
struct h2_stream {
    const struct h2_stream_events *events;
    struct h2_connection *connection;
    struct h2_stream *next, **link;
    int32_t id;
    bool is_sent;   /* the whole request has left: from now on it may be processed */
    bool is_unsent; /* not even its first frame could be sent */
    bool is_cancelled;
};

/* Only while ready. On OK the stream stays where it is until `closed` or `release`. */
MUST_CHECK enum status h2_stream_open(struct h2_connection *connection, struct h2_stream *stream,
                                      const struct h2_stream_events *events,
                                      const nghttp2_nv *headers, size_t count);
void h2_stream_resume(struct h2_stream *stream);
/* Ends it: `closed` comes from the loop, BROKEN. */
void h2_stream_reset(struct h2_stream *stream);
/* No more events but `release`, which may come from within. */
void h2_stream_cancel(struct h2_stream *stream);

#endif
