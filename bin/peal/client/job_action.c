#include "client/job_action.h"

#include <stdio.h>

#include "text/tr.h"

static enum exit_code act(struct client *client, const char *action, const struct words *names,
                          const char *done)
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < names->count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = client_job_action(client, names->items[i], action, NULL, NULL);
        if (code != EXIT_OK) {
            worst = code;
            continue;
        }
        fprintf(stderr, tr("%s: %s"), names->items[i], tr(done));
        fputc('\n', stderr);
    }
    return worst;
}

enum exit_code job_action_run(struct client *client, const struct match_request *request,
                              const char *done)
{
    const char *action = request->base.command->name;
    enum exit_code code = job_match_check(request);
    if (code != EXIT_OK)
        return code;
    return job_match_is_given(&request->match) ? job_match_run(client, request, action, done)
                                               : act(client, action, &request->names, done);
}
