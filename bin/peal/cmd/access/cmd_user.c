/* peal user: who may use the API, and for what. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "client/account_args.h"

enum { OPTION_PASSWORD = OPTION_LONG_ONLY, OPTION_NO_PASSWORD, OPTION_DISABLE, OPTION_ENABLE };

static const struct option options[] = {
    SCOPE_OPTIONS,
    PASSWORD_OPTION,
    {"password", no_argument, NULL, OPTION_PASSWORD},
    {"no-password", no_argument, NULL, OPTION_NO_PASSWORD},
    {"disable", no_argument, NULL, OPTION_DISABLE},
    {"enable", no_argument, NULL, OPTION_ENABLE},
    {"yes", no_argument, NULL, 'y'},
    OUTPUT_OPTION,
    CLIENT_OPTIONS,
    {0},
};

struct request {
    const struct command *self;
    const char *data, *name, *password_file;
    struct scope_args scope;
    bool password, no_password, disable, enable, yes;
    enum output output;
};

/* ---- add, set ---- */

static enum exit_code fill_password(const struct request *request, json_t *body)
{
    struct strbuf password;
    strbuf_init(&password);
    enum exit_code code = password_read(request->password_file, "New password", true, &password);
    if (code == EXIT_OK && json_object_set_new(body, "password", json_string(password.text)) != 0) {
        cli_error("the password is not UTF-8 text");
        code = EXIT_INVALID;
    }
    if (password.length)
        explicit_bzero(password.text, password.length);
    strbuf_release(&password);
    return code;
}

/* Without a word about it the first user is an admin, and all others look. */
static enum exit_code choose_role(struct client *client, struct scope_args *scope)
{
    json_t *auth;
    if (scope->role || scope->namespace_count)
        return EXIT_OK;
    enum exit_code code = client_get(client, "/auth", &auth);
    if (code != EXIT_OK)
        return code;
    scope->role = json_is_true(json_object_get(auth, "accounts")) ? "viewer" : "admin";
    json_decref(auth);
    return EXIT_OK;
}

static void tell(const json_t *user, const char *what)
{
    struct strbuf scope;
    strbuf_init(&scope);
    scope_print(user, &scope);
    fprintf(stderr, "%s: %s, %s%s\n", answer_text(user, "name"), what, scope.text,
            json_is_true(json_object_get(user, "disabled")) ? ", disabled" : "");
    strbuf_release(&scope);
}

static enum exit_code add(struct client *client, struct request *request)
{
    json_t *body = json_pack("{s:s}", "name", request->name), *user;
    enum exit_code code = body ? choose_role(client, &request->scope) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = scope_fill(request->self, &request->scope, body);
    if (code == EXIT_OK && !request->no_password)
        code = fill_password(request, body);
    if (code == EXIT_OK)
        code = client_post(client, "/users", body, &user);
    json_decref(body);
    if (code != EXIT_OK)
        return code;
    tell(user, "made");
    json_decref(user);
    return EXIT_OK;
}

static const char *user_path(const char *name, struct strbuf *out)
{
    strbuf_adds(out, "/users/");
    url_escape(out, name);
    return out->text;
}

static enum exit_code send(struct client *client, const char *method, const struct request *request,
                           const json_t *body, const char *what)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request call = {
        .method = method, .path = user_path(request->name, &path), .body = body};
    enum exit_code code = client_call(client, &call, &reply);
    if (code == EXIT_OK)
        tell(reply.body, what);
    else if (code == EXIT_NOT_FOUND)
        fputs("See: peal user list\n", stderr);
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code set(struct client *client, const struct request *request)
{
    bool wants_password = request->password || request->password_file;
    if (request->disable && request->enable)
        return cli_usage(request->self, "--disable and --enable are one too many");
    if (!scope_is_given(&request->scope) && !wants_password && !request->disable &&
        !request->enable)
        return cli_usage(request->self, "set what? --role, --namespace, --password, --disable ...");
    json_t *body = json_object();
    enum exit_code code =
        body ? scope_fill(request->self, &request->scope, body) : cli_fail(E_NOMEM);
    if (code == EXIT_OK && (request->disable || request->enable))
        json_object_set_new(body, "disabled", json_boolean(request->disable));
    if (code == EXIT_OK && wants_password)
        code = fill_password(request, body);
    if (code == EXIT_OK)
        code = send(client, "PATCH", request, body, "changed");
    json_decref(body);
    return code;
}

