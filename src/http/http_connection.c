/* One connection: its requests as they come, one after the other, and its end. */
#include <arpa/inet.h>
#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "http_internal.h"
#include "loop.h"
#include "server_tls.h"

enum {
    AT_ONCE = 8, /* connections with pipelined input, per turn of the loop */
    DRAIN_MAX = 64 << 10,
    SINGLE_WRITE = 256 << 10,
};

void http_set_phase(struct http_connection *connection, enum http_phase phase, size_t bytes)
{
    connection->phase = phase;
    connection->bytes = bytes;
    connection->since_ms = clock_now().boot.ms;
}

size_t http_unsent(const struct http_connection *connection)
{
    return evbuffer_get_length(bufferevent_get_output(connection->bev));
}

/* ---- the end ---- */

static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
    struct http_connection *connection = context;
    (void)buffer;
    if (connection->phase == HTTP_STREAMING)
        connection->bytes += info->n_deleted;
    if (connection->is_shared)
        return;
    connection->unsent += info->n_added - info->n_deleted;
    connection->server->unsent_bytes += info->n_added - info->n_deleted;
}

/* libevent frees the output some turns of the loop after bufferevent_free. A connection that is cut
 * for its unsent bytes must free them at once. */
static void drop_output(struct http_connection *connection)
{
    struct evbuffer *out = bufferevent_get_output(connection->bev);
    evbuffer_remove_cb(out, on_output, connection);
    evbuffer_unfreeze(out, 1);
    evbuffer_drain(out, evbuffer_get_length(out));
    evbuffer_freeze(out, 1);
    connection->server->unsent_bytes -= connection->unsent;
}

static void stop_waking(struct http_connection *connection)
{
    if (connection->is_waking)
        TAILQ_REMOVE(&connection->server->waking, connection, in_waking);
    connection->is_waking = false;
}

void http_connection_close(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    struct http_request *request = connection->request;
    if (connection->is_closed)
        return;
    connection->is_closed = true;
    connection->request = NULL;
    if (request && request->gone)
        request->gone(request->owner);
    http_request_free(request);
    stop_waking(connection);
    http_hold(connection, 0);
    http_holders_remove(&server->holders, connection);
    http_set_phase(connection, HTTP_IDLE, 0);
    drop_output(connection);
    TAILQ_REMOVE(&server->all, connection, link);
    server->count--;
    bufferevent_free(connection->bev);
    TAILQ_INSERT_TAIL(&server->closed, connection, link);
    loop_timer_set(server->wake, 0);
    http_server_accept(server);
}

void http_free_closed(struct http_server *server)
{
    for (struct http_connection *closed; (closed = TAILQ_FIRST(&server->closed));) {
        TAILQ_REMOVE(&server->closed, closed, link);
        assert(TAILQ_FIRST(&server->closed) != closed);
        free(closed);
    }
}

/* Half-closes after the last answer, and drains what the client still sends: to close a socket with
 * unread input resets the connection, and the client may lose the answer. */
static void hang_up(struct http_connection *connection)
{
    SSL *ssl = bufferevent_openssl_get_ssl(connection->bev);
    struct evbuffer *in = bufferevent_get_input(connection->bev);
    if (connection->is_ended) {
        http_connection_close(connection);
        return;
    }
    if (ssl) {
        SSL_shutdown(ssl); /* sends close_notify; the client's is not waited for */
        ERR_clear_error();
    }
    shutdown(connection->fd, SHUT_WR);
    http_set_phase(connection, HTTP_DRAINING, evbuffer_get_length(in));
    evbuffer_drain(in, connection->bytes);
    connection->is_paused = false;
    bufferevent_enable(connection->bev, EV_READ);
}

static void drain(struct http_connection *connection)
{
    struct evbuffer *in = bufferevent_get_input(connection->bev);
    connection->bytes += evbuffer_get_length(in);
    evbuffer_drain(in, evbuffer_get_length(in));
    if (connection->bytes > DRAIN_MAX)
        http_connection_close(connection);
}

/* ---- what came early ---- */

/* A pipelined request is read in a later turn, so that a client which pipelines a thousand requests
 * is not served before others. */
static void look_at_early(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    if (connection->is_waking)
        return;
    connection->is_waking = true;
    TAILQ_INSERT_TAIL(&server->waking, connection, in_waking);
    loop_timer_set(server->wake, 0);
}

/* While a request is served, no more than one read of the next one is buffered. */
static void pause_reading(struct http_connection *connection)
{
    bufferevent_disable(connection->bev, EV_READ);
    connection->is_paused = true;
}

static void go_on_reading(struct http_connection *connection)
{
    if (connection->is_paused && !connection->is_ended)
        bufferevent_enable(connection->bev, EV_READ);
    connection->is_paused = false;
}

void http_watch_for_end(struct http_connection *connection)
{
    go_on_reading(connection);
    if (connection->is_ended)
        look_at_early(connection); /* closes it later: the caller has just begun the stream */
}

/* A stream keeps on reading, since only a read notices that the client has closed the connection.
 */
