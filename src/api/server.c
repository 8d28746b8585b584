#include "server.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BODY_LIMIT = 12 << 20,
    HEADERS_LIMIT = 64 << 10,
    IDLE_S = 60, /* a client that neither sends nor reads for so long is cut off */
    BACKLOG = 128,
};

/* ---- the socket ---- */

static enum status fill_address(const char *path, struct sockaddr_un *ret, struct strbuf *why)
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

/* What is left of an agent that was killed goes; anything else stays and is named. */
static enum status clear_path(const struct sockaddr_un *address, struct strbuf *why)
{
    const char *path = address->sun_path;
    struct stat file;
    if (lstat(path, &file) != 0)
        return OK; /* if it is there after all, bind tells */
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

static enum status open_socket(struct api *api, struct strbuf *why)
{
    struct sockaddr_un address;
    enum status st = fill_address(api->socket_path, &address, why);
    if (st == OK)
        st = clear_path(&address, why);
    if (st != OK)
        return st;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind_private(fd, &address) != 0 || listen(fd, BACKLOG) != 0) {
        strbuf_addf(why, "can't listen on %s: %s", api->socket_path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return E_IO;
    }
    api->listen_fd = fd;
    api->owns_path = true;
    return OK;
}

/* ---- HTTP ---- */

static void on_request(struct evhttp_request *request, void *context)
{
    dispatch_request(context, request);
}

/* Answered calls go on. What they put off meanwhile waits for the turn after this one. */
static void go_on(void *context)
{
    struct api *api = context;
    struct call_list ready = TAILQ_HEAD_INITIALIZER(ready);
    TAILQ_CONCAT(&ready, &api->ready, in_ready);
    for (struct call *call; (call = TAILQ_FIRST(&ready));) {
        TAILQ_REMOVE(&ready, call, in_ready);
        call->then(call);
    }
}

static enum status serve(struct api *api)
{
    struct event_base *base = loop_base(api->ports.loop);
    enum status st = loop_timer_new(api->ports.loop, go_on, api, &api->later);
    if (st != OK)
        return st;
    api->http = evhttp_new(base);
    if (!api->http)
        return E_NOMEM;
    evhttp_set_max_body_size(api->http, BODY_LIMIT);
    evhttp_set_max_headers_size(api->http, HEADERS_LIMIT);
    evhttp_set_timeout(api->http, IDLE_S);
    evhttp_set_gencb(api->http, on_request, api);
    /* All that the library can read: which of them a path has is the router's to say. */
    evhttp_set_allowed_methods(api->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD |
                                              EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
                                              EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |
                                              EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
    struct evconnlistener *listener = evconnlistener_new(
        base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, api->listen_fd);
    if (!listener)
        return E_NOMEM;
    api->listen_fd = -1; /* the listener's now */
    if (!evhttp_bind_listener(api->http, listener)) {
        evconnlistener_free(listener);
        return E_NOMEM;
    }
    return OK;
}

/* ---- life ---- */

static bool copy(const char *text, char **ret)
{
    *ret = strdup(text);
    return *ret != NULL;
}

static void look_up_user(struct api *api)
{
    api->own_uid = geteuid();
    const struct passwd *user = getpwuid(api->own_uid);
    if (user)
        snprintf(api->own_user, sizeof(api->own_user), "%s", user->pw_name);
    else
        snprintf(api->own_user, sizeof(api->own_user), "uid %u", (unsigned)api->own_uid);
}

enum status api_new(const struct api_config *config, const struct api_ports *ports,
                    struct api **ret, struct strbuf *why)
{
    struct api *api = calloc(1, sizeof(*api));
    if (!api)
        return E_NOMEM;
    api->listen_fd = -1;
    api->ports = *ports;
    api->started_ms = config->started_ms;
    api->undelete_s = config->undelete_s;
    TAILQ_INIT(&api->calls);
    TAILQ_INIT(&api->ready);
    look_up_user(api);
    enum status st = E_NOMEM;
    if (!copy(config->socket_path, &api->socket_path) || !copy(config->version, &api->version) ||
        !copy(config->node, &api->node) || !copy(config->data_dir, &api->data_dir) ||
        !copy(config->store_url ? config->store_url : "sqlite", &api->store_url) ||
        !copy(config->default_tz, &api->default_tz))
        goto out;
    st = open_socket(api, why);
    if (st == OK)
        st = serve(api);
    if (st != OK)
        goto out;
    *ret = api;
    api = NULL;
out:
    api_free(api);
    return st;
}

struct api *api_free(struct api *api)
{
    if (!api)
        return NULL;
    if (api->owns_path)
        unlink(api->socket_path);
    if (api->http)
        evhttp_free(api->http); /* closes the socket and all connections */
    if (api->listen_fd >= 0)
        close(api->listen_fd);
    for (struct call *call; (call = TAILQ_FIRST(&api->calls));)
        call_free(call);
    loop_timer_free(api->later);
    free(api->socket_path);
    free(api->version);
    free(api->node);
    free(api->data_dir);
    free(api->store_url);
    free(api->default_tz);
    free(api);
    return NULL;
}

enum status api_set_timezone(struct api *api, const char *zone_name)
{
    char *fresh;
    if (!copy(zone_name, &fresh))
        return E_NOMEM;
    free(api->default_tz);
    api->default_tz = fresh;
    return OK;
}

size_t api_open_requests(const struct api *api)
{
    return api->call_count;
}
