#include "options/help.h"

#include <string.h>

#include "cli/text_width.h"
#include "text/tr.h"

enum { WIDTH = 92, GAP = 2, EXAMPLE_MAX = 56, OPTION_MAX = 22 };

/* Appends words; lines are broken at WIDTH and begin at column `indent`, where the first begins. */
static void add_wrapped(struct strbuf *out, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        bool has_blank = *text == ' ';
        size_t length = text_piece(text += has_blank);
        int width = text_width_of(text, length);
        if (column > indent && column + has_blank + width > WIDTH) {
            strbuf_addf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent && has_blank) {
            strbuf_addc(out, ' ');
            column++;
        }
        strbuf_add(out, text, length);
        column += width;
        text += length;
        if (*text == '\n') {
            strbuf_addf(out, "\n%*s", indent, "");
            column = indent;
            text++;
        }
    }
    strbuf_addc(out, '\n');
}

/* "  left      right"; a left side that is too long has the right one below it. */
static void add_row(struct strbuf *out, const char *left, const char *right, int column)
{
    int width = 2 + text_width(left);
    strbuf_addf(out, "  %s", left);
    if (!right || !*right) {
        strbuf_addc(out, '\n');
        return;
    }
    if (width + GAP > column)
        strbuf_addf(out, "\n%*s", column, "");
    else
        strbuf_addf(out, "%*s", column - width, "");
    add_wrapped(out, right, column);
}

static int wider(int width, int column, int max)
{
    int wanted = 2 + width + GAP;
    return width > max || wanted < column ? column : wanted;
}

/* ---- examples ---- */

/* For a subcommand: the parent's examples that call it. */
static bool is_of(const struct example *example, const struct command *command, bool all)
{
    size_t length = strlen(command->name);
    return all || (strncmp(example->line, "peal ", 5) == 0 &&
                   strncmp(example->line + 5, command->name, length) == 0 &&
                   (example->line[5 + length] == ' ' || !example->line[5 + length]));
}

static void add_examples(struct strbuf *out, const struct command *command,
                         const struct example *examples, bool all)
{
    int column = 0;
    bool is_first = true;
    for (const struct example *e = examples; e->line; e++) {
        if (e->remark && is_of(e, command, all))
            column = wider(text_width(e->line), column, EXAMPLE_MAX);
    }
    for (const struct example *e = examples; e->line; e++) {
        if (!is_of(e, command, all))
            continue;
        if (is_first)
            strbuf_addf(out, "%s\n", tr("Examples:"));
        is_first = false;
        add_row(out, e->line, e->remark ? tr(e->remark) : NULL, column);
    }
    strbuf_adds(out, is_first ? "" : "\n");
}

/* ---- usage ---- */

static void add_arguments(struct strbuf *out, const struct option_row *row)
{
    for (; row && row->name; row++) {
        strbuf_addf(out, " %s%s%s%s", row->is_optional ? "[" : "", row->name,
                    row->is_many ? "..." : "", row->is_optional ? "]" : "");
    }
}

void help_usage(const struct command *command, struct strbuf *out)
{
    const char *line = command->usage;
    if (!line) {
        strbuf_adds(out, command->name);
        add_arguments(out, command->arguments);
        strbuf_adds(out, command->options ? " [options]\n" : "\n");
        return;
    }
    while (*line) {
        size_t length = strcspn(line, "\n");
        strbuf_addf(out, "%s %.*s\n", command->name, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* The usage lines, the first after "Usage: ", with their remarks in a column beside them. */
static void add_usage(struct strbuf *out, const struct command *command, const char *remark,
                      bool is_first)
{
    struct strbuf lines;
    strbuf_init(&lines);
    help_usage(command, &lines);
    for (const char *line = lines.text; *line; is_first = false, remark = NULL) {
        int length = (int)strcspn(line, "\n");
        const char *usage = tr("Usage: ");
        int indent = text_width(usage) + 4;
        if (is_first)
            strbuf_addf(out, "%speal %.*s\n", usage, length, line);
        else
            strbuf_addf(out, "%*speal %.*s\n", indent - 4, "", length, line);
        if (remark) {
            strbuf_addf(out, "%*s", indent, "");
            add_wrapped(out, tr(remark), indent);
        }
        line += length + 1;
    }
    strbuf_release(&lines);
}

/* ---- options ---- */

void help_option(const struct option_row *row, struct strbuf *out)
{
    if (row->letter)
        strbuf_addf(out, "-%c, ", row->letter);
    strbuf_addf(out, "--%s", row->name);
    if (row->value)
        strbuf_addf(out, " %s", row->value);
}

static bool has_row(const struct command *command, const struct option_row *wanted)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    while ((row = option_next(&walk))) {
        if (row == wanted)
            return true;
    }
    return false;
}

bool help_is_own(const struct command *command, const struct command *parent,
                 const struct option_row *row)
{
    return !parent || parent == command || !has_row(parent, row);
}

static const char *help_of(const struct option_row *row)
{
    return row->help_zh && tr_language() == LANGUAGE_ZH ? row->help_zh : tr(row->help);
}

static void add_title(struct strbuf *out, const char *of)
{
    strbuf_addc(out, '\n');
    if (of)
        strbuf_addf(out, tr("Options of %s:"), of);
    else
        strbuf_adds(out, tr("Options:"));
    strbuf_addc(out, '\n');
}

/* With a parent: only rows that the parent does not have. */
static void add_options(struct strbuf *out, const struct command *command,
                        const struct command *parent, const char *of)
{
    const struct option_row *row;
    struct strbuf left;
    int column = 0;
    bool is_first = true;
    strbuf_init(&left);
    for (int pass = 0; pass < 2; pass++) {
        struct option_walk walk = option_walk_of(command);
        while ((row = option_next(&walk))) {
            if (!help_is_own(command, parent, row))
                continue;
            strbuf_reset(&left);
            strbuf_adds(&left, row->letter ? "" : "    ");
            help_option(row, &left);
            if (pass == 0) {
                column = wider(text_width(left.text), column, OPTION_MAX);
                continue;
            }
            if (row->heading)
                strbuf_addf(out, "\n%s\n", tr(row->heading));
            else if (is_first)
                add_title(out, of);
            is_first = false;
            add_row(out, left.text, help_of(row), column);
        }
    }
    strbuf_release(&left);
}

/* ---- the page ---- */

static void add_notes(struct strbuf *out, const char *text)
{
    if (!text)
        return;
    strbuf_addc(out, '\n');
    add_wrapped(out, tr(text), 0);
}

static void add_subcommands(struct strbuf *out, const struct command *command)
{
    const struct command *each;
    for (each = command->subcommands; each->name; each++)
        add_usage(out, each, each->summary, each == command->subcommands);
    for (each = command->subcommands; each->name; each++)
        add_notes(out, each->notes);
    add_notes(out, command->notes);
    for (each = command->subcommands; each->name; each++)
        add_options(out, each, command, command_word(each));
}

void help_print(const struct command *command, const struct command *parent, struct strbuf *out)
{
    strbuf_addf(out, "peal %s - %s\n\n", command->name, tr(command->summary));
    add_examples(out, command, parent ? parent->examples : command->examples, !parent);
    if (command->subcommands) {
        add_subcommands(out, command);
    } else {
        add_usage(out, command, NULL, true);
        add_notes(out, command->notes);
    }
    add_options(out, command, NULL, NULL);
    add_notes(out, command->more);
}
