#include "cutter.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS = 32, ANSWER_MS = 50 };

/* Both ends of a connection; -1: free. */
struct link {
    int client_fd, server_fd;
};

struct cutter {
    pthread_t thread;
    int listen_fd, port, target_port;
    struct link links[LINKS];
    atomic_int left; /* the one that brings it to 0 is cut */
    atomic_int cut;  /* enum cut */
    atomic_bool has_cut, is_ending;
};

static _Noreturn void die(const char *what)
{
    perror(what);
    abort();
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons((uint16_t)port)};
}

static void close_link(struct link *link)
{
    close(link->client_fd);
    close(link->server_fd);
    *link = (struct link){-1, -1};
}

static void accept_link(struct cutter *cutter)
{
    struct sockaddr_in server = loopback(cutter->target_port);
    struct link *link = cutter->links;
    int client_fd = accept(cutter->listen_fd, NULL, NULL);
    while (link < cutter->links + LINKS && link->client_fd >= 0)
        link++;
    if (client_fd < 0 || link == cutter->links + LINKS)
        die("cutter: accept");
    *link = (struct link){client_fd, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (connect(link->server_fd, (struct sockaddr *)&server, sizeof(server)) < 0)
        close_link(link);
}

/* Its n-th part. */
static bool pass_part(int from_fd, int to_fd, ssize_t n)
{
    char bytes[65536];
    ssize_t length = read(from_fd, bytes, sizeof(bytes)) / n;
    for (ssize_t done = 0, more; done < length; done += more) {
        more = send(to_fd, bytes + done, (size_t)(length - done), MSG_NOSIGNAL);
        if (more <= 0)
            return false;
    }
    return length > 0;
}

static bool pass(int from_fd, int to_fd)
{
    return pass_part(from_fd, to_fd, 1);
}

/* True: this is the one. */
static bool counts_down(struct cutter *cutter)
{
    return atomic_load(&cutter->left) > 0 && atomic_fetch_sub(&cutter->left, 1) == 1;
}

static void cut_link(struct cutter *cutter, struct link *link)
{
    struct pollfd answer = {.fd = link->server_fd, .events = POLLIN};
    int cut = atomic_load(&cutter->cut);
    if (cut != CUT_REQUEST)
        pass(link->client_fd, link->server_fd);
    if (cut == CUT_ANSWER)
        poll(NULL, 0, ANSWER_MS); /* the server does what it was told */
    if (cut == CUT_SHORT && poll(&answer, 1, ANSWER_MS) > 0)
        pass_part(link->server_fd, link->client_fd, 2);
    close_link(link);
    atomic_store(&cutter->has_cut, true);
}

static void serve_link(struct cutter *cutter, struct link *link)
{
    struct pollfd ends[] = {{.fd = link->client_fd, .events = POLLIN},
                            {.fd = link->server_fd, .events = POLLIN}};
    if (link->client_fd < 0 || poll(ends, 2, 0) <= 0)
        return;
    if (ends[0].revents && counts_down(cutter))
        cut_link(cutter, link);
    else if ((ends[0].revents && !pass(link->client_fd, link->server_fd)) ||
             (ends[1].revents && !pass(link->server_fd, link->client_fd)))
        close_link(link);
}

static void *run(void *context)
{
    struct cutter *cutter = context;
    while (!atomic_load(&cutter->is_ending)) {
        struct pollfd all[1 + 2 * LINKS] = {{.fd = cutter->listen_fd, .events = POLLIN}};
        for (int i = 0; i < LINKS; i++) {
            all[1 + 2 * i] = (struct pollfd){.fd = cutter->links[i].client_fd, .events = POLLIN};
            all[2 + 2 * i] = (struct pollfd){.fd = cutter->links[i].server_fd, .events = POLLIN};
        }
        if (poll(all, 1 + 2 * LINKS, 50) <= 0)
            continue;
        if (all[0].revents)
            accept_link(cutter);
        for (int i = 0; i < LINKS; i++)
            serve_link(cutter, &cutter->links[i]);
    }
    return NULL;
}

struct cutter *cutter_new(int port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    struct cutter *cutter = calloc(1, sizeof(*cutter));
    if (!cutter)
        die("cutter");
    for (int i = 0; i < LINKS; i++)
        cutter->links[i] = (struct link){-1, -1};
    cutter->target_port = port;
    cutter->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (cutter->listen_fd < 0 || bind(cutter->listen_fd, (struct sockaddr *)&address, length) < 0 ||
        listen(cutter->listen_fd, LINKS) < 0 ||
        getsockname(cutter->listen_fd, (struct sockaddr *)&address, &length) < 0)
        die("cutter: listen");
    cutter->port = ntohs(address.sin_port);
    if (pthread_create(&cutter->thread, NULL, run, cutter) != 0)
        die("cutter: thread");
    return cutter;
}

struct cutter *cutter_free(struct cutter *cutter)
{
    atomic_store(&cutter->is_ending, true);
    pthread_join(cutter->thread, NULL);
    for (int i = 0; i < LINKS; i++) {
        if (cutter->links[i].client_fd >= 0)
            close_link(&cutter->links[i]);
    }
    close(cutter->listen_fd);
    free(cutter);
    return NULL;
}

int cutter_port(const struct cutter *cutter)
{
    return cutter->port;
}

void cutter_plan(struct cutter *cutter, enum cut cut, int n)
{
    atomic_store(&cutter->has_cut, false);
    atomic_store(&cutter->cut, (int)cut);
    atomic_store(&cutter->left, n);
}

bool cutter_has_cut(const struct cutter *cutter)
{
    return atomic_load(&cutter->has_cut);
}
