/* Trusted proxies: X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host count only if they come
 * from a proxy that the configuration names. Pure. */
#ifndef PEAL_PROXY_H
#define PEAL_PROXY_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "status.h"

/* A block of addresses; IPv4 as ::ffff:a.b.c.d. */
struct proxy_net {
    struct in6_addr base;
    int bits;
};

struct proxy_list {
    struct proxy_net *items;
    size_t count;
};

/* "192.0.2.1, 10.0.0.0/8, 2001:db8::/32", or NULL: none. E_INVALID: *reterr; E_NOMEM. */
MUST_CHECK enum status proxy_list_parse(const char *text, struct proxy_list *ret,
                                        struct parse_error *reterr);
void proxy_list_release(struct proxy_list *list);

bool proxy_is_trusted(const struct proxy_list *list, const char *peer);

/* The client's address: `peer`, unless `peer` is a trusted proxy; then the last address in
 * `forwarded` that is not itself a trusted proxy. Text that is no address ends the search. */
void proxy_client(const struct proxy_list *list, const char *peer, const char *forwarded,
                  char ret[INET6_ADDRSTRLEN]);

#endif
