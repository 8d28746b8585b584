#include "bridge.h"

#include "_cgo_export.h"

static int call(peal_run *run, void *arg)
{
    return bridgeCall(run, (uintptr_t)arg);
}

static void tell(void *context, enum peal_level level, const char *message)
{
    bridgeTell((uintptr_t)context, level, (char *)message);
}

peal_node *bridge_open(peal_options *options, uintptr_t log)
{
    if (log) {
        options->log = tell;
        options->context = (void *)log;
    }
    return peal_open_sized(options, sizeof(*options));
}

int bridge_add(peal_node *node, peal_job *job, uintptr_t function)
{
    if (function) {
        job->function = call;
        job->arg = (void *)function;
    }
    return peal_add_sized(node, job, sizeof(*job));
}

void bridge_log(peal_run *run, const char *line)
{
    peal_log(run, "%s", line);
}
