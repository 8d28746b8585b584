/* peal token: credentials for programs. */
#include <stdio.h>
#include <string.h>

#include "client/account_args.h"
#include "client/documents.h"
#include "text/tr.h"

struct request {
    struct doc_request doc; /* its name: the label, or the id */
    const char *user, *expires;
    struct scope_args scope;
};

static enum exit_code create(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:s*, s:s*}", "label", request->doc.name, "user", request->user,
                             "expires_in", request->expires);
    enum exit_code code =
        body ? scope_fill(request->doc.base.command, &request->scope, body) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = client_post(client, "/tokens", body, &answer);
    json_decref(body);
    if (code != EXIT_OK)
        return code;
    if (request->doc.output >= OUTPUT_JSON && request->doc.output != OUTPUT_NAME)
        code = output_print(answer, request->doc.output);
    else
        printf("%s\n", answer_text(answer, "token"));
    fprintf(stderr, tr("Keep it: it is not shown again. peal token revoke %s ends it."),
            answer_text(answer, "id"));
    fputc('\n', stderr);
    json_decref(answer);
    return code;
}

static enum exit_code revoke(struct client *client, void *place)
{
    return doc_change(client, place, "DELETE", NULL, TR("revoked"));
}

static void tell(const json_t *token, const char *what)
{
    fprintf(stderr, tr("%s: %s"), answer_text(token, "label"), tr(what));
    fputc('\n', stderr);
}

static void print_end(const json_t *token, struct strbuf *out)
{
    int64_t at_ms = answer_time(token, "expires_at");
    if (at_ms == NO_TIME)
        strbuf_adds(out, tr("never"));
    else
        when_print_local(at_ms, out);
}

static const struct doc_form form = {
    .noun = "token",
    .list = {.name = "id",
             .columns =
                 (const struct list_column[]){
                     COLUMN("ID", "id"),
                     COLUMN("LABEL", "label"),
                     COLUMN("USER", "user"),
                     COLUMN_BY("ROLE", scope_print),
                     COLUMN("USED", "used_at", .form = COLUMN_TIME),
                     COLUMN_BY("EXPIRES", print_end),
                     {0},
                 },
             .none = "no tokens; make one: peal token create LABEL --role viewer"},
    .tell = tell,
};

static const struct command subcommands[] = {
    {
        .name = "token create",
        .summary = "make a token",
        .notes = "create prints the token, this once: only a hash of it is kept. Programs send it "
                 "as Authorization: Bearer TOKEN. One of a user may do what the user may, or "
                 "less, and ends with the user; one of nobody needs a role.",
        .arguments = ROWS(ARGUMENT(request, doc.name, "LABEL")),
        .options =
            ROWS(OPTION_GROUP(request, scope, scope_options),
                 OPTION_TEXT(request, user, 0, "user", "NAME",
                             "whose it is (who is logged in, else nobody's)",
                             .complete = COMPLETE_USERS),
                 OPTION_TEXT(request, expires, 0, "expires", "D", "after so long (90d), or never"),
                 OPTION_OUTPUT(request, doc.output, OUTPUT_TEXT),
                 OPTION_GROUP(request, doc, client_options)),
        .wrong_count = "say what it is for: peal token create LABEL",
        .with_agent = create,
    },
    DOC_LIST(&form, "token", "one's own; an admin's are all"),
    {
        .name = "token revoke",
        .summary = "end it, on all nodes",
        .arguments = ROWS(ARGUMENT(request, doc.name, "ID")),
        .options = client_options,
        .wrong_count = "which one? peal token revoke ID",
        .with_agent = revoke,
        .documents = &form,
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
