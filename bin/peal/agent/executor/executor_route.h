/* The engine's executor: programs go to the spawner, HTTP calls to peal-call. */
#ifndef PEAL_EXECUTOR_ROUTE_H
#define PEAL_EXECUTOR_ROUTE_H

#include "executor_call.h"
#include "executor_spawn.h"

struct executor_route {
    struct executor port; /* first member: the engine's handle */
    struct executor_spawn *spawn;
    struct executor_call *call;
    bool spawn_is_ready;
    bool is_told; /* the engine was told READY, and nothing since */
    bool is_telling;
    bool has_traces;
};

/* Both must outlive it. `has_traces`: runs have spans of their own, which are the parents of those
 * that they make; else what they are given is the traceparent of their request. */
void executor_route_init(struct executor_route *route, struct executor_spawn *spawn,
                         struct executor_call *call, bool has_traces);

#endif
