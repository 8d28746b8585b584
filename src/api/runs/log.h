/* Shared by the readers of output. Offsets count all printed bytes, dropped ones included. */
#ifndef PEAL_API_LOG_H
#define PEAL_API_LOG_H

#include "call.h"

/* {"stream","at","gap"?,"text" or "base64"}; NULL: out of memory. */
json_t *encode_chunk(const struct output_chunk *chunk);

/* Converts an offset of printed bytes to one of kept bytes, which the history counts: they differ
 * after the gap. call->log has been answered. */
int64_t kept_offset(const struct call *call, int64_t offset);

/* The output is on the run's node until that node's history has it: 409. */
bool is_elsewhere(const struct call *call, const struct run *run);
void fail_elsewhere(struct call *call, const struct run *run);

/* The output as printed, without dropped bytes. */
void get_raw_log(struct call *call);

#endif
