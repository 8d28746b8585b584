/* peal restart: the agent anew, in the background. */
#include <stdio.h>
#include <stdlib.h>

#include "sandbox/jobs_user.h"
#include "service/daemon.h"

enum { WAIT_MS = 30000 };

static enum exit_code restart(struct agent_config *config)
{
    pid_t pid;
    enum exit_code code = daemon_stop(config->data, WAIT_MS);
    if (code == EXIT_TIMED_OUT)
        cli_error("the agent has not ended yet; it was told to");
    if (code != EXIT_OK && code != EXIT_NOT_FOUND)
        return code;
    code = daemon_start(config, false, &pid);
    if (code == EXIT_OK) {
        fprintf(stderr, "peal started (pid %d, data %s)\n", (int)pid, config->data);
        jobs_user_warn(config);
    }
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct daemon_options options = {0};
    struct agent_config config;
    char *known = NULL;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        daemon_option(&options, opt, optarg); /* -d is what it does anyway */
    }
    if (optind < argc)
        return cli_usage(self, "unexpected \"%s\"", argv[optind]);
    enum exit_code code = daemon_recall(&options, &known);
    if (code != EXIT_OK)
        return code;
    code = daemon_configure(&options, true, &config);
    if (code == EXIT_OK)
        code = restart(&config);
    agent_config_release(&config);
    free(known);
    return code;
}

const struct command cmd_restart = {
    .name = "restart",
    .summary = "stop and start the agent; running jobs go on",
    .help = "Examples:\n"
            "  peal restart\n"
            "\n"
            "Usage: peal restart [options]\n"
            "\n"
            "Starts it in the background, also if it was not running. Running jobs and their\n"
            "output are picked up again. What is not given here is as it was for its last start.\n"
            "\n"
            "Options:\n" DAEMON_HELP,
    .getopt_rows = daemon_options_table,
    .old_run = run,
};
