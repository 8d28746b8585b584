/* What the steps of the open instances of a workflow wait for: a part of the answer of `why`. */
#ifndef PEAL_API_WAITS_H
#define PEAL_API_WAITS_H

#include "call.h"

/* [{"run_id", "tick", "state", "counts", "steps": [{"name", "state", "run_id", "text"}], "more":
 * n}], newest first: some of the instances, and some of the steps of each that wait. `tick_ms`
 * NEVER_MS: of all ticks. Empty: it is no workflow, or has no open instance. NULL: out of memory.
 */
json_t *waits_encode(const struct call *call, const struct id *job_uid, int64_t tick_ms);

#endif
