#include "redis_wire.h"

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
#include <sys/un.h>

#include "tls.h"

enum {
    REPLY_BYTES_MAX = 256 * 1024 * 1024,
    REPLY_ELEMENTS_MAX = 4 * 1024 * 1024, /* of an array */
    READER_KEEP = 1024 * 1024,            /* of its buffer, when it is empty */
    SEND_NOW = 4096,       /* a command that is larger is sent while the next one is made */
    READ_FIRST = 4096,     /* libevent reads no more at once ... */
    READ_REST = 32 * 1024, /* ... so the rest is read in pieces of this size, ... */
    READ_PIECES = 8,       /* ... and so many of them, before others have their turn */
};

struct redis_wire {
    struct loop *loop;
    const struct redis_wire_events *events;
    void *context;
    struct bufferevent *socket;
    SSL *tls; /* the socket's; NULL: plain */
    struct redisReader *reader;
    struct loop_timer *end; /* reports `failure` from the loop */
    bool is_open, is_closed;
    char failure[200];
};

/* ---- replies ---- */

/* Replies are made here, since hiredis would allocate an array for as many elements as the server
 * claims. NULL ends the reading. */
static redisReply *new_reply(const redisReadTask *task)
{
    redisReply *reply = calloc(1, sizeof(*reply));
    redisReply *parent = task->parent ? task->parent->obj : NULL;
    if (!reply)
        return NULL;
    reply->type = task->type;
    if (parent)
        parent->element[task->idx] = reply;
    return reply;
}

static void *make_string(const redisReadTask *task, char *bytes, size_t length)
{
    char *copy = malloc(length + 1);
    redisReply *reply = copy ? new_reply(task) : NULL;
    if (!reply) {
        free(copy);
        return NULL;
    }
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    reply->str = copy;
    reply->len = length;
    return reply;
}

/* What hiredis counts the elements of an array with. */
#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

static void *make_array(const redisReadTask *task, element_count count)
{
    redisReply **elements =
        (size_t)count <= REPLY_ELEMENTS_MAX ? calloc((size_t)count + 1, sizeof(*elements)) : NULL;
    redisReply *reply = elements ? new_reply(task) : NULL;
    if (!reply) {
        free(elements);
        return NULL;
    }
    reply->element = elements;
    reply->elements = (size_t)count;
    return reply;
}

static void *make_integer(const redisReadTask *task, long long number)
{
    redisReply *reply = new_reply(task);
    if (reply)
        reply->integer = number;
    return reply;
}

/* The task is of what is not there: an array, or a string. */
static void *make_nil(const redisReadTask *task)
{
    redisReply *reply = new_reply(task);
    if (reply)
        reply->type = REDIS_REPLY_NIL;
    return reply;
}

struct redisReader *redis_reader_new(void)
{
    static redisReplyObjectFunctions functions = {.createString = make_string,
                                                  .createArray = make_array,
                                                  .createInteger = make_integer,
                                                  .createNil = make_nil,
                                                  .freeObject = freeReplyObject};
    struct redisReader *reader = redisReaderCreateWithFunctions(&functions);
    if (reader)
        reader->maxbuf = READER_KEEP;
    return reader;
}

/* ---- the end ---- */

static void close_now(struct redis_wire *wire, const char *why)
{
    if (wire->is_closed)
        return;
    wire->is_closed = true;
    loop_timer_stop(wire->end);
    bufferevent_disable(wire->socket, EV_READ | EV_WRITE);
    wire->events->closed(wire->context, why);
}

static void on_end(void *context)
{
    struct redis_wire *wire = context;
    close_now(wire, wire->failure);
}

static void fail(struct redis_wire *wire, const char *why)
{
    if (!wire->failure[0])
        snprintf(wire->failure, sizeof(wire->failure), "%s", why);
    loop_timer_set(wire->end, 0);
}

struct redis_wire *redis_wire_free(struct redis_wire *wire)
{
    if (!wire)
        return NULL;
    if (wire->socket)
        bufferevent_free(wire->socket);
    if (wire->reader)
        redisReaderFree(wire->reader);
    loop_timer_free(wire->end);
    free(wire);
    return NULL;
}

void redis_wire_bind(struct redis_wire *wire, const struct redis_wire_events *events, void *context)
{
    wire->events = events;
    wire->context = context;
}

bool redis_wire_is_open(const struct redis_wire *wire)
{
    return wire->is_open;
}

/* ---- bytes ---- */

/* How much of a command was sent at once. A socket that can't take it, or has failed, is left to
 * libevent. */
