/* peal link: a one-time login link for a browser. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *name;
};

static enum exit_code make_link(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s*}", "name", request->name);
    enum exit_code code = body ? client_post(client, "/links", body, &answer) : cli_fail(E_NOMEM);
    json_decref(body);
    if (code == EXIT_OK) {
        printf("%s\n", answer_text(answer, "url"));
        fprintf(stderr, "%s\n", tr("It works once, within ten minutes."));
    }
    json_decref(answer);
    return code;
}

const struct command cmd_link = {
    .name = "link",
    .summary = "a one-time link that opens the console logged in",
    .examples =
        EXAMPLES({"peal link", "as an admin, without an account"},
                 {"peal link anna", "as that user, for example after a forgotten password"}),
    .notes = "Only on the agent's machine, for the agent's user and root. The link can be used "
             "once, within ten minutes. Exit status 4: the agent listens on no address.",
    .arguments =
        ROWS(ARGUMENT(request, name, "NAME", .is_optional = true, .complete = COMPLETE_USERS)),
    .options = data_option,
    .request_size = sizeof(struct request),
    .with_agent = make_link,
};
