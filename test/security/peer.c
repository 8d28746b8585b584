#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

struct peer {
    int fd;
    SSL_CTX *context;
    SSL *ssl;
};

struct target target_read(const char *text)
{
    bool is_tls = strncmp(text, "tls:", 4) == 0;
    struct target target = {.port = atoi(is_tls ? text + 4 : text), .is_tls = is_tls};
    if (target.port > 0)
        return target;
    fprintf(stderr, "\"%s\" is no port\n", text);
    exit(2);
}

/* ---- life ---- */

static void be_patient(int fd)
{
    struct timeval patience = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

static int connect_to_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    be_patient(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_to(const struct target *target)
{
    struct sockaddr_in own = {.sin_family = AF_INET};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)target->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    be_patient(fd);
    if (target->from && (inet_pton(AF_INET, target->from, &own.sin_addr) != 1 ||
                         bind(fd, (struct sockaddr *)&own, sizeof(own)) != 0))
        perror(target->from);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

struct peer *peer_open(const struct target *target)
{
    struct peer *peer = calloc(1, sizeof(*peer));
    if (!peer ||
        (peer->fd = target->path ? connect_to_socket(target->path) : connect_to(target)) < 0) {
        free(peer);
        return NULL;
    }
    if (!target->is_tls)
        return peer;
    peer->context = SSL_CTX_new(TLS_client_method());
    peer->ssl = peer->context ? SSL_new(peer->context) : NULL;
    if (peer->ssl && SSL_set_fd(peer->ssl, peer->fd) == 1 && SSL_connect(peer->ssl) == 1)
        return peer;
    peer_close(peer);
    return NULL;
}

void peer_close(struct peer *peer)
{
    if (!peer)
        return;
    SSL_free(peer->ssl);
    SSL_CTX_free(peer->context);
    close(peer->fd);
    free(peer);
}

/* ---- bytes ---- */

void peer_send(struct peer *peer, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = peer->ssl ? SSL_write(peer->ssl, bytes, length > 16384 ? 16384 : (int)length)
                                 : send(peer->fd, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        length -= (size_t)sent;
    }
}

/* One piece; false: there is no more, or not in time. */
static bool read_some(struct peer *peer, int64_t until_ms, struct strbuf *ret, bool *ret_ended)
{
    char bytes[16384];
    struct pollfd ready = {.fd = peer->fd, .events = POLLIN};
    int64_t left_ms = until_ms - clock_now().boot.ms;
    bool is_pending = peer->ssl && SSL_pending(peer->ssl) > 0;
    if (!is_pending && (left_ms <= 0 || poll(&ready, 1, (int)left_ms) <= 0))
        return false;
    ssize_t got = peer->ssl ? SSL_read(peer->ssl, bytes, sizeof(bytes))
                            : recv(peer->fd, bytes, sizeof(bytes), 0);
    *ret_ended = got <= 0;
    if (got > 0)
        strbuf_add(ret, bytes, (size_t)got);
    return got > 0;
}

/* Where the first answer ends; 0: it is not there yet, or it ends with the connection. */
static size_t answer_size(const struct strbuf *text, bool is_head)
{
    char value[32];
    const char *end = strstr(text->text, "\r\n\r\n");
    if (!end)
        return 0;
    size_t head = (size_t)(end - text->text) + 4;
    int status = answer_status(text->text);
    if (is_head || status == 304 || status == 204)
        return head;
    answer_header(text->text, "Content-Length", value, sizeof(value));
    if (*value)
        return head + (size_t)atol(value);
    const char *last = strstr(end, "\r\n0\r\n\r\n");
    return last ? (size_t)(last - text->text) + 7 : 0;
}

bool peer_read_answer(struct peer *peer, bool is_head, int within_ms, struct strbuf *ret)
{
    int64_t until_ms = clock_now().boot.ms + within_ms;
    bool has_ended = false;
    size_t size;
    while (!(size = answer_size(ret, is_head)) || ret->length < size) {
        if (!read_some(peer, until_ms, ret, &has_ended))
            return false;
    }
    return true;
}

bool peer_read_all(struct peer *peer, int within_ms, struct strbuf *ret)
{
    int64_t until_ms = clock_now().boot.ms + within_ms;
    bool has_ended = false;
    while (read_some(peer, until_ms, ret, &has_ended))
        continue;
    return has_ended;
}

/* ---- answers ---- */

int answer_status(const char *answer)
{
    int status = 0;
    return sscanf(answer, "HTTP/1.%*1[01] %d", &status) == 1 ? status : 0;
}

void answer_header(const char *answer, const char *name, char *ret, size_t size)
{
    const char *end = strstr(answer, "\r\n\r\n");
    size_t length = strlen(name);
    *ret = '\0';
    for (const char *line = strstr(answer, "\r\n"); line && line < end;
         line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, length) != 0 || line[length] != ':')
            continue;
        line += length + 1;
        line += strspn(line, " ");
        snprintf(ret, size, "%.*s", (int)strcspn(line, "\r"), line);
        return;
    }
}
