#include "executor/executor_none.h"

#include <stddef.h>

static enum status start(struct executor *executor, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    (void)executor, (void)run, (void)job, (void)at, (void)deadline;
    return E_UNREACHABLE;
}

static void kill_run(struct executor *executor, const struct id *run_id, enum run_reason reason)
{
    (void)executor, (void)run_id, (void)reason;
}

static void acknowledge(struct executor *executor, const struct id *run_id)
{
    (void)executor, (void)run_id;
}

/* Never READY, so that the engine never claims. */
static bool next_event(struct executor *executor, struct executor_event *ret)
{
    (void)executor, (void)ret;
    return false;
}

struct executor *executor_none(void)
{
    static const struct executor_ops ops = {
        .start = start, .kill = kill_run, .acknowledge = acknowledge, .next_event = next_event};
    static struct executor executor = {&ops};
    return &executor;
}
