/* Same-origin checks. An origin is a scheme, a host and a port (RFC 6454): another port of the same
 * machine is another origin. Pure. */
#ifndef PEAL_ORIGIN_H
#define PEAL_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

/* A host as a Host header has it, "peal.example:7325" or "[::1]". */
struct authority {
    const char *host; /* with the brackets of an IPv6 address; not NUL-terminated */
    size_t length;
    int port; /* 0: none */
};

/* False: not an authority. */
bool authority_read(const char *text, struct authority *ret);

/* Is it an IPv4 or an IPv6 address? */
bool authority_is_address(const struct authority *authority);

/* Does the Origin header `origin` name the site that answers at `host`, the value of a Host header,
 * with TLS or without? An opaque origin ("null") never does. */
bool origin_is_own(const char *origin, bool is_secure, const char *host);

/* Does the Sec-Fetch-Site header exclude a page of another site: "same-origin", or "none" for the
 * address bar? "same-site" is another site here. */
bool fetch_site_is_own(const char *site);

#endif
