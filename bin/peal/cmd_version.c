/* peal version: which program this is. */
#include <stdio.h>

#include "cli/cli.h"
#include "version.h"

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    if (cli_option(self, argc, argv) != -1)
        return EXIT_USAGE;
    if (optind < argc)
        return cli_usage(self, "version takes no arguments");
    if (*PEAL_REVISION)
        printf("peal %s (%s)\n", PEAL_VERSION, PEAL_REVISION);
    else
        printf("peal %s\n", PEAL_VERSION);
    return EXIT_OK;
}

static const struct option options[] = {{0}};

const struct command cmd_version = {
    .name = "version",
    .summary = "print the version",
    .help = "Example:\n"
            "  peal version\n"
            "\n"
            "Usage: peal version\n",
    .options = options,
    .run = run,
};
