/* peal restart: the agent anew, in the background. */
#include "service/daemon.h"

enum { WAIT_MS = 30000 };

/* What could not start was not noted as the options of the folder. */
static void start_as_before(const char *data)
{
    const struct daemon_options options = {.base.data = data};
    struct agent_config config;
    struct strbuf kept;
    pid_t pid;
    strbuf_init(&kept);
    enum exit_code code = daemon_configure_kept(&options, &config, &kept);
    if (code == EXIT_OK)
        code = daemon_start(&config, false, &pid);
    if (code == EXIT_OK)
        cli_note("the agent was started again with the options that it had (pid %d)", (int)pid);
    strbuf_release(&kept);
    agent_config_release(&config);
}

/* `*ret_was_running`: it was, and is not any more. */
static enum exit_code end(const struct agent_config *config, bool *ret_was_running)
{
    enum exit_code code = daemon_find(config->data) ? daemon_try(config) : EXIT_OK;
    if (code != EXIT_OK) {
        cli_note("the running agent was left as it is");
        return code;
    }
    code = daemon_stop(config->data, WAIT_MS);
    *ret_was_running = code == EXIT_OK;
    if (code == EXIT_TIMED_OUT)
        cli_error("the agent has not ended yet; it was told to");
    return code == EXIT_NOT_FOUND ? EXIT_OK : code;
}

static enum exit_code restart(struct agent_config *config, const struct strbuf *kept)
{
    pid_t pid;
    bool was_running = false;
    enum exit_code code = end(config, &was_running);
    if (code != EXIT_OK)
        return code;
    code = daemon_start(config, false, &pid);
    if (code == EXIT_OK)
        daemon_tell_started(pid, config, kept);
    else if (was_running)
        start_as_before(config->data);
    return code;
}

/* In the background also without -d. */
static enum exit_code run(void *place)
{
    const struct daemon_options *options = place;
    struct agent_config config;
    struct strbuf kept;
    strbuf_init(&kept);
    enum exit_code code = daemon_configure_kept(options, &config, &kept);
    if (code == EXIT_OK)
        code = restart(&config, &kept);
    strbuf_release(&kept);
    agent_config_release(&config);
    return code;
}

const struct command cmd_restart = {
    .name = "restart",
    .summary = "stop and start the agent; running jobs continue",
    .examples = EXAMPLES({"peal restart", NULL}),
    .notes = "Starts the agent in the background, also if it was not running. The new agent takes "
             "over the running jobs and their output. Options that are not given keep their values "
             "of the last start, unless --fresh is given. An option that can't work, like a port "
             "in use or a store that does not answer, leaves the running agent as it is.",
    .options = daemon_rows,
    .request_size = sizeof(struct daemon_options),
    .run = run,
};
