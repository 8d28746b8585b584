/* Who has an account: users, tokens and the secret of sessions, as the store's feed tells them. All
 * nodes have the same. */
#ifndef PEAL_ACCOUNTS_H
#define PEAL_ACCOUNTS_H

#include "auth/account.h"
#include "auth/session.h"
#include "ports.h"
#include "store.h"
#include "table.h"

/* Shared by all nodes, and made by the first that needs it: the secret that sessions are signed
 * with, and the generation of those that a link made without an account. */
#define SECRET_DOC_KIND "auth"
#define SECRET_DOC_NAME "session"

struct session_secret {
    uint8_t bytes[SESSION_SECRET];
    int64_t link_generation;
    int64_t revision; /* of its document; 0: there is none yet */
};

/* Admins on their way out, on any node: whoever takes an admin away puts them here first, so that
 * of two nodes that do it at the same instant one is told that the document was changed. */
#define LEAVING_DOC_NAME "admins" /* of SECRET_DOC_KIND */

struct leaving_admins {
    json_t *versions; /* {name: which version of the user is to be replaced}; or NULL */
    int64_t revision; /* of its document; 0: there is none yet */
};

struct accounts {
    struct table users;             /* by name */
    struct table tokens, by_digest; /* the same tokens by id and by digest */
    struct session_secret secret;
    struct leaving_admins leaving;
    uint64_t changes; /* how often anything changed */
};

void accounts_init(struct accounts *accounts);
void accounts_release(struct accounts *accounts);

/* A change of the feed; only documents matter. Out of memory leaves somebody out. */
void accounts_take(struct accounts *accounts, const struct store_change *change);

/* NULL: none. */
struct user *accounts_user(const struct accounts *accounts, const char *name);
struct token *accounts_token(const struct accounts *accounts, const char *id);

/* Everywhere, and not disabled. */
bool user_is_admin(const struct user *user);

/* True if it is the last admin who can log in, and is not on the way out. */
bool accounts_is_last_admin(const struct accounts *accounts, const struct user *user);

/* Who has this token; false: nobody, or not any more. *ret_token may be used to note that. */
bool accounts_by_secret(const struct accounts *accounts, const char *secret, int64_t now_ms,
                        struct principal *ret, struct token **ret_token);

/* Whose session it is; false: nobody's, or not any more. */
bool accounts_by_cookie(const struct accounts *accounts, const char *cookie, int64_t now_ms,
                        struct principal *ret, struct session *ret_session);

/* What it was let in for is still so: for answers that go on for long. */
bool accounts_still_admit(const struct accounts *accounts, const struct principal *principal,
                          int64_t now_ms);

/* ---- documents that are to be written; the json is freed by the caller, NULL: no memory ---- */

char *session_secret_encode(const struct session_secret *secret);
char *leaving_admins_encode(const struct accounts *accounts,
                            const struct user *user); /* and them */
void doc_name(struct store_put_doc *put, const char *kind, const char *name);

#endif
