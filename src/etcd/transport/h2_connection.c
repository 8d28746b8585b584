#include "transport/h2_connection.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "transport/h2_connection_internal.h"

enum {
    STREAM_WINDOW = 4 * 1024 * 1024,
    CONNECTION_WINDOW = 16 * 1024 * 1024,
    OUTPUT_HIGH = 256 * 1024, /* no more frames are made while so much waits to be written */
    PING_IDLE_MS = 6000,      /* etcd closes connections that ping more often than every 5 s */
    PING_TIMEOUT_MS = 1000,
};

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

/* The only writer of ->state, which only grows. */
static void move(struct h2_connection *connection, enum h2_state next)
{
    assert(next > connection->state);
    connection->state = next;
}

bool h2_connection_is_ready(const struct h2_connection *connection)
{
    return connection && connection->state == H2_READY && !connection->failure[0];
}

bool h2_connection_is_tls(const struct h2_connection *connection)
{
    return connection->tls != NULL;
}

const char *h2_connection_name(const struct h2_connection *connection)
{
    return connection->name;
}

/* ---- the end ---- */

/* Closes it from the loop. */
static void fail(struct h2_connection *connection, const char *why)
{
    if (!connection->failure[0])
        snprintf(connection->failure, sizeof(connection->failure), "%s", why);
    loop_timer_set(connection->flush, 0); /* not from within a callback of nghttp2 */
}

static void end_streams(struct h2_connection *connection, const char *why)
{
    struct h2_stream *stream;
    while ((stream = connection->streams)) {
        h2_stream_unlink(stream);
        if (stream->is_cancelled)
            stream->events->release(stream);
        else
            stream->events->closed(stream, stream->is_sent ? H2_CLOSE_BROKEN : H2_CLOSE_REFUSED,
                                   why);
    }
}

static void close_now(struct h2_connection *connection, const char *why)
{
    char reason[sizeof(connection->failure)];
    snprintf(reason, sizeof(reason), "%s", why);
    move(connection, H2_CLOSED);
    loop_timer_stop(connection->flush);
    loop_timer_stop(connection->timer);
    bufferevent_disable(connection->socket, EV_READ | EV_WRITE);
    end_streams(connection, reason);
    connection->events->closed(connection->context, connection, reason);
}

struct h2_connection *h2_connection_free(struct h2_connection *connection)
{
    if (!connection)
        return NULL;
    if (connection->state != H2_CLOSED && connection->socket) {
        move(connection, H2_CLOSED);
        end_streams(connection, "the connection was given up");
    }
    nghttp2_session_del(connection->session);
    if (connection->socket)
        bufferevent_free(connection->socket);
    loop_timer_free(connection->flush);
    loop_timer_free(connection->timer);
    free(connection);
    return NULL;
}

void h2_connection_drain(struct h2_connection *connection)
{
    if (connection->state < H2_DRAINING)
        move(connection, H2_DRAINING);
    loop_timer_set(connection->flush, 0); /* closes it if it is empty */
}

void h2_connection_became_ready(struct h2_connection *connection)
{
    if (connection->state != H2_CONNECTING)
        return;
    move(connection, H2_READY);
    loop_timer_stop(connection->timer);
    connection->events->ready(connection->context, connection);
}

void h2_connection_got_goaway(struct h2_connection *connection)
{
    if (connection->state >= H2_DRAINING)
        return;
    move(connection, H2_DRAINING);
    connection->events->draining(connection->context, connection);
}

/* ---- whether the other end is still there ---- */

/* A peer without streams must not be pinged: to etcd that is abuse. */
static void arm(struct h2_connection *connection)
{
    if (connection->state == H2_CONNECTING || connection->state == H2_CLOSED)
        return;
    if (connection->stream_count == 0)
        loop_timer_stop(connection->timer);
    else if (!connection->is_armed)
        loop_timer_set(connection->timer, PING_IDLE_MS);
    connection->is_armed = connection->stream_count > 0;
}

