/* peal version: which program this is. */
#include <stdio.h>

#include "cli/cli.h"
#include "version.h"

static enum exit_code run(void *request)
{
    (void)request;
    if (*PEAL_REVISION)
        printf("peal %s (%s)\n", PEAL_VERSION, PEAL_REVISION);
    else
        printf("peal %s\n", PEAL_VERSION);
    return EXIT_OK;
}

const struct command cmd_version = {
    .name = "version",
    .summary = "print the version",
    .examples = EXAMPLES({"peal version", NULL}),
    .too_many = "version takes no arguments",
    .request_size = sizeof(struct request_base),
    .run = run,
};
