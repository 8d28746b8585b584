#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/suggest.h"
#include "cli/text_width.h"
#include "strbuf.h"
#include "text/tr.h"

__attribute__((format(printf, 2, 0))) static void talk(const char *prefix, const char *format,
                                                       va_list args)
{
    fputs(prefix, stderr);
    vfprintf(stderr, tr(format), args);
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
    talk(tr("note: "), format, args);
    va_end(args);
}

void cli_line(int width, const char *label, const char *format, ...)
{
    va_list args;
    int blanks = width - text_width(tr(label));
    printf("%s%*s ", tr(label), blanks > 0 ? blanks : 0, "");
    va_start(args, format);
    vprintf(tr(format), args);
    va_end(args);
    putchar('\n');
}

enum exit_code cli_usage(const struct command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    talk("peal: ", format, args);
    va_end(args);
    fprintf(stderr, tr("See: peal %s --help"), command->name);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

const char *command_word(const struct command *command)
{
    const char *blank = strrchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

bool cli_choice(const struct command *command, const char *option, const char *text,
                const char *const *choices, unsigned *ret)
{
    struct strbuf list;
    for (unsigned i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *ret = i;
            return true;
        }
    }
    strbuf_init(&list);
    for (int i = 0; choices[i]; i++)
        strbuf_addf(&list, "%s%s", i == 0 ? "" : tr(choices[i + 1] ? TR(", ") : TR(" or ")),
                    choices[i]);
    struct suggestion best = suggest_start(text, strlen(text));
    for (int i = 0; choices[i]; i++)
        suggest_offer(&best, choices[i]);
    if (best.name)
        cli_usage(command, "%s is %s, not \"%s\"; did you mean %s?", option, list.text, text,
                  best.name);
    else
        cli_usage(command, "%s is %s, not \"%s\"", option, list.text, text);
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
    cli_error("%s", tr(status_text(st)));
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
    if (errno)
        cli_error("can't write the output: %s", strerror(errno));
    else
        cli_error("can't write the output");
    return EXIT_ERROR;
}
