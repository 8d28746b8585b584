#include "http_world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "listen.h"
#include "server_tls.h"

enum { PATIENCE_MS = 50000, TICK_MS = 2 }; /* the patience only ends a hang */

/* ---- the service ---- */

static void on_gone(void *owner)
{
    struct world *world = owner;
    world->gone++;
    world->kept = world->stream = NULL;
}

static bool is_for(const struct http_request *request, const char *path)
{
    return strncmp(http_target(request), path, strlen(path)) == 0;
}

static void on_head(void *context, struct http_request *request)
{
    struct world *world = context;
    world->heads++;
    http_own(request, world, on_gone);
    if (is_for(request, "/forbidden"))
        http_answer(request, 403, strdup("no"), 2);
    else
        http_admit(request, BODY_MAX, is_for(request, "/known"));
}

static const char *method_name(const struct http_request *request)
{
    return http_method(request) == HTTP_POST   ? "POST"
           : http_method(request) == HTTP_HEAD ? "HEAD"
                                               : "OTHER";
}

static void echo(struct http_request *request)
{
    struct strbuf text;
    size_t length;
    const char *body = http_body(request, &length);
    strbuf_init(&text);
    strbuf_addf(&text, "%s %s %.*s", method_name(request), http_target(request), (int)length,
                body ? body : "");
    http_set(request, "X-Set", "first");
    http_set(request, "X-Injected", "a\r\nSet-Cookie: b\n");
    http_set(request, "x-set", "second");
    bool is_same = http_field(request, "If-None-Match") != NULL;
    length = text.length;
    http_answer(request, is_same ? 304 : 200, strbuf_detach(&text), length);
}

static void start_stream(struct world *world, struct http_request *request)
{
    bool has_length = is_for(request, "/length");
    if (has_length)
        http_set(request, "Content-Length", "5");
    http_stream(request, 200, world, on_gone);
    world->stream = request;
    world_send_piece(world, "piece");
    if (!has_length)
        return;
    world->stream = NULL;
    http_stream_end(request);
}

static void on_request(void *context, struct http_request *request)
{
    struct world *world = context;
    world->requests++;
    if (is_for(request, "/stream") || is_for(request, "/length"))
        start_stream(world, request);
    else if (is_for(request, "/keep"))
        world->kept = request;
    else if (is_for(request, "/large"))
        http_answer(request, 200, calloc(1, LARGE), LARGE);
    else
        echo(request);
}

static void on_too_large(void *context, struct http_request *request, uint64_t length)
{
    (void)context;
    assert_true(length > BODY_MAX);
    http_answer(request, 413, NULL, 0);
}

static void refuse(int status, const char *why, struct strbuf *out)
{
    strbuf_addf(out, "HTTP/1.1 %d No\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status,
                strlen(why), why);
}

void world_answer(struct world *world, int status)
{
    struct http_request *request = world->kept;
    world->kept = NULL;
    http_answer(request, status, strdup("kept"), 4);
}

void world_send_piece(struct world *world, const char *text)
{
    struct evbuffer *out = evbuffer_new();
    assert_non_null(out);
    evbuffer_add(out, text, strlen(text));
    http_stream_send(world->stream, out);
    assert_int_equal(evbuffer_get_length(out), 0);
    evbuffer_free(out);
}

/* ---- the world ---- */

static void on_tick(void *context)
{
    loop_timer_set(((struct world *)context)->tick, TICK_MS);
}

static int port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    return ntohs(address.sin_port);
}

static void open_world(struct world *world, const struct http_limits *limits,
                       struct server_tls *tls)
{
    static const struct http_limits generous = {.connections = 100,
                                                .request_ms = 60000,
                                                .answer_ms = 60000,
                                                .idle_ms = 60000,
                                                .bytes_per_s = 1 << 20,
                                                .held_bytes = 64 << 20,
                                                .unsent_bytes = 64 << 20};
    struct http_service service = {.head = on_head,
                                   .request = on_request,
                                   .too_large = on_too_large,
                                   .refuse = refuse,
                                   .context = world};
    struct listen_address address;
    struct strbuf why;
    int fd;
    signal(SIGPIPE, SIG_IGN);
    strbuf_init(&why);
    *world = (struct world){.limits = limits ? *limits : generous, .tls = tls};
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_tick, world, &world->tick), OK);
    assert_int_equal(listen_parse("127.0.0.1:0", &address, &why), OK);
    assert_int_equal(listen_tcp(&address, "127.0.0.1:0", &fd, &why), OK);
    world->port = port_of(fd);
    assert_int_equal(
        http_server_new(world->loop, &world->limits, tls, &service, fd, &world->server), OK);
    loop_timer_set(world->tick, 0);
    strbuf_release(&why);
}

void world_open(struct world *world, const struct http_limits *limits)
{
    open_world(world, limits, NULL);
}

