/* peal pause: ticks are skipped until peal resume; of jobs, of a namespace or of the cluster. */
#include "client/job_action.h"
#include "client/quiet/maintenance.h"
#include "text/tr.h"

static enum exit_code pause_jobs(struct client *client, void *place)
{
    const struct pause_request *request = place;
    enum exit_code code = pause_check(request);
    if (code != EXIT_OK)
        return code;
    if (!pause_is_wide(request))
        return job_action_run(client, &request->jobs, TR("paused"));
    return maintenance_post(
        client, json_pack("{s:s*, s:s*}", "namespace", request->space, "reason", request->reason));
}

const struct command cmd_pause = {
    .name = "pause",
    .summary = "stop new runs of jobs, of a namespace or of the cluster",
    .examples = EXAMPLES({"peal pause backup", NULL}, {"peal pause backup report", NULL},
                         {"peal pause --label team=web", NULL},
                         {"peal pause --cluster --reason 'the database moves'", NULL}),
    .usage = "NAME... | FILTER | --cluster | --namespace NS [options]",
    .notes =
        "Current runs continue. Ticks meanwhile are recorded as skipped (paused). --all pauses "
        "each job that there is now; --cluster is one pause, also of jobs that are added "
        "later.",
    .arguments = match_arguments,
    .options =
        ROWS(OPTION_FLAG(pause_request, cluster, 0, "cluster", "the whole cluster, with one pause"),
             OPTION_TEXT(pause_request, space, 0, "namespace", "NS",
                         "all jobs of a namespace, with one pause"),
             OPTION_TEXT(pause_request, reason, 0, "reason", "TEXT",
                         "why, with --cluster or --namespace: the ledger says it"),
             OPTION_GROUP(pause_request, jobs, match_options)),
    .too_few = "which job?",
    .request_size = sizeof(struct pause_request),
    .with_agent = pause_jobs,
};
