/* hook_receiver PORT FILE
 * A receiver of webhooks: each request becomes a line of FILE, its Idempotency-Key, its signature
 * and its body; or "ping", its path, and its body with | for line ends, if it is plain text. The
 * answer is 200, or 404 to paths that begin with /gone. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *header(struct evhttp_request *request, const char *name)
{
    const char *value = evhttp_find_header(evhttp_request_get_input_headers(request), name);
    return value ? value : "-";
}

static void take_ping(struct evhttp_request *request, FILE *file, const char *body, size_t length)
{
    fprintf(file, "ping %s ", evhttp_request_get_uri(request));
    for (size_t i = 0; i < length; i++)
        fputc(body[i] == '\n' ? '|' : body[i], file);
    fputc('\n', file);
}

static void take(struct evhttp_request *request, void *context)
{
    bool is_gone = strncmp(evhttp_request_get_uri(request), "/gone", 5) == 0;
    struct evbuffer *input = evhttp_request_get_input_buffer(request);
    size_t length = evbuffer_get_length(input);
    const char *body = (const char *)evbuffer_pullup(input, -1);
    FILE *file = fopen(context, "ae");
    if (!file)
        exit(1);
    if (strncmp(header(request, "Content-Type"), "text/plain", 10) == 0)
        take_ping(request, file, body, length);
    else
        fprintf(file, "%s %s %s %.*s\n", header(request, "Idempotency-Key"),
                header(request, "Peal-Timestamp"), header(request, "Peal-Signature"), (int)length,
                length ? body : "");
    fclose(file);
    evhttp_send_reply(request, is_gone ? 404 : 200, is_gone ? "Gone" : "OK", NULL);
}

int main(int argc, char **argv)
{
    struct event_base *base = event_base_new();
    struct evhttp *http = base ? evhttp_new(base) : NULL;
    if (argc != 3 || !http ||
        evhttp_bind_socket(http, "127.0.0.1", (unsigned short)atoi(argv[1])) != 0) {
        fprintf(stderr, "usage: hook_receiver PORT FILE; or the port is taken\n");
        return 1;
    }
    evhttp_set_gencb(http, take, argv[2]);
    event_base_dispatch(base);
    evhttp_free(http);
    event_base_free(base);
    return 0;
}
