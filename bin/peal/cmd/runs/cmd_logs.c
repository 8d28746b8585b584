/* peal logs: the output of a run. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/log_print.h"
#include "print/run_table.h"

enum { OPTION_TIMESTAMPS = OPTION_LONG_ONLY };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"follow", no_argument, NULL, 'f'},
    {"timestamps", no_argument, NULL, OPTION_TIMESTAMPS},
    {0},
};

/* Why there is no output, or no more of it. */
static void note_state(const json_t *run)
{
    if (!run_is_over(run))
        cli_note("the run is %s; follow it with -f", answer_text(run, "state"));
    else if (strcmp(answer_text(run, "reason"), "no_start") == 0)
        cli_note("the run could not be started: %s", answer_text(run, "detail"));
}

static enum exit_code show(struct client *client, const char *word, bool follow,
                           struct log_printer *printer)
{
    struct strbuf run_id;
    json_t *run = NULL;
    strbuf_init(&run_id);
    enum exit_code code = run_find(client, word, &run_id);
    if (code == EXIT_OK && follow)
        code = log_follow(client, run_id.text, printer, NO_TIME, &run);
    else if (code == EXIT_OK)
        code = log_print_more(client, run_id.text, printer, &run);
    if (code == EXIT_OK)
        note_state(run);
    json_decref(run);
    strbuf_release(&run_id);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    struct log_printer printer = {0};
    struct client *client;
    bool follow = false;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == 'f')
            follow = true;
        else if (opt == OPTION_TIMESTAMPS)
            printer.timestamps = true;
        else
            data = optarg;
    }
    if (argc - optind != 1)
        return cli_usage(self, "whose output? Give a job's name or the id of a run");
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    code = show(client, argv[optind], follow, &printer);
    client_close(client);
    return code;
}

const struct command cmd_logs = {
    .name = "logs",
    .summary = "the output of a run",
    .help = "Examples:\n"
            "  peal logs backup                      of its newest run\n"
            "  peal logs -f backup                   until it is over\n"
            "  peal logs 01K9ZQ3V7C8XH2M4N5P6Q7R8S9  of this run\n"
            "\n"
            "Usage: peal logs JOB|RUN [-f] [--timestamps]\n"
            "\n"
            "What the job wrote to stdout goes to stdout, and to stderr to stderr. On a terminal\n"
            "control characters are shown (^G), and colours stay; through a pipe all bytes pass.\n"
            "\n"
            "Options:\n"
            "  -f, --follow     wait for more until the run is over\n"
            "  --timestamps     in front of every line, UTC\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
