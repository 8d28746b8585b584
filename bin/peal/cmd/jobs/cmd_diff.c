/* peal diff: what `peal apply` would change, line by line; or what has changed of a job. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "jobs/definition.h"
#include "print/diff_print.h"
#include "text_diff.h"

enum { OPTION_PRUNE = OPTION_LONG_ONLY, OPTION_REVISION, OPTION_TO };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"file", required_argument, NULL, 'f'},
    {"prune", no_argument, NULL, OPTION_PRUNE},
    {"revision", required_argument, NULL, OPTION_REVISION},
    {"to", required_argument, NULL, OPTION_TO},
    {0},
};

struct request {
    const char *data;
    struct file_args files;
    bool prune;
    const char *job, *revision, *to; /* instead of files */
};

/* Either text may be empty: the job is not there. */
static enum exit_code show(const char *name, const char *there, const char *wanted, bool *differs)
{
    struct strbuf diff, old_name, new_name;
    strbuf_init(&diff);
    strbuf_init(&old_name);
    strbuf_init(&new_name);
    strbuf_addf(&old_name, "%s%s", *there ? "agent/" : "/dev/null", *there ? name : "");
    strbuf_addf(&new_name, "%s%s", *wanted ? "files/" : "/dev/null", *wanted ? name : "");
    enum status st = text_diff(old_name.text, there, new_name.text, wanted, &diff);
    if (st == OK && diff.length) {
        *differs = true;
        diff_print(diff.text);
    }
    strbuf_release(&diff);
    strbuf_release(&old_name);
    strbuf_release(&new_name);
    return cli_fail(st);
}

static const json_t *find_job(const json_t *there, const char *name)
{
    const json_t *job;
    size_t i;
    json_array_foreach (there, i, job) {
        if (strcmp(answer_text(job, "name"), name) == 0)
            return job;
    }
    return NULL;
}

static enum exit_code diff_job(const struct reading *reading, const json_t *there,
                               const struct job *wanted, bool *differs)
{
    struct strbuf old, new;
    const json_t *job = find_job(there, wanted->name);
    strbuf_init(&old);
    strbuf_init(&new);
    enum status st = job ? definition_yaml(reading, job, &old) : OK;
    if (st == OK)
        st = job_encode_yaml(wanted, &new);
    enum exit_code code = cli_fail(st);
    if (code == EXIT_OK)
        code = show(wanted->name, old.text, new.text, differs);
    strbuf_release(&old);
    strbuf_release(&new);
    return code;
}

/* Jobs that are in no file. */
static enum exit_code diff_pruned(const struct reading *reading, const json_t *there,
                                  const struct job_list *wanted, bool *differs)
{
    enum exit_code code = EXIT_OK;
    const json_t *job;
    size_t i;
    json_array_foreach (there, i, job) {
        const char *name = answer_text(job, "name");
        bool defined = false;
        struct strbuf yaml;
        for (size_t j = 0; j < wanted->count; j++)
            defined = defined || strcmp(wanted->items[j]->name, name) == 0;
        if (defined || code != EXIT_OK)
            continue;
        strbuf_init(&yaml);
        code = cli_fail(definition_yaml(reading, job, &yaml));
        if (code == EXIT_OK)
            code = show(name, yaml.text, "", differs);
        strbuf_release(&yaml);
    }
    return code;
}

static enum exit_code diff(struct client *client, const struct request *request)
{
    struct reading reading;
    struct job_list wanted;
    json_t *there = NULL;
    bool differs = false;
    job_list_init(&wanted);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = definitions_read(&reading, &request->files, &wanted);
    if (code == EXIT_OK)
        code = client_list(client, "/jobs?", 0, &there);
    for (size_t i = 0; i < wanted.count && code == EXIT_OK; i++)
        code = diff_job(&reading, there, wanted.items[i], &differs);
    if (code == EXIT_OK && request->prune)
        code = diff_pruned(&reading, there, &wanted, &differs);
    json_decref(there);
    job_list_release(&wanted);
    reading_release(&reading);
    return code == EXIT_OK && differs ? EXIT_ERROR : code;
}

static enum exit_code diff_revisions(struct client *client, const struct request *request)
{
    bool differs = false;
    enum exit_code code =
        diff_print_revisions(client, request->job, request->revision, request->to, &differs);
    if (code == EXIT_NOT_FOUND)
        fprintf(stderr, "See: peal versions %s\n", request->job);
    return code == EXIT_OK && differs ? EXIT_ERROR : code;
}

static bool take_option(const struct command *self, int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_PRUNE:
        request->prune = true;
        return true;
    case OPTION_REVISION:
        request->revision = optarg;
        return true;
    case OPTION_TO:
        request->to = optarg;
        return true;
    case 'f':
        return file_args_take(&request->files, self, optarg);
    default:
        return false;
    }
}

/* Files, or a job and a revision of it. */
static enum exit_code check(const struct command *self, struct request *request, int argc,
                            char **argv)
{
    bool of_job = request->revision != NULL;
    int64_t number;
    if ((of_job && !cli_number(self, "--revision", request->revision, 1, INT64_MAX, &number)) ||
        (request->to && !cli_number(self, "--to", request->to, 1, INT64_MAX, &number)))
        return EXIT_USAGE;
    if (of_job && request->files.count)
        return cli_usage(self, "either -f or --revision");
    if (of_job && argc - optind != 1)
        return cli_usage(self, "which job? One at a time");
    if (!of_job && request->to)
        return cli_usage(self, "--to needs --revision");
    if (!of_job && optind < argc)
        return cli_usage(self, "unexpected \"%s\"; files go with -f, a job with --revision",
                         argv[optind]);
    if (!of_job && request->files.count == 0)
        return cli_usage(self, "which file? Give it with -f");
    request->job = of_job ? argv[optind] : NULL;
    return EXIT_OK;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    struct client *client;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            return EXIT_USAGE;
    }
    enum exit_code code = check(self, &request, argc, argv);
    if (code == EXIT_OK)
        code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    code = request.job ? diff_revisions(client, &request) : diff(client, &request);
    client_close(client);
    return code;
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "what `peal apply` would change",
    .help =
        "Examples:\n"
        "  peal diff -f jobs.yaml\n"
        "  peal diff -f jobs.d --prune && echo in sync\n"
        "  peal diff backup --revision 17               what has changed since then\n"
        "  peal diff backup --revision 17 --to 19\n"
        "\n"
        "Usage: peal diff -f FILE|DIR|- [-f ...] [options]\n"
        "       peal diff JOB --revision N [--to N]\n"
        "\n"
        "A unified diff of each job's YAML, from what the agent has to what the files say; or of\n"
        "one job, from one of its revisions (peal versions JOB) to another, or to the current.\n"
        "Exit status as that of diff: 0 no difference, 1 differences; more for trouble.\n"
        "\n"
        "Options:\n"
        "  -f, --file F     a file, a folder, or - for stdin; may repeat\n"
        "  --prune          show jobs that are in no file, too\n"
        "  --revision N, --to N\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
