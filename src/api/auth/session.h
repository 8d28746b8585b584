/* Signed cookies. All nodes share the secret, so that any of them accepts another's cookie; the
 * server keeps no state. A session cookie names its user and its start; a device cookie says that
 * this browser has logged in as a name, which only gives it its own limit of wrong passwords
 * (guesses.h). Pure. */
#ifndef PEAL_SESSION_H
#define PEAL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "auth/principal.h"

enum {
    SESSION_SECRET = 32, /* bytes */
    SESSION_TEXT = 256,
    SESSION_IDLE_S = 12 * 3600,     /* a session ends after so long without a request, ... */
    SESSION_ABSOLUTE_S = 7 * 86400, /* ... and in any case after so long */
    SESSION_RENEW_S = 300,          /* age of `seen_s` at which the cookie is renewed */
    DEVICE_LIFE_S = 180 * 86400,    /* after the last login */
    DEVICE_ID = 16,                 /* letters */
};

struct session {
    bool is_link;       /* by a login link without an account */
    int64_t issued_ms;  /* its start, which identifies it among the user's sessions */
    int64_t seen_s;     /* its last request, approximate */
    int64_t generation; /* of the user, or of all links */
    char name[PRINCIPAL_NAME_SIZE];
};

void session_print(const struct session *session, const uint8_t secret[SESSION_SECRET],
                   char text[SESSION_TEXT]);

/* False: not a session, not signed with this secret, or expired. */
bool session_read(const char *text, const uint8_t secret[SESSION_SECRET], int64_t now_s,
                  struct session *ret);

/* Expiry without a further request. */
int64_t session_ends_s(const struct session *session);

struct device {
    int64_t issued_s; /* its last login */
    char id[DEVICE_ID + 1];
    char name[PRINCIPAL_NAME_SIZE];
};

void device_print(const struct device *device, const uint8_t secret[SESSION_SECRET],
                  char text[SESSION_TEXT]);
bool device_read(const char *text, const uint8_t secret[SESSION_SECRET], int64_t now_s,
                 struct device *ret);

/* The value of this cookie in a Cookie header, at most `size` - 1 bytes; false: none. */
bool cookie_find(const char *header, const char *name, char *value, size_t size);

#endif
