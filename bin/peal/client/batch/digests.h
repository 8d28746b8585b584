/* What the agent has, without reading each definition: so that commands for many jobs take no
 * longer than what differs. */
#ifndef PEAL_DIGESTS_H
#define PEAL_DIGESTS_H

#include "client/client.h"

struct job;

/* *ret: {"NAME": {"digest", "applied_at"}} of all jobs; the digest of one that this version can't
 * read is null. An agent of an older version gives no digests at all. Who leaves out what is the
 * same asks for what the store has confirmed since the command began; an agent that can't do that
 * gives none. */
enum digest_view { DIGESTS_SHOWN, DIGESTS_CONFIRMED };
MUST_CHECK enum exit_code digests_get(struct client *client, enum digest_view view, json_t **ret);

/* Does the agent have exactly this definition, by any author, or from a file? False if it is not
 * known. `digests` may be NULL. E_NOMEM. */
enum digest_author { DIGEST_ANY, DIGEST_APPLIED };
MUST_CHECK enum status digests_have(const json_t *digests, const struct job *job,
                                    enum digest_author author, bool *ret);

/* *ret: {"NAME": job} for these names, a list; jobs that are gone are not in it. */
MUST_CHECK enum exit_code jobs_by_name(struct client *client, const json_t *names, json_t **ret);

#endif