/* A certificate that nobody looks at. */
static struct server_tls *make_tls(void)
{
    struct server_tls *tls;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    assert_true(context && key && cert);
    assert_true(X509_gmtime_adj(X509_getm_notBefore(cert), 0) &&
                X509_gmtime_adj(X509_getm_notAfter(cert), 86400) && X509_set_pubkey(cert, key) &&
                X509_sign(cert, key, EVP_sha256()));
    assert_true(SSL_CTX_use_certificate(context, cert) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(cert);
    EVP_PKEY_free(key);
    assert_int_equal(server_tls_take(context, &tls), OK);
    return tls;
}

void world_open_tls(struct world *world)
{
    open_world(world, NULL, make_tls());
    world->client_context = SSL_CTX_new(TLS_client_method());
    assert_non_null(world->client_context);
}

void world_close(struct world *world)
{
    http_server_free(world->server);
    world_turn(world, 2 * TICK_MS); /* libevent has put off callbacks that hold a bufferevent */
    server_tls_free(world->tls);
    SSL_CTX_free(world->client_context);
    loop_timer_free(world->tick);
    loop_free(world->loop);
}

void world_until(struct world *world, bool (*done)(void *context), void *context)
{
    int64_t until_ms = clock_now().boot.ms + PATIENCE_MS;
    while (!done(context)) {
        loop_run_once(world->loop);
        if (clock_now().boot.ms > until_ms)
            fail_msg("it did not happen within %d ms", PATIENCE_MS);
    }
}

void world_turn(struct world *world, int64_t for_ms)
{
    for (int64_t until_ms = clock_now().boot.ms + for_ms; clock_now().boot.ms < until_ms;)
        loop_run_once(world->loop);
}

/* ---- clients ---- */

static void begin_tls(struct client *client)
{
    int done = 0;
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
    client->ssl = SSL_new(client->world->client_context);
    assert_non_null(client->ssl);
    assert_int_equal(SSL_set_fd(client->ssl, client->fd), 1);
    while ((done = SSL_connect(client->ssl)) != 1) {
        assert_int_equal(SSL_get_error(client->ssl, done), SSL_ERROR_WANT_READ);
        loop_run_once(client->world->loop);
    }
}

void client_open(struct client *client, struct world *world, const char *from)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)world->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *client = (struct client){.world = world, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    strbuf_init(&client->in);
    assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
    assert_int_equal(bind(client->fd, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    if (world->client_context)
        begin_tls(client);
}

void client_close(struct client *client)
{
    SSL_free(client->ssl);
    client->ssl = NULL;
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    strbuf_release(&client->in);
}

/* How much of it was taken now; negative: nobody is there any more. */
static ssize_t send_some(struct client *client, const char *bytes, size_t length)
{
    if (!client->ssl) {
        ssize_t sent = send(client->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        return sent < 0 && errno == EAGAIN ? 0 : sent;
    }
    int sent = SSL_write(client->ssl, bytes, (int)length);
    return sent <= 0 && SSL_get_error(client->ssl, sent) == SSL_ERROR_WANT_WRITE ? 0
           : sent <= 0                                                           ? -1
                                                                                 : sent;
}

void client_send(struct client *client, const char *text)
{
    (void)!send_some(client, text, strlen(text));
}

void client_fill(struct client *client, size_t length)
{
    char bytes[4096];
    memset(bytes, 'x', sizeof(bytes));
    while (length) {
        size_t piece = length < sizeof(bytes) ? length : sizeof(bytes);
        ssize_t sent = send_some(client, bytes, piece);
        if (sent < 0)
            return;
        length -= (size_t)sent;
        loop_run_once(client->world->loop);
    }
}

void client_hang_up(struct client *client)
{
    shutdown(client->fd, SHUT_WR);
}

static void read_more(struct client *client)
{
    char bytes[4096];
    ssize_t got = client->ssl ? SSL_read(client->ssl, bytes, sizeof(bytes))
                              : recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    bool waits = client->ssl ? SSL_get_error(client->ssl, (int)got) == SSL_ERROR_WANT_READ
                             : got < 0 && errno == EAGAIN;
    if (got > 0)
        strbuf_add(&client->in, bytes, (size_t)got);
    else if (!waits)
        client->is_closed = true;
}

struct wanted {
    struct client *client;
    const char *text;
};

static bool has_text(void *context)
{
    const struct wanted *wanted = context;
    return client_has(wanted->client, wanted->text);
}

bool client_has(struct client *client, const char *text)
{
    read_more(client);
    return strstr(client->in.text, text) != NULL;
}

void client_wait_for(struct client *client, const char *text)
{
    struct wanted wanted = {client, text};
    world_until(client->world, has_text, &wanted);
}

struct wanted_length {
    struct client *client;
    size_t length;
};

static bool has_length(void *context)
{
    const struct wanted_length *wanted = context;
    for (size_t before = SIZE_MAX; before != wanted->client->in.length;) {
        before = wanted->client->in.length;
        read_more(wanted->client);
    }
    return wanted->client->in.length >= wanted->length;
}

void client_wait_for_length(struct client *client, size_t length)
{
    struct wanted_length wanted = {client, length};
    world_until(client->world, has_length, &wanted);
}

static bool has_ended(void *context)
{
    struct client *client = context;
    read_more(client);
    return client->is_closed;
}

void client_wait_for_end(struct client *client)
{
    world_until(client->world, has_ended, client);
}

int client_answers(const struct client *client)
{
    int count = 0;
    for (const char *at = client->in.text; (at = strstr(at, "HTTP/1.1 ")); at++)
        count++;
    return count;
}
