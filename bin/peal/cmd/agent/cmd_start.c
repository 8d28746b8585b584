/* peal start: the agent, here or in the background. */
#include "service/daemon.h"

static enum exit_code start_in_background(const struct daemon_options *options)
{
    pid_t pid;
    struct agent_config config;
    struct strbuf kept;
    strbuf_init(&kept);
    enum exit_code code = daemon_configure_kept(options, &config, &kept);
    if (code == EXIT_OK)
        code = daemon_start(&config, false, &pid);
    if (code == EXIT_OK) {
        daemon_tell_started(pid, &config, &kept);
        daemon_tell_setup(config.data);
    }
    strbuf_release(&kept);
    agent_config_release(&config);
    return code;
}

static enum exit_code start_here(const struct daemon_options *options)
{
    struct agent_config config;
    enum exit_code code = daemon_configure(options, false, &config);
    if (code == EXIT_OK)
        code = daemon_run(&config);
    agent_config_release(&config);
    return code;
}

static enum exit_code run(void *place)
{
    const struct daemon_options *options = place;
    return options->detach ? start_in_background(options) : start_here(options);
}

const struct command cmd_start = {
    .name = "start",
    .summary = "start the agent, which runs the jobs",
    .examples = EXAMPLES({"peal start -d", "in the background"},
                         {"peal start", "in the foreground, until Ctrl-C; logs to stderr"},
                         {"peal start -d --data /srv/peal", "a second, independent agent"}),
    .notes = "Running jobs continue when the agent is stopped or restarted. In the background, "
             "options that are not given keep their values of the last start with the data folder, "
             "which is said; --fresh drops them. Exit status 4: another "
             "agent uses the data folder or the node's name. Exit status 5: the store can't be "
             "reached, so the node could not join; no process is left behind.",
    .options = daemon_rows,
    .request_size = sizeof(struct daemon_options),
    .run = run,
};
