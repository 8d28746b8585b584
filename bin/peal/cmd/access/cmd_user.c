/* peal user: who may use the API, and for what. */
#include <stdio.h>
#include <string.h>

#include "client/account_args.h"
#include "client/documents.h"
#include "text/tr.h"

struct request {
    struct doc_request doc;
    const char *password_file;
    struct scope_args scope;
    bool password, no_password, disable, enable;
};

/* ---- add, set ---- */

static enum exit_code fill_password(const struct request *request, json_t *body)
{
    struct strbuf password;
    strbuf_init(&password);
    enum exit_code code =
        password_read(request->password_file, tr("New password"), true, &password);
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
    if (scope->role || scope->namespaces.count)
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
    bool is_disabled = json_is_true(json_object_get(user, "disabled"));
    fprintf(stderr, is_disabled ? tr("%s: %s, %s, disabled") : tr("%s: %s, %s"),
            answer_text(user, "name"), tr(what), scope.text);
    fputc('\n', stderr);
    strbuf_release(&scope);
}

static enum exit_code add(struct client *client, void *place)
{
    struct request *request = place;
    json_t *body = json_pack("{s:s}", "name", request->doc.name), *user;
    enum exit_code code = body ? choose_role(client, &request->scope) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = scope_fill(request->doc.base.command, &request->scope, body);
    if (code == EXIT_OK && !request->no_password)
        code = fill_password(request, body);
    if (code == EXIT_OK)
        code = client_post(client, "/users", body, &user);
    json_decref(body);
    if (code != EXIT_OK)
        return code;
    tell(user, TR("made"));
    json_decref(user);
    return EXIT_OK;
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    bool wants_password = request->password || request->password_file;
    if (request->disable && request->enable)
        return cli_usage(request->doc.base.command, "--disable and --enable are one too many");
    if (!scope_is_given(&request->scope) && !wants_password && !request->disable &&
        !request->enable)
        return cli_usage(request->doc.base.command,
                         "set what? --role, --namespace, --password, --disable ...");
    json_t *body = json_object();
    enum exit_code code =
        body ? scope_fill(request->doc.base.command, &request->scope, body) : cli_fail(E_NOMEM);
    if (code == EXIT_OK && (request->disable || request->enable))
        json_object_set_new(body, "disabled", json_boolean(request->disable));
    if (code == EXIT_OK && wants_password)
        code = fill_password(request, body);
    if (code == EXIT_OK)
        code = doc_change(client, &request->doc, "PATCH", body, TR("changed"));
    json_decref(body);
    return code;
}

/* ---- the command ---- */

static void print_state(const json_t *user, struct strbuf *out)
{
    strbuf_adds(out, json_is_true(json_object_get(user, "disabled"))        ? tr("disabled")
                     : json_is_false(json_object_get(user, "has_password")) ? tr("no password")
                                                                            : tr("ok"));
}

static const struct doc_form form = {
    .noun = "user",
    .list = {.name = "name",
             .columns =
                 (const struct list_column[]){
                     COLUMN("NAME", "name"),
                     COLUMN_BY("ROLE", scope_print),
                     COLUMN_BY("STATE", print_state),
                     COLUMN("CHANGED", "changed_at", .form = COLUMN_TIME),
                     {0},
                 },
             .none = "no users; make one: peal user add NAME --role admin"},
    .deleted_too = TR(", and all their tokens"),
    .tell = tell,
};

static const struct option_row name[] = {
    ARGUMENT(request, doc.name, "NAME", .complete = COMPLETE_USERS),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "user add",
        .summary = "make a user",
        .notes = "The password is asked for on the terminal. Without --role the first user is an "
                 "admin, and all others are viewers. Exit status 4: there is such a user already.",
        .arguments = ROWS(ARGUMENT(request, doc.name, "NAME")),
        .options = ROWS(OPTION_GROUP(request, scope, scope_options),
                        OPTION_PASSWORD_FILE(request, password_file),
                        OPTION_FLAG(request, no_password, 0, "no-password",
                                    "none lets in, only peal link does"),
                        OPTION_GROUP(request, doc, client_options)),
        .wrong_count = "name one user",
        .with_agent = add,
    },
    {
        .name = "user set",
        .summary = "change what is named",
        .notes = "A new password ends the user's sessions.",
        .arguments = name,
        .options = ROWS(OPTION_GROUP(request, scope, scope_options),
                        OPTION_PASSWORD_FILE(request, password_file),
                        OPTION_FLAG(request, password, 0, "password", "ask for a new password"),
                        OPTION_FLAG(request, disable, 0, "disable", "may not log in"),
                        OPTION_FLAG(request, enable, 0, "enable", "may log in again"),
                        OPTION_GROUP(request, doc, client_options)),
        .wrong_count = "name one user",
        .with_agent = set,
        .documents = &form,
    },
    DOC_DELETE(&form, "user", name, "delete a user, and all their tokens; the last admin stays"),
    DOC_LIST(&form, "user", "all users"),
    {0},
};

const struct command cmd_user = {
    .name = "user",
    .summary = "who may use the API from a browser, and for what",
    .examples =
        EXAMPLES({"peal user add anna", "the first one is an admin"},
                 {"peal user add otto --role operator --namespace team", NULL},
                 {"peal user set otto --namespace team=editor --namespace shared=viewer", NULL},
                 {"peal user set otto --disable", NULL}, {"peal user list", NULL}),
    .options = client_options,
    .too_few = "what about users? peal user add, list, set or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
