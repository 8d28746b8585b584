/* peal kill: end runs that are under way. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"
#include "id.h"
#include "jobs/job_match.h"
#include "print/run_table.h"

static const struct option options[] = {CLIENT_OPTIONS, MATCH_OPTIONS, {0}};

static enum exit_code kill_run(struct client *client, const char *run_id)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_post(client, run_path(&path, run_id, "/kill"), NULL, NULL);
    strbuf_release(&path);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: told to end\n", run_id);
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
    strbuf_adds(&path, "/runs?state=" OPEN_STATES "&job=");
    url_escape(&path, name);
    strbuf_addc(&path, '&');
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

static enum exit_code kill_each(struct client *client, int count, char **names)
{
    enum exit_code worst = EXIT_OK;
    struct id id;
    for (int i = 0; i < count; i++) {
        bool is_id = id_parse(names[i], &id) == OK;
        enum exit_code code = is_id ? kill_run(client, names[i]) : kill_job(client, names[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct job_match match;
    struct client *client;
    enum exit_code code = job_match_open(
        self, argc, argv, "what? Give a job's name or the id of a run", &match, &client);
    if (code != EXIT_OK)
        return code;
    code = match.is_given ? job_match_run(client, &match, "kill", "their runs were told to end")
                          : kill_each(client, argc - optind, argv + optind);
    client_close(client);
    return code;
}

const struct command cmd_kill = {
    .name = "kill",
    .summary = "end a run, or all runs of a job",
    .help = "Examples:\n"
            "  peal kill backup                      every run of the job that is under way\n"
            "  peal kill 01K9ZQ3V7C8XH2M4N5P6Q7R8S9\n"
            "  peal kill --label team=web\n"
            "\n"
            "Usage: peal kill JOB|RUN... | FILTER [options]\n"
            "\n"
            "The whole process tree gets TERM, and KILL when the job's grace has passed.\n"
            "\n"
            "Options:\n" MATCH_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
