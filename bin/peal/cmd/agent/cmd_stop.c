/* peal stop: the agent ends; running jobs go on. */
#include <stdio.h>

#include "client/client.h"
#include "config/data_folder.h"
#include "duration.h"
#include "service/daemon.h"

enum { OPTION_WAIT = OPTION_LONG_ONLY, WAIT_S = 30 };

static const struct option options[] = {
    DATA_OPTION,
    {"wait", required_argument, NULL, OPTION_WAIT},
    {0},
};

static enum exit_code stop(const char *data, int64_t wait_s)
{
    struct strbuf folder;
    strbuf_init(&folder);
    enum exit_code code = cli_fail(data_folder_find(data, &folder));
    if (code == EXIT_OK && data_folder_is_closed(folder.text)) {
        code = client_not_for_us(folder.text);
    } else if (code == EXIT_OK) {
        code = daemon_stop(folder.text, wait_s * 1000);
        if (code == EXIT_OK)
            fprintf(stderr, "peal stopped (data %s)\n", folder.text);
        else if (code == EXIT_NOT_FOUND)
            cli_error("no agent is running on %s", folder.text);
        else if (code == EXIT_TIMED_OUT)
            cli_error("the agent has not ended yet; it was told to");
    }
    strbuf_release(&folder);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    int64_t wait_s = WAIT_S;
    struct parse_error err;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == OPTION_DATA)
            data = optarg;
        else if (duration_parse(optarg, 1, &wait_s, &err) != OK)
            return cli_usage(self, "--wait: %s", err.message);
    }
    if (optind < argc)
        return cli_usage(self, "unexpected \"%s\"", argv[optind]);
    return stop(data, wait_s);
}

const struct command cmd_stop = {
    .name = "stop",
    .summary = "stop the agent; running jobs go on",
    .help = "Examples:\n"
            "  peal stop\n"
            "  peal stop --wait 5s\n"
            "\n"
            "Usage: peal stop [options]\n"
            "\n"
            "Jobs that are running go on, and are picked up by the next start with their output.\n"
            "Exit status 3: it was not running. 7: it has not ended in time.\n"
            "\n"
            "Options:\n"
            "  --wait D         how long to wait for its end (30s)\n"
            "  --data DIR       the agent's data folder (else $PEAL_DATA, else the default)\n",
    .getopt_rows = options,
    .old_run = run,
};
