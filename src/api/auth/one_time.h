/* Secrets that are good for once: the setup link, while there is no account, and links that log in.
 * They are this node's alone, and end with it. */
#ifndef PEAL_ONE_TIME_H
#define PEAL_ONE_TIME_H

#include "auth/account.h"
#include "clock.h"
#include "ports.h"

enum {
    SECRET_SIZE = 44, /* 256 bits as base64url */
    LINKS_MAX = 64,   /* of which the oldest is dropped */
    LINK_LIFE_MS = 10 * 60 * 1000,
};

struct link {
    char digest[DIGEST_SIZE];
    char user[PRINCIPAL_NAME_SIZE]; /* empty: an admin without an account, ... */
    char name[PRINCIPAL_NAME_SIZE]; /* ... by this name */
    int64_t until_ms;               /* boot time; 0: none */
};

/* Zeroed: nothing is open. */
struct one_time {
    char setup_digest[DIGEST_SIZE]; /* empty: no setup is open */
    char *setup_file;
    struct link links[LINKS_MAX];
    size_t next_link;
};

void one_time_release(struct one_time *one_time); /* with the file of the setup link */

void secret_make(const struct entropy *entropy, char ret[SECRET_SIZE]);

/* Opens the setup, and writes `url` with the secret after it to the file, readable by its owner
 * alone. E_IO (errno), E_NOMEM. */
MUST_CHECK enum status setup_open(struct one_time *one_time, const struct entropy *entropy,
                                  const char *file, const char *url);
bool setup_is_open(const struct one_time *one_time);
bool setup_matches(const struct one_time *one_time, const char *secret);
void setup_close(struct one_time *one_time);

/* Makes a link for `user`, or for an admin by `name` if that is empty. */
void link_make(struct one_time *one_time, const struct entropy *entropy, const char *user,
               const char *name, struct boot_ms now, char ret_secret[SECRET_SIZE]);

/* True: it was good, and no longer is. */
bool link_use(struct one_time *one_time, const char *secret, struct boot_ms now, struct link *ret);

#endif
