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

/* In the background also without -d. */
static enum exit_code run(void *place)
{
    struct daemon_options *options = place;
    struct agent_config config;
    char *known = NULL;
    enum exit_code code = daemon_recall(options, &known);
    if (code != EXIT_OK)
        return code;
    code = daemon_configure(options, true, &config);
    if (code == EXIT_OK)
        code = restart(&config);
    agent_config_release(&config);
    free(known);
    return code;
}

const struct command cmd_restart = {
    .name = "restart",
    .summary = "stop and start the agent; running jobs continue",
    .examples = EXAMPLES({"peal restart", NULL}),
    .notes = "Starts the agent in the background, also if it was not running. The new agent takes "
             "over the running jobs and their output. Options that are not given keep their values "
             "of the last start.",
    .options = daemon_rows,
    .request_size = sizeof(struct daemon_options),
    .run = run,
};
