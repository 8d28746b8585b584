/* READY for the engine is READY of the spawner, once peal-call has told what it knows of the calls
 * of an earlier agent. From then on peal-call may come and go: programs do not wait for it, and
 * executor_call.c sees to its runs. */
#include "executor/executor_route.h"

#include "params/trace.h"

static struct executor_route *from_port(struct executor *port)
{
    return (struct executor_route *)port;
}

static struct executor *part_of(const struct executor_route *route, const struct id *run_id)
{
    return executor_call_has(route->call, run_id) ? executor_call_port(route->call)
                                                  : executor_spawn_port(route->spawn);
}

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct executor_route *route = from_port(port);
    if (job->kind == JOB_FUNCTION) /* the engine leaves it to the nodes of its program */
        return E_INVALID;
    struct executor *part =
        job->kind == JOB_HTTP ? executor_call_port(route->call) : executor_spawn_port(route->spawn);
    if (!route->has_traces)
        return part->ops->start(part, run, job, at, deadline);
    struct run traced = *run;
    run_trace_parent(run, traced.traceparent);
    return part->ops->start(part, &traced, job, at, deadline);
}

static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct executor *part = part_of(from_port(port), run_id);
    part->ops->kill(part, run_id, reason);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct executor *part = part_of(from_port(port), run_id);
    part->ops->acknowledge(part, run_id);
}

static enum status values(struct executor *port, const struct id *run_id, char **ret,
                          size_t *ret_length)
{
    struct executor *part = part_of(from_port(port), run_id);
    return part->ops->values(part, run_id, ret, ret_length);
}

static void remove_values(struct executor *port, const struct id *run_id)
{
    struct executor *part = part_of(from_port(port), run_id);
    if (part->ops->remove_values)
        part->ops->remove_values(part, run_id);
}

/* Only processes leave files. */
static enum status look(struct executor *port, const struct id *run_id, const struct job *job,
                        const struct run *end)
{
    struct executor *part = executor_spawn_port(from_port(port)->spawn);
    return part->ops->look(part, run_id, job, end);
}

/* The spawner's next event; its READY is only noted. */
static bool next_of_spawn(struct executor_route *route, struct executor_event *ret)
{
    struct executor *spawn = executor_spawn_port(route->spawn);
    while (spawn->ops->next_event(spawn, ret)) {
        if (ret->kind == EXECUTOR_READY) {
            route->spawn_is_ready = true;
            return false; /* what comes behind it comes after the engine's READY */
        }
        if (ret->kind != EXECUTOR_GONE)
            return true;
        bool was_told = route->is_told;
        route->spawn_is_ready = route->is_told = route->is_telling = false;
        if (was_told)
            return true;
    }
    return false;
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct executor_route *route = from_port(port);
    struct executor *call = executor_call_port(route->call);
    bool is_waiting = route->spawn_is_ready && !route->is_told;
    if (call->ops->next_event(call, ret))
        return true;
    if (!is_waiting && next_of_spawn(route, ret))
        return true;
    if (!route->spawn_is_ready || route->is_told || !executor_call_is_settled(route->call))
        return false;
    if (!route->is_telling) { /* the engine expects news of all runs before READY */
        route->is_telling = true;
        executor_call_tell_again(route->call);
        if (call->ops->next_event(call, ret))
            return true;
    }
    route->is_told = true;
    route->is_telling = false;
    *ret = (struct executor_event){.kind = EXECUTOR_READY};
    return true;
}

static const char *version(const struct executor *port)
{
    const struct executor_route *route = (const struct executor_route *)port;
    const struct executor *spawn = executor_spawn_port(route->spawn);
    return spawn->ops->version(spawn);
}

static unsigned enforces(const struct executor *port)
{
    const struct executor_route *route = (const struct executor_route *)port;
    const struct executor *spawn = executor_spawn_port(route->spawn);
    return spawn->ops->enforces(spawn);
}

/* There is nothing to make ready for a call. */
static int64_t ahead_ms(const struct executor *port, const struct job *job)
{
    const struct executor_route *route = (const struct executor_route *)port;
    const struct executor *spawn = executor_spawn_port(route->spawn);
    return job->kind == JOB_HTTP || job->kind == JOB_FUNCTION ? 0
                                                              : spawn->ops->ahead_ms(spawn, job);
}

static const struct executor_ops ops = {.start = start,
                                        .kill = kill_run,
                                        .acknowledge = acknowledge,
                                        .values = values,
                                        .remove_values = remove_values,
                                        .look = look,
                                        .next_event = next_event,
                                        .version = version,
                                        .enforces = enforces,
                                        .ahead_ms = ahead_ms};

void executor_route_init(struct executor_route *route, struct executor_spawn *spawn,
                         struct executor_call *call, bool has_traces)
{
    *route = (struct executor_route){
        .port.ops = &ops, .spawn = spawn, .call = call, .has_traces = has_traces};
}
