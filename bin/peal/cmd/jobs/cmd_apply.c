/* peal apply: make the agent's jobs what files say. */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/batch.h"
#include "jobs/definition.h"

enum { OPTION_DRY_RUN = OPTION_LONG_ONLY, OPTION_PRUNE };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"file", required_argument, NULL, 'f'},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"prune", no_argument, NULL, OPTION_PRUNE},
    {"yes", no_argument, NULL, 'y'},
    {0},
};

struct request {
    const char *data;
    struct file_args files;
    bool dry_run, prune, yes;
};

static bool take_option(const struct command *self, int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case 'f':
        return file_args_take(&request->files, self, optarg);
    case OPTION_DRY_RUN:
        return request->dry_run = true;
    case OPTION_PRUNE:
        return request->prune = true;
    case 'y':
        return request->yes = true;
    default:
        return false;
    }
}

static bool is_defined(const struct job_list *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->items[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* Every job of the agent that no file has. */
static enum exit_code add_pruned(struct client *client, const struct job_list *jobs,
                                 struct batch *batch)
{
    json_t *there;
    const json_t *job;
    size_t i;
    enum exit_code code = client_list(client, "/jobs?", 0, &there);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (there, i, job) {
        if (!is_defined(jobs, answer_text(job, "name")) &&
            json_array_append(batch->delete, json_object_get(job, "name")) != 0)
            code = cli_fail(E_NOMEM);
    }
    json_decref(there);
    return code;
}

static bool may_prune(const struct request *request, const struct batch *batch)
{
    size_t count = json_array_size(batch->delete);
    if (count == 0 || request->dry_run)
        return true;
    fprintf(stderr, "not in the files, and to be deleted:\n");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "  %s\n", json_string_value(json_array_get(batch->delete, i)));
    return confirmed(request->yes, "Delete %zu job%s?", count, count == 1 ? "" : "s");
}

static enum exit_code apply(struct client *client, const struct request *request,
                            const struct job_list *jobs)
{
    struct batch batch;
    json_t *results;
    enum exit_code code = batch_init(&batch);
    if (code == EXIT_OK)
        code = batch_put_all(&batch, jobs);
    if (code == EXIT_OK && request->prune)
        code = add_pruned(client, jobs, &batch);
    if (code == EXIT_OK && !may_prune(request, &batch)) {
        fputs("nothing was changed\n", stderr);
        code = EXIT_ERROR;
    }
    if (code == EXIT_OK)
        code = batch_send(client, &batch, request->dry_run, &results);
    if (code == EXIT_OK) {
        batch_print(results, request->dry_run);
        json_decref(results);
    }
    batch_release(&batch);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    struct client *client;
    struct reading reading;
    struct job_list jobs;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            return EXIT_USAGE;
    }
    if (optind < argc)
        return cli_usage(self, "unexpected \"%s\"; files go with -f", argv[optind]);
    if (request.files.count == 0)
        return cli_usage(self, "which file? Give it with -f");
    enum exit_code code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    job_list_init(&jobs);
    code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = definitions_read(&reading, &request.files, &jobs);
    if (code == EXIT_OK)
        code = apply(client, &request, &jobs);
    job_list_release(&jobs);
    reading_release(&reading);
    client_close(client);
    return code;
}

const struct command cmd_apply = {
    .name = "apply",
    .summary = "create and change jobs from files",
    .help =
        "Examples:\n"
        "  peal apply -f jobs.yaml\n"
        "  peal apply -f jobs.d --prune             a folder is the whole truth\n"
        "  peal apply -f jobs.yaml --dry-run\n"
        "  generate-jobs | peal apply -f -\n"
        "\n"
        "Usage: peal apply -f FILE|DIR|- [-f ...] [options]\n"
        "\n"
        "Of a folder, *.yaml, *.yml and *.json are read. All is checked before anything is\n"
        "changed. What was done is printed, a line per job.\n"
        "\n"
        "Options:\n"
        "  -f, --file F     a file, a folder, or - for stdin; may repeat\n"
        "  --dry-run        only say what would change\n"
        "  --prune          delete every job that is not in the files; they are listed\n"
        "  -y, --yes        do not ask before deleting (asked is on a terminal only)\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
