#include "client/job_action.h"

#include <stdio.h>

#include "client/client.h"
#include "jobs/job_match.h"

const struct option job_action_options[] = {CLIENT_OPTIONS, {0}};
const struct option job_match_options[] = {CLIENT_OPTIONS, MATCH_OPTIONS, {0}};

static enum exit_code act(struct client *client, const char *action, int count, char **names,
                          const char *done)
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = client_job_action(client, names[i], action, NULL, NULL);
        if (code == EXIT_OK)
            fprintf(stderr, "%s: %s\n", names[i], done);
        else
            worst = code;
    }
    return worst;
}

enum exit_code job_action_run(const struct command *self, int argc, char **argv, const char *done)
{
    struct job_match match;
    struct client *client;
    enum exit_code code = job_match_open(self, argc, argv, "which job?", &match, &client);
    if (code != EXIT_OK)
        return code;
    code = match.is_given ? job_match_run(client, &match, self->name, done)
                          : act(client, self->name, argc - optind, argv + optind, done);
    client_close(client);
    return code;
}
