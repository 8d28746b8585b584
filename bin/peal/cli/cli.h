/* What every command of the program stands on: exit codes, the shape of a command, options, and
 * how it speaks. stdout is data, stderr is talk. */
#ifndef PEAL_CLI_H
#define PEAL_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "status.h"

struct client;

enum exit_code {
    EXIT_OK = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3, /* or not running */
    EXIT_CONFLICT = 4,
    EXIT_UNREACHABLE = 5,
    EXIT_INVALID = 6, /* the input was understood to be wrong */
    EXIT_TIMED_OUT = 7,
    EXIT_RUN_FAILED = 10,
};

struct example {
    const char *line, *remark; /* NULL: no remark */
};

#define EXAMPLES(...)                                                                              \
    (const struct example[])                                                                       \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/* A command is one file, cmd_NAME.c, that defines `const struct command cmd_NAME`, and one line
 * in commands.h. Its texts stand alone, one to a row, and are laid out by help.h. */
struct command {
    const char *name;               /* "list"; below another command "calendar list" */
    const char *summary;            /* one line, for the list of commands */
    const struct example *examples; /* end with {0} */
    const char *usage; /* what follows the name, a line each way; NULL: made from the arguments */
    const char *notes; /* paragraphs above the options; a line end begins the next one */
    const char *more;  /* and below them */
    const struct option_row *arguments, *options; /* end with {0} */
    const char *too_few, *too_many; /* about arguments; %s is the first that is too much */

    const struct command *const *subcommands; /* end with NULL; then all below is theirs */
    size_t request_size;                      /* of a struct that starts with a request_base */
    const void *defaults;                     /* such a struct; NULL: zeros */
    enum exit_code (*run)(void *request);     /* of a command that needs no agent */
    enum exit_code (*with_agent)(struct client *client, void *request);

    const char *help;
    const struct option *getopt_rows;
    enum exit_code (*old_run)(const struct command *self, int argc, char **argv);
};

/* Where the values of options without a letter start. */
enum {
    OPTION_LONG_ONLY = 256,
    /* Which agent is meant, for commands that talk to one: cli_option puts them where the client
     * looks for them, the environment, and goes on. */
    OPTION_REMOTE_URL = 2000,
    OPTION_REMOTE_TOKEN,
    OPTION_REMOTE_CA,
};

/* The `val` of the next option, its value in `optarg`; -1 after the last, with `optind` at the
 * first argument; '?' for a wrong one, which has been reported: return EXIT_USAGE. */
int cli_option(const struct command *command, int argc, char **argv);

/* Option values. False when the value is wrong, which has been reported: return EXIT_USAGE. */
bool cli_number(const struct command *command, const char *option, const char *text, int64_t min,
                int64_t max, int64_t *ret);
bool cli_choice(const struct command *command, const char *option, const char *text,
                const char *const *choices, int *ret); /* `choices` ends with NULL */

/* "peal: ..." on stderr. cli_usage adds where the help is, and returns EXIT_USAGE. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
enum exit_code cli_usage(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "peal: WHAT: message", the text below it, and a caret below the column. */
void cli_parse_error(const char *what, const char *text, const struct parse_error *err);

/* Reports a status that has no better words, and the exit code that stands for it. */
enum exit_code cli_fail(enum status st);

/* The last thing before exit: what was printed has arrived, or it is an error. */
enum exit_code cli_finish(enum exit_code code);

#endif
