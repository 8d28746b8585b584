/* peal drain: a node takes no new runs. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/node_action.h"

static const struct option options[] = {CLIENT_OPTIONS, {0}};

static void tell(const json_t *node)
{
    const char *name = answer_text(node, "node");
    int running = (int)answer_int(node, "running", 0);
    if (strcmp(answer_text(node, "state"), "gone") == 0)
        fprintf(stderr, "%s: is gone; it takes no new runs when it comes back\n", name);
    else if (running)
        fprintf(stderr, "%s: takes no new runs; %d still running there\n", name, running);
    else
        fprintf(stderr, "%s: takes no new runs, and none is running there\n", name);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return node_action(self, argc, argv, "drain", tell);
}

const struct command cmd_drain = {
    .name = "drain",
    .summary = "let a node take no new runs",
    .help = "Examples:\n"
            "  peal drain web-1                  before its machine is upgraded\n"
            "  peal nodes                        drained: nothing runs there any more\n"
            "  peal undrain web-1\n"
            "\n"
            "Usage: peal drain NODE...\n"
            "\n"
            "What runs there goes on; other nodes take what is due. It holds until peal undrain,\n"
            "also while the node is away.\n"
            "\n"
            "Options:\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
