#include "hooks/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_body.h"

enum {
    DIGEST = 32,
    DIGEST_HEX = 2 * DIGEST,
    DIGEST_BASE64 = 44,
    TOLERANCE_S = 300,
    SIGNATURES_MAX = 8, /* in one header: a sender that changes its secret signs with both */
    STAMP_DIGITS_MAX = 12,
    KEY_MAX = 256,
};

const char *const webhook_kind_names[] = {"github", "gitlab", "generic", NULL};

static const char key_prefix[] = "whsec_";

/* ---- headers ---- */

/* NULL: none, or several. */
static const char *once(const struct hook_request *request, const char *name)
{
    bool is_twice = false;
    const char *value = request->header(request->context, name, &is_twice);
    return is_twice ? NULL : value;
}

static bool is_there(const struct hook_request *request, const char *name)
{
    bool is_twice;
    return request->header(request->context, name, &is_twice) != NULL;
}

static bool is_visible(const char *text, size_t max)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '!' || text[i] > '~')
            return false;
    }
    return length && length <= max;
}

/* ---- the HMAC ---- */

struct key {
    unsigned char bytes[KEY_MAX];
    size_t length;
};

/* `is_encoded`: base 64 after its prefix. */
static void read_key(const char *secret, bool is_encoded, struct key *ret)
{
    char *bytes = NULL;
    size_t length = 0;
    bool is_prefixed = is_encoded && strncmp(secret, key_prefix, sizeof(key_prefix) - 1) == 0;
    const char *rest = secret + (is_prefixed ? sizeof(key_prefix) - 1 : 0);
    if (is_prefixed && run_body_from_base64(rest, strlen(rest), &bytes, &length) == OK) {
        ret->length = length < KEY_MAX ? length : KEY_MAX;
        memcpy(ret->bytes, bytes, ret->length);
        OPENSSL_cleanse(bytes, length);
        free(bytes);
        return;
    }
    ret->length = strnlen(secret, KEY_MAX);
    memcpy(ret->bytes, secret, ret->length);
}

/* Of "id.stamp.body", or of the body alone without an id. False: out of memory. */
static bool sign(const struct key *key, const char *id, const char *stamp,
                 const struct hook_request *request, unsigned char ret[DIGEST])
{
    unsigned size = DIGEST;
    if (!id)
        return HMAC(EVP_sha256(), key->bytes, (int)key->length,
                    (const unsigned char *)request->body, request->length, ret, &size);
    size_t id_length = strlen(id), stamp_length = strlen(stamp);
    size_t length = id_length + stamp_length + 2 + request->length;
    unsigned char *text = malloc(length);
    if (!text)
        return false;
    unsigned char *at = text;
    memcpy(at, id, id_length);
    at += id_length;
    *at++ = '.';
    memcpy(at, stamp, stamp_length);
    at += stamp_length;
    *at++ = '.';
    if (request->length)
        memcpy(at, request->body, request->length);
    bool is_done = HMAC(EVP_sha256(), key->bytes, (int)key->length, text, length, ret, &size);
    free(text);
    return is_done;
}

/* ---- the kinds ---- */

