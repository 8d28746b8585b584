/* POST that can be repeated: a client that did not get its answer sends the request again with the
 * same Idempotency-Key, and gets the answer of the first one instead of a second run. Remembered in
 * this agent's memory, per credential and path, for ten minutes, but for secrets: definitions are
 * masked (call_secrets), and what is shown once is not shown again. */
#ifndef PEAL_IDEMPOTENCY_H
#define PEAL_IDEMPOTENCY_H

#include <sys/queue.h>

#include "call.h"
#include "table.h"

TAILQ_HEAD(idempotent_list, idempotent);

struct idempotency {
    struct table by_key;
    struct idempotent_list by_age; /* oldest first */
    size_t bytes;
};

void idempotency_init(struct idempotency *idempotency);
void idempotency_release(struct idempotency *idempotency);

/* True: handle the call (it may have no key). False: it is answered, with the first answer; or 409,
 * the first one is still under way; or 422, the key was used for another request. */
bool idempotency_begin(struct call *call);

/* The answer of the call. One that does not say whether it was done (5xx) is not kept: a repeat is
 * handled again, with the same run id, so that it can't start a second run. */
void idempotency_keep(struct call *call, int status, const char *type, const char *text,
                      size_t length);

/* The same for an answer that has a secret: what a repeat gets instead of it. Before the answer is
 * given. */
void idempotency_keep_instead(struct call *call, int status, const json_t *body);

/* The call ends without an answer. */
void idempotency_give_up(struct call *call);

/* The id of the run that the call asks for: the same when it is repeated. */
struct id idempotency_run_id(const struct call *call);

#endif
