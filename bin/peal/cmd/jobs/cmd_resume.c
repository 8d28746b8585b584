/* peal resume: the end of a pause. */
#include "client/client.h"
#include "client/job_action.h"
#include "jobs/job_match.h"

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return job_action_run(self, argc, argv, "resumed");
}

const struct command cmd_resume = {
    .name = "resume",
    .summary = "start runs of a paused job again",
    .help = "Examples:\n"
            "  peal resume backup\n"
            "  peal resume --status paused --label team=web --dry-run\n"
            "\n"
            "Usage: peal resume NAME... | FILTER [options]\n"
            "\n"
            "Options:\n" MATCH_HELP CLIENT_HELP,
    .getopt_rows = job_match_options,
    .old_run = run,
};
