/* peal resume: the end of a pause. */
#include "client.h"
#include "job_action.h"

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return job_action_run(self, argc, argv, "resumed");
}

const struct command cmd_resume = {
    .name = "resume",
    .summary = "start runs of a paused job again",
    .help = "Examples:\n"
            "  peal resume backup\n"
            "\n"
            "Usage: peal resume NAME...\n"
            "\n"
            "Options:\n" CLIENT_HELP,
    .options = job_action_options,
    .run = run,
};
