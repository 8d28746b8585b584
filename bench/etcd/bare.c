#include "bare.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct bare {
    nghttp2_session *session;
    const struct bare_request *requests;
    size_t count, next, done;
    double until_s;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "etcd_bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* The stream's user data is how much of the request has been read. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
                         uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)context;
    const struct bare_request *request = source->ptr;
    size_t at = (size_t)(uintptr_t)nghttp2_session_get_stream_user_data(session, id);
    size_t length = request->length - at < room ? request->length - at : room;
    memcpy(to, request->bytes + at, length);
    nghttp2_session_set_stream_user_data(session, id, (void *)(uintptr_t)(at + length));
    if (at + length == request->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)length;
}

#define NV(name, value)                                                                            \
    {                                                                                              \
        (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, sizeof(value) - 1, 0              \
    }

static void submit(struct bare *bare)
{
    nghttp2_nv headers[] = {NV(":method", "POST"),
                            NV(":scheme", "http"),
                            NV(":path", "/etcdserverpb.KV/Txn"),
                            NV(":authority", "127.0.0.1"),
                            NV("content-type", "application/grpc"),
                            NV("te", "trailers")};
    if (bare->next == bare->count || now_s() >= bare->until_s)
        return;
    nghttp2_data_provider body = {
        .source.ptr = (void *)(uintptr_t)&bare->requests[bare->next++],
        .read_callback = read_body,
    };
    if (nghttp2_submit_request(bare->session, NULL, headers, 6, &body, NULL) < 0)
        die("submit");
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *context)
{
    (void)session;
    (void)id;
    struct bare *bare = context;
    if (error)
        die("stream");
    bare->done++;
    submit(bare);
    return 0;
}

static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

/* Collects frames, so that many requests leave with one call. */
static void send_all(struct bare *bare, int fd)
{
    static uint8_t buffer[1 << 20];
    size_t have = 0;
    for (;;) {
        const uint8_t *bytes;
        ssize_t length = nghttp2_session_mem_send(bare->session, &bytes);
        if (length < 0)
            die("mem_send");
        if (length == 0 || have + (size_t)length > sizeof(buffer)) {
            for (size_t at = 0; at < have;) {
                ssize_t sent = write(fd, buffer + at, have - at);
                if (sent < 0)
                    die("write");
                at += (size_t)sent;
            }
            have = 0;
        }
        if (length == 0)
            return;
        memcpy(buffer + have, bytes, (size_t)length);
        have += (size_t)length;
    }
}

size_t bare_run(int port, const struct bare_request *requests, size_t count, size_t in_flight,
                double until_s)
{
    static uint8_t buffer[1 << 16];
    struct bare bare = {.requests = requests, .count = count, .until_s = until_s};
    nghttp2_session_callbacks *callbacks;
    int fd = connect_to(port);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_client_new(&bare.session, callbacks, &bare);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(bare.session, NGHTTP2_FLAG_NONE, NULL, 0);
    for (size_t i = 0; i < in_flight; i++)
        submit(&bare);
    while (bare.done < bare.next) {
        send_all(&bare, fd);
        ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got <= 0 || nghttp2_session_mem_recv(bare.session, buffer, (size_t)got) < 0)
            die("read");
    }
    nghttp2_session_del(bare.session);
    close(fd);
    return bare.done;
}
