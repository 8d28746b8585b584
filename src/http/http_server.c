/* The listening socket, and the sweep once a second. */
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <stdlib.h>

#include "clock.h"
#include "http_internal.h"
#include "loop.h"

enum {
    SWEEP_MS = 1000,
    GRACE_MS =
        1000, /* a client that reads its answer within this time is not cut, however large it is */
    DRAIN_MS = 2000,
};

/* Sets the timer unless it is set: traffic must not put the sweep off. */
static void sweep_soon(struct http_server *server)
{
    if (server->will_sweep)
        return;
    server->will_sweep = true;
    loop_timer_set(server->sweep, SWEEP_MS);
}

/* ---- accepting ---- */

static void pause_accepting(struct http_server *server)
{
    server->is_paused = true;
    evconnlistener_disable(server->listener);
    sweep_soon(server);
}

void http_server_accept(struct http_server *server)
{
    if (!server->is_paused || !server->listener || server->count >= server->limits.connections)
        return;
    server->is_paused = false;
    evconnlistener_enable(server->listener);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *peer,
                      int length, void *context)
{
    struct http_server *server = context;
    (void)listener;
    (void)length;
    http_connection_open(server, (int)fd, peer);
    if (server->count >= server->limits.connections &&
        !http_holders_make_room(server, clock_now().boot.ms))
        pause_accepting(server);
    sweep_soon(server);
}

/* Out of descriptors, say: trying again at once would only burn time. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    (void)listener;
    pause_accepting(context);
}

/* ---- those that take too long ---- */

static int64_t allowance_ms(const struct http_connection *connection)
{
    const struct http_limits *limits = &connection->server->limits;
    int64_t for_bytes = (int64_t)(connection->bytes * 1000 / limits->bytes_per_s);
    switch (connection->phase) {
    case HTTP_RECEIVING:
        return limits->request_ms + for_bytes;
    case HTTP_SENDING:
        return limits->answer_ms + for_bytes;
    case HTTP_STREAMING: /* since it last kept up */
        return limits->answer_ms;
    case HTTP_IDLE:
        return limits->idle_ms;
    case HTTP_DRAINING:
        return DRAIN_MS;
    case HTTP_SERVING: /* the service's time, not the client's */
        break;
    }
    return INT64_MAX;
}

/* Has the client read all bytes sent, or as many as bytes_per_s asks for? */
static bool keeps_up(const struct http_connection *connection)
{
    const struct http_limits *limits = &connection->server->limits;
    return !http_unsent(connection) ||
           (int64_t)(connection->bytes * 1000 / limits->bytes_per_s) >= limits->answer_ms;
}

static void sweep(void *context)
{
    struct http_server *server = context;
    int64_t now = clock_now().boot.ms;
    size_t share =
        http_server_is_full(server) ? server->limits.unsent_bytes / server->count : SIZE_MAX;
    struct http_connection *next;
    bool was_sending = false;
    server->will_sweep = false;
    for (struct http_connection *one = TAILQ_FIRST(&server->all); one; one = next) {
        next = TAILQ_NEXT(one, link);
        was_sending |= one->phase == HTTP_SENDING;
        if (one->phase == HTTP_STREAMING && keeps_up(one))
            http_set_phase(one, HTTP_STREAMING, 0);
        bool holds_too_much = one->unsent > share && now - one->since_ms >= GRACE_MS;
        if (holds_too_much || now - one->since_ms > allowance_ms(one)) {
            server->cut += one->phase != HTTP_IDLE && one->phase != HTTP_DRAINING;
            http_connection_close(one);
        }
    }
    if (server->is_paused && server->count >= server->limits.connections)
        http_holders_make_room(server, now);
    http_server_accept(server);
    if (server->count || server->is_paused)
        sweep_soon(server);
    if (was_sending && server->service.sent)
        server->service.sent(server->service.context);
}

/* ---- life ---- */

enum status http_server_new(struct loop *loop, const struct http_limits *limits,
                            struct server_tls *tls, const struct http_service *service, int fd,
                            struct http_server **ret)
{
    struct http_server *server = calloc(1, sizeof(*server));
    enum status st = server ? OK : E_NOMEM;
    if (st == OK) {
        *server = (struct http_server){
            .loop = loop, .limits = *limits, .tls = tls, .service = *service, .date_s = -1};
        TAILQ_INIT(&server->all);
        TAILQ_INIT(&server->waking);
        TAILQ_INIT(&server->closed);
        http_holders_init(&server->holders);
        strbuf_init(&server->head);
        st = loop_timer_new_patient(loop, sweep, server, &server->sweep);
    }
    if (st == OK)
        st = loop_timer_new_patient(loop, http_wake, server, &server->wake);
    if (st == OK)
        server->listener = evconnlistener_new(loop_base(loop), on_accept, server,
                                              LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    if (st != OK || !server->listener) {
        evutil_closesocket(fd);
        http_server_free(server);
        return E_NOMEM;
    }
    evconnlistener_set_error_cb(server->listener, on_accept_error);
    *ret = server;
    return OK;
}

struct http_server *http_server_free(struct http_server *server)
{
    if (!server)
        return NULL;
    if (server->listener)
        evconnlistener_free(server->listener);
    server->listener = NULL;
    for (struct http_connection *one; (one = TAILQ_FIRST(&server->all));)
        http_connection_close(one);
    http_free_closed(server);
    http_holders_release(&server->holders);
    loop_timer_free(server->sweep);
    loop_timer_free(server->wake);
    strbuf_release(&server->head);
    free(server);
    return NULL;
}

/* ---- figures ---- */

size_t http_server_connections(const struct http_server *server)
{
    return server->count;
}

size_t http_server_sending(const struct http_server *server)
{
    int64_t now = clock_now().boot.ms;
    size_t count = 0;
    const struct http_connection *one;
    TAILQ_FOREACH (one, &server->all, link) {
        count += one->phase == HTTP_SENDING && now - one->since_ms < GRACE_MS;
    }
    return count;
}

uint64_t http_server_cut(const struct http_server *server)
{
    return server->cut;
}

bool http_server_is_full(const struct http_server *server)
{
    return server->unsent_bytes > server->limits.unsent_bytes;
}

size_t http_server_unsent(const struct http_server *server)
{
    size_t bytes = 0;
    const struct http_connection *one;
    TAILQ_FOREACH (one, &server->all, link) {
        bytes += http_unsent(one);
    }
    return bytes;
}
