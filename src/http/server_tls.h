/* The certificate that the API shows on TCP. */
#ifndef PEAL_SERVER_TLS_H
#define PEAL_SERVER_TLS_H

#include "strbuf.h"

struct server_tls;
struct bufferevent;
struct event_base;

/* Reads both files (PEM: the certificate with its chain, and its key). E_INVALID: *why. */
MUST_CHECK enum status server_tls_new(const char *cert_path, const char *key_path,
                                      struct server_tls **ret, struct strbuf *why);

/* With a context made elsewhere (SSL_CTX *), which is taken over in any case. Must not be
 * reloaded. */
struct ssl_ctx_st;
MUST_CHECK enum status server_tls_take(struct ssl_ctx_st *context, struct server_tls **ret);

struct server_tls *server_tls_free(struct server_tls *tls);

/* Reads the files again: new connections get the new certificate. On failure the old one stays. */
MUST_CHECK enum status server_tls_reload(struct server_tls *tls, struct strbuf *why);

/* For a connection that was accepted; takes `fd` over. NULL: out of memory, and `fd` is not taken.
 */
struct bufferevent *server_tls_connection(struct server_tls *tls, struct event_base *base, int fd);

#endif