static bool is_hex_of(const char *given, const unsigned char digest[DIGEST])
{
    static const char prefix[] = "sha256=", digits[] = "0123456789abcdef";
    char hex[DIGEST_HEX];
    for (size_t i = 0; i < DIGEST; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    return strncmp(given, prefix, sizeof(prefix) - 1) == 0 &&
           strlen(given) == sizeof(prefix) - 1 + DIGEST_HEX &&
           CRYPTO_memcmp(given + sizeof(prefix) - 1, hex, DIGEST_HEX) == 0;
}

/* "v1,BASE64 v1,BASE64 v1a,...": one of those that this version knows must be right. */
static bool is_one_of(const char *given, const unsigned char digest[DIGEST])
{
    static const char prefix[] = "v1,";
    char wanted[DIGEST_BASE64 + 1];
    bool is_good = false;
    EVP_EncodeBlock((unsigned char *)wanted, digest, DIGEST);
    for (int i = 0; i < SIGNATURES_MAX && *given; i++) {
        size_t length = strcspn(given, " ");
        is_good |= length == sizeof(prefix) - 1 + DIGEST_BASE64 &&
                   strncmp(given, prefix, sizeof(prefix) - 1) == 0 &&
                   CRYPTO_memcmp(given + sizeof(prefix) - 1, wanted, DIGEST_BASE64) == 0;
        given += length + (given[length] == ' ');
    }
    return is_good;
}

static bool is_recent(const char *stamp, int64_t now_s)
{
    size_t length = strlen(stamp);
    if (!length || length > STAMP_DIGITS_MAX || strspn(stamp, "0123456789") != length)
        return false;
    int64_t at_s = strtoll(stamp, NULL, 10);
    return at_s >= now_s - TOLERANCE_S && at_s <= now_s + TOLERANCE_S;
}

/* With a dot in the id, the same signature would hold for another id, time and body. */
static bool is_standard(const char *secret, const struct hook_request *request)
{
    const char *given = once(request, "webhook-signature");
    const char *id = once(request, "webhook-id"), *stamp = once(request, "webhook-timestamp");
    bool is_whole = given && id && stamp && is_visible(id, HOOK_DELIVERY_MAX) && !strchr(id, '.') &&
                    is_recent(stamp, request->now_s);
    unsigned char digest[DIGEST] = {0};
    struct key key;
    read_key(secret, true, &key);
    bool is_signed = sign(&key, is_whole ? id : NULL, stamp, request, digest);
    OPENSSL_cleanse(&key, sizeof(key));
    return is_signed && is_whole && is_one_of(given, digest);
}

static bool is_github(const char *secret, const struct hook_request *request)
{
    const char *given = once(request, "X-Hub-Signature-256");
    unsigned char digest[DIGEST] = {0};
    struct key key;
    read_key(secret, false, &key);
    bool is_signed = sign(&key, NULL, NULL, request, digest);
    OPENSSL_cleanse(&key, sizeof(key));
    return is_signed && given && is_hex_of(given, digest);
}

/* By digests, so that the time tells nothing of the length either. The HMAC is for the same cost as
 * that of the other kinds. */
static bool is_token(const char *secret, const struct hook_request *request)
{
    const char *given = once(request, "X-Gitlab-Token");
    unsigned char wanted[DIGEST] = {0}, got[DIGEST] = {1}, unused[DIGEST];
    struct key key;
    read_key(secret, false, &key);
    bool is_done = sign(&key, NULL, NULL, request, unused);
    OPENSSL_cleanse(&key, sizeof(key));
    is_done =
        is_done && EVP_Digest(secret, strlen(secret), wanted, NULL, EVP_sha256(), NULL) &&
        EVP_Digest(given ? given : "", given ? strlen(given) : 0, got, NULL, EVP_sha256(), NULL);
    return is_done && given && CRYPTO_memcmp(wanted, got, DIGEST) == 0;
}

bool signature_is_good(enum webhook_kind kind, const char *secret,
                       const struct hook_request *request)
{
    switch (kind) {
    case WEBHOOK_GITHUB:
        return is_github(secret, request);
    case WEBHOOK_GITLAB:
        return is_there(request, "webhook-signature") ? is_standard(secret, request)
                                                      : is_token(secret, request);
    case WEBHOOK_GENERIC:
    case WEBHOOK_KINDS:
        break;
    }
    return is_standard(secret, request);
}

/* ---- the delivery ---- */

static const char *sane(const struct hook_request *request, const char *name)
{
    const char *value = once(request, name);
    return value && is_visible(value, HOOK_DELIVERY_MAX) ? value : NULL;
}

const char *hook_delivery_header(enum webhook_kind kind)
{
    return kind == WEBHOOK_GITHUB ? "X-GitHub-Delivery" : "Idempotency-Key";
}

/* What is signed goes first; GitLab's event may be that of several deliveries. */
const char *hook_delivery(enum webhook_kind kind, const struct hook_request *request)
{
    if (kind == WEBHOOK_GENERIC ||
        (kind == WEBHOOK_GITLAB && is_there(request, "webhook-signature")))
        return sane(request, "webhook-id");
    const char *own = kind == WEBHOOK_GITHUB ? "X-GitHub-Delivery" : "X-Gitlab-Event-UUID";
    bool is_own =
        kind == WEBHOOK_GITHUB ? is_there(request, own) : !is_there(request, "Idempotency-Key");
    return sane(request, is_own ? own : "Idempotency-Key");
}

const char *hook_event(enum webhook_kind kind, const struct hook_request *request)
{
    return kind == WEBHOOK_GENERIC
               ? NULL
               : once(request, kind == WEBHOOK_GITHUB ? "X-GitHub-Event" : "X-Gitlab-Event");
}
