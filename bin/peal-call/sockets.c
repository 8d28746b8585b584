/* libcurl on the loop: it says which descriptors it waits for, and until when. */
#include <stdlib.h>
#include <sys/epoll.h>

#include "caller.h"
#include "clock.h"

#define IDLE_CONNECTIONS 1 /* none is used twice: see transfer.c */

static void act(struct caller *caller, curl_socket_t fd, int ready)
{
    int running;
    curl_multi_socket_action(caller->multi, fd, ready, &running);
    transfer_take_ended(caller);
}

static void socket_ready(void *context, struct watch *watch, uint32_t events)
{
    struct caller *caller = context;
    act(caller, watch->fd,
        (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
            (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
}

void sockets_timer(struct caller *caller)
{
    if (!caller->curl_at_boot_ms || caller->curl_at_boot_ms > caller->now_boot_ms)
        return;
    caller->curl_at_boot_ms = 0;
    act(caller, CURL_SOCKET_TIMEOUT, 0);
}

static int want_timer(CURLM *multi, long delay_ms, void *context)
{
    struct caller *caller = context;
    (void)multi;
    caller->curl_at_boot_ms = delay_ms < 0 ? 0 : clock_now().boot.ms + delay_ms;
    return 0;
}

/* libcurl closes the descriptor itself; events of this turn may still point to the watch. */
static void drop(struct caller *caller, struct socket_watch *socket)
{
    epoll_ctl(caller->epoll_fd, EPOLL_CTL_DEL, socket->watch.fd, NULL);
    socket->watch.fd = -1;
    SLIST_INSERT_HEAD(&caller->dead_sockets, socket, dead);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    struct caller *caller = context;
    struct socket_watch *socket = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket)
            drop(caller, socket);
        curl_multi_assign(caller->multi, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                                          (what & CURL_POLL_OUT ? EPOLLOUT : 0u)};
    bool is_new = !socket;
    if (is_new) {
        socket = calloc(1, sizeof(*socket));
        if (!socket)
            return -1;
        socket->watch = (struct watch){.fd = fd, .ready = socket_ready};
    }
    event.data.ptr = &socket->watch;
    if (epoll_ctl(caller->epoll_fd, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) != 0) {
        if (is_new)
            free(socket);
        return -1;
    }
    if (is_new)
        curl_multi_assign(caller->multi, fd, socket);
    return 0;
}

enum status sockets_init(struct caller *caller)
{
    SLIST_INIT(&caller->dead_sockets);
    if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
        return E_NOMEM;
    caller->multi = curl_multi_init();
    if (!caller->multi)
        return E_NOMEM;
    curl_multi_setopt(caller->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(caller->multi, CURLMOPT_SOCKETDATA, caller);
    curl_multi_setopt(caller->multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(caller->multi, CURLMOPT_TIMERDATA, caller);
    curl_multi_setopt(caller->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    curl_multi_setopt(caller->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    return OK;
}

void sockets_sweep(struct caller *caller)
{
    struct socket_watch *socket;
    while ((socket = SLIST_FIRST(&caller->dead_sockets))) {
        SLIST_REMOVE_HEAD(&caller->dead_sockets, dead);
        free(socket);
    }
}

void sockets_release(struct caller *caller)
{
    if (caller->multi)
        curl_multi_cleanup(caller->multi);
    sockets_sweep(caller);
    curl_global_cleanup();
}
