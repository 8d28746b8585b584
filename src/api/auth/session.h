/* Cookies, signed with a secret that all nodes share, so that any of them accepts what another one
 * made; nothing is kept of them on the server. A session says who somebody is and since when; a
 * device, that somebody has logged in with it by this name, which gives no right but a room of its
 * own to be wrong in (guesses.h). Pure. */
#ifndef PEAL_SESSION_H
#define PEAL_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "auth/principal.h"

enum {
    SESSION_SECRET = 32, /* bytes */
    SESSION_TEXT = 256,
    SESSION_IDLE_S = 12 * 3600,     /* without a request it ends after so long, ... */
    SESSION_ABSOLUTE_S = 7 * 86400, /* ... and in any case after so long */
    SESSION_RENEW_S = 300,          /* how old `seen_s` gets before the cookie is written anew */
    DEVICE_LIFE_S = 180 * 86400,    /* after the last login */
    DEVICE_ID = 16,                 /* letters */
};

struct session {
    bool is_link;       /* of a link without an account, else of a user */
    int64_t issued_ms;  /* when it began: what tells it from others of the same user */
    int64_t seen_s;     /* its last request, about */
    int64_t generation; /* of the user, or of all links */
    char name[PRINCIPAL_NAME_SIZE];
};

void session_print(const struct session *session, const uint8_t secret[SESSION_SECRET],
                   char text[SESSION_TEXT]);

/* False: it is none, or not signed by this secret, or it has ended. */
bool session_read(const char *text, const uint8_t secret[SESSION_SECRET], int64_t now_s,
                  struct session *ret);

/* When it ends if nothing more comes. */
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

/* The value of this cookie in a Cookie header, at most `size` - 1 bytes; false: it has none. */
bool cookie_find(const char *header, const char *name, char *value, size_t size);

#endif
