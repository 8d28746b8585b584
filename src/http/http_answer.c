/* Answers on their way out. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "clock.h"
#include "http_internal.h"

enum { ONE_RECORD = 16 << 10 }; /* bytes in a TLS record: small answers are sent as one */

const char *http_status_title(int status)
{
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {206, "Partial Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {410, "Gone"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (titles[i].status == status)
            return titles[i].title;
    }
    return "Error";
}

/* ---- fields ---- */

/* The line of the field, or the end of the text. */
static size_t find_line(const struct strbuf *fields, const char *name)
{
    size_t at = 0, length = strlen(name);
    while (at < fields->length &&
           (strncasecmp(fields->text + at, name, length) != 0 || fields->text[at + length] != ':'))
        at += strcspn(fields->text + at, "\n") + 1;
    return at;
}

static void remove_line(struct strbuf *fields, size_t at)
{
    size_t end = at + strcspn(fields->text + at, "\n") + 1;
    memmove(fields->text + at, fields->text + end, fields->length - end);
    strbuf_truncate(fields, fields->length - (end - at));
}

bool http_is_set(const struct http_request *request, const char *name)
{
    return find_line(&request->fields, name) < request->fields.length;
}

/* A value must not begin another line: control characters are replaced. */
void http_add(struct http_request *request, const char *name, const char *value)
{
    struct strbuf *fields = &request->fields;
    strbuf_adds(fields, name);
    strbuf_add(fields, ": ", 2);
    size_t start = fields->length;
    strbuf_adds(fields, value);
    for (size_t i = start; i < fields->length; i++) {
        unsigned char c = (unsigned char)fields->text[i];
        if (c < 0x20 || c == 0x7F)
            fields->text[i] = ' ';
    }
    strbuf_add(fields, "\r\n", 2);
}

