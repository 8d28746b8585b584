/* Retries: when a run ends in a way that its job retries, the next attempt goes with its finish.
 * The store makes it in the transaction of the end, so that neither is there without the other. */
#ifndef PEAL_AGAIN_H
#define PEAL_AGAIN_H

#include "clock.h"
#include "ports.h"
#include "workflow/instances.h"

/* A lost run may still start so long after its begin: the window of starts, and what clocks and the
 * store add to it. No attempt follows it sooner. */
enum { AGAIN_LOST_WAIT_MS = 7000 };

/* Sets finish->again from the definition of the job, or of the step; the run of the finish is set.
 * An end that is not retried though the job has attempts left says why in its detail. E_NOMEM: the
 * finish must not be sent yet, but filled again later. */
MUST_CHECK enum status again_fill(const struct engine_ports *ports, struct instances *instances,
                                  struct now now, struct store_finish *finish);

#endif
