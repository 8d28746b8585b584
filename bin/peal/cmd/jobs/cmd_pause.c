/* peal pause: its ticks are skipped until peal resume. */
#include "client/client.h"
#include "client/job_action.h"
#include "jobs/job_match.h"

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return job_action_run(self, argc, argv, "paused");
}

const struct command cmd_pause = {
    .name = "pause",
    .summary = "start no new runs of a job",
    .help = "Examples:\n"
            "  peal pause backup\n"
            "  peal pause backup report\n"
            "  peal pause --label team=web\n"
            "\n"
            "Usage: peal pause NAME... | FILTER [options]\n"
            "\n"
            "What is running goes on. Ticks that fall due are on record as skipped (paused).\n"
            "\n"
            "Options:\n" MATCH_HELP CLIENT_HELP,
    .getopt_rows = job_match_options,
    .old_run = run,
};
