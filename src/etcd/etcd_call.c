/* The life of a request: waits for a connection, is sent, perhaps sent again, and is answered.
 *
 *     WAITING -> SENT -> done
 *        ^ \       |
 *        |  \      v
 *        +--- PAUSED        and from anywhere: done when the deadline has passed
 *
 * A repeatable call whose answer is overdue, or whose connection broke, goes back to WAITING when a
 * member answers the leader probe (etcd_probe.c). */
#include <stdlib.h>
#include <string.h>

#include "etcd_call_queue.h"

enum {
    PAUSE_FIRST_MS = 10,
    PAUSE_MAX_MS = 100,
    AUTH_TRIES = 2,
    PATIENCE_MIN_MS = 100,
    PATIENCE_MAX_MS = 500,
};

void etcd_call_cancel(struct kv_call *call)
{
    etcd_call_free((struct etcd_call *)call);
}

/* ---- the end ---- */

static void finish(struct etcd_call *call, const struct kv_result *result)
{
    kv_done *done = call->done;
    void *context = call->context;
    etcd_call_free(call); /* first, so that `done` finds a client in order */
    done(context, result);
}

static void fail(struct etcd_call *call, enum status st, int code, const char *message)
{
    finish(call, &(struct kv_result){.status = st, .code = code, .message = message});
}

static void succeed(struct etcd_call *call)
{
    struct arena *arena = &call->client->arena;
    struct kv_result result = {.message = ""};
    uint8_t *answer = call->answer; /* the result points into it */
    call->answer = NULL;
    arena_reset(arena);
    enum status st =
        answer ? call->method->decode(arena, answer, call->answer_length, &result) : E_CORRUPT;
    result.is_repeated = call->is_repeated;
    if (result.cluster_id)
        call->client->cluster_id = result.cluster_id;
    if (st == OK)
        finish(call, &result);
    else /* the request was done, but its result can't be decoded */
        fail(call, call->method->is_read ? st : E_UNKNOWN, GRPC_OK,
             st == E_NOMEM ? "no memory for the answer" : "unreadable answer");
    free(answer);
}

static void fail_late(struct etcd_call *call)
{
    struct strbuf text;
    strbuf_init(&text);
    if (call->state == CALL_SENT) {
        struct h2_connection *connection = grpc_stream_connection(call->stream);
        strbuf_addf(&text, "%s did not answer within %lld ms", h2_connection_name(connection),
                    (long long)call->timeout_ms);
        h2_connection_probe(connection);
        fail(call, E_UNKNOWN, GRPC_NO_CODE, text.text);
    } else {
        strbuf_adds(&text, "no etcd endpoint can be used: ");
        endpoints_describe(&call->client->endpoints, &text);
        if (call->last_error)
            strbuf_addf(&text, "; the last attempt: %s", call->last_error);
        fail(call, call->is_repeated || call->is_lost ? E_UNKNOWN : E_UNREACHABLE, GRPC_NO_CODE,
             text.text);
    }
    strbuf_release(&text);
}

/* ---- sending ---- */

static void pause_call(struct etcd_call *call, const char *error)
{
    free(call->last_error);
    call->last_error = strdup(error);
    int64_t pause_ms = PAUSE_FIRST_MS;
    for (int i = 0; i < call->pauses && pause_ms < PAUSE_MAX_MS; i++)
        pause_ms *= 2;
    call->pauses++;
    call->state = CALL_PAUSED;
    call_look_again_at(call, kv_now_ms() + pause_ms);
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct etcd_call *call = context;
    if (call->answer)
        return E_CORRUPT; /* one request, one answer */
    call->answer = malloc(length ? length : 1);
    if (!call->answer)
        return E_NOMEM;
    memcpy(call->answer, bytes, length);
    call->answer_length = length;
    return OK;
}

/* One slow answer raises the estimate by half at most: an election says nothing about the next
 * call. */
