/* control: a server on libevent's HTTP as it comes, which does not read the bodies of HEAD and of
 * methods that it does not know. Prints its port, then a line for each request: method, target. Its
 * answers look like those of GET /api/v1/me. */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char *method_of(struct evhttp_request *request)
{
    switch ((int)evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_HEAD:
        return "HEAD";
    case EVHTTP_REQ_DELETE:
        return "DELETE";
    default:
        return "OTHER";
    }
}

static void on_request(struct evhttp_request *request, void *context)
{
    const char *id = evhttp_find_header(evhttp_request_get_input_headers(request), "X-Request-Id");
    struct evbuffer *out = evhttp_request_get_output_buffer(request);
    (void)context;
    printf("%s %s\n", method_of(request), evhttp_request_get_uri(request));
    fflush(stdout);
    evhttp_add_header(evhttp_request_get_output_headers(request), "X-Request-Id", id ? id : "none");
    bool is_me = evhttp_request_get_command(request) == EVHTTP_REQ_GET &&
                 strcmp(evhttp_request_get_uri(request), "/api/v1/me") == 0;
    evbuffer_add_printf(out, "{\"name\":\"%s\"}", is_me ? "victim" : "somebody else");
    evhttp_send_reply(request, 200, "OK", NULL);
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct evhttp *http = base ? evhttp_new(base) : NULL;
    struct evhttp_bound_socket *bound =
        http ? evhttp_bind_socket_with_handle(http, "127.0.0.1", 0) : NULL;
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    if (!bound ||
        getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &length) != 0)
        return 1;
    evhttp_set_allowed_methods(http, UINT16_MAX);
    evhttp_set_gencb(http, on_request, NULL);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return event_base_dispatch(base);
}
