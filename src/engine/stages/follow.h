/* Dependent jobs: when a run ends, the jobs that wait for it by their `after` go with its finish as
 * `nexts`. The store decides whether they are due, in the transaction of the end. */
#ifndef PEAL_FOLLOW_H
#define PEAL_FOLLOW_H

#include "clock.h"
#include "outbox.h"
#include "ports.h"
#include "state/catalog.h"

/* Fills the nexts of the finish, whose run is set; without any it allocates nothing, and a step has
 * none: what waits for a workflow waits for its instance. Left out and
 * logged: jobs in a cycle with the ending job, and jobs beyond STORE_NEXT_JOBS_MAX; left out
 * silently: jobs that also wait for a job that does not exist. E_NOMEM: the finish must not be sent
 * yet, but filled again later. */
MUST_CHECK enum status follow_fill(const struct engine_ports *ports, struct catalog *catalog,
                                   const struct peer *self, struct now now,
                                   struct store_finish *finish);

/* Frees the nexts, links and outputs of a batch of finishes. */
void follow_release(struct outbox_batch *batch);

/* Would all dependents of the job `name` fit into one finish, if the job `uid` had this
 * definition? */
bool follow_fits(const struct catalog *catalog, const char *name, const struct id *uid,
                 const struct job *definition);

/* The same for the job `name`, if it were renamed to `to`: jobs may wait for that name already. */
bool follow_fits_renamed(const struct catalog *catalog, const char *name, const char *to);

#endif
