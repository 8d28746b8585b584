#include "job_action.h"

#include <stdio.h>

#include "client.h"

const struct option job_action_options[] = {CLIENT_OPTIONS, {0}};

enum exit_code job_action_run(const struct command *self, int argc, char **argv, const char *done)
{
    struct client *client;
    enum exit_code worst = client_from_options(self, argc, argv, "which job?", &client);
    if (worst != EXIT_OK)
        return worst;
    for (int i = optind; i < argc; i++) {
        enum exit_code code = client_job_action(client, argv[i], self->name, NULL, NULL);
        if (code == EXIT_OK)
            fprintf(stderr, "%s: %s\n", argv[i], done);
        else
            worst = code;
        if (code == EXIT_UNREACHABLE)
            break;
    }
    client_close(client);
    return worst;
}