void http_set(struct http_request *request, const char *name, const char *value)
{
    size_t at = find_line(&request->fields, name);
    if (at < request->fields.length)
        remove_line(&request->fields, at);
    http_add(request, name, value);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", made once a second. */
static const char *date_now(struct http_server *server)
{
    time_t now = (time_t)(clock_now().wall.ms / 1000);
    struct tm when;
    if (now != server->date_s && gmtime_r(&now, &when)) {
        strftime(server->date, sizeof(server->date), "%a, %d %b %Y %H:%M:%S GMT", &when);
        server->date_s = now;
    }
    return server->date;
}

/* Writes to server->head; `more` are further lines. strbuf_status tells if memory ran out. */
static void print_head(struct http_connection *connection, int status, const struct strbuf *fields,
                       const char *more)
{
    struct strbuf *out = &connection->server->head;
    strbuf_reset(out);
    strbuf_addf(out, "HTTP/1.1 %d %s\r\n", status, http_status_title(status));
    strbuf_add(out, fields->text, fields->length);
    strbuf_addf(out, "Date: %s\r\n%s%s\r\n", date_now(connection->server), more,
                connection->closes ? "Connection: close\r\n" : "");
    out->failed |= fields->failed;
}

/* ---- bytes ---- */

struct answer {
    char *head;
    size_t head_length;
    char *body; /* from malloc; NULL: none */
    size_t body_length;
};

static void free_bytes(const void *bytes, size_t length, void *context)
{
    (void)bytes;
    (void)length;
    free(context);
}

/* Writes to the socket without waiting for the loop: the kernel takes most answers whole. Returns
 * the bytes written; errors are left to the bufferevent, which reports them. */
static size_t send_now(const struct http_connection *connection, const struct answer *answer)
{
    struct iovec pieces[2] = {{answer->head, answer->head_length},
                              {answer->body, answer->body_length}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = answer->body_length ? 2 : 1};
    if (connection->server->tls || http_unsent(connection))
        return 0;
    ssize_t sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? (size_t)sent : 0;
}

/* Queues the rest in the bufferevent. Takes the body over. False: out of memory. */
static bool send_later(struct http_connection *connection, const struct answer *answer, size_t sent)
{
    struct evbuffer *out = bufferevent_get_output(connection->bev);
    size_t left = sent < answer->head_length ? answer->head_length - sent : 0;
    size_t skipped = sent - (answer->head_length - left);
    size_t rest = answer->body_length - skipped;
    const char *body = answer->body ? answer->body + skipped : NULL;
    bool is_small = left + rest <= ONE_RECORD && evbuffer_expand(out, left + rest) == 0;
    bool is_done = evbuffer_add(out, answer->head + answer->head_length - left, left) == 0;
    if (is_done && rest && !is_small &&
        evbuffer_add_reference(out, body, rest, free_bytes, answer->body) == 0)
        return true;
    if (rest && is_small)
        is_done = is_done && evbuffer_add(out, body, rest) == 0;
    else
        is_done = is_done && !rest;
    free(answer->body);
    return is_done;
}

static void send_answer(struct http_connection *connection, const struct answer *answer)
{
    size_t sent = send_now(connection, answer);
    if (sent == answer->head_length + answer->body_length) {
        free(answer->body);
        http_answer_sent(connection);
    } else if (!send_later(connection, answer, sent)) {
        http_connection_close(connection);
    }
}

/* ---- answers ---- */

/* Frees an answered request and the memory that it holds. */
static void let_go(struct http_request *request)
{
    struct http_connection *connection = request->connection;
    connection->closes |= !request->is_whole;
    connection->request = NULL;
    http_hold(connection, 0);
}

void http_answer(struct http_request *request, int status, char *body, size_t length)
{
    struct http_connection *connection = request->connection;
    struct strbuf *head = &connection->server->head;
    bool with_body = body && length && request->head->method != HTTP_HEAD && status != 304;
    char more[48] = "";
    if (!body && request->head->method != HTTP_HEAD)
        length = 0; /* no Content-Length for a body that is not sent */
    if (status != 304)
        snprintf(more, sizeof(more), "Content-Length: %zu\r\n", length);
    let_go(request);
    print_head(connection, status, &request->fields, more);
    http_request_free(request);
    if (!with_body) {
        free(body);
        body = NULL;
        length = 0;
    }
    http_set_phase(connection, HTTP_SENDING, length);
    if (strbuf_status(head) == OK) {
        send_answer(connection, &(struct answer){head->text, head->length, body, length});
        return;
    }
    free(body);
    http_connection_close(connection);
}

/* An answer to HEAD has no body, a refusal neither. */
static void drop_body_of(struct strbuf *answer)
{
    const char *end = strstr(answer->text, "\r\n\r\n");
    if (end)
        strbuf_truncate(answer, (size_t)(end - answer->text) + 4);
}

void http_refuse(struct http_connection *connection, int status, const char *why)
{
    struct http_request *request = connection->request;
    struct http_server *server = connection->server;
    let_go(request);
    connection->closes = true;
    strbuf_reset(&server->head);
    server->service.refuse(status, why, &server->head);
    if (request->head->method == HTTP_HEAD)
        drop_body_of(&server->head);
    if (request->gone) /* the owner did not answer the request */
        request->gone(request->owner);
    http_request_free(request);
    http_set_phase(connection, HTTP_SENDING, 0);
    if (strbuf_status(&server->head) == OK)
        send_answer(connection, &(struct answer){server->head.text, server->head.length, NULL, 0});
    else
        http_connection_close(connection);
}

void http_send_continue(struct http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    bufferevent_write(connection->bev, text, sizeof(text) - 1);
}

/* ---- streams ---- */

void http_stream(struct http_request *request, int status, void *owner, void (*gone)(void *owner))
{
    struct http_connection *connection = request->connection;
    struct evbuffer *out = bufferevent_get_output(connection->bev);
    struct strbuf *head = &connection->server->head;
    bool has_length = http_is_set(request, "Content-Length");
    http_own(request, owner, gone);
    http_drop_body(request);
    request->sends_chunks = !has_length && !request->head->is_old;
    print_head(connection, status, &request->fields,
               request->sends_chunks ? "Transfer-Encoding: chunked\r\n" : "");
    strbuf_release(&request->fields);
    free(request->head);
    free(request->text);
    request->head = NULL;
    request->text = NULL;
    http_set_phase(connection, HTTP_STREAMING, 0);
    http_watch_for_end(connection);
    if (strbuf_status(head) == OK) /* else out of memory: the connection ends */
        evbuffer_add(out, head->text, head->length);
    else
        shutdown(connection->fd, SHUT_RDWR);
}

void http_stream_send(struct http_request *request, struct evbuffer *text)
{
    struct evbuffer *out = bufferevent_get_output(request->connection->bev);
    size_t length = evbuffer_get_length(text);
    bool is_chunk = request->sends_chunks && length;
    bool is_done = (!is_chunk || evbuffer_add_printf(out, "%zx\r\n", length) > 0) &&
                   evbuffer_add_buffer(out, text) == 0 &&
                   (!is_chunk || evbuffer_add(out, "\r\n", 2) == 0);
    evbuffer_drain(text, evbuffer_get_length(text));
    if (!is_done) /* out of memory: the chunk is incomplete, so the connection must end */
        shutdown(request->connection->fd, SHUT_RDWR);
}

void http_stream_share(struct http_request *request, int kernel_bytes)
{
    struct http_connection *connection = request->connection;
    connection->server->unsent_bytes -= connection->unsent;
    connection->unsent = 0;
    connection->is_shared = true;
    setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &kernel_bytes,
               sizeof(kernel_bytes)); /* or it stays as it was */
}

size_t http_stream_unsent(const struct http_request *request)
{
    return http_unsent(request->connection);
}

void http_stream_end(struct http_request *request)
{
    struct http_connection *connection = request->connection;
    if (request->sends_chunks)
        bufferevent_write(connection->bev, "0\r\n\r\n", 5);
    connection->request = NULL;
    http_request_free(request);
    http_set_phase(connection, HTTP_SENDING, http_unsent(connection));
    if (!http_unsent(connection))
        http_answer_sent(connection);
}

void http_stream_break(struct http_request *request)
{
    http_connection_close(request->connection);
}
