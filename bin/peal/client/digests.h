/* What the agent has, without reading each definition: so that commands for many jobs take no
 * longer than what differs. */
#ifndef PEAL_DIGESTS_H
#define PEAL_DIGESTS_H

#include "client/client.h"

struct job;

/* *ret: {"NAME": "DIGEST"} of all jobs; of one that this version can't read, null. An agent of an
 * older version gives no digests: then all are null. */
MUST_CHECK enum exit_code digests_get(struct client *client, json_t **ret);

/* Does the agent have exactly this definition? False if it is not known. E_NOMEM. */
MUST_CHECK enum status digests_have(const json_t *digests, const struct job *job, bool *ret);

/* *ret: {"NAME": job} for these names, a list; jobs that are gone are not in it. */
MUST_CHECK enum exit_code jobs_by_name(struct client *client, const json_t *names, json_t **ret);

#endif