static void handle_early(struct http_connection *connection, size_t early)
{
    if (connection->phase != HTTP_STREAMING)
        pause_reading(connection);
    else if (connection->is_ended || early > HTTP_HEAD_MAX)
        http_connection_close(connection);
}

void http_answer_sent(struct http_connection *connection)
{
    size_t early = evbuffer_get_length(bufferevent_get_input(connection->bev));
    connection->is_shared = false;
    if (connection->closes) {
        hang_up(connection);
        return;
    }
    if (connection->is_ended && !early) {
        http_connection_close(connection);
        return;
    }
    http_set_phase(connection, early ? HTTP_RECEIVING : HTTP_IDLE, early);
    if (early)
        look_at_early(connection);
    go_on_reading(connection);
}

/* ---- a request ---- */

/* Counts the bytes of the request so far; false: a limit was exceeded, and this connection is
 * closed. */
static bool hold(struct http_connection *connection)
{
    const struct http_request *request = connection->request;
    size_t length = evbuffer_get_length(bufferevent_get_input(connection->bev));
    length += request->body_length + (request->text ? request->head->size : 0);
    connection->bytes = length;
    http_hold(connection, length);
    return !connection->is_closed;
}

/* Asks the service who may send the body. */
static void admit(struct http_connection *connection)
{
    struct http_request *request = connection->request;
    const struct http_service *service = &connection->server->service;
    connection->closes = request->head->closes;
    service->head(service->context, request);
    if (connection->request != request)
        return; /* it is answered */
    assert(request->is_admitted);
    if (request->head->body_length > request->body_max)
        service->too_large(service->context, request, request->head->body_length);
    else if (request->head->expects_continue && !request->is_whole &&
             !evbuffer_get_length(bufferevent_get_input(connection->bev)))
        http_send_continue(connection);
}

/* True: the head is there, and the service wants the body. */
static bool read_head(struct http_connection *connection)
{
    struct http_request *request = connection->request;
    struct evbuffer *in = bufferevent_get_input(connection->bev);
    size_t length = evbuffer_get_length(in);
    length = length > HTTP_HEAD_MAX ? HTTP_HEAD_MAX + 1 : length;
    const char *bytes = (const char *)evbuffer_pullup(in, (ssize_t)length);
    enum http_head_state state =
        bytes ? http_head_read(request->head, bytes, length) : HTTP_HEAD_MORE;
    if (state == HTTP_HEAD_REFUSED) {
        http_refuse(connection, request->head->status, request->head->why);
        return false;
    }
    if (state == HTTP_HEAD_MORE)
        return false;
    if (!http_request_keep_head(request, bytes)) {
        http_connection_close(connection);
        return false;
    }
    evbuffer_drain(in, request->head->size);
    admit(connection);
    return connection->request == request;
}

/* All that has come of a body whose length is known. */
static bool read_plain(struct http_request *request, struct evbuffer *in)
{
    size_t left = (size_t)request->head->body_length - request->body_length;
    size_t length = evbuffer_get_length(in);
    length = length < left ? length : left;
    if (!http_request_make_room(request, length))
        return false;
    evbuffer_remove(in, request->body + request->body_length, length);
    request->body_length += length;
    request->is_whole = length == left;
    return true;
}

/* The first contiguous piece of the input. */
static bool read_chunks(struct http_request *request, struct evbuffer *in,
                        enum http_chunked_state *ret)
{
    size_t length = evbuffer_get_contiguous_space(in), used, held;
    const char *bytes = (const char *)evbuffer_pullup(in, (ssize_t)length);
    if (!http_request_make_room(request, length))
        return false;
    *ret = http_chunked_read(&request->chunked, bytes, length, request->body + request->body_length,
                             &used, &held);
    evbuffer_drain(in, used);
    request->body_length += held;
    request->is_whole = *ret == HTTP_CHUNKED_WHOLE;
    return true;
}

/* False: the body is not complete, or the request is answered. */
static bool read_chunked(struct http_connection *connection)
{
    struct http_request *request = connection->request;
    const struct http_service *service = &connection->server->service;
    struct evbuffer *in = bufferevent_get_input(connection->bev);
    enum http_chunked_state state = HTTP_CHUNKED_MORE;
    while (state == HTTP_CHUNKED_MORE && evbuffer_get_length(in)) {
        if (!read_chunks(request, in, &state)) {
            http_connection_close(connection);
            return false;
        }
        if (request->chunked.total > request->body_max) {
            service->too_large(service->context, request, request->chunked.total);
            return false;
        }
    }
    if (state == HTTP_CHUNKED_BAD)
        http_refuse(connection, 400, "a chunk that is not SIZE, CRLF, bytes, CRLF");
    return state == HTTP_CHUNKED_WHOLE;
}

static bool read_body(struct http_connection *connection)
{
    struct http_request *request = connection->request;
    if (request->is_whole)
        return true;
    if (request->head->is_chunked)
        return read_chunked(connection);
    if (!read_plain(request, bufferevent_get_input(connection->bev)))
        http_connection_close(connection);
    return !connection->is_closed && request->is_whole;
}

