/* peal kill: end runs that are under way. */
#include <stdio.h>

#include "cli/when.h"
#include "jobs/job_match.h"
#include "print/run_table.h"
#include "text/tr.h"

static enum exit_code kill_run(struct client *client, const char *run_id)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_post(client, run_path(&path, run_id, "/kill"), NULL, NULL);
    strbuf_release(&path);
    if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: told to end"), run_id);
        fputc('\n', stderr);
    }
    return code;
}

/* Every run of the job that is not over. */
static enum exit_code kill_job(struct client *client, const char *name)
{
    struct strbuf path;
    struct reply job;
    json_t *runs;
    const json_t *run;
    size_t i;
    enum exit_code worst = client_job(client, name, &job);
    if (worst != EXIT_OK)
        return worst;
    reply_release(&job);
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?state=" OPEN_STATES "&");
    url_param(&path, "job", name);
    worst = client_list(client, path.text, 0, &runs);
    strbuf_release(&path);
    if (worst != EXIT_OK)
        return worst;
    if (json_array_size(runs) == 0) {
        cli_error("%s is not running", name);
        worst = EXIT_NOT_FOUND;
    }
    json_array_foreach (runs, i, run) {
        enum exit_code code = kill_run(client, answer_text(run, "run_id"));
        if (code != EXIT_OK)
            worst = code;
    }
    json_decref(runs);
    return worst;
}

static enum exit_code kill_each(struct client *client, const struct words *names)
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < names->count; i++) {
        struct strbuf run_id;
        strbuf_init(&run_id);
        enum exit_code code = run_by_id(client, names->items[i], &run_id);
        if (code == EXIT_OK)
            code =
                run_id.length ? kill_run(client, run_id.text) : kill_job(client, names->items[i]);
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
