#include "client/account_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/when.h"
#include "jobs/input_file.h"
#include "text/tr.h"

enum { NAMESPACE_ARGS_MAX = 16 };

/* ---- roles ---- */

static const char *const roles[] = {"viewer", "operator", "editor", "admin", "none", NULL};

/* N, or N=ROLE. */
static bool take_grant(const struct option_use *use)
{
    static const char *const of_namespaces[] = {"viewer", "operator", "editor", NULL};
    const char *equals = strchr(use->text, '=');
    char option[160];
    unsigned choice;
    snprintf(option, sizeof(option), tr("the role in --namespace %.*s"),
             (int)strcspn(use->text, "="), use->text);
    return take_list(use) &&
           (!equals || cli_choice(use->command, option, equals + 1, of_namespaces, &choice));
}

const struct option_row scope_options[] = {
    OPTION_WORD(scope_args, role, 0, "role", "R", roles, "viewer, operator, editor or admin"),
    OPTION_ROW(take_grant, scope_args, namespaces, struct option_list, 0, "namespace", "N",
               "limit the role to the jobs N/...; may be repeated; N=ROLE sets a role for that "
               "namespace, and --role is for all others",
               .max = NAMESPACE_ARGS_MAX),
    OPTION_FLAG(scope_args, no_define, 0, "no-define",
                "without the right to change the command or the user of a job"),
    {0},
};

bool scope_is_given(const struct scope_args *args)
{
    return args->role || args->namespaces.count || args->no_define;
}

/* One item of "namespaces". */
static json_t *make_grant(const struct scope_args *args, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *role = equals ? equals + 1 : args->role;
    json_t *grant = json_pack("{s:s%, s:s}", "namespace", text,
                              equals ? (size_t)(equals - text) : strlen(text), "role", role);
    if (grant && args->no_define && strcmp(role, "editor") == 0)
        json_object_set_new(grant, "define", json_false());
    return grant;
}

enum exit_code scope_fill(const struct command *self, const struct scope_args *args, json_t *body)
{
    json_t *grants = json_array();
    bool is_everywhere = args->role;
    int failed = 0;
    for (size_t i = 0; i < args->namespaces.count; i++) {
        const char *text = args->namespaces.items[i];
        if (!strchr(text, '=') && !args->role) {
            json_decref(grants);
            return cli_usage(self, "--namespace %s needs a --role", text);
        }
        is_everywhere &= strchr(text, '=') != NULL;
        failed |= json_array_append_new(grants, make_grant(args, text));
    }
    if (is_everywhere)
        failed |= json_object_set_new(body, "role", json_string(args->role));
    if (args->no_define && (is_everywhere || !args->role))
        failed |= json_object_set_new(body, "define", json_false());
    if (args->namespaces.count)
        failed |= json_object_set(body, "namespaces", grants);
    json_decref(grants);
    return failed ? cli_fail(E_NOMEM) : EXIT_OK;
}

static void print_role(const json_t *object, struct strbuf *out)
{
    const char *role = answer_text(object, "role");
    bool is_less = strcmp(role, "editor") == 0 && json_is_false(json_object_get(object, "define"));
    strbuf_addf(out, "%s%s", role, is_less ? tr(" (no define)") : "");
}

void scope_print(const json_t *account, struct strbuf *out)
{
    size_t i;
    const json_t *grant, *grants = json_object_get(account, "namespaces");
    if (strcmp(answer_text(account, "role"), "none") != 0 || !json_array_size(grants))
        print_role(account, out);
    json_array_foreach (grants, i, grant) {
        strbuf_addf(out, "%s%s=", out->length ? " " : "", answer_text(grant, "namespace"));
        print_role(grant, out);
    }
}

/* ---- what is asked ---- */

/* `hidden`: what is typed is not shown. */
static enum exit_code ask(const char *prompt, bool hidden, struct strbuf *out)
{
    struct termios before, quiet;
    char *line = NULL;
    size_t room = 0;
    FILE *terminal = fopen("/dev/tty", "r+e");
    if (!terminal || tcgetattr(fileno(terminal), &before) != 0) {
        if (terminal)
            fclose(terminal);
        cli_error(hidden ? "there is no terminal to ask for it on: use --password-file FILE"
                         : "there is no terminal to ask for it on: use --name NAME");
        return EXIT_USAGE;
    }
    fprintf(terminal, tr("%s: "), prompt);
    fflush(terminal);
    quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    if (hidden)
        tcsetattr(fileno(terminal), TCSAFLUSH, &quiet);
    ssize_t length = getline(&line, &room, terminal);
    if (hidden) {
        tcsetattr(fileno(terminal), TCSAFLUSH, &before);
        fputc('\n', terminal);
    }
    fclose(terminal);
    if (length > 0)
        strbuf_add(out, line, strcspn(line, "\r\n"));
    if (line)
        explicit_bzero(line, room);
    free(line);
    if (length > 0)
        return cli_fail(strbuf_status(out));
    cli_error("nothing was typed");
    return EXIT_USAGE;
}

enum exit_code line_ask(const char *prompt, struct strbuf *out)
{
    return ask(prompt, false, out);
}

static enum exit_code read_first_line(const char *file, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = input_file_read(file, &text);
    if (code == EXIT_OK) {
        strbuf_add(out, text.text, strcspn(text.text, "\r\n"));
        code = cli_fail(strbuf_status(out));
        explicit_bzero(text.text, text.length);
    }
    strbuf_release(&text);
    return code;
}

enum exit_code password_read(const char *file, const char *prompt, bool twice, struct strbuf *out)
{
    struct strbuf again;
    if (file)
        return read_first_line(file, out);
    enum exit_code code = ask(prompt, true, out);
    if (code != EXIT_OK || !twice)
        return code;
    strbuf_init(&again);
    code = ask(tr("The same again"), true, &again);
    if (code == EXIT_OK && strcmp(out->text, again.text) != 0) {
        cli_error("these are two passwords; nothing was changed");
        code = EXIT_INVALID;
    }
    strbuf_release(&again);
    return code;
}