static void serve(struct http_connection *connection)
{
    struct http_request *request = connection->request;
    const struct http_service *service = &connection->server->service;
    if (request->body)
        request->body[request->body_length] = '\0';
    http_set_phase(connection, HTTP_SERVING, 0);
    service->request(service->context, request);
}

static void receive(struct http_connection *connection)
{
    if (!connection->request)
        connection->request = http_request_new(connection);
    if (!connection->request) {
        http_connection_close(connection);
        return;
    }
    struct http_request *request = connection->request;
    bool is_there = (request->text || read_head(connection)) && read_body(connection);
    if (connection->request != request || connection->is_closed)
        return; /* refused or closed */
    if (!hold(connection))
        return;
    if (is_there)
        serve(connection);
    else if (connection->is_ended)
        http_connection_close(connection);
}

/* ---- events ---- */

static void handle_input(struct http_connection *connection)
{
    size_t length = evbuffer_get_length(bufferevent_get_input(connection->bev));
    stop_waking(connection);
    switch (connection->phase) {
    case HTTP_IDLE:
        http_set_phase(connection, HTTP_RECEIVING, 0);
        receive(connection);
        return;
    case HTTP_RECEIVING:
        receive(connection);
        return;
    case HTTP_SERVING:
    case HTTP_SENDING:
    case HTTP_STREAMING:
        handle_early(connection, length);
        return;
    case HTTP_DRAINING:
        drain(connection);
        return;
    }
}

static void on_readable(struct bufferevent *bev, void *context)
{
    struct http_connection *connection = context;
    struct loop *loop = connection->server->loop; /* the connection may be gone afterwards */
    (void)bev;
    loop_work_begin(loop);
    handle_input(connection);
    loop_work_end(loop);
}

void http_wake(void *context)
{
    struct http_server *server = context;
    struct http_connection *first;
    for (int i = 0; i < AT_ONCE && (first = TAILQ_FIRST(&server->waking)); i++)
        handle_input(first);
    http_free_closed(server);
    if (!TAILQ_EMPTY(&server->waking))
        loop_timer_set(server->wake, 0);
}

static void on_written(struct bufferevent *bev, void *context)
{
    struct http_connection *connection = context;
    const struct http_service *service = &connection->server->service;
    (void)bev;
    if (connection->phase != HTTP_SENDING || http_unsent(connection))
        return;
    http_answer_sent(connection);
    if (service->sent)
        service->sent(service->context);
}

/* A client that has half-closed the connection may still wait for its answer. Not with TLS:
 * libevent writes nothing after the end of the input. */
static void on_event(struct bufferevent *bev, short what, void *context)
{
    struct http_connection *connection = context;
    bool waits = connection->is_waking || connection->phase == HTTP_SERVING ||
                 connection->phase == HTTP_SENDING;
    if (what & BEV_EVENT_CONNECTED)
        return;
    connection->is_ended = true;
    if (what & BEV_EVENT_ERROR)
        shutdown(connection->fd, SHUT_WR); /* plain HTTP on a TLS port: an end instead of a reset */
    if (!(what & BEV_EVENT_EOF) || !waits || bufferevent_openssl_get_ssl(bev))
        http_connection_close(connection);
}

/* ---- the beginning ---- */

static void read_peer(const struct sockaddr *peer, char ret[INET6_ADDRSTRLEN])
{
    if (peer->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)peer)->sin_addr, ret,
                  INET6_ADDRSTRLEN);
    else if (peer->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr, ret,
                  INET6_ADDRSTRLEN);
}

/* Large writes and TCP_NODELAY: an answer goes out in one piece if it can, and its last part does
 * not wait for the ACK of the one before. */
static void send_at_once(struct bufferevent *bev, int fd)
{
    int on = 1;
    bufferevent_set_max_single_write(bev, SINGLE_WRITE);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* fails on a UNIX socket */
}

/* NULL: out of memory; the descriptor is closed then. */
static struct bufferevent *make_bufferevent(const struct http_server *server, int fd)
{
    struct event_base *base = loop_base(server->loop);
    struct bufferevent *bev = server->tls ? server_tls_connection(server->tls, base, fd)
                                          : bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!bev)
        close(fd);
    return bev;
}

void http_connection_open(struct http_server *server, int fd, const struct sockaddr *peer)
{
    struct http_connection *connection = calloc(1, sizeof(*connection));
    struct bufferevent *bev = make_bufferevent(server, fd);
    if (!connection || !bev || !evbuffer_add_cb(bufferevent_get_output(bev), on_output, connection))
        goto out;
    *connection = (struct http_connection){.server = server, .bev = bev, .fd = fd};
    if (server->service.accepted)
        connection->mark = server->service.accepted(server->service.context, fd);
    if (!http_holders_add(&server->holders, connection, peer))
        goto out;
    http_set_phase(connection, HTTP_RECEIVING, 0); /* the first request has request_ms to come */
    read_peer(peer, connection->peer);
    send_at_once(bev, fd);
    bufferevent_setcb(bev, on_readable, on_written, on_event, connection);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    TAILQ_INSERT_TAIL(&server->all, connection, link);
    server->count++;
    return;
out:
    if (bev)
        bufferevent_free(bev);
    free(connection);
}
