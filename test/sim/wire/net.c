#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grpc_stream.h"
#include "hash.h"

enum { PING_MS = 1000, IDLE_MS = 6000 };

enum link_state { LINK_CONNECTING, LINK_READY, LINK_DRAINING, LINK_CLOSED };

/* What both ends, and all that is on its way, know of a connection. */
struct net_link {
    struct net *net;
    struct h2_connection *near; /* NULL: given up by the client */
    int machine, member;
    int64_t up_at_ms, down_at_ms; /* nothing overtakes what was sent before */
    struct net_messages held;     /* the way is cut */
    bool is_torn;                 /* from here on nothing arrives any more */
    int holders;
    TAILQ_HEAD(, net_stream) streams;
    TAILQ_ENTRY(net_link) entry;
};

struct h2_connection {
    struct net_link *link;
    struct loop *loop;
    const struct h2_connection_events *events;
    void *context;
    const char *name;
    enum link_state state;
    const char *why;    /* it closes */
    struct task change; /* it is ready, or closed */
    struct task ping;
    TAILQ_HEAD(, grpc_stream) streams;
    int64_t timeout_ms;
};

struct grpc_stream {
    struct h2_connection *connection;
    struct net_stream *far;
    const struct grpc_stream_events *events;
    void *context;
    TAILQ_ENTRY(grpc_stream) entry;
};

enum message_kind { MESSAGE_DATA, MESSAGE_LAST, MESSAGE_END, MESSAGE_CANCEL };

struct net_message {
    struct task task;
    struct net_stream *stream;
    enum message_kind kind;
    bool is_up;
    int code;
    const char *why;
    TAILQ_ENTRY(net_message) entry;
    size_t length;
    uint8_t bytes[];
};

/* ---- lifetimes ---- */

static void link_release(struct net_link *link)
{
    if (--link->holders > 0)
        return;
    TAILQ_REMOVE(&link->net->links, link, entry);
    free(link);
}

void net_stream_hold(struct net_stream *stream)
{
    stream->holders++;
}

void net_stream_release(struct net_stream *stream)
{
    if (--stream->holders > 0)
        return;
    link_release(stream->link);
    free(stream);
}

int net_stream_machine(const struct net_stream *stream)
{
    return stream->link->machine;
}

bool net_stream_is_open(const struct net_stream *stream)
{
    return stream->near != NULL;
}

static void message_free(struct net_message *message)
{
    struct net *net = message->stream->link->net;
    task_stop(net->stage, &message->task);
    net_stream_release(message->stream);
    free(message);
}

/* ---- the way of a message ---- */

static unsigned cuts_of(const struct net_link *link)
{
    return link->net->cuts[link->machine][link->member];
}

static void server_closes(struct net_stream *stream)
{
    struct net *net = stream->link->net;
    if (!stream->server)
        return;
    net->server->closed(net->context, stream);
    stream->server = NULL;
}

/* The server has no more to do with it. */
static void unlist(struct net_stream *stream)
{
    if (!stream->is_listed)
        return;
    TAILQ_REMOVE(&stream->link->streams, stream, link_entry);
    stream->is_listed = false;
    server_closes(stream);
    net_stream_release(stream);
}

static void arrive_up(struct net_message *message)
{
    struct net_stream *stream = message->stream;
    struct net *net = stream->link->net;
    if (message->kind == MESSAGE_CANCEL)
        unlist(stream);
    else if (!net->is_down[stream->member])
        net->server->message(net->context, stream, message->bytes, message->length);
}

static void stream_free(struct grpc_stream *stream)
{
    if (stream->far) {
        stream->far->near = NULL;
        net_stream_release(stream->far);
    }
    TAILQ_REMOVE(&stream->connection->streams, stream, entry);
    free(stream);
}

static void set_change(struct h2_connection *connection, const char *why, int64_t after_ms)
{
    if (connection->why)
        return;
    connection->why = why;
    task_at(connection->loop->stage, &connection->change,
            connection->loop->stage->now_ms + after_ms);
}

static void close_if_drained(struct h2_connection *connection)
{
    if (connection->state == LINK_DRAINING && TAILQ_EMPTY(&connection->streams))
        set_change(connection, "drained", 0);
}

static void end_stream(struct grpc_stream *stream, const struct grpc_end *end)
{
    struct h2_connection *connection = stream->connection;
    stream->events->ended(stream->context, end);
    stream_free(stream);
    close_if_drained(connection);
}

