/* A workflow as a whole: the fields that it does not have, and its steps together. */
#include <string.h>

#include "workflow/steps_graph.h"

static enum status check_kind(const struct decoder *d, const struct spot *root)
{
    struct spot kind = {root, "kind", 0, node_get(root->node, "kind")};
    bool is_job =
        kind.node && kind.node->kind == NODE_SCALAR && strcmp(kind.node->text, "job") == 0;
    if (is_job)
        return spot_fail(d->err, &kind,
                         "a job with steps is a workflow; leave it out, or write workflow");
    if (!node_get(root->node, "steps"))
        return spot_fail(d->err, root, "workflow \"%s\" needs \"steps\"",
                         d->job->name ? d->job->name : "?");
    return OK;
}

/* What its steps have instead of it. */
static enum status check_field(const struct decoder *d, const struct field *field,
                               const struct spot *spot)
{
    if (!spot->node || field->of == OF_WHOLE || field->of == OF_EITHER)
        return OK;
    if (field->of == OF_NEITHER)
        return spot_fail(d->err, spot,
                         "is not for workflows; a step with \"each\" runs once for each item");
    return spot_fail(d->err, spot, "belongs to a step, not to the workflow");
}

/* Its steps run on any nodes; only a process has a node that has booted. */
static enum status check_boot(const struct decoder *d, const struct spot *root)
{
    const struct job *job = d->job;
    for (size_t i = 0; i < job->schedule_count; i++) {
        if (!strstr(job->schedules[i], "@reboot"))
            continue;
        const char *field = node_get(root->node, "schedule") ? "schedule" : "schedules";
        struct spot spot = {root, field, 0, node_get(root->node, field)};
        return spot_fail(d->err, &spot,
                         "@reboot is not for workflows, whose steps run on any of the nodes");
    }
    return OK;
}

static enum status check_steps(const struct decoder *d, const struct spot *root)
{
    struct steps_graph graph;
    enum status worst = OK;
    enum status st = steps_graph_init(&graph, d, root);
    if (st == OK)
        st = decoder_go_on(d, steps_graph_check(&graph), &worst);
    if (st == OK)
        st = decoder_go_on(d, steps_refs_check(&graph), &worst);
    steps_graph_release(&graph);
    return st == OK ? worst : st;
}

enum status check_workflow(const struct decoder *d, const struct spot *root)
{
    enum status worst = OK;
    enum status st = decoder_go_on(d, check_kind(d, root), &worst);
    for (const struct field *field = job_fields; field->name && st == OK; field++) {
        struct spot spot = {root, field->name, 0, node_get(root->node, field->name)};
        st = decoder_go_on(d, check_field(d, field, &spot), &worst);
    }
    if (st == OK)
        st = decoder_go_on(d, check_boot(d, root), &worst);
    if (st == OK)
        st = decoder_go_on(d, check_steps(d, root), &worst);
    return st == OK ? worst : st;
}
