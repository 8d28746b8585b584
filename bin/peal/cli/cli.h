/* The base of all commands: exit codes, struct command, and messages. stdout is for data, stderr
 * for messages. */
#ifndef PEAL_CLI_H
#define PEAL_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "options/options.h"
#include "status.h"

struct client;
struct doc_form;

enum exit_code {
    EXIT_OK = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3, /* or not running */
    EXIT_CONFLICT = 4,
    EXIT_UNREACHABLE = 5,
    EXIT_INVALID = 6, /* invalid input */
    EXIT_TIMED_OUT = 7,
    EXIT_NO_STARTS = 8, /* the agent is running, and can't start runs */
    EXIT_RUN_FAILED = 10,
    EXIT_NOT_GOT = 11, /* another holds the lock, leads, or was chosen */
    EXIT_LOST = 12,    /* the lock, or the lead, was lost while the command ran */
    EXIT_DIFFERS = 13, /* of a command that `compares` alone */
};

#define EXIT_STATUS_TEXT                                                                           \
    "0 ok, 1 error, 2 wrong usage, 3 not found or not running, 4 conflict, 5 unreachable, 6 "      \
    "invalid input, 7 timed out waiting, 8 nothing can start, 10 the run failed, 11 held "         \
    "by another, 12 lost while held."

struct example {
    const char *line, *remark; /* NULL: no remark */
};

/* clang-format off */
#define EXAMPLES(...) (const struct example[]) {__VA_ARGS__, {0}}
/* clang-format on */

/* A command is one file, cmd_NAME.c, that defines `const struct command cmd_NAME`, and one line in
 * commands.h. help.h formats its texts. */
struct command {
    const char *name;               /* "list"; below another command "calendar list" */
    const char *summary;            /* one line, for the list of commands */
    const struct example *examples; /* end with {0} */
    const char *usage;              /* usage lines after the name; NULL: made from the arguments */
    const char *notes; /* paragraphs above the options; a line end begins the next one */
    const char *more;  /* and below them */
    const struct option_row *arguments, *options; /* end with {0} */
    const char *too_few, *too_many; /* messages about arguments; %s is the first surplus one */
    const char *wrong_count;        /* instead of both */

    const struct command *subcommands; /* end with {0}; then only they can be run */
    bool compares;        /* its exit status is 0: no difference, 2: EXIT_DIFFERS, 1: any error */
    size_t request_size;  /* of a struct that starts with a request_base; also of subcommands */
    const void *defaults; /* such a struct; NULL: zeros */
    enum exit_code (*run)(void *request); /* of a command that needs no agent */
    enum exit_code (*with_agent)(struct client *client, void *request);
    const struct doc_form *documents; /* of a command about them, see client/documents.h */
};

/* "list" of "calendar list". */
const char *command_word(const struct command *command);

/* All that follow are given English texts, and print them in the language of the command. */

/* The index of `text` in the NULL-terminated choices. False: not found, which has been reported. */
bool cli_choice(const struct command *command, const char *option, const char *text,
                const char *const *choices, unsigned *ret);

/* A label in a column of that width, a blank, and the text, as a line of stdout. */
void cli_line(int width, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "peal: ..." on stderr. cli_usage adds a pointer to the help, and returns EXIT_USAGE. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum exit_code cli_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "peal: WHAT: message", the text below it, and a caret below the column. */
void cli_parse_error(const char *what, const char *text, const struct parse_error *err);

/* Reports a status without a better message; returns its exit code. */
enum exit_code cli_fail(enum status st);

/* To be called last: flushes stdout, and reports a failed write. */
enum exit_code cli_finish(enum exit_code code);

#endif
