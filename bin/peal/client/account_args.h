/* What the commands of accounts share: roles as options, and passwords, which are never one. */
#ifndef PEAL_ACCOUNT_ARGS_H
#define PEAL_ACCOUNT_ARGS_H

#include <jansson.h>

#include "cli/cli.h"
#include "strbuf.h"

enum {
    OPTION_ROLE = OPTION_LONG_ONLY + 700,
    OPTION_NAMESPACE,
    OPTION_NO_DEFINE,
    OPTION_PASSWORD_FILE,
    NAMESPACE_ARGS_MAX = 16,
};

struct scope_args {
    const char *role;
    const char *namespaces[NAMESPACE_ARGS_MAX];
    size_t namespace_count;
    bool no_define;
};

/* clang-format off */
#define SCOPE_OPTIONS                                                                              \
    {"role", required_argument, NULL, OPTION_ROLE},                                                \
        {"namespace", required_argument, NULL, OPTION_NAMESPACE},                                  \
        {"no-define", no_argument, NULL, OPTION_NO_DEFINE}
#define PASSWORD_OPTION {"password-file", required_argument, NULL, OPTION_PASSWORD_FILE}
/* clang-format on */
#define SCOPE_HELP                                                                                 \
    "  --role R         viewer, operator, editor or admin\n"                                       \
    "  --namespace N    the role is for the jobs N/... alone; may be repeated; N=ROLE gives "      \
    "each\n"                                                                                       \
    "                   namespace its own, and leaves --role for everywhere\n"                     \
    "  --no-define      may not change what a job runs, nor as whom\n"
#define PASSWORD_HELP "  --password-file F  its first line is the password; - is stdin\n"

/* False: it is none of these, or wrong, which has been reported. */
bool scope_option(const struct command *self, struct scope_args *args, int opt, const char *value);
bool scope_is_given(const struct scope_args *args);

/* Sets "role", "define" and "namespaces" of the body, as far as they were given. */
MUST_CHECK enum exit_code scope_fill(const struct command *self, const struct scope_args *args,
                                     json_t *body);

/* "editor", "team=viewer shared=editor": of a user or a token, for tables. */
void scope_print(const json_t *account, struct strbuf *out);

/* From the file, or asked for on the terminal without showing it, with `twice` two times. What is
 * wrong has been told. */
MUST_CHECK enum exit_code password_read(const char *file, const char *prompt, bool twice,
                                        struct strbuf *out);

/* A line from the terminal. */
MUST_CHECK enum exit_code line_ask(const char *prompt, struct strbuf *out);

#endif
