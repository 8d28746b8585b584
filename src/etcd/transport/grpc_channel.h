/* A connection to whichever endpoint works: connects on demand, fails over, returns to a preferred
 * endpoint, and lets streams on an old connection end before it is closed. */
#ifndef PEAL_ETCD_GRPC_CHANNEL_H
#define PEAL_ETCD_GRPC_CHANNEL_H

#include "transport/endpoints.h"
#include "transport/h2_connection.h"

/* Shared by all channels of a client. */
struct grpc_channel_config {
    struct loop *loop;
    struct endpoints *endpoints;
    SSL_CTX *tls;             /* NULL: no endpoint uses it */
    const char *server_name;  /* NULL: the endpoint's host */
    struct evdns_base *names; /* NULL: all hosts are addresses */
    int64_t connect_timeout_ms;
};

struct grpc_channel_link;

struct grpc_channel {
    const struct grpc_channel_config *config;
    void (*ready)(void *context); /* a connection is ready, or a new one has replaced the old */
    void *context;
    struct grpc_channel_link *links;
    struct grpc_channel_link *current; /* in use */
    struct grpc_channel_link *coming;  /* being connected */
    struct loop_timer *timer;
    bool is_wanted; /* a caller waits for a connection */
};

/* `ready` comes from the loop, never from within. */
MUST_CHECK enum status grpc_channel_init(struct grpc_channel *channel,
                                         const struct grpc_channel_config *config,
                                         void (*ready)(void *context), void *context);
void grpc_channel_release(struct grpc_channel *channel);

/* A connection that accepts streams. NULL: none yet; `ready` will be called when there is one. */
struct h2_connection *grpc_channel_get(struct grpc_channel *channel);

/* The connection's endpoint refuses requests (no leader): switches to another one. */
void grpc_channel_avoid(struct grpc_channel *channel, const struct h2_connection *connection,
                        const char *why);

/* The current endpoint does not answer: switches to another one. */
void grpc_channel_turn(struct grpc_channel *channel, const char *why);

/* The connection's endpoint has answered: clears its failures. */
void grpc_channel_worked(struct grpc_channel *channel, const struct h2_connection *connection);

#endif
