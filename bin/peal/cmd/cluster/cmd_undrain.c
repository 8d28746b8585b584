/* peal undrain: a node takes runs again. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/node_action.h"
#include "text/tr.h"

static void tell(const json_t *node)
{
    const char *name = answer_text(node, "node"), *detail = answer_text(node, "detail");
    if (strcmp(answer_text(node, "state"), "ready") == 0)
        fprintf(stderr, tr("%s: takes new runs"), name);
    else
        fprintf(stderr, tr("%s: is no longer drained, but takes nothing new yet: %s"), name,
                detail);
    fputc('\n', stderr);
}

static enum exit_code undrain(struct client *client, void *request)
{
    return node_action(client, request, tell);
}

const struct command cmd_undrain = {
    .name = "undrain",
    .summary = "allow new runs on a drained node",
    .examples = EXAMPLES({"peal undrain web-1", NULL}),
    .arguments = node_arguments,
    .options = client_options,
    .too_few = "which node? See: peal nodes",
    .request_size = sizeof(struct node_request),
    .with_agent = undrain,
};
