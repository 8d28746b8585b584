/* Who holds memory and connections without having asked for anything yet, and who is cut when it is
 * too much: the largest, so that a small request always gets through.
 *
 * Of `held_bytes`, strangers share a half, and those of one address (of IPv6, one network of 64
 * bits) an eighth: neither can they keep out who is known, nor one address the others. Known are
 * those whose head was admitted as theirs; only a request that is still coming is cut. */
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

/* One at the other end of connections. */
struct http_address {
    struct in6_addr key; /* IPv4 as ::ffff:a.b.c.d; zero: all of a UNIX socket */
    uint64_t hash;
    size_t count;         /* connections */
    size_t strange_bytes; /* that its strangers hold */
    struct http_connection_list connections;
};

struct http_holders {
    struct table addresses;
    uint64_t seed;
    size_t bytes, strange_bytes;
};

void http_holders_init(struct http_holders *holders);
void http_holders_release(struct http_holders *holders); /* after the last connection */

/* The new connection is one of that address; false: out of memory. */
bool http_holders_add(struct http_holders *holders, struct http_connection *connection,
                      const struct sockaddr *peer);
void http_holders_remove(struct http_holders *holders, struct http_connection *connection);

/* Whether who asks is known; a new connection is a stranger's. */
void http_holders_know(struct http_connection *connection, bool is_known);

/* It holds so many bytes now. Those who hold too much are cut, perhaps itself. */
void http_hold(struct http_connection *connection, size_t bytes);

/* Makes room for some connections: closes those of the address with the most of them that have been
 * idle, or not got on with their request, for a second; if there are none, those of all. False:
 * there is no room. */
bool http_holders_make_room(struct http_server *server, int64_t now_ms);

#endif