static void arrive_down(struct net_message *message)
{
    struct grpc_stream *stream = message->stream->near;
    if (!stream)
        return;
    machine_act(stream->connection->loop);
    if (message->kind != MESSAGE_END &&
        stream->events->message(stream->context, message->bytes, message->length) != OK)
        stage_fail(stream->connection->loop->stage, "an answer of etcd can't be read");
    stream = message->stream->near; /* it may be gone now */
    if (!stream || message->kind == MESSAGE_DATA)
        return;
    enum status st = message->kind == MESSAGE_LAST ? OK : grpc_status(message->code, message->why);
    struct grpc_end end = {st, message->code, message->why, st == E_UNREACHABLE};
    end_stream(stream, &end);
}

static void arrive(struct task *task)
{
    struct net_message *message = (struct net_message *)task;
    struct net_link *link = message->stream->link;
    struct stage *stage = link->net->stage;
    if (cuts_of(link) & (message->is_up ? CUT_UP : CUT_DOWN)) {
        TAILQ_INSERT_TAIL(&link->held, message, entry);
        return;
    }
    /* Of what was under way when the connection broke, the first part may still arrive. */
    if (message->is_up && !link->near)
        link->is_torn = link->is_torn || stage_chance(stage, 400);
    bool is_lost = link->is_torn || (!message->is_up && !link->near);
    stage->hash = hash_bytes(stage->hash, message->bytes, message->length);
    if (!is_lost && message->is_up)
        arrive_up(message);
    else if (!is_lost)
        arrive_down(message);
    message_free(message);
}

static void post(struct net_stream *stream, bool is_up, enum message_kind kind, const void *bytes,
                 size_t length, int code, const char *why)
{
    struct net_link *link = stream->link;
    struct net *net = link->net;
    if (is_up && !link->near)
        return; /* it is broken already, which the client will hear */
    struct net_message *message = calloc(1, sizeof(*message) + length);
    if (!message)
        abort();
    task_init(&message->task, is_up || !link->near ? NULL : link->near->loop, arrive);
    message->stream = stream;
    message->is_up = is_up;
    message->kind = kind;
    message->code = code;
    message->why = why;
    message->length = length;
    if (length)
        memcpy(message->bytes, bytes, length);
    net_stream_hold(stream);
    net->messages++;
    if (is_up)
        machine_act(link->near->loop);
    int64_t latency_ms = net->latency_ms[link->machine] + (is_up ? 0 : net->lag_ms[link->member]);
    int64_t at_ms = net->stage->now_ms + (latency_ms ? stage_below(net->stage, latency_ms + 1) : 0);
    int64_t *last_ms = is_up ? &link->up_at_ms : &link->down_at_ms;
    if (at_ms < *last_ms)
        at_ms = *last_ms;
    *last_ms = at_ms;
    task_at(net->stage, &message->task, at_ms);
}

void net_send(struct net_stream *stream, const ProtobufCMessage *message, bool is_last)
{
    if (!stream->near)
        return;
    size_t length = protobuf_c_message_get_packed_size(message);
    uint8_t small[4096];
    uint8_t *bytes = length <= sizeof(small) ? small : malloc(length);
    if (!bytes)
        abort();
    protobuf_c_message_pack(message, bytes);
    post(stream, false, is_last ? MESSAGE_LAST : MESSAGE_DATA, bytes, length, GRPC_OK, "");
    if (bytes != small)
        free(bytes);
}

void net_end(struct net_stream *stream, int code, const char *why)
{
    if (stream->near)
        post(stream, false, MESSAGE_END, NULL, 0, code, why);
    unlist(stream);
}

/* ---- the end of a connection ---- */

/* The server hears of it, too, sooner or later; here: at once. */
static void give_up(struct net_link *link)
{
    link->near = NULL;
    for (struct net_stream *stream; (stream = TAILQ_FIRST(&link->streams));)
        unlist(stream);
    struct net_message *next, *message = TAILQ_FIRST(&link->held);
    for (; message; message = next) {
        next = TAILQ_NEXT(message, entry);
        if (message->is_up)
            continue;
        TAILQ_REMOVE(&link->held, message, entry);
        message_free(message);
    }
}

