/* peal login: a token for the agent of another machine, kept for later commands. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/account_args.h"
#include "client/client.h"
#include "client/known_tokens.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *name, *password_file, *expires;
};

static enum exit_code begin_session(struct client *client, const struct request *request)
{
    struct strbuf name, password;
    json_t *answer = NULL;
    strbuf_init(&name);
    strbuf_init(&password);
    enum exit_code code = EXIT_OK;
    if (request->name)
        strbuf_adds(&name, request->name);
    else
        code = line_ask(tr("User name"), &name);
    if (code == EXIT_OK)
        code = password_read(request->password_file, tr("Password"), false, &password);
    if (code == EXIT_OK) {
        json_t *body = json_pack("{s:s, s:s}", "name", name.text, "password", password.text);
        code = body ? client_post(client, "/login", body, &answer) : cli_fail(E_NOMEM);
        json_decref(body);
    }
    if (password.length)
        explicit_bzero(password.text, password.length);
    json_decref(answer);
    strbuf_release(&name);
    strbuf_release(&password);
    return code;
}

static enum exit_code make_token(struct client *client, const struct request *request, json_t **ret)
{
    char machine[256] = "", label[64];
    gethostname(machine, sizeof(machine) - 1);
    snprintf(label, sizeof(label), "peal login on %.40s", machine);
    json_t *body = json_pack("{s:s, s:s*}", "label", label, "expires_in", request->expires);
    enum exit_code code = body ? client_post(client, "/tokens", body, ret) : cli_fail(E_NOMEM);
    json_decref(body);
    return code;
}

static enum exit_code log_in(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *token = NULL;
    enum exit_code code = client_keep_cookies(client);
    if (code == EXIT_OK)
        code = begin_session(client, request);
    if (code == EXIT_OK)
        code = make_token(client, request, &token);
    if (code == EXIT_OK)
        code = known_token_keep(client_data(client), answer_text(token, "token"),
                                answer_text(token, "id"));
    if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: logged in as %s; --url needs no --token-file any more"),
                client_data(client), answer_text(token, "user"));
        fputc('\n', stderr);
    }
    json_decref(token);
    return code;
}

const struct command cmd_login = {
    .name = "login",
    .summary = "log in to the agent of another machine",
    .examples = EXAMPLES({"peal login --url https://peal.example.com:7325", NULL},
                         {"peal list --url https://peal.example.com:7325", NULL},
                         {"peal logout --url https://peal.example.com:7325", NULL}),
    .usage = "--url URL [options]",
    .notes = "Asks for name and password, creates a token, and keeps it for later commands with "
             "the same --url, in peal/tokens.json below $XDG_CONFIG_HOME or ~/.config (mode 0600).",
    .options = ROWS(
        OPTION_TEXT(request, name, 0, "name", "NAME", "the user (default: ask)"),
        OPTION_PASSWORD_FILE(request, password_file),
        OPTION_TEXT(request, expires, 0, "expires", "D", "lifetime of the token (90d), or never"),
        OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = log_in,
};
