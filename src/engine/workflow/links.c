#include "workflow/links.h"

#include <stdio.h>
#include <stdlib.h>

#include "workflow/opening.h"

/* An end that a fan-out, or the instance, waits for. */
static struct store_link to_group(int part)
{
    return (struct store_link){.part = part, .is_group = true};
}

/* The store numbers the next item: only it knows which ones there are. */
static struct store_link to_fan_out(const struct engine_ports *ports, struct instances *instances,
                                    struct now now, const struct flow *flow,
                                    const struct run *ended)
{
    int group = flow_part_of(flow_step_of(ended->part));
    struct store_link link = to_group(group);
    opening_fill_step(ports, instances, now, flow, group, ended, &link.step);
    return link;
}

static struct store_link to_step(const struct engine_ports *ports, struct instances *instances,
                                 struct now now, const struct flow *flow, const struct run *ended,
                                 const struct flow_edge *edge)
{
    struct run waiting = *ended;
    struct store_link link = {.part = flow_part_of(edge->step),
                              .states = edge->states,
                              .inputs = flow_inputs(flow, edge->step),
                              .join = flow_join(flow, edge->step)};
    waiting.part = link.part;
    opening_fill_step(ports, instances, now, flow, link.part, &waiting, &link.step);
    return link;
}

static size_t fill(const struct engine_ports *ports, struct instances *instances, struct now now,
                   const struct flow *flow, const struct run *ended, struct store_link *links)
{
    size_t count;
    if (flow_part_is_item(ended->part)) {
        links[0] = to_fan_out(ports, instances, now, flow, ended);
        return 1;
    }
    const struct flow_edge *edges = flow_edges(flow, flow_step_of(ended->part), &count);
    for (size_t i = 0; i < count; i++)
        links[i] = edges[i].step < 0 ? to_group(FLOW_INSTANCE)
                                     : to_step(ports, instances, now, flow, ended, &edges[i]);
    return count;
}

/* When its instance is over, or gone, nothing waits for a step. */
enum status links_fill(const struct engine_ports *ports, struct instances *instances,
                       struct now now, struct store_finish *finish)
{
    const struct run *ended = &finish->run;
    size_t count = 1;
    finish->links = NULL;
    finish->link_count = 0;
    const struct open_run *instance = open_runs_instance(instances->runs, ended);
    if (!instance || run_state_is_end(instance->run.state))
        return OK;
    const struct flow *flow = instances_flow(instances, ended);
    int step = flow_step_of(ended->part);
    if (!flow || step < 0 || step >= flow_count(flow))
        return E_BUSY;
    if (!flow_part_is_item(ended->part))
        flow_edges(flow, step, &count);
    if (!count)
        return OK;
    finish->links = calloc(count, sizeof(finish->links[0]));
    if (!finish->links)
        return E_NOMEM;
    finish->link_count = fill(ports, instances, now, flow, ended, finish->links);
    return OK;
}
