#include "server_tls.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

struct server_tls {
    char *cert_path, *key_path;
    SSL_CTX *context; /* counted: connections hold theirs while a reload puts a new one here */
};

static enum status fail(const char *what, const char *path, struct strbuf *why)
{
    char text[160];
    ERR_error_string_n(ERR_peek_last_error(), text, sizeof(text));
    strbuf_addf(why, "can't use the %s %s: %s; `peal tls init` makes a pair to start with", what,
                path, text);
    ERR_clear_error();
    return E_INVALID;
}

/* ALPN: HTTP/1.1 is selected or, where a client offers only other protocols, none. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *in, unsigned in_length, void *context)
{
    static const unsigned char spoken[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&chosen, out_length, spoken, sizeof(spoken) - 1, in, in_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static enum status load(const struct server_tls *tls, SSL_CTX **ret, struct strbuf *why)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    enum status st = E_NOMEM;
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION))
        goto out;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS); /* idle connections are cheap */
    if (SSL_CTX_use_certificate_chain_file(context, tls->cert_path) != 1)
        st = fail("certificate", tls->cert_path, why);
    else if (SSL_CTX_use_PrivateKey_file(context, tls->key_path, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(context) != 1)
        st = fail("key", tls->key_path, why);
    else
        st = OK;
    if (st != OK)
        goto out;
    *ret = context;
    context = NULL;
out:
    SSL_CTX_free(context);
    return st;
}

enum status server_tls_new(const char *cert_path, const char *key_path, struct server_tls **ret,
                           struct strbuf *why)
{
    struct server_tls *tls = calloc(1, sizeof(*tls));
    enum status st = E_NOMEM;
    if (!tls || !(tls->cert_path = strdup(cert_path)) || !(tls->key_path = strdup(key_path)))
        goto out;
    st = load(tls, &tls->context, why);
    if (st != OK)
        goto out;
    *ret = tls;
    tls = NULL;
out:
    server_tls_free(tls);
    return st;
}

enum status server_tls_take(struct ssl_ctx_st *context, struct server_tls **ret)
{
    struct server_tls *tls = calloc(1, sizeof(*tls));
    if (!tls) {
        SSL_CTX_free(context);
        return E_NOMEM;
    }
    tls->context = context;
    *ret = tls;
    return OK;
}

struct server_tls *server_tls_free(struct server_tls *tls)
{
    if (!tls)
        return NULL;
    SSL_CTX_free(tls->context);
    free(tls->cert_path);
    free(tls->key_path);
    free(tls);
    return NULL;
}

enum status server_tls_reload(struct server_tls *tls, struct strbuf *why)
{
    SSL_CTX *fresh;
    enum status st = load(tls, &fresh, why);
    if (st != OK)
        return st;
    SSL_CTX_free(tls->context);
    tls->context = fresh;
    return OK;
}

struct bufferevent *server_tls_connection(struct server_tls *tls, struct event_base *base, int fd)
{
    SSL *ssl = SSL_new(tls->context);
    struct bufferevent *bev =
        ssl ? bufferevent_openssl_socket_new(base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING,
                                             BEV_OPT_CLOSE_ON_FREE)
            : NULL;
    if (bev)
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1); /* HTTP says itself where it ends */
    else
        SSL_free(ssl);
    return bev;
}
