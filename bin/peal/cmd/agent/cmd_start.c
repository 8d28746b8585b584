/* peal start: the agent, here or in the background. */
#include <stdio.h>

#include "sandbox/jobs_user.h"
#include "service/daemon.h"

static enum exit_code start_in_background(struct agent_config *config)
{
    pid_t pid;
    enum exit_code code = daemon_start(config, false, &pid);
    if (code == EXIT_OK) {
        fprintf(stderr, "peal started (pid %d, data %s)\n", (int)pid, config->data);
        jobs_user_warn(config);
        daemon_tell_setup(config->data);
    }
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct daemon_options options = {0};
    struct agent_config config;
    bool background = false;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (!daemon_option(&options, opt, optarg))
            background = true;
    }
    if (optind < argc)
        return cli_usage(self, "unexpected \"%s\"", argv[optind]);
    enum exit_code code = daemon_configure(&options, background, &config);
    if (code == EXIT_OK)
        code = background ? start_in_background(&config) : daemon_run(&config);
    agent_config_release(&config);
    return code;
}

const struct command cmd_start = {
    .name = "start",
    .summary = "start the agent, which runs the jobs",
    .help = "Examples:\n"
            "  peal start -d                     in the background\n"
            "  peal start                        here, until Ctrl-C; the log on stderr\n"
            "  peal start -d --data /srv/peal    a second one, of its own\n"
            "\n"
            "Usage: peal start [-d] [options]\n"
            "\n"
            "Stopping or restarting the agent leaves running jobs alone. Exit status 4: another\n"
            "agent uses the data folder, or is the node of that name. Exit status 5: the store\n"
            "can't be reached, so the node was not let in; nothing is left running.\n"
            "\n"
            "Options:\n"
            "  -d, --detach     in the background, as soon as it is ready and let in\n" DAEMON_HELP,
    .getopt_rows = daemon_options_table,
    .old_run = run,
};
