#include "call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http.h"
#include "idempotency.h"
#include "note.h"
#include "server.h"

/* ---- life ---- */

/* The connection is closed, and its request freed. A call whose body was incomplete ends. */
static void client_gone(void *context)
{
    struct call *call = context;
    call->request = NULL;
    call->body_text = NULL;
    if (!call->is_served)
        call_free(call);
}

struct id call_make_id(const struct call *call)
{
    struct api *api = call->api;
    return made_id_next(&api->last_made, &api->ports.entropy, call->now_ms);
}

bool call_assumes(const struct call *call, const char *kind, const char *name)
{
    const json_t *each;
    size_t i;
    json_array_foreach (json_object_get(call->assumed, kind), i, each) {
        if (strcmp(json_string_value(each), name) == 0)
            return true;
    }
    return false;
}

const char *call_input(const struct call *call, const char *name)
{
    return call->request ? http_field(call->request, name) : NULL;
}

/* The client's address, scheme and host, from trusted proxies if there are any: only from the last
 * one, since earlier entries may be forged by the client. */
static void note_client(struct call *call)
{
    const struct proxy_list *proxies = &call->api->proxies;
    const char *peer = http_peer(call->request), *protocol = NULL, *host = NULL;
    char client[INET6_ADDRSTRLEN];
    if (!call->listener->is_tcp)
        return;
    if (proxy_is_trusted(proxies, peer)) {
        protocol = http_last_field(call->request, "X-Forwarded-Proto");
        host = http_last_field(call->request, "X-Forwarded-Host");
    }
    if (host && strrchr(host, ',')) {
        host = strrchr(host, ',') + 1;
        host += strspn(host, " \t");
    }
    if (!host || !*host)
        host = call_input(call, "Host");
    snprintf(call->host, sizeof(call->host), "%s", host ? host : "");
    call->is_secure = call->api->tls || (protocol && strcasecmp(protocol, "https") == 0);
    proxy_client(proxies, peer, http_last_field(call->request, "X-Forwarded-For"), client);
    snprintf(call->address, sizeof(call->address), "%s", client);
}

/* Takes over the client's request id, if it is harmless in logs and headers. */
static void choose_request_id(struct call *call)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_.:/=+";
    const char *given = call_input(call, "X-Request-Id");
    size_t length = given ? strlen(given) : 0;
    if (length && length <= REQUEST_ID_MAX && strspn(given, allowed) == length) {
        memcpy(call->request_id, given, length + 1);
        return;
    }
    struct id made = call_make_id(call);
    id_format(&made, call->request_id);
}

struct call *call_new(struct listener *listener, struct http_request *request)
{
    struct api *api = listener->api;
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    http_own(request, call, client_gone);
    call->api = api;
    call->listener = listener;
    call->request = request;
    call->is_head = http_method(request) == HTTP_HEAD;
    call->is_safe = call->is_head || http_method(request) == HTTP_GET;
    call->now_ms = clock_now().wall.ms;
    call->language = language_wanted(call_input(call, "Accept-Language"));
    choose_request_id(call);
    note_client(call);
    TAILQ_INSERT_TAIL(&api->calls, call, link);
    return call;
}

void call_serve(struct call *call)
{
    call->is_served = true;
    call->now_ms = clock_now().wall.ms; /* the body may have taken minutes */
    call->api->call_count++;
}

void call_free(struct call *call)
{
    struct api *api = call->api;
    idempotency_give_up(call);
    if (call->release)
        call->release(call->state);
    free(call->state);
    call_release_part(call);
    history_read_release(&call->read);
    history_log_release(&call->log);
    live_read_release(&call->output);
    history_changes_release(&call->changes);
    history_stats_release(&call->stats);
    note_release(call);
    json_decref(call->body);
    json_decref(call->before);
    query_release(&call->query);
    query_release(&call->form);
    free(call->argument);
    free(call->second_argument);
    free(call->path);
    free(call->large_body);
    free(call->puts);
    api->large_bytes -= call->large_length;
    TAILQ_REMOVE(&api->calls, call, link);
    api->call_count -= call->is_served && !call->is_detached;
    if (call->has_waited) /* a graceful stop may wait for the last open call */
        api->ports.ended(api->ports.context);
    free(call);
}

void call_detach(struct call *call)
{
    call->is_detached = true;
    call->api->call_count--;
}

void *call_state(struct call *call, size_t size, void (*release)(void *state))
{
    void *state = calloc(1, size);
    if (!state) {
        call_fail(call, 500, "out of memory");
        return NULL;
    }
    call->state = state;
    call->release = release;
    return state;
}

bool call_name(struct call *call, const char *name)
{
    free(call->argument);
    call->argument = strdup(name);
    if (call->argument)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

/* ---- waiting ---- */

void call_later(struct call *call, call_then *then)
{
    if (call->body_text && call->request)
        http_drop_body(call->request);
    call->body_text = NULL;
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
    struct call *call = request->context;
    metrics_note_store(&call->api->metrics,
                       (double)(clock_now().boot.ms - call->asked_boot_ms) / 1000);
    call_answer(call, st);
}

void call_submit(struct call *call, enum store_op op, void *items, size_t count, call_then *then)
{
    call_wait(call, then);
    call->store =
        (struct store_request){.op = op, .count = count, .done = store_answered, .context = call};
    call->store.items.claims = items; /* a union of pointers */
    call->asked_boot_ms = clock_now().boot.ms;
    store_submit(call->api->ports.store, &call->store);
}
