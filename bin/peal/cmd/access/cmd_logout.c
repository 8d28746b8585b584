/* peal logout: revokes and forgets what `peal login` kept. */
#include <stdio.h>

#include "client/client.h"
#include "client/known_tokens.h"
#include "text/tr.h"

/* An expired or already revoked token counts as revoked. */
static enum exit_code revoke(struct client *client, const char *id)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    strbuf_addf(&path, "/tokens/%s", id);
    struct client_request call = {.method = "DELETE", .path = path.text};
    enum status st = client_try(client, &call, &reply);
    bool is_over = st == OK && (reply.status == 401 || reply.status == 404);
    enum exit_code code = is_over ? EXIT_OK : client_report(client, st, &reply);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code log_out(struct client *client, void *request)
{
    struct strbuf id;
    (void)request;
    strbuf_init(&id);
    enum exit_code code = client_must_be_remote(client);
    if (code == EXIT_OK)
        known_token_id(client_data(client), &id);
    if (code == EXIT_OK && !id.length) {
        cli_error("nobody is logged in to %s", client_data(client));
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK)
        code = revoke(client, id.text);
    if (code == EXIT_OK)
        code = known_token_keep(client_data(client), NULL, NULL);
    if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: logged out"), client_data(client));
        fputc('\n', stderr);
    }
    strbuf_release(&id);
    return code;
}

const struct command cmd_logout = {
    .name = "logout",
    .summary = "revoke and forget the token of peal login",
    .examples = EXAMPLES({"peal logout --url https://peal.example.com:7325", NULL}),
    .usage = "--url URL",
    .notes = "Exit status 3: no login is kept for this URL.",
    .options = client_options,
    .request_size = sizeof(struct request_base),
    .with_agent = log_out,
};
