/* Shared by the account commands: roles as options, and passwords, which are never options. */
#ifndef PEAL_ACCOUNT_ARGS_H
#define PEAL_ACCOUNT_ARGS_H

#include <jansson.h>

#include "cli/cli.h"
#include "strbuf.h"

struct scope_args {
    const char *role;
    struct option_list namespaces;
    bool no_define;
};
extern const struct option_row scope_options[];

#define OPTION_PASSWORD_FILE(of, member, ...)                                                      \
    OPTION_TEXT(of, member, 0, "password-file", "F",                                               \
                "a file whose first line is the password; - is stdin", .complete = COMPLETE_FILES, \
                __VA_ARGS__)

bool scope_is_given(const struct scope_args *args);

/* Sets "role", "define" and "namespaces" of the body, if given. */
MUST_CHECK enum exit_code scope_fill(const struct command *self, const struct scope_args *args,
                                     json_t *body);

/* "editor", "team=viewer shared=editor": of a user or a token, for tables. */
void scope_print(const json_t *account, struct strbuf *out);

/* Reads the password from the file, or from the terminal without echo; `twice`: with confirmation.
 * Errors are reported. */
MUST_CHECK enum exit_code password_read(const char *file, const char *prompt, bool twice,
                                        struct strbuf *out);

/* A line from the terminal. */
MUST_CHECK enum exit_code line_ask(const char *prompt, struct strbuf *out);

#endif
