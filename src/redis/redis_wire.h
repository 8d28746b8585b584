/* One connection: a socket (TCP or UNIX, plain or TLS), commands out, replies in. What comes from
 * the server is only taken apart here; a reply of more elements or bytes than any of ours ends the
 * connection. */
#ifndef PEAL_REDIS_WIRE_H
#define PEAL_REDIS_WIRE_H

#include <event2/dns.h>
#include <hiredis/hiredis.h>
#include <openssl/ssl.h>
#include <stdbool.h>

#include "loop.h"

struct redis_wire;

struct redis_address {
    const char *host; /* of a socket: its path */
    int port;         /* 0: a socket */
    SSL_CTX *tls;     /* NULL: plain */
    struct evdns_base *names;
};

/* All come from the loop, never from within a call. */
struct redis_wire_events {
    void (*opened)(void *context);
    /* In the order of the commands. The reply is the owner's now, who may not free the wire here.
     */
    void (*reply)(void *context, struct redisReply *reply);
    void (*paused)(void *context); /* after the replies of one turn; it may free the wire */
    void (*closed)(void *context, const char *why); /* the last call; it may free the wire */
};

MUST_CHECK enum status redis_wire_new(struct loop *loop, const struct redis_address *address,
                                      const struct redis_wire_events *events, void *context,
                                      struct redis_wire **ret);
struct redis_wire *redis_wire_free(struct redis_wire *wire); /* accepts NULL; returns NULL */

/* Its events go to somebody else from now on. */
void redis_wire_bind(struct redis_wire *wire, const struct redis_wire_events *events,
                     void *context);

bool redis_wire_is_open(const struct redis_wire *wire);

/* E_NOMEM: nothing was sent. */
MUST_CHECK enum status redis_wire_send(struct redis_wire *wire, int argc, const char **argv,
                                       const size_t *lengths);

/* A reader of replies that refuses what is too large. NULL: out of memory. */
struct redisReader *redis_reader_new(void);

#endif
