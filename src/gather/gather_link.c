#include "gather_link.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "clock.h"

enum {
    WAITING_MAX = 64,     /* requests */
    SILENT_FOR_MS = 5000, /* how long a silent node is not asked */
    ANSWER_MAX = 64 << 20,
    CONNECTION_S = 10, /* of silence; callers time out earlier */
};

struct gather_ask {
    struct gather_link *link;
    const char *path;
    char *body;
    gather_ask_done *done;
    void *context;
    bool was_tried; /* sent on a connection that may have been closed as idle */
    TAILQ_ENTRY(gather_ask) entry;
};

TAILQ_HEAD(ask_list, gather_ask);

struct gather_link {
    struct loop *loop;
    struct gather_tls *tls;
    char node[64];
    char address[64], fingerprint[65]; /* of the connection */
    struct evhttp_connection *http;    /* NULL: not connected */
    bool is_used;                      /* an answer has come over it */
    bool is_broken;                    /* to be closed before the next request */
    struct ask_list waiting;
    size_t waiting_count;
    struct gather_ask *active;      /* sent */
    struct evhttp_request *request; /* of `active`; NULL: libevent has freed it */
    struct boot_ms silent_until;
    bool is_bad;
    struct loop_timer *next; /* sends the next request, outside of libevent's callbacks */
};

static void ask_free(struct gather_ask *ask)
{
    free(ask->body);
    free(ask);
}

static void finish(struct gather_ask *ask, enum status st, const char *text, size_t length)
{
    ask->link->is_bad = st != OK;
    if (ask->done)
        ask->done(ask->context, st, text, length);
    ask_free(ask);
}

/* ---- the connection ---- */

static void on_close(struct evhttp_connection *http, void *context)
{
    struct gather_link *link = context;
    (void)http;
    link->is_broken = true;
}

static void disconnect(struct gather_link *link)
{
    if (link->http) {
        evhttp_connection_set_closecb(link->http, NULL, NULL);
        evhttp_connection_free(link->http); /* with the request that is under way */
    }
    link->http = NULL;
    link->request = NULL;
    link->is_used = link->is_broken = false;
}

/* "10.0.0.1:7326" or "[::1]:7326" */
static bool split_address(const char *address, char host[64], ev_uint16_t *ret_port)
{
    const char *colon = strrchr(address, ':');
    size_t skip = *address == '[';
    if (!colon || (size_t)(colon - address) <= 2 * skip)
        return false;
    snprintf(host, 64, "%.*s", (int)((size_t)(colon - address) - 2 * skip), address + skip);
    *ret_port = (ev_uint16_t)atoi(colon + 1);
    return *ret_port != 0;
}

static bool connect_to(struct gather_link *link)
{
    char host[64];
    ev_uint16_t port;
    struct event_base *base = loop_base(link->loop);
    struct bufferevent *bev = split_address(link->address, host, &port)
                                  ? gather_tls_connect(link->tls, base, link->fingerprint)
                                  : NULL;
    link->http = bev ? evhttp_connection_base_bufferevent_new(base, NULL, bev, host, port) : NULL;
    if (!link->http) {
        if (bev)
            bufferevent_free(bev);
        return false;
    }
    evhttp_connection_set_max_body_size(link->http, ANSWER_MAX);
    evhttp_connection_set_timeout(link->http, CONNECTION_S);
    evhttp_connection_set_closecb(link->http, on_close, link);
    return true;
}

/* ---- one question ---- */

static enum status status_of(int http_status)
{
    switch (http_status) {
    case 200:
        return OK;
    case 404:
        return E_VERSION;
    case 422:
        return E_INVALID;
    default:
        return E_UNREACHABLE;
    }
}

static void answered(struct evhttp_request *request, void *context)
{
    struct gather_link *link = context;
    struct gather_ask *ask = link->active;
    int status = request ? evhttp_request_get_response_code(request) : 0;
    link->active = NULL;
    link->request = NULL;
    loop_timer_set(link->next, 0);
    if (!status) {
        link->is_broken = true;
        if (ask && ask->done && link->is_used && !ask->was_tried) {
            ask->was_tried = true; /* it may just have been closed as idle */
            TAILQ_INSERT_HEAD(&link->waiting, ask, entry);
            link->waiting_count++;
        } else if (ask) {
            finish(ask, E_UNREACHABLE, NULL, 0);
        }
        return;
    }
    link->is_used = true;
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    size_t length = evbuffer_get_length(body);
    const char *text = (const char *)evbuffer_pullup(body, -1);
    if (ask)
        finish(ask, status_of(status), text, length);
}

/* The head and the body of a request are two writes: with Nagle's algorithm the second one waits
 * for the other end's delayed acknowledgement, 40 ms. The first request of a connection comes
 * before there is a socket. */
static void send_at_once(struct gather_link *link)
{
    int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(link->http)), on = 1;
    if (fd >= 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* else it is slower */
}

