/* One thread, epoll: as little work for each answer as possible, since it shares the machine with
 * what is measured. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "call_bench.h"

static const char answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\n"
    "ok\n";

static void give(int fd)
{
    ssize_t ignored = send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)ignored;
}

struct held {
    int *fds;
    int count, want;
};

static void hold(struct held *held, int fd)
{
    held->fds[held->count++] = fd;
    if (held->count < held->want)
        return;
    for (int i = 0; i < held->count; i++)
        give(held->fds[i]);
    held->count = 0;
}

/* A request is one packet here: it is small, and on this machine. */
static void serve(int fd, struct held *held)
{
    char request[2048];
    ssize_t length = recv(fd, request, sizeof(request), MSG_DONTWAIT);
    if (length <= 0)
        close(fd);
    else if (memmem(request, (size_t)length, " /hold", 6))
        hold(held, fd);
    else
        give(fd);
}

static _Noreturn void respond(int listener, int want)
{
    struct epoll_event events[256], event = {.events = EPOLLIN, .data.fd = listener};
    struct held held = {.fds = calloc((size_t)want + 1, sizeof(int)), .want = want};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                serve(fd, &held);
                continue;
            }
            while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
                event.data.fd = fd;
                epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
            }
        }
    }
}

pid_t responder_start(int held, int *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 8192) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        die("listen");
    *ret_port = ntohs(address.sin_port);
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        respond(listener, held);
    close(listener);
    return pid;
}
