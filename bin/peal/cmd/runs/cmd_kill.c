/* peal kill: end runs that are under way. */
#include <stdio.h>

#include "cli/when.h"
#include "cmd/runs/run_kill.h"
#include "jobs/job_match.h"
#include "print/run_table.h"
#include "text/tr.h"

static enum exit_code kill_job(struct client *client, const char *name)
{
    struct reply job;
    enum exit_code code = client_job(client, name, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    return run_kill_all(client, KIND_RUN, name);
}

static enum exit_code kill_each(struct client *client, const struct words *names)
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < names->count; i++) {
        struct strbuf run_id;
        strbuf_init(&run_id);
        enum exit_code code = run_by_id(client, names->items[i], &run_id);
        if (code == EXIT_OK)
            code = run_id.length ? run_kill(client, KIND_RUN, run_id.text)
                                 : kill_job(client, names->items[i]);
        if (code != EXIT_OK)
            worst = code;
        strbuf_release(&run_id);
    }
    return worst;
}

static enum exit_code kill_matched(struct client *client, void *place)
{
    const struct match_request *request = place;
    enum exit_code code = job_match_check(request);
    if (code != EXIT_OK)
        return code;
    return job_match_is_given(&request->match)
               ? job_match_run(client, request, "kill", TR("their runs were told to end"))
               : kill_each(client, &request->names);
}

const struct command cmd_kill = {
    .name = "kill",
    .summary = "kill runs, by run or by job",
    .examples = EXAMPLES({"peal kill backup", "all current runs of the job"},
                         {"peal kill 01K9ZQ3V7C8XH2M4N5P6Q7R8S9", NULL},
                         {"peal kill --label team=web", NULL}),
    .usage = "JOB|RUN... | FILTER [options]",
    .notes = "The whole process tree gets SIGTERM, and SIGKILL after the grace period of the job.",
    .arguments = match_arguments,
    .options = match_options,
    .too_few = "which run? Give a job's name or the id of a run",
    .request_size = sizeof(struct match_request),
    .with_agent = kill_matched,
};
