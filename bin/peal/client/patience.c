#include "client/patience.h"

#include <string.h>

#include "cli/when.h"
#include "clock.h"
#include "print/run_table.h"

enum { NOT_SEEN_MS = 5000 }; /* how long what is new may not be found yet */

/* 502, 503, 504: a proxy without a node, an agent that loads, a node that does not answer. */
static bool may_pass(enum status st, const struct reply *reply)
{
    return st == E_UNREACHABLE || st == E_UNKNOWN || st == E_CORRUPT ||
           (st == OK && reply->status >= 502 && reply->status <= 504);
}

static void tell(const struct client *client, enum status st, const struct reply *reply)
{
    const char *detail = answer_text(reply->body, "detail");
    if (st == OK && *detail)
        cli_note("%s; trying again for %d s", detail, PATIENCE_S);
    else if (st == OK)
        cli_note("%s answers with status %ld; trying again for %d s", client_data(client),
                 reply->status, PATIENCE_S);
    else if (st == E_UNREACHABLE)
        cli_note("no agent answers at %s; trying again for %d s", client_data(client), PATIENCE_S);
    else
        cli_note("the connection to %s broke; trying again for %d s", client_data(client),
                 PATIENCE_S);
}

/* A 404 of what was just made, and was never found. */
static bool is_unseen(const struct patience *patience, enum status st, const struct reply *reply)
{
    return st == OK && reply->status == 404 && patience->is_new && patience->missing_since_ms >= 0;
}

/* Is the failure to be tolerated? */
static bool is_tolerated(struct client *client, struct patience *patience, enum status st,
                         const struct reply *reply)
{
    int64_t now_ms = clock_now().boot.ms;
    if (is_unseen(patience, st, reply)) {
        if (!patience->missing_since_ms)
            patience->missing_since_ms = now_ms;
        return now_ms - patience->missing_since_ms < NOT_SEEN_MS;
    }
    if (!may_pass(st, reply))
        return false;
    if (!patience->since_ms) {
        patience->since_ms = now_ms;
        tell(client, st, reply);
    }
    return now_ms - patience->since_ms < PATIENCE_S * 1000;
}

enum exit_code client_get_patiently(struct client *client, const char *path,
                                    struct patience *patience, json_t **ret)
{
    const struct client_request request = {.path = path};
    struct reply reply = {0};
    int delay_ms = 0;
    enum status st;
    while ((st = client_try(client, &request, &reply)) != OK || reply.status >= 300) {
        bool again = is_tolerated(client, patience, st, &reply);
        enum exit_code code = again                             ? EXIT_OK
                              : is_unseen(patience, st, &reply) ? EXIT_NOT_FOUND
                                                                : client_report(client, st, &reply);
        reply_release(&reply);
        if (!again)
            return code;
        pause_longer(&delay_ms);
    }
    if (patience->since_ms)
        cli_note("connected again");
    patience->since_ms = 0;
    patience->missing_since_ms = -1;
    client_tell_incomplete(client, reply.body);
    *ret = json_incref(reply.body);
    reply_release(&reply);
    return EXIT_OK;
}
