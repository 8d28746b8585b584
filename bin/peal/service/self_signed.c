#include "service/self_signed.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text/tr.h"

enum { DAYS = 825 }; /* the longest validity that browsers accept */

static bool is_address(const char *host)
{
    unsigned char address[16];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

/* "DNS:localhost,IP:127.0.0.1" */
static void list_names(const char *const *hosts, size_t count, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, "%s%s:%s", i ? "," : "", is_address(hosts[i]) ? "IP" : "DNS", hosts[i]);
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool done = extension && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return done;
}

/* A unique subject: of several certificates with the same one in a file, OpenSSL only finds the
 * first. */
static bool set_name(X509 *cert, const unsigned char *bytes)
{
    char text[32];
    snprintf(text, sizeof(text), "peal %02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    X509_NAME *name = X509_get_subject_name(cert);
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)text, -1, -1,
                                      0) &&
           X509_set_issuer_name(cert, name);
}

static bool set_identity(X509 *cert)
{
    unsigned char bytes[16];
    if (RAND_bytes(bytes, sizeof(bytes)) != 1)
        return false;
    BIGNUM *number = BN_bin2bn(bytes, sizeof(bytes), NULL);
    bool done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert));
    BN_free(number);
    return done && set_name(cert, bytes);
}

/* Self-signed with pathlen 0: trusting it trusts no other certificate. */
static bool fill(X509 *cert, EVP_PKEY *key, const char *names)
{
    return X509_set_version(cert, 2) && set_identity(cert) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -300) &&
           X509_gmtime_adj(X509_getm_notAfter(cert), 86400L * DAYS) && X509_set_pubkey(cert, key) &&
           add_extension(cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           add_extension(cert, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
           add_extension(cert, NID_ext_key_usage, "serverAuth") &&
           add_extension(cert, NID_subject_alt_name, names) && X509_sign(cert, key, EVP_sha256());
}

static FILE *make_file(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static enum status write_pair(const char *cert_path, const char *key_path, X509 *cert,
                              EVP_PKEY *key, struct strbuf *why)
{
    FILE *key_file = make_file(key_path, 0600);
    FILE *cert_file = key_file ? make_file(cert_path, 0644) : NULL;
    enum status st = OK;
    if (!key_file || !cert_file) {
        st = errno == EEXIST ? E_CONFLICT : E_IO;
        strbuf_addf(why, tr("can't make %s: %s"), key_file ? cert_path : key_path, strerror(errno));
    } else if (PEM_write_PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL) != 1 ||
               PEM_write_X509(cert_file, cert) != 1) {
        st = E_IO;
    }
    if (key_file && fclose(key_file) != 0)
        st = E_IO;
    if (cert_file && fclose(cert_file) != 0)
        st = E_IO;
    if (st != OK && key_file)
        unlink(key_path);
    if (st == E_IO && !why->length)
        strbuf_addf(why, tr("can't write %s or %s: %s"), cert_path, key_path, strerror(errno));
    return st;
}

enum status self_signed_write(const char *cert_path, const char *key_path, const char *const *hosts,
                              size_t count, struct strbuf *why)
{
    struct strbuf names;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    enum status st = E_NOMEM;
    strbuf_init(&names);
    list_names(hosts, count, &names);
    if (strbuf_status(&names) != OK || !key || !cert)
        goto out;
    st = E_INVALID;
    if (fill(cert, key, names.text))
        st = write_pair(cert_path, key_path, cert, key, why);
    else
        strbuf_addf(why, tr("can't make a certificate for %s"), names.text);
out:
    X509_free(cert);
    EVP_PKEY_free(key);
    strbuf_release(&names);
    return st;
}
