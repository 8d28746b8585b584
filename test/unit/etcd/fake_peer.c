#include "fake_peer.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct fake_connection {
    struct fake_peer *peer;
    struct bufferevent *socket;
    nghttp2_session *session;
    struct fake_connection *next, **link;
    struct fake_reply *replies; /* all that were made */
    struct loop_timer *later;
    int32_t later_id;
    bool must_close;
};

/* What a stream answers with. */
struct fake_reply {
    const uint8_t *bytes;
    size_t length, at, step;
    int empty_frames;
    const char *code; /* NULL: no trailers */
    struct fake_reply *next;
};

static void connection_free(struct fake_connection *connection)
{
    *connection->link = connection->next;
    if (connection->next)
        connection->next->link = connection->link;
    nghttp2_session_del(connection->session);
    bufferevent_free(connection->socket);
    loop_timer_free(connection->later);
    while (connection->replies) {
        struct fake_reply *next = connection->replies->next;
        free(connection->replies);
        connection->replies = next;
    }
    free(connection);
}

static void flush(struct fake_connection *connection)
{
    const uint8_t *bytes;
    ssize_t length;
    while ((length = nghttp2_session_mem_send(connection->session, &bytes)) > 0)
        bufferevent_write(connection->socket, bytes, (size_t)length);
}

static nghttp2_nv nv(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static ssize_t read_reply(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                          uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)context;
    struct fake_reply *reply = source->ptr;
    size_t left = reply->length - reply->at;
    size_t length = left < reply->step ? left : reply->step;
    if (reply->empty_frames > 0) {
        reply->empty_frames--;
        return 0;
    }
    length = length < room ? length : room;
    memcpy(to, reply->bytes + reply->at, length);
    reply->at += length;
    if (reply->at < reply->length)
        return (ssize_t)length;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (reply->code) {
        nghttp2_nv trailer = nv("grpc-status", reply->code);
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, id, &trailer, 1);
    }
    return (ssize_t)length;
}

static void answer(struct fake_connection *connection, int32_t id, struct fake_reply with)
{
    nghttp2_nv headers[] = {nv(":status", "200"), nv("content-type", "application/grpc")};
    struct fake_reply *reply = malloc(sizeof(*reply));
    *reply = with;
    reply->next = connection->replies;
    connection->replies = reply;
    nghttp2_data_provider body = {.source.ptr = reply, .read_callback = read_reply};
    nghttp2_submit_response(connection->session, id, headers, 2, &body);
}

static void answer_bytes(struct fake_connection *connection, int32_t id, const char *bytes,
                         size_t length, const char *code)
{
    answer(connection, id,
           (struct fake_reply){
               .bytes = (const uint8_t *)bytes, .length = length, .step = 16384, .code = code});
}

static void answer_status(nghttp2_session *session, int32_t id, const char *code, const char *text)
{
    nghttp2_nv headers[] = {nv(":status", "200"), nv("content-type", "application/grpc"),
                            nv("grpc-status", code), nv("grpc-message", text)};
    nghttp2_submit_response(session, id, headers, 4, NULL);
}

/* An answer with a header whose revision is 7. */
#define MESSAGE "\0\0\0\0\4\x0a\2\x18\7"
enum { MESSAGE_LENGTH = sizeof(MESSAGE) - 1 };

static void act(struct fake_connection *connection, int32_t id, enum fake_act what)
{
    nghttp2_session *session = connection->session;
    struct fake_reply odd = {.bytes = (const uint8_t *)MESSAGE,
                             .length = MESSAGE_LENGTH,
                             .step = what == FAKE_SPLIT ? 1 : 16384,
                             .empty_frames = what == FAKE_PADDED ? 2 : 0,
                             .code = "0"};
    nghttp2_nv not_found = nv(":status", "404");
    switch (what) {
    case FAKE_ANSWER:
        answer_bytes(connection, id, MESSAGE, MESSAGE_LENGTH, "0");
        break;
    case FAKE_NO_LEADER:
        answer_status(session, id, "14", "etcdserver: no leader");
        break;
    case FAKE_FUNNY_MESSAGE:
        answer_status(session, id, "3", "100%25 wr%C3%B6ng%0A%zz%4");
        break;
    case FAKE_SPLIT:
    case FAKE_PADDED:
        answer(connection, id, odd);
        break;
    case FAKE_TWO_MESSAGES:
        answer_bytes(connection, id, MESSAGE MESSAGE, 2 * MESSAGE_LENGTH, "0");
        break;
    case FAKE_COMPRESSED:
        answer_bytes(connection, id, "\1\0\0\0\4abcd", 9, "0");
        break;
    case FAKE_HUGE_LENGTH:
        answer_bytes(connection, id, "\0\xff\xff\xff\xff_", 6, "0");
        break;
    case FAKE_CUT_SHORT:
        answer_bytes(connection, id, MESSAGE, MESSAGE_LENGTH - 1, "0");
        break;
    case FAKE_NO_MESSAGE:
        answer_status(session, id, "0", "");
        break;
    case FAKE_UNREADABLE:
        answer_bytes(connection, id, "\0\0\0\0\3\x0a\x7f\1", 8, "0");
        break;
    case FAKE_NO_STATUS:
        answer_bytes(connection, id, MESSAGE, MESSAGE_LENGTH, NULL);
        break;
    case FAKE_HTTP_404:
        nghttp2_submit_response(session, id, &not_found, 1, NULL);
        break;
    case FAKE_REFUSE:
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
        break;
    case FAKE_RESET:
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
        break;
    case FAKE_GOAWAY_BEFORE:
        nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, id > 1 ? id - 2 : 0, NGHTTP2_NO_ERROR,
                              NULL, 0);
        break;
    case FAKE_GOAWAY_AFTER:
        nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR, NULL, 0);
        connection->later_id = id;
        loop_timer_set(connection->later, 50);
        break;
    case FAKE_CLOSE:
        connection->must_close = true;
        break;
    case FAKE_GARBAGE:
        bufferevent_write(connection->socket, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10);
        break;
    case FAKE_SILENCE:
        break;
    }
}

