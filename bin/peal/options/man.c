#include "options/man.h"

#include <ctype.h>
#include <string.h>

#include "options/help.h"

/* Escapes backslashes, and dots and quotes at the start of a line; hyphens become minus signs, so
 * that text copied from the page works. */
static void add_text(struct strbuf *out, const char *text)
{
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            strbuf_adds(out, "\\&");
        begins = *text == '\n';
        if (*text == '\\')
            strbuf_adds(out, "\\e");
        else if (*text == '-')
            strbuf_adds(out, "\\-");
        else
            strbuf_addc(out, *text);
    }
}

static void add_line(struct strbuf *out, const char *before, const char *text)
{
    strbuf_adds(out, before);
    add_text(out, text);
    strbuf_addc(out, '\n');
}

/* Each line of the text is a paragraph. */
static void add_paragraphs(struct strbuf *out, const char *begin, const char *text)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        struct strbuf line;
        end = text + strcspn(text, "\n");
        strbuf_init(&line);
        strbuf_add(&line, text, (size_t)(end - text));
        add_line(out, begin, line.text);
        strbuf_release(&line);
    }
}

static void add_usage(struct strbuf *out, const struct command *command)
{
    struct strbuf lines;
    char *rest = NULL;
    strbuf_init(&lines);
    help_usage(command, &lines);
    for (char *line = strtok_r(lines.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        strbuf_adds(out, "peal ");
        add_line(out, "", line);
        strbuf_adds(out, ".br\n");
    }
    strbuf_release(&lines);
}

static void add_options(struct strbuf *out, const struct command *command,
                        const struct command *parent)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    struct strbuf left;
    strbuf_init(&left);
    while ((row = option_next(&walk))) {
        if (!help_is_own(command, parent, row))
            continue;
        if (row->heading)
            add_line(out, ".PP\n", row->heading);
        strbuf_reset(&left);
        help_option(row, &left);
        add_line(out, ".TP\n.B ", left.text);
        add_line(out, "", row->help);
    }
    strbuf_release(&left);
}

static void add_examples(struct strbuf *out, const struct example *example)
{
    strbuf_adds(out, ".SH EXAMPLES\n");
    for (; example->line; example++) {
        add_line(out, ".PP\n.nf\n", example->line);
        strbuf_adds(out, ".fi\n");
        if (example->remark)
            add_line(out, ".IP\n", example->remark);
    }
}

static void add_command(struct strbuf *out, const struct command *command)
{
    const struct command *below;
    strbuf_adds(out, ".SH SYNOPSIS\n");
    if (!command->subcommands)
        add_usage(out, command);
    for (below = command->subcommands; below && below->name; below++)
        add_usage(out, below);
    add_examples(out, command->examples);
    if (command->notes || command->more || command->subcommands)
        strbuf_adds(out, ".SH DESCRIPTION\n");
    for (below = command->subcommands; below && below->name; below++) {
        add_line(out, ".TP\n.B ", command_word(below));
        add_line(out, "", below->summary);
        add_paragraphs(out, ".IP\n", below->notes);
    }
    add_paragraphs(out, ".PP\n", command->notes);
    add_paragraphs(out, ".PP\n", command->more);
    for (below = command->subcommands; below && below->name; below++) {
        add_line(out, ".SS Options of ", command_word(below));
        add_options(out, below, command);
    }
    strbuf_adds(out, ".SH OPTIONS\n");
    add_options(out, command, NULL);
}

static void add_overview(struct strbuf *out, const struct topic *all)
{
    strbuf_adds(out, ".SH SYNOPSIS\n.B peal\nCOMMAND [ARGUMENTS] [OPTIONS]\n");
    for (; all->title; all++) {
        add_line(out, ".SS ", all->title);
        for (const struct command *const *command = all->commands; *command; command++) {
            strbuf_addf(out, ".TP\n.BR peal\\-");
            add_text(out, (*command)->name);
            strbuf_adds(out, " (1)\n");
            add_line(out, "", (*command)->summary);
        }
    }
    strbuf_adds(out, ".SH EXIT STATUS\n");
    add_line(out, "", EXIT_STATUS_TEXT);
}

void man_print(const struct command *command, const struct topic *all, struct strbuf *out)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "peal%s%s", command ? "-" : "", command ? command->name : "");
    strbuf_adds(out, ".TH ");
    for (const char *c = name.text; *c; c++)
        strbuf_addc(out, (char)toupper((unsigned char)*c));
    strbuf_adds(out, " 1 \"\" peal\n.SH NAME\n");
    add_text(out, name.text);
    strbuf_adds(out, " \\- ");
    add_line(out, "", command ? command->summary : "cron for one machine or a thousand");
    strbuf_release(&name);
    if (command)
        add_command(out, command);
    else
        add_overview(out, all);
}
