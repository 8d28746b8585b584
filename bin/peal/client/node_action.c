#include "client/node_action.h"

#include "cli/when.h"
#include "text/tr.h"

const struct option_row node_arguments[] = {
    ARGUMENTS(node_request, names, "NODE", .complete = COMPLETE_NODES),
    {0},
};

static enum exit_code no_node(struct client *client, const char *name)
{
    json_t *answer = NULL;
    if (client_get(client, "/nodes", &answer) != EXIT_OK)
        return EXIT_NOT_FOUND;
    enum exit_code code =
        client_no_such(TR("node"), name, json_object_get(answer, "items"), "node", "peal nodes");
    json_decref(answer);
    return code;
}

static enum exit_code act(struct client *client, const char *name, const char *action,
                          void (*tell)(const json_t *node))
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    strbuf_adds(&path, "/nodes/");
    url_escape(&path, name);
    strbuf_addf(&path, "/%s", action);
    enum status st = strbuf_status(&path);
    if (st == OK)
        st = client_try(client, &(struct client_request){.method = "POST", .path = path.text},
                        &reply);
    enum exit_code code =
        st == OK && reply.status == 404 ? no_node(client, name) : client_report(client, st, &reply);
    if (code == EXIT_OK)
        tell(reply.body);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

enum exit_code node_action(struct client *client, const struct node_request *request,
                           void (*tell)(const json_t *node))
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < request->names.count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code =
            act(client, request->names.items[i], request->base.command->name, tell);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}
