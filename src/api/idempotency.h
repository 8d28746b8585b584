/* Idempotency-Key: a client that did not get the answer to a POST sends it again with the same key,
 * and gets the answer of the first one instead of a second run. Answers are kept in memory, per
 * credential and path, for ten minutes, without secrets: definitions are masked (call_secrets), and
 * secrets that are shown once are not repeated. */
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

/* True: handle the call (it may have no key). False: it was answered with the first answer; or 409,
 * the first is still under way; or 422, the key was used for another request. */
bool idempotency_begin(struct call *call);

/* Keeps the answer of the call. A 5xx, whose outcome is unknown, is not kept: a repeat is handled
 * again, with the same run id, so that it can't start a second run. */
void idempotency_keep(struct call *call, int status, const char *type, const char *text,
                      size_t length);

/* For an answer with a secret: keeps another body for repeats. To be called before the answer. */
void idempotency_keep_instead(struct call *call, int status, const json_t *body);

/* The call has ended without an answer. */
void idempotency_give_up(struct call *call);

/* The id of the run that the call creates: the same for a repeat. */
struct id idempotency_run_id(const struct call *call);

#endif