static void ping(struct h2_connection *connection, int64_t now)
{
    connection->ping_at_ms = now;
    connection->is_pinged = true;
    connection->is_armed = true;
    nghttp2_submit_ping(connection->session, NGHTTP2_FLAG_NONE, NULL);
    loop_timer_set(connection->flush, 0);
    loop_timer_set(connection->timer, PING_TIMEOUT_MS);
}

void h2_connection_probe(struct h2_connection *connection)
{
    int64_t now = now_ms();
    bool is_silent = now - connection->heard_at_ms >= PING_TIMEOUT_MS / 4;
    if (connection->state == H2_CONNECTING || connection->state == H2_CLOSED ||
        connection->is_pinged || !is_silent || now - connection->ping_at_ms < PING_IDLE_MS)
        return;
    ping(connection, now);
}

static void on_timer(void *context)
{
    struct h2_connection *connection = context;
    int64_t now = now_ms();
    int64_t silent_ms = now - connection->heard_at_ms;
    connection->is_armed = false;
    if (connection->state == H2_CONNECTING) {
        close_now(connection, "time-out while connecting");
        return;
    }
    if (connection->is_pinged && connection->heard_at_ms < connection->ping_at_ms) {
        /* The machine may have slept: only a time-out during which the loop ran counts. */
        if (now - connection->ping_at_ms < 2 * PING_TIMEOUT_MS) {
            close_now(connection, "the server does not answer");
            return;
        }
        ping(connection, now);
        return;
    }
    connection->is_pinged = false;
    if (connection->stream_count == 0)
        return;
    connection->is_armed = true;
    if (silent_ms < PING_IDLE_MS)
        loop_timer_set(connection->timer, PING_IDLE_MS - silent_ms);
    else
        ping(connection, now);
}

/* ---- bytes ---- */

/* Lets nghttp2 make frames, as far as the socket keeps up. */
static void write_frames(struct h2_connection *connection)
{
    struct evbuffer *output = bufferevent_get_output(connection->socket);
    while (evbuffer_get_length(output) < OUTPUT_HIGH) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(connection->session, &bytes);
        if (length < 0 || (length > 0 && evbuffer_add(output, bytes, (size_t)length) != 0))
            fail(connection, "out of memory");
        if (length <= 0)
            break;
    }
}

/* The one place where the state moves on after callbacks of nghttp2 have run. */
static void settle(struct h2_connection *connection)
{
    if (!connection->failure[0])
        write_frames(connection);
    if (connection->failure[0])
        close_now(connection, connection->failure);
    else if (connection->state == H2_DRAINING && connection->stream_count == 0)
        close_now(connection, "drained");
    else if (connection->state != H2_CONNECTING &&
             !nghttp2_session_want_read(connection->session) &&
             !nghttp2_session_want_write(connection->session))
        close_now(connection, "the server ended the connection");
    else
        arm(connection);
}

static void on_flush(void *context)
{
    struct h2_connection *connection = context;
    if (connection->state != H2_CLOSED && connection->session)
        settle(connection);
    else if (connection->state != H2_CLOSED && connection->failure[0])
        close_now(connection, connection->failure);
}

static void read_input(struct h2_connection *connection, struct bufferevent *socket)
{
    struct evbuffer *input = bufferevent_get_input(socket);
    struct evbuffer_iovec piece;
    connection->heard_at_ms = now_ms();
    while (connection->session && !connection->failure[0] &&
           evbuffer_peek(input, -1, NULL, &piece, 1) > 0 && piece.iov_len > 0) {
        ssize_t used = nghttp2_session_mem_recv(connection->session, piece.iov_base, piece.iov_len);
        if (used < 0)
            fail(connection, used == NGHTTP2_ERR_BAD_CLIENT_MAGIC || used == NGHTTP2_ERR_PROTO
                                 ? "the server does not speak HTTP/2"
                                 : nghttp2_strerror((int)used));
        else
            evbuffer_drain(input, (size_t)used);
    }
    settle(connection);
}

static void on_readable(struct bufferevent *socket, void *context)
{
    struct h2_connection *connection = context;
    struct loop *loop = connection->loop;
    loop_work_begin(loop);
    read_input(connection, socket);
    loop_work_end(loop);
}

