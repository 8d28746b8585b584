/* peal resume: the end of a pause. */
#include "client/job_action.h"
#include "client/quiet/maintenance.h"
#include "text/tr.h"

static enum exit_code resume_jobs(struct client *client, void *place)
{
    const struct pause_request *request = place;
    enum exit_code code = pause_check(request);
    if (code != EXIT_OK)
        return code;
    return pause_is_wide(request) ? maintenance_resume(client, request->space)
                                  : job_action_run(client, &request->jobs, TR("resumed"));
}

const struct command cmd_resume = {
    .name = "resume",
    .summary = "allow new runs of paused jobs, of a namespace or of the cluster",
    .examples = EXAMPLES({"peal resume backup", NULL},
                         {"peal resume --status paused --label team=web --dry-run", NULL},
                         {"peal resume --cluster", NULL}),
    .usage = "NAME... | FILTER | --cluster | --namespace NS [options]",
    .arguments = match_arguments,
    .options =
        ROWS(OPTION_FLAG(pause_request, cluster, 0, "cluster", "the pause of the cluster"),
             OPTION_TEXT(pause_request, space, 0, "namespace", "NS", "the pause of a namespace"),
             OPTION_GROUP(pause_request, jobs, match_options)),
    .too_few = "which job?",
    .request_size = sizeof(struct pause_request),
    .with_agent = resume_jobs,
};
