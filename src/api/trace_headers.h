/* The W3C trace context of a request, for the run that it asks for. It is a stranger's: what is not
 * as the standard demands, or comes twice, is ignored, as the standard demands, too. */
#ifndef PEAL_API_TRACE_HEADERS_H
#define PEAL_API_TRACE_HEADERS_H

#include <jansson.h>

#include "call.h"

/* Its traceparent becomes that of the run. */
void call_take_trace(const struct call *call, struct run *run);

/* Its tracestate, a new reference; NULL: there is none, or no traceparent, or no memory. */
json_t *call_tracestate(const struct call *call);

#endif
