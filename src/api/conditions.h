/* If-Match and If-None-Match: conditions on the revision that the client has seen. */
#ifndef PEAL_API_CONDITIONS_H
#define PEAL_API_CONDITIONS_H

#include "call.h"

enum { MATCH_NOTHING = -1, MATCH_ANY = 0 }; /* no condition; any revision */

/* The revision in If-Match, or one of these. False: the call has failed, also with 428 if the
 * client set `require_match` without a condition. */
bool if_match(struct call *call, int64_t *ret);

/* `status`, 404 or 412: there is none of what call->argument names, or there is one already. The
 * noun says what it is: "calendar". */
void fail_missing(struct call *call, int status, const char *noun);
void fail_exists(struct call *call, int status, const char *noun);

/* Before what is at `revision` (0: there is none) is written. False: the call has failed, 412.
 * *ret_strict: the client has named what it has seen, and wants to know of other changes. */
bool check_conditions(struct call *call, int64_t revision, const char *noun, bool *ret_strict);

#endif