static void close_connection(struct h2_connection *connection, const char *why)
{
    struct grpc_end end = {E_UNKNOWN, GRPC_NO_CODE, why, false};
    for (struct grpc_stream *stream; (stream = TAILQ_FIRST(&connection->streams));) {
        stream->events->ended(stream->context, &end);
        stream_free(stream);
    }
}

static void on_change(struct task *task)
{
    struct h2_connection *connection =
        (struct h2_connection *)((char *)task - offsetof(struct h2_connection, change));
    if (!connection->why) {
        connection->state = LINK_READY;
        connection->events->ready(connection->context, connection);
        return;
    }
    connection->state = LINK_CLOSED;
    close_connection(connection, connection->why);
    connection->events->closed(connection->context, connection, connection->why);
}

/* It asks for a sign of life, and closes when there is none. */
static void on_ping(struct task *task)
{
    struct h2_connection *connection =
        (struct h2_connection *)((char *)task - offsetof(struct h2_connection, ping));
    if (cuts_of(connection->link) && connection->state != LINK_CONNECTING)
        set_change(connection, "no sign of life", 0);
}

static void expect_ping(struct h2_connection *connection, int64_t after_ms)
{
    struct stage *stage = connection->loop->stage;
    if (!task_is_set(&connection->ping))
        task_at(stage, &connection->ping, stage->now_ms + after_ms);
}

/* ---- h2_connection.h ---- */

enum status h2_connection_new(struct loop *loop, const struct h2_address *address,
                              const struct h2_connection_events *events, void *context,
                              struct h2_connection **ret)
{
    if (loop->is_ghost)
        return E_IO;
    struct net *net = loop->net;
    struct h2_connection *connection = calloc(1, sizeof(*connection));
    struct net_link *link = calloc(1, sizeof(*link));
    if (!connection || !link)
        abort();
    *link = (struct net_link){.net = net,
                              .near = connection,
                              .machine = loop->number,
                              .member = address->port % 10,
                              .holders = 1};
    TAILQ_INIT(&link->held);
    TAILQ_INIT(&link->streams);
    TAILQ_INSERT_TAIL(&net->links, link, entry);
    *connection = (struct h2_connection){.link = link,
                                         .loop = loop,
                                         .events = events,
                                         .context = context,
                                         .name = address->name,
                                         .timeout_ms = address->timeout_ms};
    TAILQ_INIT(&connection->streams);
    task_init(&connection->change, loop, on_change);
    task_init(&connection->ping, loop, on_ping);
    int64_t round_ms = 1 + stage_below(net->stage, 2 * net->latency_ms[loop->number] + 1);
    if (net->is_down[link->member])
        set_change(connection, "Connection refused", round_ms);
    else if (cuts_of(link))
        set_change(connection, "no connection within its time", address->timeout_ms);
    else
        task_at(net->stage, &connection->change, net->stage->now_ms + round_ms);
    *ret = connection;
    return OK;
}

struct h2_connection *h2_connection_free(struct h2_connection *connection)
{
    if (!connection)
        return NULL;
    struct stage *stage = connection->loop->stage;
    close_connection(connection, "closed");
    task_stop(stage, &connection->change);
    task_stop(stage, &connection->ping);
    if (connection->link->near)
        give_up(connection->link);
    link_release(connection->link);
    free(connection);
    return NULL;
}

bool h2_connection_is_ready(const struct h2_connection *connection)
{
    return connection && connection->state == LINK_READY && !connection->why;
}

bool h2_connection_is_tls(const struct h2_connection *connection)
{
    (void)connection;
    return false;
}

const char *h2_connection_name(const struct h2_connection *connection)
{
    return connection->name;
}

void h2_connection_drain(struct h2_connection *connection)
{
    if (connection->state == LINK_READY)
        connection->state = LINK_DRAINING;
    close_if_drained(connection);
}

void h2_connection_probe(struct h2_connection *connection)
{
    if (cuts_of(connection->link)) {
        task_stop(connection->loop->stage, &connection->ping);
        expect_ping(connection, PING_MS);
    }
}

/* ---- grpc_stream.h ---- */

