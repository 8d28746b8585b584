#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attack.h"
#include "clock.h"

enum {
    PROBES = 60,
    PROBE_MS = 5000,
    PAUSE_MS = 50,
    HELD_MAX = 64 << 20, /* of all requests together */
    LARGE = 6,           /* connections that hold nearly all of it, if they are let: ... */
    LARGE_BYTES = (HELD_MAX - 20) / LARGE, /* ... for a probe there is no room */
    SMALL = 4000,                          /* connections that hold as much with heads alone */
    SMALL_BYTES = 15 << 10,
    SILENT = 2000, /* connections, more than an agent with few descriptors takes */
};

/* ---- others, meanwhile ---- */

static bool ask(const struct target *target, const char *path, const char *more, const char *body)
{
    struct strbuf request, answer;
    struct peer *peer = peer_open(target);
    int status = 0;
    strbuf_init(&request);
    strbuf_init(&answer);
    strbuf_addf(&request, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\n%sContent-Length: %zu\r\n\r\n%s", path,
                more, strlen(body), body);
    if (peer) {
        peer_send(peer, request.text, request.length);
        if (peer_read_answer(peer, false, PROBE_MS, &answer))
            status = answer_status(answer.text);
    }
    peer_close(peer);
    strbuf_release(&request);
    strbuf_release(&answer);
    return status == 200 || status == 201;
}

/* How many of the probes were answered. They take a while, in which the server reads all that the
 * attackers have sent. */
static int probe(const struct target *target)
{
    int answered = 0;
    for (int i = 0; i < PROBES; i++) {
        answered += ask(target, "GET /livez", "", "");
        poll(NULL, 0, PAUSE_MS);
    }
    return answered;
}

/* Somebody who is known changes something, with a body of their own. */
static bool change(const struct target *target, const char *token)
{
    char more[160], *body = malloc(600001);
    snprintf(more, sizeof(more), "Authorization: Bearer %s\r\n", token);
    snprintf(body, 600001, "{\"schedule\":\"@manual\",\"command\":[\"true\"]%599950s}", "");
    bool is_done = ask(target, "PUT /api/v1/jobs/held", more, body);
    free(body);
    return is_done;
}

static int report(const char *what, int answered, bool changed)
{
    printf("%s: %d of %d probes answered, a change was %s\n", what, answered, PROBES,
           changed ? "made" : "refused");
    return answered < PROBES || !changed;
}

/* ---- the attackers ---- */

static void send_zeros(struct peer *peer, size_t length)
{
    static char zeros[64 << 10];
    memset(zeros, ' ', sizeof(zeros));
    for (; length > sizeof(zeros); length -= sizeof(zeros))
        peer_send(peer, zeros, sizeof(zeros));
    peer_send(peer, zeros, length);
}

/* Half of a batch each, from somebody who is not known. */
static int hold_large(const struct target *target, const char *token)
{
    static const char head[] = "POST /api/v1/jobs:batch HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                               "Content-Length: 12000000\r\n\r\n";
    struct peer *peers[LARGE];
    for (int i = 0; i < LARGE; i++) {
        peers[i] = peer_open(target);
        if (!peers[i])
            continue;
        peer_send(peers[i], head, strlen(head));
        send_zeros(peers[i], LARGE_BYTES - strlen(head));
    }
    int answered = probe(target);
    bool changed = change(target, token);
    for (int i = 0; i < LARGE; i++)
        peer_close(peers[i]);
    return report("large bodies of strangers", answered, changed);
}

/* The head alone, as long as it may be, from several addresses. */
static int hold_small(const struct target *target, const char *token)
{
    static const char head[] = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ";
    static struct peer *peers[SMALL];
    char from[32];
    for (int i = 0; i < SMALL; i++) {
        struct target own = *target;
        snprintf(from, sizeof(from), "127.0.1.%d", 1 + i % 16);
        own.from = from;
        own.is_tls = false;
        peers[i] = peer_open(&own);
        if (!peers[i])
            continue;
        peer_send(peers[i], head, strlen(head));
        send_zeros(peers[i], SMALL_BYTES);
    }
    int answered = probe(target);
    bool changed = change(target, token);
    for (int i = 0; i < SMALL; i++)
        peer_close(peers[i]);
    return report("many heads of strangers", answered, changed);
}

static void raise_limit(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* A connection that is not waited for, and says nothing. */
static int open_silent(const struct target *target)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)target->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 &&
        errno != EINPROGRESS)
        perror("connect");
    return fd;
}

int attack_silent(const struct target *target, const char *token)
{
    static int fds[SILENT];
    raise_limit();
    for (int i = 0; i < SILENT; i++)
        fds[i] = open_silent(target);
    int answered = probe(target);
    bool changed = change(target, token);
    for (int i = 0; i < SILENT; i++)
        close(fds[i]);
    return report("silent connections of strangers", answered, changed);
}

int attack_hold(const struct target *target, const char *token)
{
    raise_limit();
    int failed = hold_large(target, token);
    failed += hold_small(target, token);
    return failed ? 1 : 0;
}
