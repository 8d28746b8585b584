/* Shared by the readers of output. Offsets count all printed bytes, dropped ones included. */
#ifndef PEAL_API_LOG_H
#define PEAL_API_LOG_H

#include "call.h"

/* {"stream","at","gap"?,"text" or "base64"}; NULL: out of memory. */
json_t *encode_chunk(const struct output_chunk *chunk);

/* Converts an offset of printed bytes to one of kept bytes, which the history counts: they differ
 * after the gap. call->log has been answered. */
int64_t kept_offset(const struct call *call, int64_t offset);

/* Reads the output of an open run into call->output, on this node or, through the port between
 * nodes, on the run's node. `then`, perhaps at once, finds the status in call->answer. */
void call_read_output(struct call *call, const struct run *run, int64_t offset, size_t limit,
                      call_then *then);

/* The call has failed with that status, which is not OK: 504, the run's node does not answer now;
 * 409, it can't be asked for output. */
void fail_output(struct call *call);

/* The run, which may be NULL, was lost with its node, which does not answer: there is no more. */
bool output_is_gone(const struct call *call, const struct run *run);

/* Including dropped bytes. */
int64_t printed_length(const struct output_chunk *chunks, size_t count);

/* The output as printed, without dropped bytes. */
void get_raw_log(struct call *call);

#endif
