/* peal token: credentials for programs. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "client/account_args.h"

enum { OPTION_USER = OPTION_LONG_ONLY, OPTION_EXPIRES };

static const struct option options[] = {
    SCOPE_OPTIONS,
    {"user", required_argument, NULL, OPTION_USER},
    {"expires", required_argument, NULL, OPTION_EXPIRES},
    OUTPUT_OPTION,
    CLIENT_OPTIONS,
    {0},
};

struct request {
    const struct command *self;
    const char *data, *argument, *user, *expires;
    struct scope_args scope;
    enum output output;
};

static enum exit_code create(struct client *client, const struct request *request)
{
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:s*, s:s*}", "label", request->argument, "user", request->user,
                             "expires_in", request->expires);
    enum exit_code code =
        body ? scope_fill(request->self, &request->scope, body) : cli_fail(E_NOMEM);
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

static enum exit_code list(struct client *client, const struct request *request)
{
    static const char *const headers[] = {"ID", "LABEL", "USER", "ROLE", "USED", "EXPIRES", NULL};
    static const struct list_form form = {
        .name = "id",
        .headers = headers,
        .none = "no tokens; make one: peal token create LABEL --role viewer",
        .add_row = add_token};
    return list_show(client, "/tokens", request->output, &form);
}

static enum exit_code revoke(struct client *client, const struct request *request)
{
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

static bool take_option(struct request *request, int opt)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_USER:
        request->user = optarg;
        return true;
    case OPTION_EXPIRES:
        request->expires = optarg;
        return true;
    case 'o':
        return output_take(request->self, optarg, &request->output);
    default:
        return scope_option(request->self, &request->scope, opt, optarg);
    }
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const actions[] = {"list", "create", "revoke", NULL};
    struct request request = {.self = self};
    struct client *client;
    int opt, action;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(&request, opt))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return cli_usage(self, "what about tokens? peal token create, list or revoke");
    if (!cli_choice(self, "peal token", argv[optind], actions, &action))
        return EXIT_USAGE;
    if (argc - optind != (action == 0 ? 1 : 2))
        return cli_usage(self, action == 0   ? "peal token list takes no name"
                               : action == 1 ? "say what it is for: peal token create LABEL"
                                             : "which one? peal token revoke ID");
    request.argument = argv[optind + 1];
    enum exit_code code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    code = action == 0   ? list(client, &request)
           : action == 1 ? create(client, &request)
                         : revoke(client, &request);
    client_close(client);
    return code;
}

const struct command cmd_token = {
    .name = "token",
    .summary = "credentials for programs that use the API",
    .help =
        "Examples:\n"
        "  peal token create ci --role operator --namespace team --expires 30d\n"
        "  peal token list\n"
        "  peal token revoke 01J...\n"
        "\n"
        "Usage: peal token create LABEL [--role R] [--namespace N]... [--user NAME]\n"
        "                               [--expires D]\n"
        "       peal token list [-o F]\n"
        "       peal token revoke ID\n"
        "\n"
        "create prints the token, this once: only a hash of it is kept. Programs send it as\n"
        "Authorization: Bearer TOKEN. One of a user may do what the user may, or less, and ends\n"
        "with the user; one of nobody needs a role. Revoked is revoked, on all nodes.\n"
        "\n"
        "Options:\n" SCOPE_HELP "  --user NAME      whose it is (who is logged in, else nobody's)\n"
        "  --expires D      after so long (90d), or never\n" OUTPUT_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
