#include "call.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "job_codec.h"
#include "server.h"

/* ---- life ---- */

/* The connection is closed, and its request is freed with it. */
static void client_gone(struct evhttp_connection *connection, void *context)
{
    struct call *call = context;
    (void)connection;
    call->request = NULL;
}

struct id call_make_id(const struct call *call)
{
    const struct entropy *entropy = &call->api->ports.entropy;
    uint8_t random[10];
    entropy->fill(entropy->context, random, sizeof(random));
    return id_make((struct wall_ms){call->now_ms}, random);
}

struct call *call_new(struct api *api, struct evhttp_request *request)
{
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    call->api = api;
    call->request = request;
    call->is_head = evhttp_request_get_command(request) == EVHTTP_REQ_HEAD;
    call->now_ms = clock_now().wall.ms;
    struct id request_id = call_make_id(call);
    id_format(&request_id, call->request_id);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), client_gone, call);
    TAILQ_INSERT_TAIL(&api->calls, call, link);
    api->call_count++;
    return call;
}

void call_free(struct call *call)
{
    struct api *api = call->api;
    if (call->request)
        evhttp_connection_set_closecb(evhttp_request_get_connection(call->request), NULL, NULL);
    if (call->release)
        call->release(call->state);
    free(call->state);
    history_read_release(&call->read);
    history_log_release(&call->log);
    json_decref(call->body);
    query_release(&call->query);
    free(call->argument);
    TAILQ_REMOVE(&api->calls, call, link);
    api->call_count--;
    if (call->has_waited) /* somebody may wait for the last open call */
        api->ports.step(api->ports.context);
    free(call);
}

void *call_state(struct call *call, size_t size, void (*release)(void *state))
{
    call->state = calloc(1, size);
    if (call->state)
        call->release = release;
    else
        call_fail(call, 500, "out of memory");
    return call->state;
}

/* ---- waiting ---- */

void call_later(struct call *call, call_then *then)
{
    call->then = then;
    call->has_waited = true;
    TAILQ_INSERT_TAIL(&call->api->ready, call, in_ready);
    loop_timer_set(call->api->later, 0);
}

void call_wait(struct call *call, call_then *then)
{
    call->then = then;
    call->has_waited = true;
}

void call_answer(void *context, enum status st)
{
    struct call *call = context;
    call->answer = st;
    call_later(call, call->then);
}

static void store_answered(struct store_request *request, enum status st)
{
    call_answer(request->context, st);
}

void call_submit(struct call *call, enum store_op op, void *items, size_t count, call_then *then)
{
    call_wait(call, then);
    call->store =
        (struct store_request){.op = op, .count = count, .done = store_answered, .context = call};
    call->store.items.claims = items; /* a union of pointers */
    store_submit(call->api->ports.store, &call->store);
}

static void history_answered(struct history_read *read, enum status st)
{
    call_answer(read->context, st);
}

void call_read_history(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_read_release(&call->read);
    call->read.done = history_answered;
    call->read.context = call;
    history_read(call->api->ports.history, &call->read);
}

static void log_answered(struct history_log *log, enum status st)
{
    call_answer(log->context, st);
}

void call_read_log(struct call *call, call_then *then)
{
    call_wait(call, then);
    history_log_release(&call->log);
    call->log.done = log_answered;
    call->log.context = call;
    history_log(call->api->ports.history, &call->log);
}

/* ---- answers ---- */

void call_header(struct call *call, const char *name, const char *value)
{
    if (!call->request)
        return;
    struct evkeyvalq *headers = evhttp_request_get_output_headers(call->request);
    evhttp_remove_header(headers, name);
    evhttp_add_header(headers, name, value);
}