static bool send_question(struct gather_link *link, struct gather_ask *ask)
{
    struct evhttp_request *request = evhttp_request_new(answered, link);
    if (!request)
        return false;
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    if (evhttp_add_header(headers, "Host", link->address) != 0 ||
        evhttp_add_header(headers, "Content-Type", "application/json") != 0 ||
        evbuffer_add(evhttp_request_get_output_buffer(request), ask->body, strlen(ask->body)) !=
            0) {
        evhttp_request_free(request);
        return false;
    }
    link->active = ask;
    link->request = request;
    send_at_once(link);
    /* On failure the request is gone, and `answered` may have been called or not. */
    if (evhttp_make_request(link->http, request, EVHTTP_REQ_POST, ask->path) == 0)
        return true;
    link->is_broken = true;
    bool is_ours = link->active == ask;
    link->active = NULL;
    link->request = NULL;
    return !is_ours;
}

static void go_on(void *context)
{
    struct gather_link *link = context;
    if (link->is_broken) {
        struct gather_ask *lost = link->active;
        link->active = NULL;
        disconnect(link);
        if (lost)
            finish(lost, E_UNREACHABLE, NULL, 0);
    }
    struct gather_ask *ask = link->active ? NULL : TAILQ_FIRST(&link->waiting);
    if (!ask)
        return;
    TAILQ_REMOVE(&link->waiting, ask, entry);
    link->waiting_count--;
    if ((!link->http && !connect_to(link)) || !send_question(link, ask)) {
        finish(ask, E_UNREACHABLE, NULL, 0);
        loop_timer_set(link->next, 0);
    }
}

/* ---- asking ---- */

/* A restarted node has another certificate, and perhaps another address. */
static void follow(struct gather_link *link, const struct peer *peer)
{
    if (strcmp(link->address, peer->history_address) == 0 &&
        strcmp(link->fingerprint, peer->fingerprint) == 0)
        return;
    struct gather_ask *lost = link->active;
    link->active = NULL;
    disconnect(link);
    snprintf(link->address, sizeof(link->address), "%s", peer->history_address);
    snprintf(link->fingerprint, sizeof(link->fingerprint), "%s", peer->fingerprint);
    link->silent_until = (struct boot_ms){0};
    if (lost) { /* retried on the new connection */
        TAILQ_INSERT_HEAD(&link->waiting, lost, entry);
        link->waiting_count++;
    }
}

enum status gather_link_ask(struct gather_link *link, const struct peer *peer, const char *path,
                            const char *body, gather_ask_done *done, void *context,
                            struct gather_ask **ret)
{
    follow(link, peer);
    if (clock_now().boot.ms < link->silent_until.ms || link->waiting_count >= WAITING_MAX)
        return E_BUSY;
    struct gather_ask *ask = calloc(1, sizeof(*ask));
    char *copy = strdup(body);
    if (!ask || !copy) {
        free(ask);
        free(copy);
        return E_NOMEM;
    }
    *ask = (struct gather_ask){
        .link = link, .path = path, .body = copy, .done = done, .context = context};
    TAILQ_INSERT_TAIL(&link->waiting, ask, entry);
    link->waiting_count++;
    loop_timer_set(link->next, 0);
    *ret = ask;
    return OK;
}

void gather_link_give_up(struct gather_ask *ask)
{
    struct gather_link *link = ask->link;
    link->is_bad = true;
    if (ask == link->active) {
        ask->done = NULL;
        link->is_broken = true; /* later requests would wait as long */
        link->silent_until.ms = clock_now().boot.ms + SILENT_FOR_MS;
        loop_timer_set(link->next, 0);
        return;
    }
    TAILQ_REMOVE(&link->waiting, ask, entry);
    link->waiting_count--;
    ask_free(ask);
}

/* ---- life ---- */

enum status gather_link_new(struct loop *loop, struct gather_tls *tls, const char *node,
                            struct gather_link **ret)
{
    struct gather_link *link = calloc(1, sizeof(*link));
    if (!link)
        return E_NOMEM;
    link->loop = loop;
    link->tls = tls;
    snprintf(link->node, sizeof(link->node), "%s", node);
    TAILQ_INIT(&link->waiting);
    enum status st = loop_timer_new_patient(loop, go_on, link, &link->next);
    if (st == OK)
        *ret = link;
    else
        free(link);
    return st;
}

struct gather_link *gather_link_free(struct gather_link *link)
{
    if (!link)
        return NULL;
    disconnect(link);
    loop_timer_free(link->next);
    if (link->active)
        ask_free(link->active);
    for (struct gather_ask *ask; (ask = TAILQ_FIRST(&link->waiting));) {
        TAILQ_REMOVE(&link->waiting, ask, entry);
        ask_free(ask);
    }
    free(link);
    return NULL;
}

const char *gather_link_node(const struct gather_link *link)
{
    return link->node;
}

bool gather_link_is_good(const struct gather_link *link)
{
    return !link->is_bad;
}
