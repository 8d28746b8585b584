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

/* In lines of at most 78 bytes, as far as there are blanks. */
static void add_prose(struct strbuf *out, const char *text)
{
    enum { WIDTH = 78 };
    struct strbuf lines;
    size_t column = 0;
    strbuf_init(&lines);
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column && column + 1 + word > WIDTH) {
            strbuf_addc(&lines, '\n');
            column = 0;
        } else if (column) {
            strbuf_addc(&lines, ' ');
        }
        strbuf_add(&lines, text, word);
        column += word + (column != 0);
        text += word + strspn(text + word, " ");
    }
    add_text(out, lines.text);
    strbuf_addc(out, '\n');
    out->failed |= lines.failed;
    strbuf_release(&lines);
}

static void add_line(struct strbuf *out, const char *before, const char *text)
{
    strbuf_adds(out, before);
    add_text(out, text);
    strbuf_addc(out, '\n');
}

/* A paragraph of its own, unless a section begins here. */
static void begin_paragraph(struct strbuf *out)
{
    const char *line = out->text + out->length - 1;
    while (line > out->text && line[-1] != '\n')
        line--;
    if (strncmp(line, ".SH", 3) != 0 && strncmp(line, ".SS", 3) != 0)
        strbuf_adds(out, ".PP\n");
}

/* Each line of the text is a paragraph; `begin` NULL: a plain one. */
static void add_paragraphs(struct strbuf *out, const char *begin, const char *text)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        struct strbuf line;
        end = text + strcspn(text, "\n");
        strbuf_init(&line);
        strbuf_add(&line, text, (size_t)(end - text));
        if (!begin)
            begin_paragraph(out);
        strbuf_adds(out, begin ? begin : "");
        add_prose(out, line.text);
        strbuf_release(&line);
    }
}

static void add_usage(struct strbuf *out, const struct command *command, bool is_first)
{
    struct strbuf lines;
    char *rest = NULL;
    strbuf_init(&lines);
    help_usage(command, &lines);
    for (char *line = strtok_r(lines.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!is_first)
            strbuf_adds(out, ".br\n");
        strbuf_adds(out, "peal ");
        add_line(out, "", line);
        is_first = false;
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
        if (row->heading) {
            begin_paragraph(out);
            add_prose(out, row->heading);
        }
        strbuf_reset(&left);
        help_option(row, &left);
        add_line(out, ".TP\n.B ", left.text);
        add_prose(out, row->help);
    }
    strbuf_release(&left);
}

static void add_examples(struct strbuf *out, const struct example *example)
{
    strbuf_adds(out, ".SH EXAMPLES\n");
    for (; example->line; example++) {
        begin_paragraph(out);
        add_line(out, ".EX\n", example->line);
        strbuf_adds(out, ".EE\n");
        if (example->remark) {
            strbuf_adds(out, ".IP\n");
            add_prose(out, example->remark);
        }
    }
}

static void add_command(struct strbuf *out, const struct command *command)
{
    const struct command *below;
    strbuf_adds(out, ".SH SYNOPSIS\n");
    if (!command->subcommands)
        add_usage(out, command, true);
    for (below = command->subcommands; below && below->name; below++)
        add_usage(out, below, below == command->subcommands);
    add_examples(out, command->examples);
    if (command->notes || command->more || command->subcommands)
        strbuf_adds(out, ".SH DESCRIPTION\n");
    for (below = command->subcommands; below && below->name; below++) {
        add_line(out, ".TP\n.B ", command_word(below));
        add_prose(out, below->summary);
        add_paragraphs(out, ".IP\n", below->notes);
    }
    add_paragraphs(out, NULL, command->notes);
    add_paragraphs(out, NULL, command->more);
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
            add_prose(out, (*command)->summary);
        }
    }
    strbuf_adds(out, ".SH EXIT STATUS\n");
    add_prose(out, EXIT_STATUS_TEXT);
}

void man_print(const struct command *command, const struct topic *all, const char *date,
               struct strbuf *out)
{
    struct strbuf name;
    strbuf_init(&name);
    strbuf_addf(&name, "peal%s%s", command ? "-" : "", command ? command->name : "");
    strbuf_adds(out, ".TH ");
    for (const char *c = name.text; *c; c++)
        strbuf_addc(out, (char)toupper((unsigned char)*c));
    strbuf_addf(out, " 1 %s peal\n.SH NAME\n", date);
    add_text(out, name.text);
    strbuf_adds(out, " \\- ");
    add_line(out, "", command ? command->summary : "cron for one machine or a thousand");
    strbuf_release(&name);
    if (command)
        add_command(out, command);
    else
        add_overview(out, all);
    strbuf_adds(out, ".SH SEE ALSO\n");
    add_prose(out, command ? "peal(1), peal-job(5), peal-schedule(5), peal.yaml(5)"
                           : "peal-job(5), peal-schedule(5), peal-workflow(5), peal.yaml(5), "
                             "peal.h(3), peal-spawn(1), peal-call(1), peal-container(1)");
}