enum status grpc_stream_open(struct h2_connection *connection, const struct grpc_request *request,
                             const struct grpc_stream_events *events, void *context,
                             struct grpc_stream **ret)
{
    struct net_link *link = connection->link;
    struct grpc_stream *stream = calloc(1, sizeof(*stream));
    struct net_stream *far = calloc(1, sizeof(*far));
    if (!stream || !far)
        abort();
    *far = (struct net_stream){.link = link,
                               .near = stream,
                               .path = request->path,
                               .member = link->member,
                               .is_long = !request->bytes,
                               .is_listed = !request->bytes && link->near,
                               .require_leader = request->require_leader,
                               .holders = 1};
    link->holders++;
    if (far->is_listed) {
        net_stream_hold(far);
        TAILQ_INSERT_TAIL(&link->streams, far, link_entry);
    }
    *stream = (struct grpc_stream){connection, far, events, context, {NULL, NULL}};
    TAILQ_INSERT_TAIL(&connection->streams, stream, entry);
    if (request->bytes)
        post(far, true, MESSAGE_DATA, request->bytes + GRPC_PREFIX, request->length - GRPC_PREFIX,
             0, "");
    *ret = stream;
    return OK;
}

enum status grpc_stream_send(struct grpc_stream *stream, const void *bytes, size_t length)
{
    post(stream->far, true, MESSAGE_DATA, bytes, length, 0, "");
    return OK;
}

void grpc_stream_cancel(struct grpc_stream *stream)
{
    struct h2_connection *connection = stream->connection;
    if (stream->far->is_long && connection->link->near && !connection->loop->is_ghost)
        post(stream->far, true, MESSAGE_CANCEL, NULL, 0, 0, "");
    stream_free(stream);
    close_if_drained(connection);
}

struct h2_connection *grpc_stream_connection(const struct grpc_stream *stream)
{
    return stream->connection;
}

/* ---- what happens to it ---- */

void net_init(struct net *net, struct stage *stage)
{
    *net = (struct net){.stage = stage};
    TAILQ_INIT(&net->links);
}

/* Nobody is there any more for what is on its way. */
void net_release(struct net *net)
{
    while (net->stage->tasks.count) {
        struct task *task = net->stage->tasks.entries[0].item;
        if (task->run == arrive)
            message_free((struct net_message *)task);
        else
            task_stop(net->stage, task);
    }
    for (struct net_link *link; (link = TAILQ_FIRST(&net->links));) {
        link->holders++;
        for (struct net_message *message; (message = TAILQ_FIRST(&link->held));) {
            TAILQ_REMOVE(&link->held, message, entry);
            message_free(message);
        }
        if (link->holders > 1)
            stage_fail(net->stage, "a connection is left");
        link_release(link);
    }
}

void net_set_cuts(struct net *net, int machine, int member, unsigned cuts)
{
    net->cuts[machine][member] = cuts;
    struct net_link *link;
    TAILQ_FOREACH (link, &net->links, entry) {
        if (link->machine != machine || link->member != member)
            continue;
        if (cuts && link->near)
            expect_ping(link->near, PING_MS + stage_below(net->stage, IDLE_MS));
        struct net_message *next, *message = TAILQ_FIRST(&link->held);
        for (; message; message = next) { /* sent again, in their order */
            next = TAILQ_NEXT(message, entry);
            if (cuts & (message->is_up ? CUT_UP : CUT_DOWN))
                continue;
            TAILQ_REMOVE(&link->held, message, entry);
            task_at(net->stage, &message->task, net->stage->now_ms);
        }
        if (link->up_at_ms < net->stage->now_ms)
            link->up_at_ms = net->stage->now_ms;
        if (link->down_at_ms < net->stage->now_ms)
            link->down_at_ms = net->stage->now_ms;
    }
}

static void break_link(struct net_link *link, const char *why)
{
    struct h2_connection *connection = link->near;
    if (!connection)
        return;
    set_change(connection, why, stage_below(link->net->stage, 5));
    give_up(link);
}

void net_set_down(struct net *net, int member, bool is_down)
{
    net->is_down[member] = is_down;
    struct net_link *next, *link = TAILQ_FIRST(&net->links);
    for (; is_down && link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (link->member == member)
            break_link(link, "connection reset by peer");
    }
}

void net_reset(struct net *net, int machine)
{
    struct net_link *next, *link = TAILQ_FIRST(&net->links);
    for (; link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (link->machine == machine)
            break_link(link, "connection reset by peer");
    }
}

void net_forget(struct net *net, const struct loop *machine)
{
    struct net_link *next, *link = TAILQ_FIRST(&net->links);
    for (; link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (link->machine == machine->number && link->near)
            give_up(link);
    }
}
