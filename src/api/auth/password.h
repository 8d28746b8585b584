/* Checks and hashes passwords of calls with the hasher. */
#ifndef PEAL_API_PASSWORD_H
#define PEAL_API_PASSWORD_H

#include "auth/guesses.h"
#include "auth/hasher.h"
#include "call.h"

/* An attempt to log in. */
struct attempt {
    const char *name;     /* as it was typed */
    const char *device;   /* known for this name; NULL: unknown */
    const char *password; /* to be checked */
    const char *hash;     /* of the account; empty: no account, or no password */
};

/* Compares, and continues in `then`: call->answer is OK, work->matches the result, which is to be
 * passed to password_tried with *guess. The call fails after too many wrong tries, or if the queue
 * is full. */
void password_check(struct call *call, struct hash_work *work, struct guess *guess,
                    const struct attempt *attempt, call_then *then);
void password_tried(struct call *call, const struct guess *guess, bool is_right);

/* Hashes a new password (any JSON) into work->hash, and continues in `then`. An invalid password
 * fails the call. */
void password_make(struct call *call, struct hash_work *work, const json_t *password,
                   call_then *then);

void password_release(struct hash_work *work);

/* False: not a valid name (NULL: not given), and the call has failed. */
bool check_user_name(struct call *call, const char *name);

#endif