static void learn_latency(struct etcd_client *client, int64_t took_ms)
{
    double most_ms = 4 * client->latency_ms + 10;
    double ms = (double)took_ms < most_ms ? (double)took_ms : most_ms;
    client->latency_ms += (ms - client->latency_ms) / 8;
}

/* How long an answer may take before the leader probe is sent. */
static int64_t first_patience_ms(const struct etcd_client *client)
{
    int64_t patience_ms = (int64_t)(4 * client->latency_ms);
    return patience_ms < PATIENCE_MIN_MS   ? PATIENCE_MIN_MS
           : patience_ms > PATIENCE_MAX_MS ? PATIENCE_MAX_MS
                                           : patience_ms;
}

void etcd_call_may_repeat(struct kv_call *base)
{
    struct etcd_call *call = (struct etcd_call *)base;
    call->may_repeat = true;
    call->patience_ms = first_patience_ms(call->client);
    if (call->state == CALL_SENT)
        call_look_again_at(call, call->sent_ms + call->patience_ms);
}

/* Is the call sent again after this end? A refused request was not done; the outcome of any other
 * failure is unknown. */
static bool is_to_be_repeated(const struct etcd_call *call, const struct grpc_end *end)
{
    bool may_repeat = call->may_repeat || call->method->is_read;
    return !call->method->is_probe && (end->is_refused || (end->status == E_UNKNOWN && may_repeat));
}

/* Refused calls and reads wait for a pause; a repeatable write waits for the leader probe. */
static void repeat_later(struct etcd_call *call, const struct grpc_end *end)
{
    pause_call(call, end->message);
    if (end->is_refused || !call->may_repeat)
        return;
    call->is_lost = true;
    call_look_again_at(call, call->deadline_at_ms);
    etcd_probe_leader(call->client);
}

static void on_ended(void *context, const struct grpc_end *end)
{
    struct etcd_call *call = context;
    struct etcd_client *client = call->client;
    struct h2_connection *connection = grpc_stream_connection(call->stream);
    call->stream = NULL;
    if (end->status == OK) {
        grpc_channel_worked(&client->calls, connection);
        if (call->may_repeat)
            learn_latency(client, kv_now_ms() - call->first_sent_ms);
        succeed(call);
        return;
    }
    free(call->answer);
    call->answer = NULL;
    if (end->is_refused && end->code != GRPC_NO_CODE)
        grpc_channel_avoid(&client->calls, connection, end->message);
    if (etcd_auth_is_stale(client, end->code, end->message) && !call->method->without_token &&
        call->auth_tries++ < AUTH_TRIES) {
        etcd_auth_forget(client);
        call_wait_in_line(call);
        etcd_calls_flush(client);
    } else if (is_to_be_repeated(call, end)) {
        repeat_later(call, end);
    } else { /* a write whose answer can't be read may have been done */
        bool is_vague = !call->method->is_read && end->code == GRPC_NO_CODE;
        fail(call, is_vague ? E_UNKNOWN : end->status, end->code, end->message);
    }
}

static const struct grpc_stream_events stream_events = {.message = on_message, .ended = on_ended};

static bool send_call(struct etcd_call *call, struct h2_connection *connection)
{
    int64_t now_ms = kv_now_ms();
    struct grpc_request request = {
        .path = call->method->path,
        .bytes = call->request,
        .length = call->request_length,
        .timeout_ms = call->deadline_at_ms - now_ms,
        .token = call->method->without_token ? NULL : call->client->auth.token,
        .require_leader = !call->method->any_member,
    };
    if (request.timeout_ms <= 0 ||
        grpc_stream_open(connection, &request, &stream_events, call, &call->stream) != OK)
        return false; /* its deadline has passed, or memory is short: it waits */
    call_leave_line(call);
    call->state = CALL_SENT;
    call->sent_ms = now_ms;
    if (!call->first_sent_ms) {
        call->first_sent_ms = now_ms;
        call->cluster_id = call->client->cluster_id;
    }
    call_look_again_at(call, now_ms + call->patience_ms);
    return true;
}

