/* libcurl's multi-socket interface on epoll, and nothing else: answers are dropped. */
#include <curl/curl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "call_bench.h"

struct bare {
    CURLM *multi;
    const char *url;
    int epoll_fd;
    double timer_s; /* 0: none */
    int started, ended, count;
    bool reuses;
};

static size_t drop(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes, (void)context;
    return size * count;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    const struct bare *bare = context;
    struct epoll_event event = {.data.fd = fd,
                                .events = (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                                          (what & CURL_POLL_OUT ? EPOLLOUT : 0u)};
    static char mark;
    (void)easy;
    epoll_ctl(bare->epoll_fd,
              what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL
              : known                  ? EPOLL_CTL_MOD
                                       : EPOLL_CTL_ADD,
              fd, &event);
    curl_multi_assign(bare->multi, fd, what == CURL_POLL_REMOVE ? NULL : &mark);
    return 0;
}

static int want_timer(CURLM *multi, long delay_ms, void *context)
{
    struct bare *bare = context;
    (void)multi;
    bare->timer_s = delay_ms < 0 ? 0 : now_s() + (double)delay_ms / 1000;
    return 0;
}

static void start_one(struct bare *bare)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, bare->url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (!bare->reuses) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    if (curl_multi_add_handle(bare->multi, easy) != CURLM_OK)
        die("curl_multi_add_handle");
    bare->started++;
}

static void take_ended(struct bare *bare)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(bare->multi, &left));) {
        if (message->data.result != CURLE_OK)
            die(curl_easy_strerror(message->data.result));
        curl_multi_remove_handle(bare->multi, message->easy_handle);
        curl_easy_cleanup(message->easy_handle);
        bare->ended++;
        if (bare->started < bare->count)
            start_one(bare);
    }
}

static void turn(struct bare *bare)
{
    struct epoll_event events[256];
    int running, wait_ms = -1;
    if (bare->timer_s > 0) {
        double left_s = bare->timer_s - now_s();
        wait_ms = left_s <= 0 ? 0 : (int)(left_s * 1000) + 1;
    }
    int count = epoll_wait(bare->epoll_fd, events, 256, wait_ms);
    for (int i = 0; i < count; i++) {
        curl_multi_socket_action(bare->multi, events[i].data.fd,
                                 (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                                     (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0),
                                 &running);
        take_ended(bare);
    }
    if (bare->timer_s > 0 && bare->timer_s <= now_s()) {
        bare->timer_s = 0;
        curl_multi_socket_action(bare->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        take_ended(bare);
    }
}

double bare_calls(const char *url, int count, int at_once, bool reuses)
{
    struct bare bare = {.multi = curl_multi_init(),
                        .url = url,
                        .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                        .count = count,
                        .reuses = reuses};
    curl_multi_setopt(bare.multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(bare.multi, CURLMOPT_SOCKETDATA, &bare);
    curl_multi_setopt(bare.multi, CURLMOPT_TIMERFUNCTION, want_timer);
    curl_multi_setopt(bare.multi, CURLMOPT_TIMERDATA, &bare);
    double start = now_s();
    while (bare.started < at_once)
        start_one(&bare);
    while (bare.ended < count)
        turn(&bare);
    double took = now_s() - start;
    curl_multi_cleanup(bare.multi);
    close(bare.epoll_fd);
    return took;
}
