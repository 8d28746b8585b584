#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 128, ADDRESS_MAX = 64 };

/* ---- addresses ---- */

static enum status fail_address(const char *text, struct strbuf *why)
{
    strbuf_addf(why,
                "\"%s\" is no address to listen on; expected one like 127.0.0.1, 0.0.0.0:7325, "
                "[::1]:7325 or localhost, or none",
                text);
    return E_INVALID;
}

/* Host and port apart; a port that is not given is the default. */
static bool split(const char *text, char host[ADDRESS_MAX], const char **ret_port)
{
    const char *start = text, *end;
    if (*text == '[') {
        start = text + 1;
        end = strchr(start, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        *ret_port = end[1] ? end + 2 : NULL;
    } else {
        end = strchr(text, ':');
        bool is_v6 = end && strchr(end + 1, ':'); /* without brackets: no port */
        *ret_port = end && !is_v6 ? end + 1 : NULL;
        if (!end || is_v6)
            end = text + strlen(text);
    }
    size_t length = (size_t)(end - start);
    if (!length || length >= ADDRESS_MAX)
        return false;
    memcpy(host, start, length);
    host[length] = '\0';
    return true;
}

static bool read_port(const char *text, int default_port, in_port_t *ret)
{
    char *end;
    if (!text) {
        *ret = htons((in_port_t)default_port);
        return true;
    }
    unsigned long port = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 65536;
    if (port > 65535 || *end)
        return false;
    *ret = htons((in_port_t)port);
    return true;
}

static bool fill_v4(const char *host, in_port_t port, struct listen_address *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)&ret->address;
    if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
        return false;
    v4->sin_family = AF_INET;
    v4->sin_port = port;
    ret->length = sizeof(*v4);
    ret->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return true;
}

static bool fill_v6(const char *host, in_port_t port, struct listen_address *ret)
{
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)&ret->address;
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
        return false;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = port;
    ret->length = sizeof(*v6);
    ret->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    return true;
}

enum status listen_parse(const char *text, struct listen_address *ret, struct strbuf *why)
{
    return listen_parse_for(LISTEN_DEFAULT_PORT, text, ret, why);
}

int listen_port(const struct listen_address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)&address->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)&address->address;
    return ntohs(address->address.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
}

enum status listen_parse_for(int default_port, const char *text, struct listen_address *ret,
                             struct strbuf *why)
{
    struct listen_address address = {0};
    char host[ADDRESS_MAX];
    const char *port_text;
    in_port_t port;
    if (!split(text, host, &port_text) || !read_port(port_text, default_port, &port))
        return fail_address(text, why);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof(host), "127.0.0.1");
    if (!fill_v4(host, port, &address) && !fill_v6(host, port, &address))
        return fail_address(text, why);
    *ret = address;
    return OK;
}

enum status listen_tcp(const struct listen_address *address, const char *text, int *ret_fd,
                       struct strbuf *why)
{
    const struct sockaddr *name = (const struct sockaddr *)(const void *)&address->address;
    int on = 1;
    int fd = socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd >= 0 && bind(fd, name, address->length) == 0 && listen(fd, BACKLOG) == 0) {
        *ret_fd = fd;
        return OK;
    }
    strbuf_addf(why, "can't listen on %s: %s%s", text, strerror(errno),
                errno == EADDRINUSE ? "; choose another with --listen, or --listen none" : "");
    if (fd >= 0)
        close(fd);
    return E_IO;
}

/* ---- the UNIX socket ---- */

static enum status fill_path(const char *path, struct sockaddr_un *ret, struct strbuf *why)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        strbuf_addf(why,
                    "the path of the API's socket is too long: %s has %zu bytes, and the system "
                    "takes %zu; choose a shorter data folder with --data",
                    path, strlen(path), sizeof(address.sun_path) - 1);
        return E_INVALID;
    }
    memcpy(address.sun_path, path, strlen(path));
    *ret = address;
    return OK;
}

static bool answers(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return true; /* can't tell: leave it alone */
    bool alive = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
                 errno == EAGAIN; /* its queue is full, so somebody owns it */
    close(fd);
    return alive;
}

/* Removes the stale socket of a killed agent; any other file stays and is named in *why. */
static enum status clear_path(const struct sockaddr_un *address, struct strbuf *why)
{
    const char *path = address->sun_path;
    struct stat file;
    if (lstat(path, &file) != 0)
        return OK; /* if the path exists after all, bind fails */
    if (!S_ISSOCK(file.st_mode)) {
        strbuf_addf(why, "%s is in the way of the API's socket and is no socket; move it away",
                    path);
        return E_INVALID;
    }
    if (answers(address)) {
        strbuf_addf(why, "another agent serves %s; stop it first, or use another --data", path);
        return E_BUSY;
    }
    if (unlink(path) == 0)
        return OK;
    strbuf_addf(why, "can't remove the old socket %s: %s", path, strerror(errno));
    return E_IO;
}

/* The file has its mode from the first moment on. */
static int bind_private(int fd, const struct sockaddr_un *address)
{
    mode_t old = umask(0177);
    int failed = bind(fd, (const struct sockaddr *)address, sizeof(*address));
    umask(old);
    return failed;
}

enum status listen_unix(const char *path, int *ret_fd, struct strbuf *why)
{
    struct sockaddr_un address;
    enum status st = fill_path(path, &address, why);
    if (st == OK)
        st = clear_path(&address, why);
    if (st != OK)
        return st;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind_private(fd, &address) != 0 || listen(fd, BACKLOG) != 0) {
        strbuf_addf(why, "can't listen on %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return E_IO;
    }
    *ret_fd = fd;
    return OK;
}
