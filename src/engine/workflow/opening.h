/* What a run opens: an instance of its workflow, with the plan as it is now, or a fan-out with its
 * first items. */
#ifndef PEAL_OPENING_H
#define PEAL_OPENING_H

#include "ports.h"
#include "workflow/instances.h"

/* The instance of a tick or a run of this workflow; `input` is what the run names. E_INVALID,
 * E_TOO_LARGE: it can't be opened; `why` says what is wrong. E_NOMEM. The caller releases *ret. */
MUST_CHECK enum status opening_of_workflow(const struct engine_ports *ports,
                                           struct instances *instances, struct now now,
                                           const struct catalog_job *job, const struct id *input,
                                           struct store_opening *ret, char *why, size_t size);

/* The fan-out of a step with VERDICT_OPEN. E_INVALID: it is not one any more. E_NOMEM. */
MUST_CHECK enum status opening_of_fan_out(const struct engine_ports *ports,
                                          struct instances *instances, struct now now,
                                          const struct run *run, struct store_opening *ret);

void opening_release(struct store_opening *opening);

/* A step to be made, or an item of one. `of` is a run with the same terms, as it may be itself;
 * NULL: the caller fills them. */
void opening_fill_step(const struct engine_ports *ports, struct instances *instances,
                       struct now now, const struct flow *flow, int part, const struct run *of,
                       struct store_step *ret);

#endif
