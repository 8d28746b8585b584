/* Mutual TLS between nodes. Each agent makes a key and a certificate at its start, keeps them in
 * memory, and announces the fingerprint in the store, where only nodes of the cluster can write.
 * Both sides of a connection accept certificates with announced fingerprints: there is no authority
 * to run, and nothing to rotate. */
#ifndef PEAL_GATHER_TLS_H
#define PEAL_GATHER_TLS_H

#include <stdbool.h>

#include "status.h"

enum { FINGERPRINT_TEXT = 64 }; /* SHA-256 in hex */

struct gather_tls;
struct bufferevent;
struct event_base;
struct ssl_ctx_st;
struct ssl_st;

/* Does a live node announce this fingerprint? */
typedef bool gather_is_announced(void *context, const char *fingerprint);

MUST_CHECK enum status gather_tls_new(gather_is_announced *is_announced, void *context,
                                      struct gather_tls **ret);
struct gather_tls *gather_tls_free(struct gather_tls *tls);

const char *gather_tls_fingerprint(const struct gather_tls *tls);

/* For a listener, which refuses unannounced clients: an SSL_CTX of the caller's. NULL: out of
 * memory. */
struct ssl_ctx_st *gather_tls_server(struct gather_tls *tls);

/* For a connection to the node with that fingerprint, which must outlive it. NULL: out of
 * memory. */
struct bufferevent *gather_tls_connect(struct gather_tls *tls, struct event_base *base,
                                       const char *fingerprint);

/* The fingerprint of the other end; false: no certificate. */
bool gather_tls_other_end(const struct ssl_st *ssl, char ret[FINGERPRINT_TEXT + 1]);

#endif
