/* Internals that h2_connection.c and h2_stream.c share. */
#ifndef PEAL_H2_CONNECTION_INTERNAL_H
#define PEAL_H2_CONNECTION_INTERNAL_H

#include <openssl/err.h>

#include "tls.h"
#include "transport/h2_connection.h"

enum h2_state {
    H2_CONNECTING,
    H2_READY,
    H2_DRAINING,
    H2_CLOSED,
};

struct h2_connection {
    struct loop *loop;
    enum h2_state state;
    const struct h2_connection_events *events;
    void *context;
    const char *name;
    struct bufferevent *socket;
    SSL *tls; /* the socket's; NULL: plain */
    nghttp2_session *session;
    struct h2_stream *streams;
    size_t stream_count;
    struct loop_timer *flush; /* makes frames outside of nghttp2's callbacks */
    struct loop_timer *timer; /* connecting, then silence */
    bool is_armed, is_pinged;
    int64_t heard_at_ms, ping_at_ms;
    char failure[160]; /* not "": closed as soon as no callback is running */
};

/* The session with its callbacks; NULL: out of memory. */
nghttp2_session *h2_session_new(struct h2_connection *connection);

void h2_stream_unlink(struct h2_stream *stream);

void h2_connection_became_ready(struct h2_connection *connection);
void h2_connection_got_goaway(struct h2_connection *connection);

#endif
