/* Passwords on their way through the hasher, for the calls that have one. */
#ifndef PEAL_API_PASSWORD_H
#define PEAL_API_PASSWORD_H

#include "auth/guesses.h"
#include "auth/hasher.h"
#include "call.h"

/* Somebody tries the password of an account. */
struct attempt {
    const char *name;     /* as it was typed */
    const char *device;   /* that is known by this name; NULL: it is not */
    const char *password; /* that is tried */
    const char *hash;     /* of the account; empty: there is none, or it has no password */
};

/* Compares, and goes on in `then`: call->answer is OK, work->matches says what came of it. That
 * is to be told to password_tried; *guess stays as it is until then. The call fails if they were
 * wrong too often, or if too many wait. */
void password_check(struct call *call, struct hash_work *work, struct guess *guess,
                    const struct attempt *attempt, call_then *then);
void password_tried(struct call *call, const struct guess *guess, bool is_right);

/* Makes a hash of a new password (any JSON), and goes on in `then`, where work->hash is. What is
 * wrong with it fails the call. */
void password_make(struct call *call, struct hash_work *work, const json_t *password,
                   call_then *then);

void password_release(struct hash_work *work);

/* False: it is none (NULL: not given), and the call has failed. */
bool check_user_name(struct call *call, const char *name);

#endif
