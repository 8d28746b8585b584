/* peal get: some jobs, by name. */
#include <stdio.h>

#include "client/client.h"
#include "print/job_table.h"

struct request {
    struct request_base base;
    struct words names;
    enum output output;
};

/* Existing jobs are shown even if others are missing. */
static enum exit_code get(struct client *client, void *place)
{
    const struct request *request = place;
    const struct words *names = &request->names;
    json_t *jobs = json_array();
    enum exit_code worst = jobs ? EXIT_OK : cli_fail(E_NOMEM);
    for (int i = 0; jobs && i < names->count; i++) {
        struct reply reply;
        enum exit_code code = client_job(client, names->items[i], &reply);
        if (code != EXIT_OK) {
            worst = code;
            continue;
        }
        if (json_array_append(jobs, reply.body) != 0)
            worst = cli_fail(E_NOMEM);
        reply_release(&reply);
    }
    if (json_array_size(jobs)) {
        bool single = names->count == 1 && request->output == OUTPUT_JSON;
        enum exit_code code = single ? output_print(json_array_get(jobs, 0), request->output)
                                     : jobs_print(client, jobs, request->output);
        worst = code == EXIT_OK ? worst : code;
    }
    json_decref(jobs);
    return worst;
}

const struct command cmd_get = {
    .name = "get",
    .summary = "show jobs, as a table, YAML or JSON",
    .examples = EXAMPLES({"peal get backup", NULL}, {"peal get backup -o yaml > backup.yaml", NULL},
                         {"peal get backup -o json | jq .status", NULL}),
    .more = "json has all fields, and is a list for several names; yaml is the definition, as "
            "`peal apply` reads it.",
    .arguments = ROWS(ARGUMENTS(request, names, "NAME", .complete = COMPLETE_JOBS)),
    .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .too_few = "which job? All of them: peal list",
    .request_size = sizeof(struct request),
    .with_agent = get,
};
