/* peal undrain: a node takes runs again. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/node_action.h"

static const struct option options[] = {CLIENT_OPTIONS, {0}};

static void tell(const json_t *node)
{
    const char *name = answer_text(node, "node"), *detail = answer_text(node, "detail");
    if (strcmp(answer_text(node, "state"), "ready") == 0)
        fprintf(stderr, "%s: takes new runs\n", name);
    else
        fprintf(stderr, "%s: is no longer drained, but takes nothing new yet: %s\n", name, detail);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    return node_action(self, argc, argv, "undrain", tell);
}

const struct command cmd_undrain = {
    .name = "undrain",
    .summary = "let a drained node take runs again",
    .help = "Examples:\n"
            "  peal undrain web-1\n"
            "\n"
            "Usage: peal undrain NODE...\n"
            "\n"
            "Options:\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
