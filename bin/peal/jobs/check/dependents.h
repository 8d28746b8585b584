/* Warnings before a deletion: jobs that wait for a deleted one (`after`) do not start any more, and
 * workflows that run it as a step fail. */
#ifndef PEAL_DEPENDENTS_H
#define PEAL_DEPENDENTS_H

#include "client/client.h"

/* Reads who waits for the job, and warns of those that stay. `deleted` has the names of all jobs
 * that go as its keys. A missing job is reported with the nearest existing name. */
MUST_CHECK enum exit_code dependents_warn_of(struct client *client, const char *name,
                                             const json_t *deleted);

/* The same for many: `there` is the list of all jobs, with DEPENDENTS_FIELDS. */
#define DEPENDENTS_FIELDS "name,after,steps,finally"
void dependents_warn(const json_t *there, const json_t *deleted);

#endif
