#include "connection.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "loop.h"
#include "server_tls.h"
#include "strbuf.h"

enum {
    SWEEP_MS = 1000,
    GRACE_MS = 1000, /* who takes its answer within this is not cut, however large it is */
    SINGLE_WRITE = 256 << 10,
};

enum phase { RECEIVING, SERVING, SENDING, STREAMING, IDLE };

struct connection {
    struct connections *owner;
    struct bufferevent *bev;
    struct evhttp_connection *http; /* NULL: not settled yet */
    struct evhttp_request *request; /* while it is ours: SERVING and STREAMING */
    int fd;
    enum phase phase;
    int64_t since_ms; /* boot time: when the phase began */
    size_t bytes;     /* that came (RECEIVING, SERVING), are to go (SENDING) or went (STREAMING) */
    size_t unsent;    /* of what is counted here */
    bool is_shared;   /* what it is sent is counted elsewhere */
    bool is_over;     /* to be closed by the next sweep */
    bool is_refused;  /* by the HTTP library; in that list */
    void (*gone)(void *context);
    void *context;
    struct event *hang_up; /* STREAMING: nothing is read then, so closing is watched for */
    TAILQ_ENTRY(connection) link, in_refused;
};

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void set_phase(struct connection *connection, enum phase phase, size_t bytes)
{
    struct connections *owner = connection->owner;
    bool was_held = connection->phase == RECEIVING || connection->phase == SERVING;
    bool is_held = phase == RECEIVING || phase == SERVING;
    owner->held_bytes -= was_held ? connection->bytes : 0;
    owner->held_bytes += is_held ? bytes : 0;
    connection->phase = phase;
    connection->bytes = bytes;
    connection->since_ms = now_ms();
}

/* Not later because of those that come meanwhile: under traffic it would never be. */
static void sweep_soon(struct connections *connections)
{
    if (connections->will_sweep)
        return;
    connections->will_sweep = true;
    loop_timer_set(connections->sweep, SWEEP_MS);
}

static void set_unsent(struct connection *connection, size_t bytes)
{
    connection->owner->unsent_bytes += bytes - connection->unsent;
    connection->unsent = bytes;
}

/* ---- life ---- */

static void remember(struct connections *connections, struct connection *connection)
{
    size_t at = (size_t)connection->fd;
    if (at >= connections->fd_room) {
        size_t room = 2 * at + 64;
        struct connection **grown = realloc(connections->by_fd, room * sizeof(*grown));
        if (!grown)
            return; /* its requests are not served */
        memset(grown + connections->fd_room, 0, (room - connections->fd_room) * sizeof(*grown));
        connections->by_fd = grown;
        connections->fd_room = room;
    }
    connections->by_fd[at] = connection;
}

static struct connection *find(const struct connections *connections, int fd)
{
    return fd >= 0 && (size_t)fd < connections->fd_room ? connections->by_fd[fd] : NULL;
}

/* It streams no more. */
static void stop_watching(struct connection *connection)
{
    if (connection->hang_up)
        event_free(connection->hang_up);
    connection->hang_up = NULL;
}

static void on_input(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context);
static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context);

/* It is in no list any more. With TLS its buffers may live on for a turn of the loop, and even send
 * what is in them. */
static void forget(struct connection *connection)
{
    struct connections *owner = connection->owner;
    evbuffer_remove_cb(bufferevent_get_input(connection->bev), on_input, connection);
    evbuffer_remove_cb(bufferevent_get_output(connection->bev), on_output, connection);
    set_phase(connection, IDLE, 0);
    owner->unsent_bytes -= connection->unsent;
    if (connection->is_refused)
        TAILQ_REMOVE(&owner->refused, connection, in_refused);
    stop_watching(connection);
    free(connection);
    owner->count--;
    if (owner->paused && owner->listener && owner->count < owner->limits.connections) {
        owner->paused = false;
        evconnlistener_enable(owner->listener);
    }
}

/* A request that was in our hands when the network failed is ours to free; any other goes with its
 * connection. */
static void on_close(struct evhttp_connection *http, void *context)
{
    struct connection *connection = context;
    struct evhttp_request *request = connection->request;
    (void)http;
    if (connection->gone)
        connection->gone(connection->context);
    if (request && !evhttp_request_get_connection(request))
        evhttp_request_free(request);
    TAILQ_REMOVE(&connection->owner->all, connection, link);
    if (find(connection->owner, connection->fd) == connection)
        connection->owner->by_fd[connection->fd] = NULL;
    forget(connection);
}

