/* Memory of incomplete requests, and connections without one: how much clients may hold, and which
 * connection is closed when they hold too much. It is the largest holder, so that a small request
 * (a health check) always gets through.
 *
 * A client is a stranger until http_admit says that it is known. Strangers share a half of
 * `held_bytes`, and the strangers of one address (IPv6: of one /64 network) an eighth. So strangers
 * can't keep out known clients, nor one address the others. */
#ifndef PEAL_HOLDERS_H
#define PEAL_HOLDERS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "table.h"

struct http_connection;
struct http_server;
struct sockaddr;

TAILQ_HEAD(http_connection_list, http_connection);

/* The connections of one client address. */
struct http_address {
    struct in6_addr key; /* IPv4 as ::ffff:a.b.c.d; zero: a UNIX socket */
    uint64_t hash;
    size_t count;          /* of connections */
    size_t stranger_bytes; /* held by strangers */
    struct http_connection_list connections;
};

struct http_holders {
    struct table addresses;
    uint64_t seed;
    size_t bytes, stranger_bytes; /* held by all, and by strangers */
};

void http_holders_init(struct http_holders *holders);
void http_holders_release(struct http_holders *holders); /* after the last connection */

/* Sets connection->address; false: out of memory. */
bool http_holders_add(struct http_holders *holders, struct http_connection *connection,
                      const struct sockaddr *peer);
void http_holders_remove(struct http_holders *holders, struct http_connection *connection);

/* The only writer of connection->is_known. */
void http_holders_know(struct http_connection *connection, bool is_known);

/* The request of the connection holds so many bytes now. While a limit is exceeded the largest
 * holder is closed, which may be this connection. */
void http_hold(struct http_connection *connection, size_t bytes);

/* Closes some connections that have been idle, receiving or draining for a second: those of the
 * address with the most connections, or, if it has none like that, any. False: none was closed. */
bool http_holders_make_room(struct http_server *server, int64_t now_ms);

#endif
