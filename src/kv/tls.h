/* TLS for the connections to servers of keys: authorities, client certificate, and HTTP/2 by ALPN
 * where it is wanted. */
#ifndef PEAL_KV_TLS_H
#define PEAL_KV_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "status.h"

struct tls_config {
    const char *ca_file;              /* PEM; NULL: the system's authorities */
    const char *cert_file, *key_file; /* both or none */
    bool wants_http2;
};

/* E_INVALID: *reterr names the file and says why. */
MUST_CHECK enum status tls_new(const struct tls_config *config, SSL_CTX **ret,
                               struct parse_error *reterr);

/* A session that will accept a certificate for this name or address alone. NULL: out of memory. */
SSL *tls_session(SSL_CTX *tls, const char *server_name);

/* NULL when the handshake ended well and HTTP/2, if wanted, was agreed on, else what is wrong with
 * it. */
const char *tls_refusal(SSL *session, bool wants_http2);

/* Explains in `text` why a handshake failed, where certificates are the reason. `error` is
 * OpenSSL's, or 0 where the server just closed the connection. False: not a known reason. */
bool tls_explain(SSL *session, unsigned long error, char *text, size_t size);

#endif