static enum exit_code remove_user(struct client *client, const struct request *request)
{
    if (confirmed(request->yes, "Delete the user %s, and all their tokens?", request->name))
        return send(client, "DELETE", request, NULL, "deleted");
    fputs("Nothing was deleted.\n", stderr);
    return EXIT_OK;
}

/* ---- list ---- */

static void add_user(struct text_table *table, const json_t *user, bool wide)
{
    struct strbuf text;
    (void)wide;
    strbuf_init(&text);
    text_table_cell(table, answer_text(user, "name"));
    scope_print(user, &text);
    text_table_cell(table, text.text);
    text_table_cell(table, json_is_true(json_object_get(user, "disabled"))        ? "disabled"
                           : json_is_false(json_object_get(user, "has_password")) ? "no password"
                                                                                  : "ok");
    strbuf_reset(&text);
    when_print_local(answer_time(user, "changed_at"), &text);
    text_table_cell(table, text.text);
    strbuf_release(&text);
}

static enum exit_code list(struct client *client, const struct request *request)
{
    static const char *const headers[] = {"NAME", "ROLE", "STATE", "CHANGED", NULL};
    static const struct list_form form = {.name = "name",
                                          .headers = headers,
                                          .none =
                                              "no users; make one: peal user add NAME --role admin",
                                          .add_row = add_user};
    return list_show(client, "/users", request->output, &form);
}

/* ---- the command ---- */

static bool take_option(struct request *request, int opt)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_PASSWORD_FILE:
        request->password_file = optarg;
        return true;
    case OPTION_PASSWORD:
        return request->password = true;
    case OPTION_NO_PASSWORD:
        return request->no_password = true;
    case OPTION_DISABLE:
        return request->disable = true;
    case OPTION_ENABLE:
        return request->enable = true;
    case 'y':
        return request->yes = true;
    case 'o':
        return output_take(request->self, optarg, &request->output);
    default:
        return scope_option(request->self, &request->scope, opt, optarg);
    }
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const actions[] = {"list", "add", "set", "delete", NULL};
    struct request request = {.self = self};
    struct client *client;
    int opt, action;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(&request, opt))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return cli_usage(self, "what about users? peal user add, list, set or delete");
    if (!cli_choice(self, "peal user", argv[optind], actions, &action))
        return EXIT_USAGE;
    if (argc - optind != (action == 0 ? 1 : 2))
        return cli_usage(self, action == 0 ? "peal user list takes no name" : "name one user");
    request.name = argv[optind + 1];
    enum exit_code code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    code = action == 0   ? list(client, &request)
           : action == 1 ? add(client, &request)
           : action == 2 ? set(client, &request)
                         : remove_user(client, &request);
    client_close(client);
    return code;
}

const struct command cmd_user = {
    .name = "user",
    .summary = "who may use the API from a browser, and for what",
    .help =
        "Examples:\n"
        "  peal user add anna                        the first one is an admin\n"
        "  peal user add otto --role operator --namespace team\n"
        "  peal user set otto --namespace team=editor --namespace shared=viewer\n"
        "  peal user set otto --disable\n"
        "  peal user list\n"
        "\n"
        "Usage: peal user add NAME [--role R] [--namespace N]... [--password-file F]\n"
        "       peal user set NAME [--role R] [--namespace N]... [--password] [--disable]\n"
        "       peal user delete NAME [--yes]\n"
        "       peal user list [-o F]\n"
        "\n"
        "The password is asked for on the terminal. Without --role the first user is an admin,\n"
        "and all others are viewers. A new password ends the user's sessions. The last admin\n"
        "can't be deleted. Exit status 4: there is such a user already (add).\n"
        "\n"
        "Options:\n" SCOPE_HELP PASSWORD_HELP "  --password       of set: ask for a new password\n"
        "  --no-password    of add: none lets in, only peal link does\n"
        "  --disable, --enable  of set: may not log in, or may again\n"
        "  -y, --yes        do not ask (asked is on a terminal only)\n" OUTPUT_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