static const char *title_of(int status)
{
    static const struct {
        int status;
        const char *title;
    } titles[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {422, "Unprocessable Content"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (titles[i].status == status)
            return titles[i].title;
    }
    return "Error";
}

static void free_text(const void *bytes, size_t length, void *context)
{
    (void)bytes;
    (void)length;
    free(context);
}

/* Sends `text`, which it takes over. */
static void send_text(struct call *call, int status, const char *type, char *text)
{
    struct evhttp_request *request = call->request;
    char length[24];
    snprintf(length, sizeof(length), "%zu", strlen(text));
    call_header(call, "Content-Type", type);
    call_header(call, "Content-Length", length);
    call_header(call, "X-Request-Id", call->request_id);
    bool with_body = request && !call->is_head;
    call_free(call);
    if (!with_body || evbuffer_add_reference(evhttp_request_get_output_buffer(request), text,
                                             strlen(text), free_text, text) != 0)
        free(text);
    if (request)
        evhttp_send_reply(request, status, title_of(status), NULL);
}

/* The least that can be said when there is no memory for more. */
static void send_no_memory(struct call *call)
{
    struct evhttp_request *request = call->request;
    call_free(call);
    if (request)
        evhttp_send_reply(request, 500, title_of(500), NULL);
}

static void send_json(struct call *call, int status, const char *type, json_t *body)
{
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (text)
        send_text(call, status, type, text);
    else
        send_no_memory(call);
}

void call_reply(struct call *call, int status, json_t *body)
{
    send_json(call, status, "application/json", body);
}

/* ---- problems ---- */

static void send_problem(struct call *call, int status, const char *detail, json_t *more)
{
    json_t *problem = json_pack("{s:s, s:s, s:i, s:o}", "type", "about:blank", "title",
                                title_of(status), "status", status, "detail", json_words(detail));
    if (problem && more)
        json_object_update(problem, more);
    json_decref(more);
    send_json(call, status, "application/problem+json", problem);
}

void call_fail_with(struct call *call, int status, json_t *more, const char *format, ...)
{
    struct strbuf detail;
    va_list args;
    strbuf_init(&detail);
    va_start(args, format);
    strbuf_addv(&detail, format, args);
    va_end(args);
    send_problem(call, status, detail.text, more);
    strbuf_release(&detail);
}

void call_fail(struct call *call, int status, const char *format, ...)
{
    struct strbuf detail;
    va_list args;
    strbuf_init(&detail);
    va_start(args, format);
    strbuf_addv(&detail, format, args);
    va_end(args);
    send_problem(call, status, detail.text, NULL);
    strbuf_release(&detail);
}

json_t *error_item(const char *pointer, int line, int column, const char *message)
{
    return json_pack("{s:o, s:i, s:i, s:o}", "pointer", json_words(pointer), "line", line, "column",
                     column, "message", json_words(message));
}

void call_fail_at(struct call *call, const char *pointer, const char *format, ...)
{
    struct strbuf detail;
    va_list args;
    strbuf_init(&detail);
    va_start(args, format);
    strbuf_addv(&detail, format, args);
    va_end(args);
    json_t *errors = json_pack("{s:[o]}", "errors", error_item(pointer, 0, 0, detail.text));
    send_problem(call, 422, detail.text, errors);
    strbuf_release(&detail);
}

void call_fail_job(struct call *call, const struct job_error *error)
{
    json_t *errors = json_pack("{s:[o]}", "errors",
                               error_item(error->path, error->line, error->column, error->message));
    call_fail_with(call, 422, errors, "%s", error->message);
}

static void fail_backend(struct call *call, enum status st, const char *who, struct strbuf *why)
{
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (st == E_UNKNOWN)
        call_fail(call, 503, "the %s did not say whether it was done; look before trying again",
                  who);
    else
        call_fail(call, 503, "the %s can't do this now: %s", who,
                  why->length ? why->text : status_text(st));
    strbuf_release(why);
}

void call_fail_store(struct call *call, enum status st)
{
    struct strbuf why;
    strbuf_init(&why);
    if (store_health(call->api->ports.store, &why) == OK)
        strbuf_reset(&why);
    fail_backend(call, st, "store", &why);
}

void call_fail_history(struct call *call, enum status st)
{
    struct strbuf why;
    strbuf_init(&why);
    if (history_health(call->api->ports.history, &why) == OK)
        strbuf_reset(&why);
    fail_backend(call, st, "history", &why);
}
