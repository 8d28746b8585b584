/* The way of a message, and what happens to the network. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "net_internal.h"

/* ---- lifetimes ---- */

void net_link_release(struct net_link *link)
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
    net_link_release(stream->link);
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

unsigned net_link_cuts(const struct net_link *link)
{
    return link->net->cuts[link->machine][link->member];
}

static bool is_cut(const struct net_link *link, bool is_up)
{
    return net_link_cuts(link) & (is_up ? CUT_UP : CUT_DOWN);
}

static struct net_way *way_of(struct net_link *link, bool is_up)
{
    return is_up ? &link->up : &link->down;
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

static void end_stream(struct grpc_stream *stream, const struct grpc_end *end)
{
    struct h2_connection *connection = stream->connection;
    stream->events->ended(stream->context, end);
    net_stream_free(stream);
    net_close_if_drained(connection);
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

/* What waits for the way to be free comes now, one after the other. */
static void go_on(struct net_link *link, bool is_up)
{
    struct net_message *first = TAILQ_FIRST(&way_of(link, is_up)->messages);
    if (first && first->has_come && !is_cut(link, is_up))
        task_at(link->net->stage, &first->task, link->net->stage->now_ms);
}

static void arrive(struct task *task)
{
    struct net_message *message = (struct net_message *)task;
    struct net_link *link = message->stream->link;
    struct net_way *way = way_of(link, message->is_up);
    struct stage *stage = link->net->stage;
    message->has_come = true;
    if (message != TAILQ_FIRST(&way->messages) || is_cut(link, message->is_up))
        return;
    TAILQ_REMOVE(&way->messages, message, entry);
    go_on(link, message->is_up);
    /* Of what was under way when the connection broke, the first part may still arrive. */
    if (message->is_up && !link->near)
        link->is_torn = link->is_torn || stage_chance(stage, 400);
    bool is_lost = link->is_torn || (!message->is_up && !link->near);
    if (!stage->is_quiet)
        stage->hash = hash_bytes(stage->hash, message->bytes, message->length);
    if (!is_lost && message->is_up)
        arrive_up(message);
    else if (!is_lost)
        arrive_down(message);
    message_free(message);
}

void net_post(struct net_stream *stream, bool is_up, enum message_kind kind, const void *bytes,
              size_t length, int code, const char *why)
{
    struct net_link *link = stream->link;
    struct net *net = link->net;
    if (is_up && !link->near)
        return; /* it is broken already, which the client will hear */
    struct net_message *message = malloc(sizeof(*message) + length);
    if (!message)
        abort();
    *message = (struct net_message){
        .stream = stream, .kind = kind, .is_up = is_up, .code = code, .why = why, .length = length};
    task_init(&message->task, is_up || !link->near ? NULL : link->near->loop, arrive);
    if (length)
        memcpy(message->bytes, bytes, length);
    net_stream_hold(stream);
    net->messages++;
    if (is_up)
        machine_act(link->near->loop);
    int64_t latency_ms = net->latency_ms[link->machine] + (is_up ? 0 : net->lag_ms[link->member]);
    int64_t at_ms = net->stage->now_ms + (latency_ms ? stage_below(net->stage, latency_ms + 1) : 0);
    struct net_way *way = way_of(link, is_up);
    if (at_ms < way->last_at_ms)
        at_ms = way->last_at_ms;
    way->last_at_ms = at_ms;
    TAILQ_INSERT_TAIL(&way->messages, message, entry);
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
    net_post(stream, false, is_last ? MESSAGE_LAST : MESSAGE_DATA, bytes, length, GRPC_OK, "");
    if (bytes != small)
        free(bytes);
}

void net_send_packed(struct net_stream *stream, const void *bytes, size_t length)
{
    if (stream->near)
        net_post(stream, false, MESSAGE_DATA, bytes, length, GRPC_OK, "");
}

void net_end(struct net_stream *stream, int code, const char *why)
{
    if (stream->near)
        net_post(stream, false, MESSAGE_END, NULL, 0, code, why);
    unlist(stream);
}

/* ---- the end of a link ---- */

static void clear(struct net_way *way)
{
    for (struct net_message *message; (message = TAILQ_FIRST(&way->messages));) {
        TAILQ_REMOVE(&way->messages, message, entry);
        message_free(message);
    }
}

/* The server hears of it, too, sooner or later; here: at once. */
void net_link_give_up(struct net_link *link)
{
    link->near = NULL;
    for (struct net_stream *stream; (stream = TAILQ_FIRST(&link->streams));)
        unlist(stream);
    clear(&link->down);
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
    for (struct net_link *link; (link = TAILQ_FIRST(&net->links));) {
        link->holders++;
        clear(&link->up);
        clear(&link->down);
        if (link->holders > 1)
            stage_fail(net->stage, "a connection is left");
        net_link_release(link);
    }
    while (net->stage->tasks.count)
        task_stop(net->stage, net->stage->tasks.entries[0].item);
}

void net_set_cuts(struct net *net, int machine, int member, unsigned cuts)
{
    net->cuts[machine][member] = cuts;
    struct net_link *link;
    TAILQ_FOREACH (link, &net->links, entry) {
        if (link->machine != machine || link->member != member)
            continue;
        if (cuts && link->near)
            net_expect_ping(link->near, PING_MS + stage_below(net->stage, IDLE_MS));
        go_on(link, true);
        go_on(link, false);
    }
}

static void break_link(struct net_link *link, const char *why)
{
    struct h2_connection *connection = link->near;
    if (!connection)
        return;
    net_close_after(connection, why, stage_below(link->net->stage, 5));
    net_link_give_up(link);
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

void net_tear(struct net *net)
{
    struct net_link *next, *link = TAILQ_FIRST(&net->links);
    for (; link; link = next) {
        next = TAILQ_NEXT(link, entry);
        link->is_torn = true;
        break_link(link, "connection reset by peer");
    }
}

void net_forget(struct net *net, const struct loop *machine)
{
    struct net_link *next, *link = TAILQ_FIRST(&net->links);
    for (; link; link = next) {
        next = TAILQ_NEXT(link, entry);
        if (link->machine == machine->number && link->near)
            net_link_give_up(link);
    }
}
