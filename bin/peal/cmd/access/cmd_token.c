/* peal token: credentials for programs. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "client/account_args.h"

struct request {
    struct request_base base;
    const char *argument, *user, *expires;
    struct scope_args scope;
    enum output output;
};

static enum exit_code create(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:s*, s:s*}", "label", request->argument, "user", request->user,
                             "expires_in", request->expires);
    enum exit_code code =
        body ? scope_fill(request->base.command, &request->scope, body) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = client_post(client, "/tokens", body, &answer);
    json_decref(body);
    if (code != EXIT_OK)
        return code;
    if (request->output >= OUTPUT_JSON && request->output != OUTPUT_NAME)
        code = output_print(answer, request->output);
    else
        printf("%s\n", answer_text(answer, "token"));
    fprintf(stderr, "Keep it: it is not shown again. peal token revoke %s ends it.\n",
            answer_text(answer, "id"));
    json_decref(answer);
    return code;
}

static void add_time(struct text_table *table, const json_t *token, const char *field,
                     const char *none)
{
    struct strbuf text;
    int64_t at_ms = answer_time(token, field);
    strbuf_init(&text);
    if (at_ms == NO_TIME)
        strbuf_adds(&text, none);
    else
        when_print_local(at_ms, &text);
    text_table_cell(table, text.text);
    strbuf_release(&text);
}

static void add_token(struct text_table *table, const json_t *token, bool wide)
{
    struct strbuf scope;
    (void)wide;
    strbuf_init(&scope);
    scope_print(token, &scope);
    text_table_cell(table, answer_text(token, "id"));
    text_table_cell(table, answer_text(token, "label"));
    text_table_cell(table, answer_text(token, "user"));
    text_table_cell(table, scope.text);
    add_time(table, token, "used_at", "-");
    add_time(table, token, "expires_at", "never");
    strbuf_release(&scope);
}

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const headers[] = {"ID", "LABEL", "USER", "ROLE", "USED", "EXPIRES", NULL};
    static const struct list_form form = {
        .name = "id",
        .headers = headers,
        .none = "no tokens; make one: peal token create LABEL --role viewer",
        .add_row = add_token};
    return list_show(client, "/tokens", request->output, &form);
}

static enum exit_code revoke(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    strbuf_adds(&path, "/tokens/");
    url_escape(&path, request->argument);
    struct client_request call = {.method = "DELETE", .path = path.text};
    enum exit_code code = client_call(client, &call, &reply);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: revoked\n", answer_text(reply.body, "label"));
    else if (code == EXIT_NOT_FOUND)
        fputs("See: peal token list\n", stderr);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static const struct command subcommands[] = {
    {
        .name = "token create",
        .summary = "make a token",
        .notes = "create prints the token, this once: only a hash of it is kept. Programs send it "
                 "as Authorization: Bearer TOKEN. One of a user may do what the user may, or "
                 "less, and ends with the user; one of nobody needs a role.",
        .arguments = ROWS(ARGUMENT(request, argument, "LABEL")),
        .options =
            ROWS(OPTION_GROUP(request, scope, scope_options),
                 OPTION_TEXT(request, user, 0, "user", "NAME",
                             "whose it is (who is logged in, else nobody's)",
                             .complete = COMPLETE_USERS),
                 OPTION_TEXT(request, expires, 0, "expires", "D", "after so long (90d), or never"),
                 OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                 OPTION_GROUP(request, base, client_options)),
        .wrong_count = "say what it is for: peal token create LABEL",
        .with_agent = create,
    },
    {
        .name = "token list",
        .summary = "one's own; an admin's are all",
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .too_many = "peal token list takes no name",
        .with_agent = list,
    },
    {
        .name = "token revoke",
        .summary = "end it, on all nodes",
        .arguments = ROWS(ARGUMENT(request, argument, "ID")),
        .options = client_options,
        .wrong_count = "which one? peal token revoke ID",
        .with_agent = revoke,
    },
    {0},
};

const struct command cmd_token = {
    .name = "token",
    .summary = "credentials for programs that use the API",
    .examples =
        EXAMPLES({"peal token create ci --role operator --namespace team --expires 30d", NULL},
                 {"peal token list", NULL}, {"peal token revoke 01J...", NULL}),
    .options = client_options,
    .too_few = "what about tokens? peal token create, list or revoke",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
