#include "receiver.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

static void take(struct evhttp_request *request, void *context)
{
    struct receiver *receiver = context;
    struct evbuffer *input = evhttp_request_get_input_buffer(request);
    size_t length = evbuffer_get_length(input);
    char *body = calloc(1, length + 1);
    assert_non_null(body);
    evbuffer_copyout(input, body, length);
    receiver->attempts++;
    if (!receiver->status) {
        free(body);
        return;
    }
    bool is_refused = receiver->refuse && strstr(body, receiver->refuse);
    int status = is_refused ? 400 : receiver->status;
    if (status == 200 && receiver->count < RECEIVED_MAX) {
        const char *key =
            evhttp_find_header(evhttp_request_get_input_headers(request), "Idempotency-Key");
        snprintf(receiver->keys[receiver->count], sizeof(receiver->keys[0]), "%s", key ? key : "");
        receiver->bodies[receiver->count++] = body;
    } else {
        free(body);
    }
    evhttp_send_reply(request, status, NULL, NULL);
}

void receiver_start(struct receiver *receiver, struct loop *loop)
{
    receiver->http = evhttp_new(loop_base(loop));
    assert_non_null(receiver->http);
    evhttp_set_gencb(receiver->http, take, receiver);
    struct evhttp_bound_socket *bound =
        evhttp_bind_socket_with_handle(receiver->http, "127.0.0.1", (unsigned short)receiver->port);
    assert_non_null(bound);
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    assert_int_equal(
        getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &length), 0);
    receiver->port = ntohs(address.sin_port);
}

void receiver_stop(struct receiver *receiver)
{
    if (receiver->http)
        evhttp_free(receiver->http);
    receiver->http = NULL;
}

void receiver_release(struct receiver *receiver)
{
    receiver_stop(receiver);
    for (size_t i = 0; i < receiver->count; i++)
        free(receiver->bodies[i]);
}
