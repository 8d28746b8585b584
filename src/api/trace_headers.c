#include "trace_headers.h"

#include <stdio.h>

#include "http.h"
#include "trace.h"

static const char *only_field(const struct call *call, const char *name)
{
    const char *first = call_input(call, name);
    return first && http_last_field(call->request, name) == first ? first : NULL;
}

static const char *traceparent(const struct call *call)
{
    const char *given = only_field(call, "traceparent");
    return given && traceparent_is_valid(given) ? given : NULL;
}

/* Of a later version what follows the part that is known is cut off. */
void call_take_trace(const struct call *call, struct run *run)
{
    const char *given = traceparent(call);
    if (given)
        snprintf(run->traceparent, sizeof(run->traceparent), "%s", given);
}

json_t *call_tracestate(const struct call *call)
{
    const char *given = traceparent(call) ? only_field(call, "tracestate") : NULL;
    return given && tracestate_is_valid(given) ? json_string(given) : NULL;
}
