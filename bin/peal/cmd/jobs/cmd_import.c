/* peal import: jobs from a crontab. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/batch.h"
#include "jobs/crontab_source.h"

enum { OPTION_USER = OPTION_LONG_ONLY, OPTION_SYSTEM, OPTION_APPLY, OPTION_REPLACE };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"user", required_argument, NULL, OPTION_USER},
    {"system", no_argument, NULL, OPTION_SYSTEM},
    {"apply", no_argument, NULL, OPTION_APPLY},
    {"replace", no_argument, NULL, OPTION_REPLACE},
    {0},
};

struct request {
    const char *data;
    struct crontab_request from;
    bool apply, replace;
};

static void take_option(int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        break;
    case OPTION_USER:
        request->from.user = optarg;
        break;
    case OPTION_SYSTEM:
        request->from.system = true;
        break;
    case OPTION_APPLY:
        request->apply = true;
        break;
    default:
        request->replace = true;
        break;
    }
}

static enum exit_code print_yaml(const struct job_list *jobs)
{
    struct strbuf yaml;
    enum status st = OK;
    strbuf_init(&yaml);
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        strbuf_truncate(&yaml, 0);
        st = job_encode_yaml(jobs->items[i], &yaml);
        if (st == OK)
            printf("%s%s", i ? "---\n" : "", yaml.text);
    }
    strbuf_release(&yaml);
    return cli_fail(st);
}

/* A job of the same name that is another one must not be lost by an import. */
static enum exit_code refuse_changes(struct client *client, const struct batch *batch)
{
    json_t *results;
    const json_t *each;
    size_t i;
    enum exit_code code = batch_send(client, batch, true, &results);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (results, i, each) {
        if (strcmp(answer_text(each, "result"), "changed") != 0)
            continue;
        cli_error("there is another job named %s", answer_text(each, "name"));
        code = EXIT_CONFLICT;
    }
    if (code == EXIT_CONFLICT)
        fputs("nothing was changed; --replace changes them\n", stderr);
    json_decref(results);
    return code;
}

static enum exit_code apply(struct client *client, const struct request *request,
                            const struct job_list *jobs)
{
    struct batch batch;
    json_t *results;
    enum exit_code code = batch_init(&batch);
    if (code == EXIT_OK)
        code = batch_put_all(&batch, jobs);
    if (code == EXIT_OK && !request->replace)
        code = refuse_changes(client, &batch);
    if (code == EXIT_OK)
        code = batch_send(client, &batch, false, &results);
    if (code == EXIT_OK) {
        batch_print(results, false);
        json_decref(results);
    }
    batch_release(&batch);
    return code;
}

/* Without --apply no agent is needed. */
static enum exit_code import(const struct request *request)
{
    struct client *client = NULL;
    struct reading reading = {0};
    struct job_list jobs;
    size_t lost = 0;
    job_list_init(&jobs);
    enum exit_code code = request->apply ? client_open(request->data, &client) : EXIT_OK;
    if (code == EXIT_OK)
        code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = crontab_source_read(&request->from, &reading, &jobs, &lost);
    if (code == EXIT_OK && request->apply)
        code = apply(client, request, &jobs);
    else if (code == EXIT_OK)
        code = print_yaml(&jobs);
    if (code == EXIT_OK && !request->apply)
        fprintf(stderr, "%zu job%s; nothing was changed, --apply adds them\n", jobs.count,
                jobs.count == 1 ? "" : "s");
    if (code == EXIT_OK && lost) {
        cli_error("%zu line%s could not be read", lost, lost == 1 ? "" : "s");
        code = EXIT_INVALID;
    }
    job_list_release(&jobs);
    reading_release(&reading);
    client_close(client);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        take_option(opt, &request);
    }
    if (optind == argc || strcmp(argv[optind], "crontab") != 0)
        return cli_usage(self, "what to import? It is: peal import crontab");
    if (argc - optind > 2)
        return cli_usage(self, "one file at a time");
    if (argc - optind == 2)
        request.from.file = argv[optind + 1];
    if (request.from.user && request.from.system)
        return cli_usage(self, "--user and --system exclude each other");
    return import(&request);
}

const struct command cmd_import = {
    .name = "import",
    .summary = "jobs from a crontab",
    .help = "Examples:\n"
            "  peal import crontab                    one's own; shows what it would add\n"
            "  peal import crontab --apply            adds it\n"
            "  peal import crontab /etc/crontab --system\n"
            "  peal import crontab --system           /etc/crontab and /etc/cron.d\n"
            "\n"
            "Usage: peal import crontab [FILE|-] [options]\n"
            "\n"
            "Prints the jobs as YAML on stdout, and what can't be carried over on stderr. The\n"
            "crontab itself is never touched: take the lines out there when the jobs run here.\n"
            "Exit status 6: some lines could not be read.\n"
            "\n"
            "Options:\n"
            "  --user USER      this user's crontab; with FILE, whose it is\n"
            "  --system         lines have a user in the sixth field\n"
            "  --apply          add the jobs\n"
            "  --replace        also where another job has the name\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
