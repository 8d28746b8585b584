/* The accounts from the store's feed: users, tokens and the secret of sessions. All nodes have the
 * same. */
#ifndef PEAL_ACCOUNTS_H
#define PEAL_ACCOUNTS_H

#include "auth/account.h"
#include "auth/session.h"
#include "ports.h"
#include "store.h"
#include "table.h"

/* Shared by all nodes, and made by the first that needs it: the secret that signs sessions, and the
 * generation of sessions that a login link made without an account. */
#define SECRET_DOC_KIND "auth"
#define SECRET_DOC_NAME "session"

struct session_secret {
    uint8_t bytes[SESSION_SECRET];
    int64_t link_generation;
    int64_t revision; /* of its document; 0: none yet */
};

/* Admins that are being removed, on any node: an admin is put here first, so that of two nodes that
 * remove the last two admins at the same instant one gets a conflict. */
#define LEAVING_DOC_NAME "admins" /* of SECRET_DOC_KIND */

struct leaving_admins {
    json_t *versions; /* {name: the version of the user that is replaced}; or NULL */
    int64_t revision; /* of its document; 0: none yet */
};

struct accounts {
    struct table users;             /* by name */
    struct table tokens, by_digest; /* the same tokens by id and by digest */
    struct session_secret secret;
    struct leaving_admins leaving;
    uint64_t changes; /* counts all changes */
};

void accounts_init(struct accounts *accounts);
void accounts_release(struct accounts *accounts);

/* Takes in a change of the feed; only documents matter. Out of memory: the account is missing. */
void accounts_take(struct accounts *accounts, const struct store_change *change);

/* NULL: none. */
struct user *accounts_user(const struct accounts *accounts, const char *name);
struct token *accounts_token(const struct accounts *accounts, const char *id);

/* An admin of everything, not disabled. */
bool user_is_admin(const struct user *user);

/* Is it the last admin who can log in and is not being removed? */
bool accounts_is_last_admin(const struct accounts *accounts, const struct user *user);

/* The principal of a token's secret; false: unknown or no longer valid. *ret_token is for
 * token_note_use. */
bool accounts_by_secret(const struct accounts *accounts, const char *secret, int64_t now_ms,
                        struct principal *ret, struct token **ret_token);

/* The principal of a session cookie; false: unknown or no longer valid. */
bool accounts_by_cookie(const struct accounts *accounts, const char *cookie, int64_t now_ms,
                        struct principal *ret, struct session *ret_session);

/* Is the principal still valid with the same rights? For long-lived answers. */
bool accounts_still_admit(const struct accounts *accounts, const struct principal *principal,
                          int64_t now_ms);

/* ---- documents to be written; the caller frees the json; NULL: out of memory ---- */

char *session_secret_encode(const struct session_secret *secret);
char *leaving_admins_encode(const struct accounts *accounts,
                            const struct user *user); /* with this user added */
void doc_name(struct store_put_doc *put, const char *kind, const char *name);

#endif
