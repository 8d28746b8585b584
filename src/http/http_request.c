/* One request: what was asked, and by whom. */
#include <event2/bufferevent_ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "http_internal.h"

struct http_request *http_request_new(struct http_connection *connection)
{
    struct http_request *request = calloc(1, sizeof(*request));
    struct http_head *head = malloc(sizeof(*head));
    if (!request || !head) {
        free(request);
        free(head);
        return NULL;
    }
    request->connection = connection;
    request->head = head;
    http_head_init(head);
    http_chunked_init(&request->chunked);
    strbuf_init(&request->fields);
    return request;
}

void http_request_free(struct http_request *request)
{
    if (!request)
        return;
    strbuf_release(&request->fields);
    free(request->body);
    free(request->text);
    free(request->head);
    free(request);
}

static void end_span(char *text, struct http_span span)
{
    text[span.at + span.length] = '\0';
}

bool http_request_keep_head(struct http_request *request, const char *bytes)
{
    const struct http_head *head = request->head;
    char *text = malloc(head->size);
    if (!text)
        return false;
    memcpy(text, bytes, head->size);
    end_span(text, head->target); /* there is a blank, a colon or a CR behind each of them */
    for (size_t i = 0; i < head->field_count; i++) {
        end_span(text, head->fields[i].name);
        end_span(text, head->fields[i].value);
    }
    request->text = text;
    request->is_whole = !head->is_chunked && !head->body_length;
    return true;
}

/* Memory is taken as the bytes come: what a client only announces costs nothing. */
bool http_request_make_room(struct http_request *request, size_t length)
{
    size_t needed = request->body_length + length + 1; /* with a NUL */
    if (needed <= request->body_room)
        return true;
    size_t room = 2 * request->body_room > needed ? 2 * request->body_room : needed;
    size_t most = !request->head->is_chunked ? (size_t)request->head->body_length + 1 : SIZE_MAX;
    room = room > most && needed <= most ? most : room;
    char *grown = realloc(request->body, room);
    if (!grown)
        return false;
    request->body = grown;
    request->body_room = room;
    return true;
}

/* ---- what is asked ---- */

enum http_method http_method(const struct http_request *request)
{
    return request->head->method;
}

const char *http_target(const struct http_request *request)
{
    return request->text + request->head->target.at;
}

static bool is_named(const struct http_request *request, size_t i, const char *name, size_t length)
{
    struct http_span span = request->head->fields[i].name;
    return span.length == length && strncasecmp(request->text + span.at, name, length) == 0;
}

const char *http_field(const struct http_request *request, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; request->head && i < request->head->field_count; i++) {
        if (is_named(request, i, name, length))
            return request->text + request->head->fields[i].value.at;
    }
    return NULL;
}

const char *http_last_field(const struct http_request *request, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = request->head ? request->head->field_count : 0; i > 0; i--) {
        if (is_named(request, i - 1, name, length))
            return request->text + request->head->fields[i - 1].value.at;
    }
    return NULL;
}

const char *http_body(const struct http_request *request, size_t *ret_length)
{
    *ret_length = request->body_length;
    return request->body;
}

void http_drop_body(struct http_request *request)
{
    free(request->body);
    request->body = NULL;
    request->body_length = request->body_room = 0;
    http_hold(request->connection, 0);
}

char *http_take_body(struct http_request *request)
{
    char *body = request->body;
    request->body = NULL;
    http_drop_body(request);
    return body;
}

const char *http_peer(const struct http_request *request)
{
    return request->connection->peer;
}

bool http_peer_uid(const struct http_request *request, uid_t *ret)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(request->connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *ret = peer.uid;
    return true;
}

int http_mark(const struct http_request *request)
{
    return request->connection->mark;
}

struct ssl_st *http_ssl(const struct http_request *request)
{
    return bufferevent_openssl_get_ssl(request->connection->bev);
}

/* ---- serving ---- */

void http_own(struct http_request *request, void *owner, void (*gone)(void *owner))
{
    request->owner = owner;
    request->gone = gone;
}

void *http_owner(const struct http_request *request)
{
    return request->owner;
}

void http_admit(struct http_request *request, size_t body_max, bool is_known)
{
    request->body_max = body_max;
    request->is_admitted = true;
    http_holders_know(request->connection, is_known);
}
