/* peal stop: the agent ends; running jobs go on. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"
#include "data_folder.h"
#include "service/daemon.h"
#include "text/tr.h"

enum { WAIT_S = 30 };

struct request {
    struct request_base base;
    int64_t wait_s;
};

static enum exit_code stop(void *place)
{
    const struct request *request = place;
    struct strbuf folder;
    strbuf_init(&folder);
    enum exit_code code = cli_fail(data_folder_find(request->base.data, &folder));
    if (code == EXIT_OK && data_folder_is_closed(folder.text)) {
        code = client_not_for_us(folder.text);
    } else if (code == EXIT_OK) {
        code = daemon_stop(folder.text, request->wait_s * 1000);
        if (code == EXIT_OK) {
            fprintf(stderr, tr("peal stopped (data %s)"), folder.text);
            fputc('\n', stderr);
        } else if (code == EXIT_NOT_FOUND) {
            cli_error("no agent is running on %s", folder.text);
        } else if (code == EXIT_TIMED_OUT) {
            cli_error("the agent has not ended yet; it was told to");
        }
    }
    strbuf_release(&folder);
    return code;
}

const struct command cmd_stop = {
    .name = "stop",
    .summary = "stop the agent; running jobs continue",
    .examples = EXAMPLES({"peal stop", NULL}, {"peal stop --wait 5s", NULL}),
    .notes = "Running jobs continue; the next start takes them over, with their output. Exit "
             "status 3: the agent was not running. 7: it did not stop in time.",
    .options = ROWS(
        OPTION_DURATION(request, wait_s, "wait", "how long to wait for the agent to stop (30s)"),
        OPTION_GROUP(request, base, data_option)),
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.wait_s = WAIT_S},
    .run = stop,
};
