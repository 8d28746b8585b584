/* Requests to the agent's socket, one a few milliseconds after the other, as people and their
 * consoles ask; each is timed from its first byte to the last of its answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent_bench.h"

enum { PAUSE_US = 2000 };

int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        die(path);
    return fd;
}

size_t answer_length(const char *answer)
{
    const char *body = strstr(answer, "\r\n\r\n");
    const char *length = strcasestr(answer, "\r\nContent-Length:");
    if (!body || !length)
        return 0;
    return (size_t)(body + 4 - answer) + strtoul(length + 17, NULL, 10);
}

static double ask(int fd, const char *path)
{
    static char answer[1 << 20];
    char request[300];
    size_t got = 0, want = 0;
    int length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: peal\r\n\r\n", path);
    double start = now_s();
    if (write(fd, request, (size_t)length) != length)
        die("write");
    while (!want || got < want) {
        ssize_t more = read(fd, answer + got, sizeof(answer) - 1 - got);
        if (more <= 0)
            die("the answer ends early");
        got += (size_t)more;
        answer[got] = '\0';
        want = answer_length(answer);
    }
    double took = now_s() - start;
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
        die(answer);
    return took;
}

int measure_pages(char **argv)
{
    size_t count = (size_t)atol(argv[2]);
    double *took_ms = calloc(count, sizeof(*took_ms));
    int fd = connect_to(argv[0]);
    if (!took_ms)
        die("memory");
    for (size_t i = 0; i < count; i++) {
        took_ms[i] = 1000 * ask(fd, argv[1]);
        usleep(PAUSE_US);
    }
    sort_doubles(took_ms, count);
    printf("%.2f %.2f\n", percentile(took_ms, count, 50), percentile(took_ms, count, 99));
    close(fd);
    free(took_ms);
    return 0;
}
