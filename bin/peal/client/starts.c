#include "client/starts.h"

#include <string.h>

#include "cli/when.h"
#include "function/run_limits.h"

static const json_t *starts_of(const json_t *agent)
{
    return json_object_get(agent, "starts");
}

bool starts_are_ok(const json_t *agent)
{
    return !json_is_false(json_object_get(starts_of(agent), "ok"));
}

const char *starts_reason(const json_t *agent)
{
    return answer_text(starts_of(agent), "reason");
}

const char *starts_detail(const json_t *agent)
{
    return answer_text(starts_of(agent), "detail");
}

const char *starts_user_problem(const json_t *agent)
{
    const json_t *user = json_object_get(agent, "jobs_user");
    bool is_missing = json_is_object(user) && !json_is_string(json_object_get(user, "name"));
    return is_missing ? answer_text(user, "detail") : NULL;
}

static void warn(const json_t *agent, bool needs_user)
{
    const char *problem = needs_user ? starts_user_problem(agent) : NULL;
    if (!starts_are_ok(agent))
        cli_note("nothing can start now: %s", starts_detail(agent));
    if (problem)
        cli_note("%s: peal restart --default-user NAME, or a user for the job (docs/SECURITY.md)",
                 problem);
}

void starts_warn(struct client *client, bool needs_user)
{
    struct reply reply = {0};
    enum status st = client_try(client, &(struct client_request){.path = "/agent"}, &reply);
    if (st == OK && reply.status == 200)
        warn(reply.body, needs_user);
    reply_release(&reply);
}

static bool has_label(const json_t *nodes, const char *label)
{
    const json_t *node;
    size_t i;
    json_array_foreach (nodes, i, node) {
        bool is_gone = strcmp(answer_text(node, "state"), "gone") == 0;
        if (!is_gone && json_object_get(json_object_get(node, "labels"), label))
            return true;
    }
    return false;
}

void starts_warn_of_limits(struct client *client, unsigned needs)
{
    struct reply reply = {0};
    struct client_request call = {.path = "/nodes"};
    if (!needs || client_try(client, &call, &reply) != OK || reply.status != 200) {
        reply_release(&reply);
        return;
    }
    const json_t *nodes = json_object_get(reply.body, "items");
    for (int i = 0; i < CONTROLLERS; i++) {
        enum run_controller controller = (enum run_controller)i;
        if (needs & 1u << i && !has_label(nodes, controller_label(controller)))
            cli_note("no node can enforce %s: what has it is not run until one has the label %s "
                     "(docs/JOBS.md, \"Limits of a whole run\")",
                     controller_limit(controller), controller_label(controller));
    }
    reply_release(&reply);
}
