/* peal get: some jobs, by name. */
#include <stdio.h>

#include "client/client.h"
#include "print/job_table.h"

static const struct option options[] = {CLIENT_OPTIONS, OUTPUT_OPTION, {0}};

/* Those that are there are shown, also when others are not. */
static enum exit_code get(struct client *client, char **names, int count, enum output output)
{
    json_t *jobs = json_array();
    enum exit_code worst = jobs ? EXIT_OK : cli_fail(E_NOMEM);
    for (int i = 0; jobs && i < count; i++) {
        struct reply reply;
        enum exit_code code = client_job(client, names[i], &reply);
        if (code != EXIT_OK) {
            worst = code;
            continue;
        }
        if (json_array_append(jobs, reply.body) != 0)
            worst = cli_fail(E_NOMEM);
        reply_release(&reply);
    }
    if (json_array_size(jobs)) {
        bool single = count == 1 && output == OUTPUT_JSON;
        enum exit_code code = single ? output_print(json_array_get(jobs, 0), output)
                                     : jobs_print(client, jobs, output);
        worst = code == EXIT_OK ? worst : code;
    }
    json_decref(jobs);
    return worst;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    enum output output = OUTPUT_TABLE;
    struct client *client;
    enum exit_code code =
        client_to_show(self, argc, argv, "which job? All of them: peal list", &output, &client);
    if (code != EXIT_OK)
        return code;
    code = get(client, argv + optind, argc - optind, output);
    client_close(client);
    return code;
}

const struct command cmd_get = {
    .name = "get",
    .summary = "one job, or some, in a line, as YAML or as JSON",
    .help = "Examples:\n"
            "  peal get backup\n"
            "  peal get backup -o yaml > backup.yaml\n"
            "  peal get backup -o json | jq .status\n"
            "\n"
            "Usage: peal get NAME... [options]\n"
            "\n"
            "Options:\n" OUTPUT_HELP CLIENT_HELP "\n"
            "json has all fields, as a list for several names; yaml is the definition, as\n"
            "`peal apply` takes it.\n",
    .getopt_rows = options,
    .old_run = run,
};
