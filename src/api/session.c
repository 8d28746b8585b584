#include "session.h"

#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#include "account.h"

enum { SIGNATURE = 64, SKEW_S = 300 }; /* how far the clocks of two nodes may be apart */

static void sign(const char *text, size_t length, const uint8_t secret[SESSION_SECRET],
                 char ret[SIGNATURE + 1])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), secret, SESSION_SECRET, (const unsigned char *)text, length, sum, &size);
    for (unsigned i = 0; i < SIGNATURE / 2; i++)
        snprintf(ret + (size_t)2 * i, 3, "%02x", sum[i]);
}

/* 1.u.ISSUED.SEEN.GENERATION.NAME.SIGNATURE: the name may hold dots. */
void session_print(const struct session *session, const uint8_t secret[SESSION_SECRET],
                   char text[SESSION_TEXT])
{
    char signature[SIGNATURE + 1];
    int length = snprintf(text, SESSION_TEXT, "1.%c.%" PRId64 ".%" PRId64 ".%" PRId64 ".%s",
                          session->is_link ? 'l' : 'u', session->issued_ms, session->seen_s,
                          session->generation, session->name);
    sign(text, (size_t)length, secret, signature);
    snprintf(text + length, SESSION_TEXT - (size_t)length, ".%s", signature);
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
    char expected[SIGNATURE + 1], kind = '\0';
    const char *dot = strrchr(text, '.');
    int at = 0;
    if (!dot || strlen(dot + 1) != SIGNATURE)
        return false;
    size_t length = (size_t)(dot - text);
    sign(text, length, secret, expected);
    if (CRYPTO_memcmp(expected, dot + 1, SIGNATURE) != 0)
        return false;
    if (sscanf(text, "1.%c.%" SCNd64 ".%" SCNd64 ".%" SCNd64 ".%n", &kind, &read.issued_ms,
               &read.seen_s, &read.generation, &at) != 4 ||
        !at || (size_t)at >= length || length - (size_t)at >= sizeof(read.name) ||
        (kind != 'u' && kind != 'l'))
        return false;
    memcpy(read.name, text + at, length - (size_t)at);
    read.is_link = kind == 'l';
    if (now_s >= session_ends_s(&read) || read.seen_s > now_s + SKEW_S)
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
