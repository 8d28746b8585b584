#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"
#include "cli/text_width.h"
#include "strbuf.h"

__attribute__((format(printf, 2, 0))) static void talk(const char *prefix, const char *format,
                                                       va_list args)
{
    fputs(prefix, stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void cli_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    talk("peal: ", format, args);
    va_end(args);
}

void cli_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    talk("note: ", format, args);
    va_end(args);
}

enum exit_code cli_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    talk("peal: ", format, args);
    va_end(args);
    fprintf(stderr, "See: peal %s --help\n", command->name);
    return EXIT_USAGE;
}

/* getopt's string of short options: those of the table whose value is a letter. */
static void short_options(const struct option *options, char *out, size_t size)
{
    size_t used = 0;
    out[used++] = ':'; /* tell a missing value from an unknown option */
    for (; options->name && used + 3 < size; options++) {
        if (options->val >= OPTION_LONG_ONLY || !isalpha(options->val))
            continue;
        out[used++] = (char)options->val;
        if (options->has_arg == required_argument)
            out[used++] = ':';
    }
    out[used] = '\0';
}

static void unknown_option(const struct command *command, const char *word)
{
    int length = (int)strcspn(word, "=");
    struct suggestion best = suggest_start(word + 2, (size_t)length - 2);
    for (const struct option *o = command->getopt_rows; o->name; o++)
        suggest_offer(&best, o->name);
    if (best.name)
        cli_usage(command, "unknown option %.*s; did you mean --%s?", length, word, best.name);
    else
        cli_usage(command, "unknown option %.*s", length, word);
}

static bool has_option(const struct command *command, int val)
{
    for (const struct option *o = command->getopt_rows; o->name; o++) {
        if (o->val == val)
            return true;
    }
    return false;
}

static bool take_remote(int opt)
{
    static const char *const variables[] = {"PEAL_URL", "PEAL_TOKEN_FILE", "PEAL_CA"};
    return opt >= OPTION_REMOTE_URL && opt <= OPTION_REMOTE_CA &&
           setenv(variables[opt - OPTION_REMOTE_URL], optarg, 1) == 0;
}

int cli_option(const struct command *command, int argc, char **argv)
{
    char shorts[2 * 64];
    int opt;
    short_options(command->getopt_rows, shorts, sizeof(shorts));
    opterr = 0;
    do
        opt = getopt_long(argc, argv, shorts, command->getopt_rows, NULL);
    while (take_remote(opt));
    if (opt != ':' && opt != '?')
        return opt;
    const char *word = argv[optind - 1]; /* of a wrong short option getopt tells the letter only */
    if (opt == ':')
        cli_usage(command, "option %s needs a value", word);
    else if (optopt == 0)
        unknown_option(command, word);
    else if (has_option(command, optopt))
        cli_usage(command, "option %.*s takes no value", (int)strcspn(word, "="), word);
    else
        cli_usage(command, "unknown option -%c", optopt);
    return '?';
}

bool cli_number(const struct command *command, const char *option, const char *text, int64_t min,
                int64_t max, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || isspace((unsigned char)*text) || value < min ||
        value > max) {
        cli_usage(command, "%s is a number from %" PRId64 " to %" PRId64 ", not \"%s\"", option,
                  min, max, text);
        return false;
    }
    *ret = value;
    return true;
}

bool cli_choice(const struct command *command, const char *option, const char *text,
                const char *const *choices, int *ret)
{
    struct strbuf list;
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *ret = i;
            return true;
        }
    }
    strbuf_init(&list);
    for (int i = 0; choices[i]; i++)
        strbuf_addf(&list, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
    struct suggestion best = suggest_start(text, strlen(text));
    for (int i = 0; choices[i]; i++)
        suggest_offer(&best, choices[i]);
    cli_usage(command, "%s is %s, not \"%s\"%s%s%s", option, list.text, text,
              best.name ? "; did you mean " : "", best.name ? best.name : "", best.name ? "?" : "");
    strbuf_release(&list);
    return false;
}

/* Moves back to where a UTF-8 character starts. */
static size_t character_start(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* A long text is cut to what is around the column. */
void cli_parse_error(const char *what, const char *text, const struct parse_error *err)
{
    enum { BEFORE = 60, SHOWN = 100 };
    size_t length = strlen(text);
    size_t column = err->column > 0 ? (size_t)err->column - 1 : 0;
    if (column > length)
        column = length;
    size_t start = length > SHOWN && column > BEFORE ? character_start(text, column - BEFORE) : 0;
    size_t end = length - start > SHOWN ? character_start(text, start + SHOWN) : length;

    cli_error("%s: %s", what, err->message);
    if (length == 0)
        return;
    struct strbuf line;
    strbuf_init(&line);
    strbuf_adds(&line, start > 0 ? "…" : "");
    text_print_safe(text + start, column - start, &line);
    int caret = text_width(line.text);
    text_print_safe(text + column, end - column, &line);
    fprintf(stderr, "  %s%s\n", line.text, end < length ? "…" : "");
    if (err->column > 0)
        fprintf(stderr, "  %*s^\n", caret, "");
    strbuf_release(&line);
}

enum exit_code cli_fail(enum status st)
{
    if (st == OK)
        return EXIT_OK;
    cli_error("%s", status_text(st));
    switch (st) {
    case E_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case E_CONFLICT:
        return EXIT_CONFLICT;
    case E_UNREACHABLE:
        return EXIT_UNREACHABLE;
    case E_INVALID:
        return EXIT_INVALID;
    case OK:
    case E_NOMEM:
    case E_IO:
    case E_UNKNOWN:
    case E_TOO_LARGE:
    case E_CORRUPT:
    case E_VERSION:
    case E_BUSY:
    case E_ROLLED_BACK:
    case E_SET_ASIDE:
        break;
    }
    return EXIT_ERROR;
}

enum exit_code cli_finish(enum exit_code code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed)
        return code;
    cli_error("can't write the output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return EXIT_ERROR;
}
