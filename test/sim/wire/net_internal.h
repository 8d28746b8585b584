/* What the files of the network share: both ends of a connection, and what is on its way. */
#ifndef PEAL_SIM_NET_INTERNAL_H
#define PEAL_SIM_NET_INTERNAL_H

#include "net.h"
#include "transport/grpc_stream.h"

enum { PING_MS = 1000, IDLE_MS = 6000 };

enum link_state { LINK_CONNECTING, LINK_READY, LINK_DRAINING, LINK_CLOSED };

/* One direction of a connection: nothing overtakes what was sent before. */
struct net_way {
    struct net_messages messages; /* in the order of sending */
    int64_t last_at_ms;           /* when the last of them comes, if nothing is in its way */
};

/* What both ends, and all that is on its way, know of a connection. */
struct net_link {
    struct net *net;
    struct h2_connection *near; /* NULL: given up by the client */
    int machine, member;
    struct net_way up, down;
    bool is_torn; /* from here on nothing arrives any more */
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
    bool has_come; /* its time has come; it waits for a cut to end, or for what was sent before */
    int code;
    const char *why;
    TAILQ_ENTRY(net_message) entry;
    size_t length;
    uint8_t bytes[];
};

unsigned net_link_cuts(const struct net_link *link); /* enum net_cut */
void net_link_release(struct net_link *link);
/* The client has no more to do with it. */
void net_link_give_up(struct net_link *link);

void net_post(struct net_stream *stream, bool is_up, enum message_kind kind, const void *bytes,
              size_t length, int code, const char *why);

void net_stream_free(struct grpc_stream *stream);

/* It is closed after so long, for this reason; it closes once only. */
void net_close_after(struct h2_connection *connection, const char *why, int64_t after_ms);
void net_close_if_drained(struct h2_connection *connection);
/* It asks for a sign of life then. */
void net_expect_ping(struct h2_connection *connection, int64_t after_ms);

#endif
