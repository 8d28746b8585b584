/* One-time secrets: the setup link, while there is no account, and login links. They are valid on
 * this node only, while its agent runs. */
#ifndef PEAL_ONE_TIME_H
#define PEAL_ONE_TIME_H

#include "auth/account.h"
#include "clock.h"
#include "ports.h"

enum {
    SECRET_SIZE = 44, /* 256 bits as base64url */
    LINKS_MAX = 64,   /* beyond that the oldest is dropped */
    LINK_LIFE_MS = 10 * 60 * 1000,
};

struct login_link {
    char digest[DIGEST_SIZE];
    char user[PRINCIPAL_NAME_SIZE]; /* empty: an admin without an account, ... */
    char name[PRINCIPAL_NAME_SIZE]; /* ... by this name */
    int64_t until_ms;               /* boot time; 0: none */
};

/* Zeroed: none. */
struct one_time {
    char setup_digest[DIGEST_SIZE]; /* empty: no setup */
    char *setup_file;
    struct login_link links[LINKS_MAX];
    size_t next_link;
};

void one_time_release(struct one_time *one_time); /* also removes the file of the setup link */

void secret_make(const struct entropy *entropy, char ret[SECRET_SIZE]);

/* Opens the setup, and writes `url` and the secret to the file, with mode 0600. E_IO (errno),
 * E_NOMEM. */
MUST_CHECK enum status setup_open(struct one_time *one_time, const struct entropy *entropy,
                                  const char *file, const char *url);
bool setup_is_open(const struct one_time *one_time);
bool setup_matches(const struct one_time *one_time, const char *secret);
void setup_close(struct one_time *one_time);

/* Makes a login link for `user`, or if that is empty for an admin called `name`. */
void link_make(struct one_time *one_time, const struct entropy *entropy, const char *user,
               const char *name, struct boot_ms now, char ret_secret[SECRET_SIZE]);

/* True: the link was valid; it is used up now. */
bool link_use(struct one_time *one_time, const char *secret, struct boot_ms now,
              struct login_link *ret);

#endif
