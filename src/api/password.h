/* Passwords on their way through the hasher, for the calls that have one. */
#ifndef PEAL_API_PASSWORD_H
#define PEAL_API_PASSWORD_H

#include "call.h"
#include "hasher.h"

/* Compares, and goes on in `then`: call->answer is OK, work->matches says what came of it. The call
 * fails if too many wait. */
void password_check(struct call *call, struct hash_work *work, const char *password,
                    const char *hash, call_then *then);

/* Makes a hash of a new password (any JSON), and goes on in `then`, where work->hash is. What is
 * wrong with it fails the call. */
void password_make(struct call *call, struct hash_work *work, const json_t *password,
                   call_then *then);

void password_release(struct hash_work *work);

/* False: it is none (NULL: not given), and the call has failed. */
bool check_user_name(struct call *call, const char *name);

#endif
