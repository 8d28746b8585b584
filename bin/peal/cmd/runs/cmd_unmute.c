/* peal unmute: the end of a mute or an acknowledgement. */
#include "client/quiet/job_mute.h"
#include "text/tr.h"

const struct command cmd_unmute = {
    .name = "unmute",
    .summary = "send messages about muted or acknowledged jobs again",
    .examples = EXAMPLES({"peal unmute backup", NULL}),
    .notes = "Exit status 4: the job is not muted.",
    .arguments = ROWS(ARGUMENTS(mute_request, names, "NAME", .complete = COMPLETE_JOBS)),
    .options = client_options,
    .too_few = "which job?",
    .request_size = sizeof(struct mute_request),
    .with_agent = job_mute_run,
};
