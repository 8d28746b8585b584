/* Whether a page of this site made a request. An origin is a scheme, a host and a port (RFC 6454):
 * another port of the same machine is another site. Pure. */
#ifndef PEAL_ORIGIN_H
#define PEAL_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* A host as a Host header has it, "peal.example:7325" or "[::1]". */
struct authority {
    const char *host; /* with the brackets of an IPv6 address; not ended by a NUL */
    size_t length;
    int port; /* 0: it has none */
};

/* False: it is none. */
bool authority_read(const char *text, struct authority *ret);

/* It is an IPv4 or an IPv6 address. */
bool authority_is_address(const struct authority *authority);

/* `origin`, the value of an Origin header, is the site that answers at `host`, the value of a Host
 * header, with TLS or without. "null", which a page without a home sends, is no site. */
bool origin_is_own(const char *origin, bool is_secure, const char *host);

/* The value of a Sec-Fetch-Site header says that no page of another site asks: this one's, or
 * somebody at the address bar. One of the same domain is another site. */
bool fetch_site_is_own(const char *site);

#endif
