/* The parts of a tick that is spread over several nodes: on which of them, as this node sees them
 * now. Another node may see others; the store has those of the node that was first. */
#ifndef PEAL_SPREAD_H
#define PEAL_SPREAD_H

#include "ports.h"
#include "state/catalog.h"
#include "state/placement.h"
#include "store.h"

/* *ret are the parts of a tick of the job, the first with the id `first`; none for a job that is
 * not spread. The caller frees ret->parts. Of more nodes than RUN_PARTS_MAX the rest is left out,
 * with a line in the log. E_NOMEM. */
MUST_CHECK enum status spread_fill(const struct engine_ports *ports, struct placement *placement,
                                   struct now now, const struct catalog_job *job,
                                   const struct id *first, struct store_parts *ret);

#endif
