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

static enum exit_code run(void *place)
{
    const struct daemon_options *options = place;
    struct agent_config config;
    enum exit_code code = daemon_configure(options, options->detach, &config);
    if (code == EXIT_OK)
        code = options->detach ? start_in_background(&config) : daemon_run(&config);
    agent_config_release(&config);
    return code;
}

const struct command cmd_start = {
    .name = "start",
    .summary = "start the agent, which runs the jobs",
    .examples = EXAMPLES({"peal start -d", "in the background"},
                         {"peal start", "in the foreground, until Ctrl-C; logs to stderr"},
                         {"peal start -d --data /srv/peal", "a second, independent agent"}),
    .notes = "Running jobs continue when the agent is stopped or restarted. Exit status 4: another "
             "agent uses the data folder or the node's name. Exit status 5: the store can't be "
             "reached, so the node could not join; no process is left behind.",
    .options = daemon_rows,
    .request_size = sizeof(struct daemon_options),
    .run = run,
};
