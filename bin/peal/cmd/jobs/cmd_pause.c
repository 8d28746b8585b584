/* peal pause: its ticks are skipped until peal resume. */
#include "client/job_action.h"
#include "text/tr.h"

static enum exit_code pause_jobs(struct client *client, void *request)
{
    return job_action_run(client, request, TR("paused"));
}

const struct command cmd_pause = {
    .name = "pause",
    .summary = "stop new runs of jobs",
    .examples = EXAMPLES({"peal pause backup", NULL}, {"peal pause backup report", NULL},
                         {"peal pause --label team=web", NULL}),
    .usage = "NAME... | FILTER [options]",
    .notes = "Current runs continue. Ticks meanwhile are recorded as skipped (paused).",
    .arguments = match_arguments,
    .options = match_options,
    .too_few = "which job?",
    .request_size = sizeof(struct match_request),
    .with_agent = pause_jobs,
};
