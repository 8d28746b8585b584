/* peal runs: what ran, when, and how it ended. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "print/run_table.h"

enum { OPTION_STATE = OPTION_LONG_ONLY, OPTION_LEDGER };

static const struct option options[] = {
    LIST_OPTIONS,
    {"state", required_argument, NULL, OPTION_STATE},
    {"ledger", no_argument, NULL, OPTION_LEDGER},
    {0},
};

static bool take_option(const struct command *self, int opt, struct list_request *request)
{
    switch (opt) {
    case OPTION_STATE:
        url_param(&request->path, "state", optarg);
        return true;
    case OPTION_LEDGER:
        strbuf_adds(&request->path, "ledger=true&");
        return true;
    default:
        return list_option(self, opt, request);
    }
}

static enum exit_code show(struct client *client, const char *job, struct list_request *request)
{
    json_t *runs;
    enum exit_code code = job ? url_job_param(client, job, &request->path) : EXIT_OK;
    if (code == EXIT_OK)
        code = cli_fail(strbuf_status(&request->path));
    if (code == EXIT_OK)
        code = client_list(client, request->path.text, (size_t)request->count, &runs);
    if (code != EXIT_OK)
        return code;
    if (json_array_size(runs) == 0 && request->output <= OUTPUT_WIDE)
        fputs("no runs\n", stderr);
    else
        code = runs_print(runs, request->output, nodes_are_many(client));
    json_decref(runs);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct list_request request = {.count = LIST_COUNT_DEFAULT};
    struct client *client;
    enum exit_code code = EXIT_USAGE;
    int opt;
    strbuf_init(&request.path);
    strbuf_adds(&request.path, "/runs?");
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            goto out;
    }
    if (argc - optind > 1) {
        cli_usage(self, "one job at a time");
        goto out;
    }
    code = client_open(request.data, &client);
    if (code != EXIT_OK)
        goto out;
    code = show(client, optind < argc ? argv[optind] : NULL, &request);
    client_close(client);
out:
    strbuf_release(&request.path);
    return code;
}

const struct command cmd_runs = {
    .name = "runs",
    .summary = "what ran, when, and how it ended",
    .help =
        "Examples:\n"
        "  peal runs\n"
        "  peal runs backup -n 5\n"
        "  peal runs --state failed,timed_out,lost --since 24h\n"
        "  peal runs backup --ledger                 skipped and missed ticks, too\n"
        "  peal runs backup -o json | jq '.[0].exit_code'\n"
        "\n"
        "Usage: peal runs [JOB] [options]\n"
        "\n"
        "Options:\n"
        "  -n, --count N    at most so many, newest first (20)\n"
        "  --state S,...    queued, running, ok, failed, timed_out, killed, lost, ...\n"
        "  --since T, --until T   by their ticks\n"
        "  --ledger         ticks that did not run, too, with the reason\n" OUTPUT_HELP CLIENT_HELP
        "\n" WHEN_HELP,
    .getopt_rows = options,
    .old_run = run,
};