static size_t send_now(const struct redis_wire *wire, const char *command, size_t length)
{
    struct evbuffer *output = bufferevent_get_output(wire->socket);
    if (wire->tls || !wire->is_open || length < SEND_NOW || evbuffer_get_length(output) > 0)
        return 0;
    ssize_t sent =
        send(bufferevent_getfd(wire->socket), command, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent > 0 ? (size_t)sent : 0;
}

enum status redis_wire_send(struct redis_wire *wire, int argc, const char **argv,
                            const size_t *lengths)
{
    char *command;
    long long formatted = redisFormatCommandArgv(&command, argc, argv, lengths);
    if (formatted < 0)
        return E_NOMEM;
    size_t length = (size_t)formatted, sent = send_now(wire, command, length);
    int failed = sent < length ? bufferevent_write(wire->socket, command + sent, length - sent) : 0;
    free(command);
    return failed ? E_NOMEM : OK;
}

/* Takes the replies that are whole; false: the server does not speak the protocol. */
static bool take_replies(struct redis_wire *wire)
{
    void *reply;
    while (redisReaderGetReply(wire->reader, &reply) == REDIS_OK) {
        if (!reply)
            return true;
        wire->events->reply(wire->context, reply);
    }
    fail(wire, wire->reader->err == REDIS_ERR_PROTOCOL
                   ? "this is no Redis: its answer can't be read"
                   : "its answer is too large");
    return false;
}

/* False: no more of them can be taken. */
static bool take_bytes(struct redis_wire *wire, const void *bytes, size_t length)
{
    if (wire->reader->len + length <= REPLY_BYTES_MAX &&
        redisReaderFeed(wire->reader, bytes, length) == REDIS_OK)
        return take_replies(wire);
    fail(wire, "its answer is too large");
    return false;
}

/* What libevent has left in a plain socket. An end, or an error, is found by libevent, too. */
static bool read_rest(struct redis_wire *wire)
{
    char bytes[READ_REST];
    bool is_fine = true;
    for (int i = 0; is_fine && i < READ_PIECES; i++) {
        ssize_t length = recv(bufferevent_getfd(wire->socket), bytes, sizeof(bytes), MSG_DONTWAIT);
        if (length <= 0)
            break;
        is_fine = take_bytes(wire, bytes, (size_t)length);
        if (length < (ssize_t)sizeof(bytes))
            break;
    }
    return is_fine;
}

static void read_input(struct redis_wire *wire)
{
    struct evbuffer *input = bufferevent_get_input(wire->socket);
    struct evbuffer_iovec piece;
    bool is_fine = !wire->failure[0];
    bool has_more = !wire->tls && evbuffer_get_length(input) >= READ_FIRST;
    while (is_fine && evbuffer_peek(input, -1, NULL, &piece, 1) > 0 && piece.iov_len > 0) {
        is_fine = take_bytes(wire, piece.iov_base, piece.iov_len);
        evbuffer_drain(input, piece.iov_len);
    }
    if (is_fine && has_more)
        is_fine = read_rest(wire);
    if (is_fine)
        wire->events->paused(wire->context);
}

static void on_readable(struct bufferevent *socket, void *context)
{
    struct redis_wire *wire = context;
    struct loop *loop = wire->loop;
    (void)socket;
    loop_work_begin(loop);
    read_input(wire);
    loop_work_end(loop);
}

/* ---- connecting ---- */

static void on_connected(struct redis_wire *wire)
{
    const char *refusal = wire->tls ? tls_refusal(wire->tls, false) : NULL;
    int one = 1;
    setsockopt(bufferevent_getfd(wire->socket), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (refusal)
        fail(wire, refusal);
    wire->is_open = !refusal;
    if (!refusal)
        wire->events->opened(wire->context);
}

static void describe_error(struct redis_wire *wire, short what, char *text, size_t size)
{
    int dns = bufferevent_socket_get_dns_error(wire->socket);
    unsigned long tls = wire->tls ? bufferevent_get_openssl_error(wire->socket) : 0;
    if (dns)
        snprintf(text, size, "can't find the host: %s", evutil_gai_strerror(dns));
    else if (wire->tls && tls_explain(wire->tls, tls, text, size))
        return;
    else if (what & BEV_EVENT_EOF || EVUTIL_SOCKET_ERROR() == 0)
        snprintf(text, size, "the server closed the connection");
    else
        snprintf(text, size, "%s", evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
}

static void on_event(struct bufferevent *socket, short what, void *context)
{
    struct redis_wire *wire = context;
    char text[200];
    (void)socket;
    if (what & BEV_EVENT_CONNECTED) {
        on_connected(wire);
        return;
    }
    describe_error(wire, what, text, sizeof(text));
    close_now(wire, wire->failure[0] ? wire->failure : text);
}

/* Dirty shutdown is allowed: a clean TLS shutdown would have to wait for the peer. */
static struct bufferevent *new_socket(struct loop *loop, const struct redis_address *address,
                                      SSL **ret_tls)
{
    if (!address->tls)
        return bufferevent_socket_new(loop_base(loop), -1, BEV_OPT_CLOSE_ON_FREE);
    SSL *tls = tls_session(address->tls, address->host);
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

/* An error is reported by on_event as well, unless it was found at once. */
static int connect_to(struct redis_wire *wire, const struct redis_address *address)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    if (address->port)
        return bufferevent_socket_connect_hostname(wire->socket, address->names, AF_UNSPEC,
                                                   address->host, address->port);
    snprintf(path.sun_path, sizeof(path.sun_path), "%s", address->host);
    return bufferevent_socket_connect(wire->socket, (const struct sockaddr *)&path, sizeof(path));
}

enum status redis_wire_new(struct loop *loop, const struct redis_address *address,
                           const struct redis_wire_events *events, void *context,
                           struct redis_wire **ret)
{
    struct redis_wire *wire = calloc(1, sizeof(*wire));
    if (!wire)
        return E_NOMEM;
    wire->loop = loop;
    wire->events = events;
    wire->context = context;
    wire->socket = new_socket(loop, address, &wire->tls);
    wire->reader = redis_reader_new();
    if (!wire->socket || !wire->reader ||
        bufferevent_priority_set(wire->socket, LOOP_URGENT) != 0 ||
        loop_timer_new(loop, on_end, wire, &wire->end) != OK) {
        redis_wire_free(wire);
        return E_NOMEM;
    }
    bufferevent_setcb(wire->socket, on_readable, NULL, on_event, wire);
    bufferevent_enable(wire->socket, EV_READ | EV_WRITE);
    if (connect_to(wire, address) != 0)
        fail(wire, evutil_socket_error_to_string(EVUTIL_SOCKET_ERROR()));
    *ret = wire;
    return OK;
}
