/* peal resume: the end of a pause. */
#include "client/job_action.h"
#include "text/tr.h"

static enum exit_code resume_jobs(struct client *client, void *request)
{
    return job_action_run(client, request, TR("resumed"));
}

const struct command cmd_resume = {
    .name = "resume",
    .summary = "allow new runs of paused jobs",
    .examples = EXAMPLES({"peal resume backup", NULL},
                         {"peal resume --status paused --label team=web --dry-run", NULL}),
    .usage = "NAME... | FILTER [options]",
    .arguments = match_arguments,
    .options = match_options,
    .too_few = "which job?",
    .request_size = sizeof(struct match_request),
    .with_agent = resume_jobs,
};
