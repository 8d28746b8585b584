/* An HTTP server for tests of calls: well-behaved, slow or hostile, as the path says.
 *
 *   call_server LOG    prints its port; LOG gets a line "METHOD PATH" for each request
 *
 *   /status/N          answers with the status N, and the body "status N"
 *   /echo              the request itself, head and body, as the body
 *   /to/URL            redirects there
 *   /loop              redirects to itself
 *   /big/N             a body of N bytes, lines of digits
 *   /slow/N            N lines, one each 100 ms, in chunks
 *   /hold/NAME         answers when the file NAME beside the log is there
 *   /cut               closes the connection in the middle of the body
 *   /close             closes the connection instead of an answer
 *   /garbage           no HTTP at all
 *   /framing           chunks of a wrong length
 *   /heads             headers without end
 *   /body              a body without end
 *   /silent            nothing, for ever */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_MAX = 65536, BODY_MAX = 2 << 20 };

static const char *log_path;

struct request {
    int fd;
    char *bytes; /* head and body */
    size_t length;
    char method[16], path[1024];
};

static bool send_all(int fd, const char *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t sent = send(fd, bytes + done, length - done, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        done += (size_t)sent;
    }
    return true;
}

static bool say(int fd, const char *text)
{
    return send_all(fd, text, strlen(text));
}

static void answer(int fd, int status, const char *headers, const char *body, size_t length)
{
    char head[2048];
    snprintf(head, sizeof(head),
             "HTTP/1.1 %d Whatever\r\nX-Test: yes\r\n%sContent-Length: %zu\r\n\r\n", status,
             headers, length);
    if (say(fd, head))
        send_all(fd, body, length);
}

/* The head, and a body of its Content-Length. */
static bool read_request(struct request *request)
{
    size_t wanted = 0;
    request->bytes = calloc(1, HEAD_MAX + BODY_MAX + 1);
    while (request->bytes && request->length < HEAD_MAX + BODY_MAX) {
        ssize_t got = recv(request->fd, request->bytes + request->length,
                           HEAD_MAX + BODY_MAX - request->length, 0);
        if (got <= 0)
            return false;
        request->length += (size_t)got;
        request->bytes[request->length] = '\0';
        const char *end = strstr(request->bytes, "\r\n\r\n");
        if (!end)
            continue;
        const char *length = strcasestr(request->bytes, "\r\nContent-Length:");
        wanted = (size_t)(end + 4 - request->bytes);
        if (length && length < end)
            wanted += strtoul(length + 17, NULL, 10);
        if (request->length >= wanted)
            return sscanf(request->bytes, "%15s %1023s", request->method, request->path) == 2;
    }
    return false;
}

static void note(const struct request *request)
{
    FILE *file = fopen(log_path, "a");
    if (!file)
        return;
    fprintf(file, "%s %s\n", request->method, request->path);
    fclose(file);
}

static void send_big(int fd, size_t bytes)
{
    char *body = malloc(bytes + 16), head[128], line[32];
    for (size_t at = 0; body && at < bytes; at += 16) {
        snprintf(line, sizeof(line), "%015zu\n", at);
        memcpy(body + at, line, 16);
    }
    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
    if (body && say(fd, head))
        send_all(fd, body, bytes);
    free(body);
}

static void send_slowly(int fd, int lines)
{
    bool goes_on = say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; goes_on && i < lines; i++) {
        char chunk[32];
        snprintf(chunk, sizeof(chunk), "8\r\nline %02d\n\r\n", i);
        goes_on = say(fd, chunk);
        usleep(100 * 1000);
    }
    if (goes_on)
        say(fd, "0\r\n\r\n");
}

static void hold(int fd, const char *name)
{
    char path[2048];
    const char *slash = strrchr(log_path, '/');
    snprintf(path, sizeof(path), "%.*s/%s", (int)(slash ? slash - log_path : 0), log_path, name);
    while (access(path, F_OK) != 0)
        usleep(10 * 1000);
    answer(fd, 200, "", "held\n", 5);
}

static void repeat(int fd, const char *begin, const char *again)
{
    for (bool goes_on = say(fd, begin); goes_on;)
        goes_on = say(fd, again);
}

static void serve(struct request *request)
{
    int fd = request->fd, number = 0;
    const char *path = request->path;
    char text[1200];
    if (sscanf(path, "/status/%d", &number) == 1) {
        int length = snprintf(text, sizeof(text), "status %d\n", number);
        answer(fd, number, "", text, (size_t)length);
    } else if (strcmp(path, "/echo") == 0 || strncmp(path, "/echo?", 6) == 0) {
        answer(fd, 200, "", request->bytes, request->length);
    } else if (strncmp(path, "/to/", 4) == 0) {
        snprintf(text, sizeof(text), "Location: %s\r\n", path + 4);
        answer(fd, 302, text, "gone\n", 5);
    } else if (strcmp(path, "/loop") == 0) {
        answer(fd, 302, "Location: /loop\r\n", "", 0);
    } else if (sscanf(path, "/big/%d", &number) == 1) {
        send_big(fd, (size_t)number);
    } else if (sscanf(path, "/slow/%d", &number) == 1) {
        send_slowly(fd, number);
    } else if (strncmp(path, "/hold/", 6) == 0) {
        hold(fd, path + 6);
    } else if (strcmp(path, "/cut") == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    } else if (strcmp(path, "/garbage") == 0) {
        say(fd, "\x16\x03\x01 this is no HTTP\n");
    } else if (strcmp(path, "/framing") == 0) {
        say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx\r\n0\r\n\r\n");
    } else if (strcmp(path, "/heads") == 0) {
        repeat(fd, "HTTP/1.1 200 OK\r\n", "X-More: 0123456789012345678901234567890123456789\r\n");
    } else if (strcmp(path, "/body") == 0) {
        repeat(fd, "HTTP/1.1 200 OK\r\n\r\n", "0123456789012345678901234567890123456789\n");
    } else if (strcmp(path, "/silent") == 0) {
        char byte;
        while (recv(fd, &byte, 1, 0) > 0)
            ;
    }
}

static void *handle(void *context)
{
    struct request request = {.fd = (int)(intptr_t)context};
    if (read_request(&request)) {
        note(&request);
        serve(&request);
    }
    shutdown(request.fd, SHUT_WR);
    close(request.fd);
    free(request.bytes);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (argc != 2 || listener < 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 4096) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return 1;
    log_path = argv[1];
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) {
        pthread_t thread;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, handle, (void *)(intptr_t)fd) != 0)
            close(fd);
        else
            pthread_detach(thread);
    }
}
