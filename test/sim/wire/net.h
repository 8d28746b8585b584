/* The network between machines and the members of etcd. It stands in for the HTTP/2 connections and
 * gRPC streams of src/etcd, under the same headers; all above them (channels, calls, watches,
 * leases, elections) is the product's.
 *
 * A connection keeps the order of what it carries, in each direction, as TCP does. What is sent
 * while the way is cut waits; when the connection is given up meanwhile, some of what was on its
 * way to the server still arrives, later, and nothing comes back. */
#ifndef PEAL_SIM_NET_H
#define PEAL_SIM_NET_H

#include <protobuf-c/protobuf-c.h>

#include "stage.h"
#include "transport/h2_connection.h"

enum { NET_MEMBERS = 3, NET_MACHINES = 8 };

enum net_cut { CUT_UP = 1, CUT_DOWN = 2, CUT_BOTH = 3 }; /* towards etcd, from etcd */

struct net_link;
struct net_message;
TAILQ_HEAD(net_messages, net_message);

/* The server's end of a call or a stream. */
struct net_stream {
    struct net_link *link;
    struct grpc_stream *near; /* the client's end; NULL: it is gone */
    const char *path;
    int member;
    bool is_long, require_leader;
    bool is_stuck;  /* the server's: it tells nothing more on it */
    bool is_listed; /* the server may keep something for it */
    int holders;
    void *server; /* the server's own */
    TAILQ_ENTRY(net_stream) link_entry;
};

struct net_server {
    void (*message)(void *context, struct net_stream *stream, const uint8_t *bytes, size_t length);
    void (*closed)(void *context, struct net_stream *stream); /* the last call */
};

TAILQ_HEAD(net_links, net_link);

struct net {
    struct stage *stage;
    const struct net_server *server;
    void *context;
    struct net_links links;
    unsigned cuts[NET_MACHINES][NET_MEMBERS]; /* enum net_cut */
    int64_t latency_ms[NET_MACHINES];         /* at most, one way */
    int64_t lag_ms[NET_MEMBERS];              /* at most: what a member tells comes so late */
    bool is_down[NET_MEMBERS];
    size_t messages;
};

void net_init(struct net *net, struct stage *stage);
void net_release(struct net *net); /* after all machines' programs */

/* The way between them is as `cuts` says from now on. */
void net_set_cuts(struct net *net, int machine, int member, unsigned cuts);
void net_set_down(struct net *net, int member, bool is_down);
/* Connections break, and can be made again at once. */
void net_reset(struct net *net, int machine);
/* All connections break, and nothing of what was on its way arrives. */
void net_tear(struct net *net);
/* The program on it was killed. */
void net_forget(struct net *net, const struct loop *machine);

/* ---- for the server ---- */

void net_stream_hold(struct net_stream *stream);
void net_stream_release(struct net_stream *stream);
int net_stream_machine(const struct net_stream *stream);
bool net_stream_is_open(const struct net_stream *stream);
/* A message; with `is_last` the stream ends well. */
void net_send(struct net_stream *stream, const ProtobufCMessage *message, bool is_last);
/* One that is packed already, and is not the last. */
void net_send_packed(struct net_stream *stream, const void *bytes, size_t length);
void net_end(struct net_stream *stream, int code, const char *why);

#endif