static void on_later(void *context)
{
    struct fake_connection *connection = context;
    answer_bytes(connection, connection->later_id, MESSAGE, MESSAGE_LENGTH, "0");
    flush(connection);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
    (void)session;
    struct fake_connection *connection = context;
    struct fake_peer *peer = connection->peer;
    if (frame->hd.type != NGHTTP2_DATA || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    enum fake_act what = *peer->script;
    if (what != FAKE_ANSWER)
        peer->script++;
    peer->requests++;
    act(connection, frame->hd.stream_id, what);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_length, const uint8_t *value, size_t value_length, uint8_t flags,
                     void *context)
{
    (void)session;
    (void)frame;
    (void)flags;
    struct fake_connection *connection = context;
    struct fake_peer *peer = connection->peer;
    if (name_length == 5 && memcmp(name, ":path", 5) == 0)
        snprintf(peer->path, sizeof(peer->path), "%.*s", (int)value_length, (const char *)value);
    if (name_length == 9 && memcmp(name, "hasleader", 9) == 0)
        peer->saw_leader_wanted = true;
    if (name_length == 12 && memcmp(name, "grpc-timeout", 12) == 0)
        peer->saw_timeout = value[value_length - 1] == 'm';
    return 0;
}

static void on_readable(struct bufferevent *socket, void *context)
{
    struct fake_connection *connection = context;
    struct evbuffer *input = bufferevent_get_input(socket);
    size_t length = evbuffer_get_length(input);
    if (!connection->peer->is_not_http2 &&
        nghttp2_session_mem_recv(connection->session, evbuffer_pullup(input, -1), length) < 0)
        connection->must_close = true;
    evbuffer_drain(input, length);
    if (!connection->peer->is_not_http2)
        flush(connection);
    if (connection->must_close)
        connection_free(connection);
}

static void on_event(struct bufferevent *socket, short what, void *context)
{
    (void)socket;
    (void)what;
    connection_free(context);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int length, void *context)
{
    (void)address;
    (void)length;
    struct fake_peer *peer = context;
    struct fake_connection *connection = calloc(1, sizeof(*connection));
    nghttp2_session_callbacks *callbacks;
    connection->peer = peer;
    connection->next = peer->connections;
    connection->link = &peer->connections;
    if (connection->next)
        connection->next->link = &connection->next;
    peer->connections = connection;
    peer->accepted++;
    connection->socket =
        bufferevent_socket_new(evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_server_new(&connection->session, callbacks, connection);
    nghttp2_session_callbacks_del(callbacks);
    if (loop_timer_new(peer->loop, on_later, connection, &connection->later) != OK)
        abort();
    bufferevent_setcb(connection->socket, on_readable, NULL, on_event, connection);
    bufferevent_enable(connection->socket, EV_READ | EV_WRITE);
    if (peer->is_not_http2) {
        static const char page[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
        bufferevent_write(connection->socket, page, sizeof(page) - 1);
        return;
    }
    nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, NULL, 0);
    flush(connection);
}

void fake_peer_init(struct fake_peer *peer, struct loop *loop)
{
    static const enum fake_act answers[] = {FAKE_ANSWER};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    *peer = (struct fake_peer){.loop = loop, .script = answers};
    peer->listener =
        evconnlistener_new_bind(loop_base(loop), on_accept, peer, LEV_OPT_CLOSE_ON_FREE, -1,
                                (struct sockaddr *)&address, sizeof(address));
    if (!peer->listener || getsockname(evconnlistener_get_fd(peer->listener),
                                       (struct sockaddr *)&address, &length) < 0)
        abort();
    peer->port = ntohs(address.sin_port);
}

void fake_peer_release(struct fake_peer *peer)
{
    while (peer->connections)
        connection_free(peer->connections);
    evconnlistener_free(peer->listener);
}
