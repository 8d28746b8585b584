/* peal ack: no further messages about jobs that fail, until they succeed. */
#include "client/quiet/job_mute.h"
#include "text/tr.h"

const struct command cmd_ack = {
    .name = "ack",
    .summary = "acknowledge that jobs fail: no messages until they succeed",
    .examples =
        EXAMPLES({"peal ack backup", NULL},
                 {"peal ack backup --reason 'disk ordered' --until '2027-01-02 08:00'", NULL}),
    .notes = "The message of its recovery is sent, and ends the acknowledgement; so do --for and "
             "--until, and peal unmute. Exit status 4: the last run of the job has not failed.",
    .arguments = ROWS(ARGUMENTS(mute_request, names, "NAME", .complete = COMPLETE_JOBS)),
    .options = mute_options,
    .too_few = "which job?",
    .request_size = sizeof(struct mute_request),
    .with_agent = job_mute_run,
};
