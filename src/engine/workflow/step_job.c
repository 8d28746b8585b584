#include "workflow/step_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/opening.h"

enum status step_job(struct instances *instances, const struct run *run, struct job **ret,
                     char *why, size_t size)
{
    const struct flow *flow = instances_flow(instances, run);
    int step = flow_step_of(run->part);
    struct instance_scope scope;
    if (!flow)
        return E_BUSY;
    if (step < 0 || step >= flow_count(flow)) {
        snprintf(why, size, "the plan of the instance has no such step");
        return E_INVALID;
    }
    instances_scope(instances, run, &scope);
    enum status st = flow_job(flow, run->part, &scope.flow, ret, why, size);
    return st == E_NOMEM ? E_BUSY : st;
}

void step_tell_unopened(const struct engine_ports *ports, struct instances *instances,
                        struct now now, const struct run *run, char *why, size_t size)
{
    const struct catalog_job *job = catalog_by_uid(instances->catalog, &run->job_uid);
    struct store_opening opening;
    enum status st = job && job->is_workflow ? opening_of_workflow(ports, instances, now, job,
                                                                   &run->input, &opening, why, size)
                                             : E_NOT_FOUND;
    if (st == OK)
        opening_release(&opening);
    if (st == OK || st == E_NOT_FOUND)
        snprintf(why, size, "the workflow was changed after the claim");
}

static void fail(struct run *run, const char *what)
{
    if (run->state != RUN_OK)
        return;
    run->state = RUN_FAILED;
    run->reason = REASON_STEP_OUTPUT;
    snprintf(run->detail, sizeof(run->detail), "%s", what);
}

/* What a step must have written, if its plan is known: it is not for the first moment of an agent
 * that was restarted. */
static enum status check_declared(struct instances *instances, const struct open_run *open,
                                  char *why, size_t size)
{
    const struct flow *flow = instances_flow(instances, &open->run);
    int step = flow_step_of(open->run.part);
    if (!flow || step < 0 || step >= flow_count(flow))
        return OK;
    return flow_check_output(flow, step, open->output, why, size);
}

void step_read_output(struct instances *instances, struct executor *executor, struct open_run *open)
{
    char why[sizeof(open->run.detail)] = "";
    char *text = NULL;
    size_t length = 0;
    if (!executor->ops->values || open->output)
        return;
    enum status st = executor->ops->values(executor, &open->run.id, &text, &length);
    if (st == OK && text)
        st = flow_read_output(text, length, &open->output, why, sizeof(why));
    free(text);
    if (st == OK && open->output && strlen(open->output) > OUTPUT_JSON_MAX) {
        free(open->output);
        open->output = NULL;
        st = E_TOO_LARGE;
    }
    if (st == OK)
        st = check_declared(instances, open, why, sizeof(why));
    if (st != OK)
        fail(&open->run, why[0] ? why : status_text(st));
}
