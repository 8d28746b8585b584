/* What the readers of output share. Offsets count all that a run printed, also what was dropped. */
#ifndef PEAL_API_LOG_H
#define PEAL_API_LOG_H

#include "call.h"

/* {"stream","at","gap"?,"text" or "base64"}; NULL: out of memory. */
json_t *encode_chunk(const struct output_chunk *chunk);

/* Where the history, which counts what was kept, has what was printed at `offset`: behind the gap
 * the two differ. call->log has been answered. */
int64_t kept_offset(const struct call *call, int64_t offset);

/* Its output is where the run is, until the history of that node has it, too: 409. */
bool is_elsewhere(const struct call *call, const struct run *run);
void fail_elsewhere(struct call *call, const struct run *run);

/* All of it as it was printed, without what was dropped. */
void get_raw_log(struct call *call);

#endif
