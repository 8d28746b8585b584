#include "gather_tls.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gather_tls {
    EVP_PKEY *key;
    X509 *cert;
    char fingerprint[FINGERPRINT_TEXT + 1];
    SSL_CTX *client;
    gather_is_announced *is_announced;
    void *context;
};

/* ---- the certificate ---- */

/* Names and dates are not checked: only the fingerprint counts. */
static bool fill(X509 *cert, EVP_PKEY *key)
{
    X509_NAME *name = X509_get_subject_name(cert);
    return X509_set_version(cert, 2) && ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), 0) &&
           X509_time_adj_ex(X509_getm_notAfter(cert), 36500, 0, NULL) &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"peal node",
                                      -1, -1, 0) &&
           X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, key) &&
           X509_sign(cert, key, EVP_sha256());
}

static bool print_fingerprint(const X509 *cert, char ret[FINGERPRINT_TEXT + 1])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (!cert || !X509_digest(cert, EVP_sha256(), digest, &length) || length != 32)
        return false;
    for (unsigned i = 0; i < length; i++)
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
    return true;
}

/* ---- who is trusted ---- */

static int refuse(X509_STORE_CTX *store)
{
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED);
    return 0;
}

/* The handshake proves that the other end has the private key. */
static int check_client(X509_STORE_CTX *store, void *context)
{
    const struct gather_tls *tls = context;
    char fingerprint[FINGERPRINT_TEXT + 1];
    if (print_fingerprint(X509_STORE_CTX_get0_cert(store), fingerprint) &&
        tls->is_announced(tls->context, fingerprint))
        return 1;
    return refuse(store);
}

static int check_server(X509_STORE_CTX *store, void *context)
{
    char fingerprint[FINGERPRINT_TEXT + 1];
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const char *expected = ssl ? SSL_get_app_data(ssl) : NULL;
    (void)context;
    if (expected && print_fingerprint(X509_STORE_CTX_get0_cert(store), fingerprint) &&
        strcmp(fingerprint, expected) == 0)
        return 1;
    return refuse(store);
}

/* No session resumption, which would skip the certificates. */
static SSL_CTX *make_context(struct gather_tls *tls, const SSL_METHOD *method,
                             int (*check)(X509_STORE_CTX *, void *))
{
    SSL_CTX *context = SSL_CTX_new(method);
    if (context && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) &&
        SSL_CTX_set_num_tickets(context, 0) && SSL_CTX_use_certificate(context, tls->cert) == 1 &&
        SSL_CTX_use_PrivateKey(context, tls->key) == 1) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
        SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        SSL_CTX_set_cert_verify_callback(context, check, tls);
        return context;
    }
    SSL_CTX_free(context);
    return NULL;
}

/* ---- life ---- */

enum status gather_tls_new(gather_is_announced *is_announced, void *context,
                           struct gather_tls **ret)
{
    struct gather_tls *tls = calloc(1, sizeof(*tls));
    if (!tls)
        return E_NOMEM;
    tls->is_announced = is_announced;
    tls->context = context;
    tls->key = EVP_EC_gen("P-256");
    tls->cert = X509_new();
    if (tls->key && tls->cert && fill(tls->cert, tls->key) &&
        print_fingerprint(tls->cert, tls->fingerprint))
        tls->client = make_context(tls, TLS_client_method(), check_server);
    ERR_clear_error();
    if (!tls->client) {
        gather_tls_free(tls);
        return E_NOMEM;
    }
    *ret = tls;
    return OK;
}

struct gather_tls *gather_tls_free(struct gather_tls *tls)
{
    if (!tls)
        return NULL;
    SSL_CTX_free(tls->client);
    X509_free(tls->cert);
    EVP_PKEY_free(tls->key);
    free(tls);
    return NULL;
}

const char *gather_tls_fingerprint(const struct gather_tls *tls)
{
    return tls->fingerprint;
}

struct ssl_ctx_st *gather_tls_server(struct gather_tls *tls)
{
    return make_context(tls, TLS_server_method(), check_client);
}

struct bufferevent *gather_tls_connect(struct gather_tls *tls, struct event_base *base,
                                       const char *fingerprint)
{
    SSL *ssl = SSL_new(tls->client);
    struct bufferevent *bev =
        ssl && SSL_set_app_data(ssl, (void *)fingerprint)
            ? bufferevent_openssl_socket_new(base, -1, ssl, BUFFEREVENT_SSL_CONNECTING,
                                             BEV_OPT_CLOSE_ON_FREE)
            : NULL;
    if (bev)
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1); /* HTTP says itself where it ends */
    else
        SSL_free(ssl);
    return bev;
}

bool gather_tls_other_end(const struct ssl_st *ssl, char ret[FINGERPRINT_TEXT + 1])
{
    return ssl && print_fingerprint(SSL_get0_peer_certificate(ssl), ret);
}
