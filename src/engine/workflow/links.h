/* What follows from the end of a step goes with its finish as `links`: the steps that wait for it,
 * its fan-out, its instance. The store counts, in the transaction of the end. */
#ifndef PEAL_LINKS_H
#define PEAL_LINKS_H

#include "ports.h"
#include "workflow/instances.h"

/* Fills the links of the finish, whose run is set; without any it allocates nothing. E_BUSY: the
 * plan is not there yet. E_NOMEM. In both cases the finish must not be sent yet, but filled again
 * later. */
MUST_CHECK enum status links_fill(const struct engine_ports *ports, struct instances *instances,
                                  struct now now, struct store_finish *finish);

#endif
