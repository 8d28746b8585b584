#include "auth/session.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "auth/account.h"

enum { SIGNATURE = 64, SKEW_S = 300 }; /* allowed clock difference between nodes */

static void sign(const char *text, size_t length, const uint8_t secret[SESSION_SECRET],
                 char ret[SIGNATURE + 1])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), secret, SESSION_SECRET, (const unsigned char *)text, length, sum, &size);
    for (unsigned i = 0; i < SIGNATURE / 2; i++)
        snprintf(ret + (size_t)2 * i, 3, "%02x", sum[i]);
}

/* Appends the signature to the text of `length` bytes. */
static void add_signature(char text[SESSION_TEXT], int length, const uint8_t secret[SESSION_SECRET])
{
    char signature[SIGNATURE + 1];
    sign(text, (size_t)length, secret, signature);
    snprintf(text + length, SESSION_TEXT - (size_t)length, ".%s", signature);
}

/* Length of the signed part; 0: no valid signature. */
static size_t signed_length(const char *text, const uint8_t secret[SESSION_SECRET])
{
    char expected[SIGNATURE + 1];
    const char *dot = strrchr(text, '.');
    if (!dot || strlen(dot + 1) != SIGNATURE)
        return 0;
    size_t length = (size_t)(dot - text);
    sign(text, length, secret, expected);
    return CRYPTO_memcmp(expected, dot + 1, SIGNATURE) == 0 ? length : 0;
}

/* Reads the name, which ends the signed part. */
static bool read_name(const char *text, int at, size_t length, char ret[PRINCIPAL_NAME_SIZE])
{
    if (!at || (size_t)at >= length || length - (size_t)at >= PRINCIPAL_NAME_SIZE)
        return false;
    memcpy(ret, text + at, length - (size_t)at);
    ret[length - (size_t)at] = '\0';
    return true;
}

/* 1.u.ISSUED.SEEN.GENERATION.NAME.SIGNATURE: the name may hold dots. */
void session_print(const struct session *session, const uint8_t secret[SESSION_SECRET],
                   char text[SESSION_TEXT])
{
    int length = snprintf(text, SESSION_TEXT, "1.%c.%" PRId64 ".%" PRId64 ".%" PRId64 ".%s",
                          session->is_link ? 'l' : 'u', session->issued_ms, session->seen_s,
                          session->generation, session->name);
    add_signature(text, length, secret);
}

int64_t session_ends_s(const struct session *session)
{
    int64_t idle_s = session->seen_s + SESSION_IDLE_S;
    int64_t absolute_s = session->issued_ms / 1000 + SESSION_ABSOLUTE_S;
    return idle_s < absolute_s ? idle_s : absolute_s;
}

bool session_read(const char *text, const uint8_t secret[SESSION_SECRET], int64_t now_s,
                  struct session *ret)
{
    struct session read = {.issued_ms = 0};
    char kind = '\0';
    int at = 0;
    size_t length = signed_length(text, secret);
    if (!length ||
        sscanf(text, "1.%c.%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%n", &kind, &read.issued_ms,
               &read.seen_s, &read.generation, &at) != 4 ||
        !read_name(text, at, length, read.name) || (kind != 'u' && kind != 'l'))
        return false;
    read.is_link = kind == 'l';
    if (now_s >= session_ends_s(&read) || read.seen_s > now_s + SKEW_S)
        return false;
    *ret = read;
    return true;
}

/* 1.d.ISSUED.ID.NAME.SIGNATURE: the letter tells it from a session. */
void device_print(const struct device *device, const uint8_t secret[SESSION_SECRET],
                  char text[SESSION_TEXT])
{
    add_signature(text,
                  snprintf(text, SESSION_TEXT, "1.d.%" PRId64 ".%s.%s", device->issued_s,
                           device->id, device->name),
                  secret);
}

bool device_read(const char *text, const uint8_t secret[SESSION_SECRET], int64_t now_s,
                 struct device *ret)
{
    struct device read = {.issued_s = 0};
    int at = 0;
    size_t length = signed_length(text, secret);
    if (!length ||
        sscanf(text, "1.d.%" SCNd64 ".%16[0-9a-f].%n", &read.issued_s, read.id, &at) != 2 ||
        !read_name(text, at, length, read.name))
        return false;
    if (now_s >= read.issued_s + DEVICE_LIFE_S || read.issued_s > now_s + SKEW_S)
        return false;
    *ret = read;
    return true;
}

bool cookie_find(const char *header, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = header; at && *at;) {
        at += strspn(at, "; ");
        size_t end = strcspn(at, ";");
        if (end > length && strncmp(at, name, length) == 0 && at[length] == '=' &&
            end - length - 1 < size) {
            memcpy(value, at + length + 1, end - length - 1);
            value[end - length - 1] = '\0';
            return true;
        }
        at += end;
    }
    return false;
}
