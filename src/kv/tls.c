#include "tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

static enum status fail_file(struct parse_error *reterr, const char *what, const char *file)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    enum status st = parse_fail(reterr, 0, "%s %s: %s", what, file, reason ? reason : "not usable");
    ERR_clear_error();
    return st;
}

static enum status load_files(SSL_CTX *tls, const struct tls_config *config,
                              struct parse_error *reterr)
{
    if (!config->cert_file != !config->key_file)
        return parse_fail(reterr, 0, "a client certificate needs both its file and its key's file");
    if (config->ca_file && SSL_CTX_load_verify_locations(tls, config->ca_file, NULL) != 1)
        return fail_file(reterr, "certificate authorities", config->ca_file);
    if (!config->ca_file && SSL_CTX_set_default_verify_paths(tls) != 1)
        return fail_file(reterr, "certificate authorities", "of the system");
    if (!config->cert_file)
        return OK;
    if (SSL_CTX_use_certificate_chain_file(tls, config->cert_file) != 1)
        return fail_file(reterr, "certificate", config->cert_file);
    if (SSL_CTX_use_PrivateKey_file(tls, config->key_file, SSL_FILETYPE_PEM) != 1)
        return fail_file(reterr, "private key", config->key_file);
    return OK;
}

enum status tls_new(const struct tls_config *config, SSL_CTX **ret, struct parse_error *reterr)
{
    static const unsigned char http2[] = {2, 'h', '2'};
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (!tls)
        return E_NOMEM;
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    enum status st = load_files(tls, config, reterr);
    if (st == OK && config->wants_http2 && SSL_CTX_set_alpn_protos(tls, http2, sizeof(http2)) != 0)
        st = E_NOMEM;
    if (st != OK) {
        SSL_CTX_free(tls);
        return st;
    }
    *ret = tls;
    return OK;
}

SSL *tls_session(SSL_CTX *tls, const char *server_name)
{
    struct in6_addr address;
    SSL *session = SSL_new(tls);
    if (!session)
        return NULL;
    bool is_address = inet_pton(AF_INET, server_name, &address) == 1 ||
                      inet_pton(AF_INET6, server_name, &address) == 1;
    X509_VERIFY_PARAM *check = SSL_get0_param(session);
    X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    int fine = is_address ? X509_VERIFY_PARAM_set1_ip_asc(check, server_name)
                          : SSL_set1_host(session, server_name) == 1 &&
                                SSL_set_tlsext_host_name(session, server_name) == 1;
    if (fine != 1) {
        SSL_free(session);
        return NULL;
    }
    return session;
}

const char *tls_refusal(SSL *session, bool wants_http2)
{
    const unsigned char *protocol;
    unsigned length;
    long verified = SSL_get_verify_result(session);
    if (verified != X509_V_OK)
        return X509_verify_cert_error_string(verified);
    if (!SSL_is_init_finished(session))
        return "TLS handshake failed";
    SSL_get0_alpn_selected(session, &protocol, &length);
    if (wants_http2 && (length != 2 || memcmp(protocol, "h2", 2) != 0))
        return "the server does not offer HTTP/2";
    return NULL;
}

/* Since TLS 1.3 a server looks at the client's certificate after the client's handshake is over. */
static bool is_about_client(int reason)
{
    return reason == SSL_R_SSLV3_ALERT_BAD_CERTIFICATE ||
           reason == SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE ||
           reason == SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED ||
           reason == SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED ||
           reason == SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN ||
           reason == SSL_R_TLSV1_ALERT_UNKNOWN_CA || reason == SSL_R_TLSV1_ALERT_ACCESS_DENIED ||
           reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED;
}

bool tls_explain(SSL *session, unsigned long error, char *text, size_t size)
{
    long verified = SSL_get_verify_result(session);
    const STACK_OF(X509_NAME) *wanted = SSL_get0_peer_CA_list(session);
    const char *reason = error ? ERR_reason_error_string(error) : NULL;
    bool is_wanted = wanted && sk_X509_NAME_num(wanted) > 0;
    bool is_cut = !reason || ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    bool is_refused = !is_cut && is_about_client(ERR_GET_REASON(error));
    if (verified != X509_V_OK)
        snprintf(text, size, "certificate: %s", X509_verify_cert_error_string(verified));
    else if ((is_refused || (is_cut && is_wanted)) && !SSL_get_certificate(session))
        snprintf(text, size, "the server wants a client certificate, and none is configured");
    else if (is_refused)
        snprintf(text, size, "the server does not accept the client certificate (%s)", reason);
    else if (is_cut && is_wanted)
        snprintf(text, size,
                 "the server closed the connection: it may not accept the client certificate");
    else if (!is_cut)
        snprintf(text, size, "TLS: %s", reason);
    else
        return false;
    return true;
}
