/* peal undelete: a deleted job is kept for seven days. */
#include "client/job_action.h"
#include "text/tr.h"

static enum exit_code undelete_jobs(struct client *client, void *request)
{
    return job_action_run(client, request, TR("undeleted"));
}

const struct command cmd_undelete = {
    .name = "undelete",
    .summary = "restore deleted jobs",
    .examples = EXAMPLES({"peal undelete backup", NULL}, {"peal list --deleted", NULL}),
    .notes = "A deleted job is kept for seven days.",
    .arguments = ROWS(ARGUMENTS(match_request, names, "NAME", .complete = COMPLETE_DELETED_JOBS)),
    .options = client_options,
    .too_few = "which job?",
    .request_size = sizeof(struct match_request),
    .with_agent = undelete_jobs,
};
