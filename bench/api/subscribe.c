#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api_bench.h"

static int fail(const char *what)
{
    fprintf(stderr, "api_bench: %s: %s\n", what, strerror(errno));
    return 1;
}

/* A stream whose headers have come. */
static int open_stream(int port, const char *request)
{
    char bytes[4096];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ||
        recv(fd, bytes, sizeof(bytes), 0) <= 0)
        return -1;
    return fd;
}

/* Reads whatever comes, until standard input ends. */
static int listen_on(int epoll)
{
    struct epoll_event ready[64];
    char bytes[65536];
    for (;;) {
        int count = epoll_wait(epoll, ready, 64, -1);
        for (int i = 0; i < count; i++) {
            ssize_t got = read(ready[i].data.fd, bytes, sizeof(bytes));
            if (got <= 0 && ready[i].data.fd == STDIN_FILENO)
                return 0;
            if (got <= 0)
                return fail("a stream has ended");
        }
    }
}

int subscribe(char **argv)
{
    int port = atoi(argv[0]), count = atoi(argv[1]);
    char request[200];
    snprintf(request, sizeof(request),
             "GET /api/v1/events?topics=%.40s HTTP/1.1\r\nHost: localhost\r\n"
             "Authorization: Bearer " BENCH_TOKEN "\r\n\r\n",
             argv[2]);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN, .data.fd = STDIN_FILENO};
    epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = open_stream(port, request)};
        if (event.data.fd < 0)
            return fail("can't subscribe");
        epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
    }
    puts("ready");
    fflush(stdout);
    return listen_on(epoll);
}