static void on_writable(struct bufferevent *socket, void *context)
{
    (void)socket;
    struct h2_connection *connection = context;
    if (connection->session)
        settle(connection);
}

/* ---- connecting ---- */

static enum status start_session(struct h2_connection *connection)
{
    static const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    connection->session = h2_session_new(connection);
    if (!connection->session ||
        nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(connection->session, NGHTTP2_FLAG_NONE, 0,
                                              CONNECTION_WINDOW) != 0)
        return E_NOMEM;
    return OK;
}

static void on_connected(struct h2_connection *connection)
{
    const char *refusal = connection->tls ? tls_refusal(connection->tls, true) : NULL;
    int one = 1;
    setsockopt(bufferevent_getfd(connection->socket), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (refusal)
        fail(connection, refusal);
    else if (start_session(connection) != OK)
        fail(connection, "out of memory");
    else
        settle(connection);
}

static void describe_error(struct h2_connection *connection, short what, char *text, size_t size)
{
    int dns = bufferevent_socket_get_dns_error(connection->socket);
    bool is_new = connection->tls && connection->state == H2_CONNECTING;
    unsigned long tls = connection->tls ? bufferevent_get_openssl_error(connection->socket) : 0;
    if (dns)
        snprintf(text, size, "can't find the host: %s", evutil_gai_strerror(dns));
    else if (is_new && tls_explain(connection->tls, tls, text, size))
        return;
    else if (what & BEV_EVENT_EOF || EVUTIL_SOCKET_ERROR() == 0)
        snprintf(text, size, "the server closed the connection");
    else
        snprintf(text, size, "%s", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
}

static void on_event(struct bufferevent *socket, short what, void *context)
{
    (void)socket;
    struct h2_connection *connection = context;
    char text[160];
    if (what & BEV_EVENT_CONNECTED) {
        on_connected(connection);
        return;
    }
    describe_error(connection, what, text, sizeof(text));
    if (!connection->failure[0])
        snprintf(connection->failure, sizeof(connection->failure), "%s", text);
    close_now(connection, connection->failure);
}

/* Dirty shutdown is allowed: a clean TLS shutdown would have to wait for the peer. */
static struct bufferevent *new_socket(struct loop *loop, const struct h2_address *address,
                                      SSL **ret_tls)
{
    if (!address->tls)
        return bufferevent_socket_new(loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
    SSL *tls = tls_session(address->tls, address->server_name);
    if (!tls)
        return NULL;
    struct bufferevent *socket = bufferevent_openssl_socket_new(
        loop_base(loop), -1, tls, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE);
    if (!socket) {
        SSL_free(tls);
        return NULL;
    }
    bufferevent_openssl_set_allow_dirty_shutdown(socket, 1);
    *ret_tls = tls;
    return socket;
}

enum status h2_connection_new(struct loop *loop, const struct h2_address *address,
                              const struct h2_connection_events *events, void *context,
                              struct h2_connection **ret)
{
    struct h2_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return E_NOMEM;
    connection->loop = loop;
    connection->events = events;
    connection->context = context;
    connection->name = address->name;
    connection->ping_at_ms = -PING_IDLE_MS;
    connection->socket = new_socket(loop, address, &connection->tls);
    if (!connection->socket || bufferevent_priority_set(connection->socket, LOOP_URGENT) != 0 ||
        loop_timer_new(loop, on_flush, connection, &connection->flush) != OK ||
        loop_timer_new(loop, on_timer, connection, &connection->timer) != OK) {
        h2_connection_free(connection);
        return E_NOMEM;
    }
    bufferevent_setcb(connection->socket, on_readable, on_writable, on_event, connection);
    bufferevent_enable(connection->socket, EV_READ | EV_WRITE);
    loop_timer_set(connection->timer, address->timeout_ms);
    /* on_event reports an error here as well, unless memory was short. */
    if (bufferevent_socket_connect_hostname(connection->socket, address->names, AF_UNSPEC,
                                            address->host, address->port) != 0)
        fail(connection, "can't connect");
    *ret = connection;
    return OK;
}
