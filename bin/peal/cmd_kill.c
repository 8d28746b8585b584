/* peal kill: end runs that are under way. */
#include <stdio.h>

#include "client.h"
#include "id.h"
#include "run_table.h"
#include "when.h"

static const struct option options[] = {CLIENT_OPTIONS, {0}};

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

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct client *client;
    struct id id;
    enum exit_code worst = client_from_options(
        self, argc, argv, "what? Give a job's name or the id of a run", &client);
    if (worst != EXIT_OK)
        return worst;
    for (int i = optind; i < argc; i++) {
        bool is_id = id_parse(argv[i], &id) == OK;
        enum exit_code code = is_id ? kill_run(client, argv[i]) : kill_job(client, argv[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    client_close(client);
    return worst;
}

const struct command cmd_kill = {
    .name = "kill",
    .summary = "end a run, or all runs of a job",
    .help = "Examples:\n"
            "  peal kill backup                      every run of the job that is under way\n"
            "  peal kill 01K9ZQ3V7C8XH2M4N5P6Q7R8S9\n"
            "\n"
            "Usage: peal kill JOB|RUN...\n"
            "\n"
            "The whole process tree gets TERM, and KILL when the job's grace has passed.\n"
            "\n"
            "Options:\n" CLIENT_HELP,
    .options = options,
    .run = run,
};
