/* If-Match and If-None-Match: what a client says of the revision that it has seen. */
#ifndef PEAL_API_CONDITIONS_H
#define PEAL_API_CONDITIONS_H

#include "call.h"

enum { MATCH_NOTHING = -1, MATCH_ANY = 0 }; /* no condition; there must be one, whichever */

/* The revision that the client wants to change, or one of these. False: the call has failed, which
 * it also does (428) if the client asked for a condition by `require_match` and gave none. */
bool if_match(struct call *call, int64_t *ret);

enum conditions {
    CONDITIONS_HOLD,
    CONDITIONS_NOT_NEW,   /* If-None-Match: *, but there is one */
    CONDITIONS_NOT_THERE, /* If-Match, but there is none */
    CONDITIONS_FAILED,    /* and so has the call */
};

/* Before what is at `revision` (0: there is none) is written. *ret_strict: the client has named
 * what it has seen, and wants to know of other changes. */
enum conditions check_conditions(struct call *call, int64_t revision, bool *ret_strict);

#endif
