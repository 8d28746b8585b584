/* peal mute: no messages about jobs until a time. */
#include "client/quiet/job_mute.h"
#include "text/tr.h"

static enum exit_code mute(struct client *client, void *place)
{
    const struct mute_request *request = place;
    if (!request->for_s && !*request->until.text)
        return cli_usage(request->base.command, "for how long? --for 2h, or --until TIME");
    return job_mute_run(client, place);
}

const struct command cmd_mute = {
    .name = "mute",
    .summary = "send no messages about jobs until a time",
    .examples =
        EXAMPLES({"peal mute backup --for 2h", NULL},
                 {"peal mute backup report --until '2027-01-01 08:00' --reason 'new disk'", NULL}),
    .notes = "Runs go on as ever. It ends by itself; before that: peal unmute. `peal list` and "
             "`peal describe` show it, and `peal channel log` the messages that were not sent.",
    .arguments = ROWS(ARGUMENTS(mute_request, names, "NAME", .complete = COMPLETE_JOBS)),
    .options = mute_options,
    .too_few = "which job?",
    .request_size = sizeof(struct mute_request),
    .with_agent = mute,
};
