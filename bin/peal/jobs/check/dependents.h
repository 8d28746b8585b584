/* Warnings before a deletion: jobs that wait for a deleted one (`after`) do not start any more. */
#ifndef PEAL_DEPENDENTS_H
#define PEAL_DEPENDENTS_H

#include "client/client.h"

/* Reads who waits for the job, and warns of those that stay. `deleted` has the names of all jobs
 * that go as its keys. A missing job is reported with the nearest existing name. */
MUST_CHECK enum exit_code dependents_warn_of(struct client *client, const char *name,
                                             const json_t *deleted);

/* The same for many: `there` is the list of all jobs, with name and `after`. */
void dependents_warn(const json_t *there, const json_t *deleted);

#endif