/* ---- a new one ---- */

static void on_input(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
    struct connection *connection = context;
    struct connections *owner = connection->owner;
    (void)buffer;
    if (!info->n_added)
        return;
    if (connection->phase == IDLE)
        set_phase(connection, RECEIVING, 0);
    if (connection->phase != RECEIVING)
        return; /* the next request is early, and waits */
    connection->bytes += info->n_added;
    owner->held_bytes += info->n_added;
    if (owner->held_bytes > owner->limits.held_bytes) {
        connection->is_over = true;
        loop_timer_set(owner->sweep, 0); /* not from within its own buffer */
    }
}

/* ---- what the library refuses ---- */

/* Something was sent; or is to be sent that is no answer of ours. */
static void on_output(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *context)
{
    struct connection *connection = context;
    (void)buffer;
    if (connection->phase == STREAMING)
        connection->bytes += info->n_deleted;
    if (!connection->is_shared)
        set_unsent(connection, connection->unsent + info->n_added - info->n_deleted);
    if (!info->n_added || connection->is_refused ||
        (connection->phase != RECEIVING && connection->phase != IDLE))
        return;
    connection->is_refused = true;
    TAILQ_INSERT_TAIL(&connection->owner->refused, connection, in_refused);
    event_active(connection->owner->replace, EV_TIMEOUT, 0);
}

/* It is a page for people, or the invitation to go on ("100 Continue"), which stays. */
static void replace_answer(struct connection *connection, struct strbuf *text)
{
    struct evbuffer *out = bufferevent_get_output(connection->bev);
    char head[] = "HTTP/1.1 400";
    if (evbuffer_copyout(out, head, sizeof(head) - 1) != (ssize_t)sizeof(head) - 1)
        return;
    int status = atoi(head + strlen("HTTP/1.1 "));
    strbuf_reset(text);
    connection->owner->refuse(status, text);
    if (status < 400 || strbuf_status(text) != OK)
        return;
    evbuffer_unfreeze(out, 1); /* the bufferevent guards what it will send */
    evbuffer_drain(out, evbuffer_get_length(out));
    evbuffer_freeze(out, 1);
    evbuffer_add(out, text->text, text->length);
}

/* Before the socket is looked at again: what was refused has not been sent yet. */
static void replace_answers(evutil_socket_t fd, short events, void *context)
{
    struct connections *connections = context;
    struct strbuf text;
    (void)fd;
    (void)events;
    strbuf_init(&text);
    for (struct connection *one; (one = TAILQ_FIRST(&connections->refused));) {
        replace_answer(one, &text);
        TAILQ_REMOVE(&connections->refused, one, in_refused);
        one->is_refused = false;
    }
    strbuf_release(&text);
}

/* ---- a new one, from the library's side ---- */

/* The library asks for what it will put the accepted socket into. */
static struct bufferevent *make_bufferevent(struct event_base *base, void *context)
{
    struct connections *connections = context;
    struct connection *connection = calloc(1, sizeof(*connection));
    struct bufferevent *bev = connections->tls
                                  ? server_tls_connection(connections->tls, base)
                                  : bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (!connection || !bev || !evbuffer_add_cb(bufferevent_get_input(bev), on_input, connection) ||
        !evbuffer_add_cb(bufferevent_get_output(bev), on_output, connection)) {
        free(connection);
        if (bev)
            bufferevent_free(bev);
        return NULL; /* the library makes a plain one, whose requests are not served */
    }
    *connection = (struct connection){.owner = connections, .bev = bev, .since_ms = now_ms()};
    bufferevent_incref(bev); /* until it is settled */
    TAILQ_INSERT_TAIL(&connections->fresh, connection, link);
    if (++connections->count >= connections->limits.connections) {
        connections->paused = true;
        evconnlistener_disable(connections->listener);
    }
    event_active(connections->settle, EV_TIMEOUT, 0);
    return bev;
}

/* An answer goes out in one piece if it can, and its last part does not wait for the client to
 * confirm the one before. */
static void send_at_once(struct bufferevent *bev, int fd)
{
    int on = 1;
    bufferevent_set_max_single_write(bev, SINGLE_WRITE);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* fails on a UNIX socket */
}

