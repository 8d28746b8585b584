/* peal drain: a node takes no new runs. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/node_action.h"
#include "text/tr.h"

static void tell(const json_t *node)
{
    const char *name = answer_text(node, "node");
    int running = (int)answer_int(node, "running", 0);
    if (strcmp(answer_text(node, "state"), "gone") == 0)
        fprintf(stderr, tr("%s: is gone; it takes no new runs when it comes back"), name);
    else if (running)
        fprintf(stderr, tr("%s: takes no new runs; %d still running there"), name, running);
    else
        fprintf(stderr, tr("%s: takes no new runs, and none is running there"), name);
    fputc('\n', stderr);
}

static enum exit_code drain(struct client *client, void *request)
{
    return node_action(client, request, tell);
}

const struct command cmd_drain = {
    .name = "drain",
    .summary = "stop new runs on a node",
    .examples =
        EXAMPLES({"peal drain web-1", "before an upgrade of its machine"},
                 {"peal nodes", "drained: no runs are left on it"}, {"peal undrain web-1", NULL}),
    .notes = "Current runs continue; other nodes take over new runs. The node stays drained until "
             "peal undrain, also while it is offline.",
    .arguments = node_arguments,
    .options = client_options,
    .too_few = "which node? See: peal nodes",
    .request_size = sizeof(struct node_request),
    .with_agent = drain,
};
