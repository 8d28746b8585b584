#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "server.h"

/* ---- how many an account has ---- */

/* The streams of one account. */
struct stream_row {
    int64_t count;
    char account[];
};

/* One of them. */
struct stream_seat {
    struct table *streams;
    struct stream_row *row;
    void (*gone)(void *context);
    void *context;
};

static const struct table_type rows_type = {.key_at = offsetof(struct stream_row, account)};

void streams_init(struct table *streams)
{
    table_init(streams, &rows_type);
}

void streams_release(struct table *streams)
{
    table_release_items(streams);
}

/* A user's tokens count for the user: many tokens give no more streams. */
static void name_account(const struct call *call, char ret[PRINCIPAL_ID_SIZE])
{
    const struct principal *principal = &call->principal;
    const struct token *token = principal->kind == PRINCIPAL_TOKEN
                                    ? accounts_token(&call->api->accounts, principal->token_id)
                                    : NULL;
    if (principal->kind == PRINCIPAL_USER)
        snprintf(ret, PRINCIPAL_ID_SIZE, "user %s", principal->name);
    else if (token && token->owner[0])
        snprintf(ret, PRINCIPAL_ID_SIZE, "user %s", token->owner);
    else
        principal_print_id(principal, ret);
}

static struct stream_row *make_row(struct table *streams, const char *account)
{
    size_t size = strlen(account) + 1;
    struct stream_row *row = malloc(sizeof(*row) + size);
    if (!row)
        return NULL;
    row->count = 0;
    memcpy(row->account, account, size);
    if (table_insert(streams, row) == OK)
        return row;
    free(row);
    return NULL;
}

static void leave_seat(struct stream_seat *seat)
{
    if (seat && !--seat->row->count) {
        table_remove(seat->streams, seat->row);
        free(seat->row);
    }
    free(seat);
}

static void seat_gone(void *context)
{
    struct stream_seat *seat = context;
    void (*gone)(void *context) = seat->gone;
    void *owner = seat->context;
    leave_seat(seat);
    gone(owner);
}

/* False: the call has failed. A local client with all rights is not counted: *ret is NULL. */
static bool take_seat(struct call *call, struct stream_seat **ret)
{
    struct api *api = call->api;
    char account[PRINCIPAL_ID_SIZE];
    *ret = NULL;
    if (call->principal.kind == PRINCIPAL_SOCKET)
        return true;
    name_account(call, account);
    struct stream_row *row = table_find(&api->streams, account);
    if (row && api->quotas.streams && row->count >= api->quotas.streams) {
        api->metrics.throttled++;
        call_fail(call, 429,
                  "this account has %lld streams open, and the quota is %lld: close some, or raise "
                  "quotas.streams in the configuration file",
                  (long long)row->count, (long long)api->quotas.streams);
        return false;
    }
    struct stream_seat *seat = calloc(1, sizeof(*seat));
    row = row ? row : make_row(&api->streams, account);
    if (!seat || !row) {
        free(seat);
        call_fail(call, 500, "out of memory");
        return false;
    }
    row->count++;
    *seat = (struct stream_seat){.streams = &api->streams, .row = row};
    *ret = seat;
    return true;
}

/* ---- streams ---- */

static bool start(struct call *call, int status, struct stream_seat *seat, struct stream *ret,
                  void (*gone)(void *context), void *context)
{
    *ret = (struct stream){call->request, seat};
    call->request = NULL;
    if (seat) {
        seat->gone = gone;
        seat->context = context;
    }
    http_stream(ret->request, status, seat ? (void *)seat : context, seat ? seat_gone : gone);
    return true;
}

/* False: the client has left, and the call was freed. */
static bool has_reader(struct call *call)
{
    if (call->request)
        return true;
    call_free(call);
    return false;
}

static void add_headers(struct call *call, const char *type)
{
    call_header(call, "Cache-Control", "no-store");
    call_header(call, "X-Content-Type-Options", "nosniff");
    call_header(call, "X-Request-Id", call->request_id);
    call_header(call, "Content-Type", type);
}

bool stream_start(struct call *call, struct stream *ret, void (*gone)(void *context), void *context)
{
    static const char type[] = "text/event-stream";
    struct stream_seat *seat;
    if (!has_reader(call))
        return false;
    if (call->is_head) {
        call_reply_text(call, 200, type, strdup(""), 0);
        return false;
    }
    if (!take_seat(call, &seat))
        return false;
    add_headers(call, type);
    call_header(call, "X-Accel-Buffering", "no"); /* nginx: pass it on at once */
    return start(call, 200, seat, ret, gone, context);
}

bool stream_start_file(struct call *call, int status, const char *type, struct stream *ret,
                       void (*gone)(void *context), void *context)
{
    if (!has_reader(call))
        return false;
    add_headers(call, type);
    return start(call, status, NULL, ret, gone, context);
}

void stream_send(const struct stream *stream, struct evbuffer *text)
{
    http_stream_send(stream->request, text);
}

void stream_share(const struct stream *stream, int kernel_bytes)
{
    http_stream_share(stream->request, kernel_bytes);
}

size_t stream_unsent(const struct stream *stream)
{
    return http_stream_unsent(stream->request);
}

void stream_end(const struct stream *stream)
{
    leave_seat(stream->seat);
    http_stream_end(stream->request);
}

void stream_break(const struct stream *stream)
{
    http_stream_break(stream->request);
}