/* Right after the accepting, before anything is read: by now the library has its own object for the
 * connection, which is the argument of its callbacks. */
static void settle(evutil_socket_t fd, short events, void *context)
{
    struct connections *connections = context;
    (void)fd;
    (void)events;
    for (struct connection *fresh; (fresh = TAILQ_FIRST(&connections->fresh));) {
        struct bufferevent *bev = fresh->bev;
        bufferevent_data_cb on_read;
        void *http;
        TAILQ_REMOVE(&connections->fresh, fresh, link);
        assert(TAILQ_FIRST(&connections->fresh) != fresh);
        bufferevent_getcb(bev, &on_read, NULL, NULL, &http);
        if (!on_read || !http) { /* there was no memory for it */
            forget(fresh);
        } else {
            TAILQ_INSERT_TAIL(&connections->all, fresh, link);
            fresh->http = http;
            fresh->fd = (int)bufferevent_getfd(bev);
            send_at_once(bev, fresh->fd);
            remember(connections, fresh);
            evhttp_connection_set_closecb(fresh->http, on_close, fresh);
        }
        bufferevent_decref(bev);
    }
    sweep_soon(connections);
}

/* Out of descriptors, say: trying again at once would only burn time. */
static void on_accept_error(struct evconnlistener *listener, void *context)
{
    struct connections *connections = context;
    connections->paused = true;
    evconnlistener_disable(listener);
    sweep_soon(connections);
}

/* ---- those that take too long ---- */

static int64_t allowance_ms(const struct connection *connection)
{
    const struct connection_limits *limits = &connection->owner->limits;
    int64_t for_bytes = (int64_t)(connection->bytes * 1000 / limits->bytes_per_s);
    switch (connection->phase) {
    case RECEIVING:
        return limits->request_ms + for_bytes;
    case SENDING:
        return limits->answer_ms + for_bytes;
    case STREAMING: /* since it last kept up */
        return limits->answer_ms;
    case IDLE:
        return limits->idle_ms;
    case SERVING: /* that is up to us */
        break;
    }
    return INT64_MAX;
}

/* It has taken all that it was sent, or as much as a slow client takes in its time. */
static bool keeps_up(const struct connection *connection)
{
    const struct connection_limits *limits = &connection->owner->limits;
    return !connection_unsent(connection) ||
           (int64_t)(connection->bytes * 1000 / limits->bytes_per_s) >= limits->answer_ms;
}

static void sweep(void *context)
{
    struct connections *connections = context;
    int64_t now = now_ms();
    size_t share = connections_are_full(connections)
                       ? connections->limits.unsent_bytes / connections->count
                       : SIZE_MAX;
    struct connection *next;
    connections->will_sweep = false;
    for (struct connection *one = TAILQ_FIRST(&connections->all); one; one = next) {
        next = TAILQ_NEXT(one, link);
        if (one->phase == STREAMING && keeps_up(one))
            set_phase(one, STREAMING, 0);
        bool holds_too_much = one->unsent > share && now - one->since_ms >= GRACE_MS;
        if (one->is_over || holds_too_much || now - one->since_ms > allowance_ms(one)) {
            connections->cut += one->phase != IDLE;
            connection_cut(one);
        }
    }
    if (connections->paused && connections->count < connections->limits.connections) {
        connections->paused = false;
        evconnlistener_enable(connections->listener);
    }
    if (connections->count || connections->paused)
        sweep_soon(connections);
}

/* The library frees what was not sent some turns of the loop later; it may be much. */
void connection_cut(struct connection *connection)
{
    struct evbuffer *out = bufferevent_get_output(connection->bev);
    evbuffer_unfreeze(out, 1); /* see replace_answer */
    evbuffer_drain(out, evbuffer_get_length(out));
    evhttp_connection_free(connection->http);
}

/* ---- set up ---- */

