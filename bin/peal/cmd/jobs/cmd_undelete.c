/* peal undelete: a deleted job is kept for seven days. */
#include "client/client.h"
#include "client/job_action.h"

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return job_action_run(self, argc, argv, "undeleted");
}

const struct command cmd_undelete = {
    .name = "undelete",
    .summary = "bring a deleted job back",
    .help = "Examples:\n"
            "  peal undelete backup\n"
            "  peal list --deleted\n"
            "\n"
            "Usage: peal undelete NAME...\n"
            "\n"
            "A deleted job is kept for seven days.\n"
            "\n"
            "Options:\n" CLIENT_HELP,
    .getopt_rows = job_action_options,
    .old_run = run,
};
