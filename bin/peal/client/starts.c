#include "client/starts.h"

#include "cli/when.h"

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

void starts_warn(struct client *client)
{
    struct reply reply = {0};
    enum status st = client_try(client, &(struct client_request){.path = "/agent"}, &reply);
    if (st == OK && reply.status == 200 && !starts_are_ok(reply.body))
        cli_note("nothing can start now: %s", starts_detail(reply.body));
    reply_release(&reply);
}