enum status connections_init(struct connections *connections, struct loop *loop,
                             const struct connection_limits *limits, struct server_tls *tls,
                             struct evhttp *http, void (*refuse)(int status, struct strbuf *out))
{
    *connections =
        (struct connections){.loop = loop, .limits = *limits, .tls = tls, .refuse = refuse};
    TAILQ_INIT(&connections->all);
    TAILQ_INIT(&connections->fresh);
    TAILQ_INIT(&connections->refused);
    connections->settle = event_new(loop_base(loop), -1, 0, settle, connections);
    connections->replace = event_new(loop_base(loop), -1, 0, replace_answers, connections);
    if (!connections->settle || !connections->replace ||
        event_priority_set(connections->settle, LOOP_URGENT) != 0 ||
        event_priority_set(connections->replace, LOOP_URGENT) != 0)
        return E_NOMEM;
    enum status st = loop_timer_new_patient(loop, sweep, connections, &connections->sweep);
    if (st == OK)
        evhttp_set_bevcb(http, make_bufferevent, connections);
    return st;
}

enum status connections_listen(struct connections *connections, struct evhttp *http, int fd)
{
    struct evconnlistener *listener =
        evconnlistener_new(loop_base(connections->loop), NULL, NULL,
                           LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
    if (!listener) {
        evutil_closesocket(fd);
        return E_NOMEM;
    }
    if (!evhttp_bind_listener(http, listener)) {
        evconnlistener_free(listener);
        return E_NOMEM;
    }
    evconnlistener_set_error_cb(listener, on_accept_error);
    connections->listener = listener;
    return OK;
}

void connections_release(struct connections *connections, struct evhttp *http)
{
    connections->listener = NULL; /* goes with its server */
    if (http)
        evhttp_free(http);
    for (struct connection *fresh; (fresh = TAILQ_FIRST(&connections->fresh));) {
        TAILQ_REMOVE(&connections->fresh, fresh, link);
        struct bufferevent *bev = fresh->bev;
        forget(fresh);
        bufferevent_decref(bev);
    }
    if (connections->settle)
        event_free(connections->settle);
    if (connections->replace)
        event_free(connections->replace);
    loop_timer_free(connections->sweep);
    free(connections->by_fd);
    *connections = (struct connections){0};
}

/* ---- requests ---- */

struct connection *connection_serve(struct connections *connections, struct evhttp_request *request,
                                    void (*gone)(void *context), void *context)
{
    struct evhttp_connection *http = evhttp_request_get_connection(request);
    struct bufferevent *bev = evhttp_connection_get_bufferevent(http);
    struct connection *connection = find(connections, (int)bufferevent_getfd(bev));
    if (!connection)
        return NULL;
    set_phase(connection, SERVING, connection->bytes);
    connection->request = request;
    connection->gone = gone;
    connection->context = context;
    return connection;
}

/* The answer has been sent. What came early is the next request. */
static void on_sent(struct evhttp_request *request, void *context)
{
    struct connection *connection = context;
    (void)request;
    size_t early = evbuffer_get_length(bufferevent_get_input(connection->bev));
    set_phase(connection, early ? RECEIVING : IDLE, early);
}

void connection_answer(struct connection *connection, struct evhttp_request *request, size_t length)
{
    connection->request = NULL;
    connection->gone = NULL;
    stop_watching(connection);
    set_phase(connection, SENDING, length);
    evhttp_request_set_on_complete_cb(request, on_sent, connection);
}

static void on_hang_up(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    connection_cut(context);
}

void connection_stream(struct connection *connection, void (*gone)(void *context), void *context)
{
    connection->gone = gone;
    connection->context = context;
    set_phase(connection, STREAMING, 0);
    stop_watching(connection);
    connection->hang_up = event_new(loop_base(connection->owner->loop), connection->fd, EV_CLOSED,
                                    on_hang_up, connection);
    if (connection->hang_up) /* else the next write tells */
        event_add(connection->hang_up, NULL);
}

void connection_share(struct connection *connection, int kernel_bytes)
{
    set_unsent(connection, 0);
    connection->is_shared = true;
    setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &kernel_bytes,
               sizeof(kernel_bytes)); /* or it stays as it was */
}

bool connections_are_full(const struct connections *connections)
{
    return connections->unsent_bytes > connections->limits.unsent_bytes;
}

size_t connection_unsent(const struct connection *connection)
{
    return evbuffer_get_length(bufferevent_get_output(connection->bev));
}

size_t connections_unsent(const struct connections *connections)
{
    size_t bytes = 0;
    const struct connection *one;
    TAILQ_FOREACH (one, &connections->all, link) {
        bytes += connection_unsent(one);
    }
    return bytes;
}
