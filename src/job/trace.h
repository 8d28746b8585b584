/* The W3C trace context of runs (docs/WATCHING.md). The ids of a run's span follow from what the
 * run is: its job, tick, attempt and part. All nodes make the same ones, and a span that is sent
 * twice is one span. Pure. */
#ifndef PEAL_TRACE_H
#define PEAL_TRACE_H

#include "run.h"

enum {
    TRACE_ID_SIZE = 33, /* 32 digits, lower case, and the NUL */
    SPAN_ID_SIZE = 17,
    TRACEPARENT_SIZE = 56, /* of version 00 */
    TRACESTATE_MAX = 512,
};

/* "00-TRACE-SPAN-FLAGS" in lower case, or what a later version begins with. */
bool traceparent_is_valid(const char *text);

/* "vendor=value,other=value": at most 32 members, of the letters that the standard allows. */
bool tracestate_is_valid(const char *text);

struct run_trace {
    char trace[TRACE_ID_SIZE]; /* of the request; else one for all runs of the tick */
    char span[SPAN_ID_SIZE];
    char parent[SPAN_ID_SIZE];  /* of a step: its instance; else of the request; "": none */
    char earlier[SPAN_ID_SIZE]; /* the span of the attempt before this one; "": none */
    bool is_sampled;            /* false: the request says that its trace is not recorded */
};

void run_trace_of(const struct run *run, struct run_trace *ret);

/* The run's own span, as what it starts is to name it. */
void run_trace_parent(const struct run *run, char ret[TRACEPARENT_SIZE]);

#endif