void etcd_calls_flush(struct etcd_client *client)
{
    if (!client->waiting)
        return;
    struct h2_connection *connection = grpc_channel_get(&client->calls);
    struct etcd_call *call = connection ? client->waiting : NULL;
    while (call) {
        struct etcd_call *next = call->next;
        if (call->method->without_token || etcd_auth_ready(client))
            send_call(call, connection);
        call = next;
    }
}

static void on_timer(void *context)
{
    struct etcd_client *client = context;
    int64_t now_ms = kv_now_ms();
    client->timer_at_ms = INT64_MAX;
    while (client->wakes.count > 0 && client->wakes.entries[0].key <= now_ms) {
        struct etcd_call *call = client->wakes.entries[0].item;
        if (now_ms >= call->deadline_at_ms) {
            fail_late(call);
        } else if (call->state == CALL_PAUSED) {
            call_wait_in_line(call);
            call_look_again_at(call, call->deadline_at_ms);
        } else { /* it takes long: is the server still there? */
            if (call->state == CALL_SENT)
                h2_connection_probe(grpc_stream_connection(call->stream));
            bool is_overdue = call_is_overdue(call, now_ms);
            call_look_again_at(call, call->deadline_at_ms);
            if (is_overdue)
                etcd_probe_leader(client);
        }
    }
    etcd_calls_flush(client);
    call_queue_arm(client);
}

enum status etcd_calls_init(struct etcd_client *client)
{
    call_queue_init(client);
    return loop_timer_new(client->base.loop, on_timer, client, &client->timer);
}

void etcd_calls_release(struct etcd_client *client)
{
    while (client->wakes.count > 0)
        etcd_call_free(client->wakes.entries[0].item);
    heap_release(&client->wakes);
    client->timer = loop_timer_free(client->timer);
}

/* Calls that `done` makes meanwhile, to try again at once, are not refused. */
void etcd_calls_refuse(struct etcd_client *client, const struct kv_result *why)
{
    uint64_t last = client->call_count;
    struct etcd_call *call = client->waiting;
    while (call) {
        if (call->method->without_token || call->number > last) {
            call = call->next;
            continue;
        }
        finish(call, why);
        call = client->waiting; /* `done` may have changed the queue */
    }
}

enum status etcd_call_start(struct kv_client *base, const struct etcd_method *method,
                            const ProtobufCMessage *message, const struct kv_reply *reply,
                            struct kv_call **ret)
{
    struct etcd_client *client = (struct etcd_client *)base;
    size_t length = protobuf_c_message_get_packed_size(message);
    if (length > GRPC_REQUEST_MAX)
        return E_TOO_LARGE;
    struct etcd_call *call = calloc(1, sizeof(*call));
    uint8_t *request = malloc(GRPC_PREFIX + length);
    if (!call || !request)
        goto out;
    *call = (struct etcd_call){
        .base = {base},
        .client = client,
        .number = ++client->call_count,
        .method = method,
        .done = reply->done,
        .context = reply->context,
        .request = request,
        .request_length = GRPC_PREFIX + length,
        .timeout_ms = reply->deadline_ms > 0 ? reply->deadline_ms : client->deadline_ms,
    };
    call->patience_ms = call->timeout_ms / 4;
    call->deadline_at_ms = kv_now_ms() + call->timeout_ms;
    if (heap_push(&client->wakes, call->deadline_at_ms, call) != OK)
        goto out;
    grpc_prefix_write(request, length);
    protobuf_c_message_pack(message, request + GRPC_PREFIX);
    call_wait_in_line(call);
    call_queue_arm(client);
    etcd_calls_flush(client);
    if (ret)
        *ret = &call->base;
    return OK;
out:
    free(call);
    free(request);
    return E_NOMEM;
}
