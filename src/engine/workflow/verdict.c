#include "workflow/verdict.h"

#include <stdio.h>

static void end_as(struct verdict_end *ret, enum run_state state, enum run_reason reason)
{
    ret->state = state;
    ret->reason = reason;
}

/* What `when` or the items of a fan-out say. With a detail it is not the step's own `when`, but a
 * workflow that it waits for, or is in. */
static enum step_verdict evaluate(struct instances *instances, const struct flow *flow,
                                  const struct run *run, int step, struct verdict_end *ret)
{
    struct instance_scope scope;
    bool is_to_run = false;
    int items;
    instances_scope(instances, run, &scope);
    enum status st =
        flow_when(flow, step, &scope.flow, &is_to_run, ret->detail, sizeof(ret->detail));
    if (st == OK && !is_to_run) {
        end_as(ret, RUN_SKIPPED, ret->detail[0] ? REASON_UPSTREAM : REASON_WHEN);
        return VERDICT_END;
    }
    bool is_fan_out = flow_is_fan_out(flow, step);
    if (st == OK && is_fan_out)
        st = flow_items(flow, step, &scope.flow, &items, ret->detail, sizeof(ret->detail));
    if (st == E_NOMEM)
        return VERDICT_NONE;
    if (st != OK) {
        end_as(ret, RUN_FAILED, REASON_NO_START);
        return VERDICT_END;
    }
    return is_fan_out ? VERDICT_OPEN : VERDICT_RUN;
}

static enum step_verdict upstream(const struct flow *flow, const struct run *run, int step,
                                  struct verdict_end *ret)
{
    snprintf(ret->detail, sizeof(ret->detail),
             "%d of %d steps before it ended as required; it needs %d", run->joins.met,
             flow_inputs(flow, step), flow_join(flow, step));
    end_as(ret, RUN_SKIPPED, REASON_UPSTREAM);
    return VERDICT_END;
}

/* To kill the step, or its whole instance. */
static enum run_reason order_of(const struct instances *instances, const struct open_run *open)
{
    return open->kill != REASON_NONE ? open->kill : open_runs_order(instances->runs, &open->run);
}

/* An item, and a further attempt, were decided on with the fan-out and with the first attempt. */
static enum step_verdict judge(struct instances *instances, const struct open_run *open,
                               struct verdict_end *ret)
{
    const struct run *run = &open->run;
    const struct flow *flow = instances_flow(instances, run);
    int step = flow_step_of(run->part);
    *ret = (struct verdict_end){.reason = REASON_NONE};
    if (!flow || step < 0 || step >= flow_count(flow))
        return VERDICT_NONE;
    enum run_reason order = order_of(instances, open);
    if (order != REASON_NONE) {
        end_as(ret, RUN_SKIPPED, order);
        return VERDICT_END;
    }
    if (flow_part_is_item(run->part) || run->attempt > 1)
        return VERDICT_RUN;
    if (run->joins.met < flow_join(flow, step))
        return upstream(flow, run, step, ret);
    return evaluate(instances, flow, run, step, ret);
}

/* Only an order to kill changes a verdict. */
enum step_verdict verdict_find(struct instances *instances, struct open_run *open)
{
    struct verdict_end end;
    if (!run_is_step(&open->run) || open->run.state != RUN_DUE)
        return VERDICT_NONE;
    if (open->verdict == VERDICT_NONE || order_of(instances, open) != REASON_NONE)
        open->verdict = judge(instances, open, &end);
    return open->verdict;
}

bool verdict_tell(struct instances *instances, const struct open_run *open, struct verdict_end *ret)
{
    return judge(instances, open, ret) == VERDICT_END;
}
