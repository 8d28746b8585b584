/* Users and tokens as documents of the store. Pure. */
#ifndef PEAL_ACCOUNT_H
#define PEAL_ACCOUNT_H

#include <jansson.h>

#include "auth/principal.h"
#include "status.h"

#define USER_DOC  "user"
#define TOKEN_DOC "token"

enum {
    USER_NAME_MAX = PRINCIPAL_NAME_SIZE - 1,
    HASH_SIZE = 160,  /* of a password, as argon2 writes it */
    DIGEST_SIZE = 65, /* of a token: SHA-256 in hex */
    LABEL_SIZE = 64,
    ENDED_MAX = 64, /* ended sessions that are kept per user */
};

struct user {
    char name[PRINCIPAL_NAME_SIZE];
    char hash[HASH_SIZE]; /* empty: no login by password */
    struct scope scope;
    bool disabled;
    int64_t generation; /* sessions of earlier generations are void; never repeats for a name */
    int64_t ended_ms[ENDED_MAX]; /* expiry times of sessions that were ended early */
    size_t ended_count;
    int64_t created_ms, changed_ms;
    int64_t revision; /* of its document */
};

struct token {
    char id[32];
    char digest[DIGEST_SIZE];
    char label[LABEL_SIZE];
    char owner[PRINCIPAL_NAME_SIZE]; /* a user; empty: made on the UNIX socket */
    int64_t owner_created_ms;        /* a new user of the same name does not own it */
    struct scope scope;              /* limited to that of the owner */
    int64_t created_ms, expires_ms;  /* 0: never expires */
    int64_t used_ms;                 /* approximate; 0: never */
    int64_t revision;
};

/* NULL, or what is wrong with the name. */
const char *user_name_complaint(const char *name);

/* Ends the session that would expire at `ends_ms`; ends all sessions when ENDED_MAX are kept
 * already. */
void user_end_session(struct user *user, int64_t ends_ms, int64_t now_ms);
bool user_has_ended(const struct user *user, int64_t ends_ms);

/* The text of a document, freed by the caller; NULL: out of memory. */
char *user_encode(const struct user *user);
char *token_encode(const struct token *token);

/* E_CORRUPT: can't be decoded. `name` and `id` come from the document's name. */
MUST_CHECK enum status user_decode(const char *name, const char *json, struct user *ret);
MUST_CHECK enum status token_decode(const char *id, const char *json, struct token *ret);

/* Reads "role", "define" and "namespaces" of an object into *inout; missing members stay.
 * E_INVALID: *ret_pointer ("/role") and *ret_complaint say what is wrong. */
MUST_CHECK enum status scope_decode(const json_t *object, struct scope *inout, char ret_pointer[64],
                                    const char **ret_complaint);

/* {"role","define","namespaces":[{"namespace","role","define"}...]} and the members of `more`,
 * which is taken over. NULL: out of memory, or `more` was NULL. */
json_t *scope_encode(const struct scope *scope, json_t *more);

/* SHA-256 of a secret, in hex. */
void secret_digest(const char *secret, char ret[DIGEST_SIZE]);

#endif
