/* What follows the end of a run: the jobs that wait for it, by their `after`, as the nexts of its
 * finish. Whether they are due the store decides, together with the end. */
#ifndef PEAL_FOLLOW_H
#define PEAL_FOLLOW_H

#include "clock.h"
#include "ports.h"
#include "stages/outbox.h"
#include "state/catalog.h"

/* Fills the nexts of the finish, whose run is set; without any it costs no memory. Left out and
 * logged is who could never come to rest, because the job that ends waits for it in turn, and who
 * does not fit (STORE_NEXT_JOBS_MAX); left out is also who waits for a job that is not there.
 * E_NOMEM: it must be filled later, and not be sent without. */
MUST_CHECK enum status follow_fill(const struct engine_ports *ports, struct catalog *catalog,
                                   const struct peer *self, struct now now,
                                   struct store_finish *finish);

/* What was filled in a batch of finishes. */
void follow_release(struct outbox_batch *batch);

/* Would all fit that wait for the job of this name, if the job `uid` were as defined? */
bool follow_fits(const struct catalog *catalog, const char *name, const struct id *uid,
                 const struct job *definition);

#endif
