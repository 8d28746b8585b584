#include "options/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/suggest.h"
#include "strbuf.h"
#include "text/tr.h"

/* ---- going through the rows ---- */

struct option_walk option_walk(const struct option_row *rows)
{
    return (struct option_walk){.next = {rows}};
}

struct option_walk option_walk_of(const struct command *command)
{
    return command->options
               ? (struct option_walk){.next = {shared_options, command->options}, .depth = 1}
               : option_walk(shared_options);
}

const struct option_row *option_next(struct option_walk *walk)
{
    while (walk->next[walk->depth]) {
        const struct option_row *row = walk->next[walk->depth];
        const struct option_row *group = row->make_group ? row->make_group() : row->group;
        if (group) {
            size_t base = walk->base[walk->depth] + row->place;
            walk->next[walk->depth++]++;
            assert(walk->depth < (int)(sizeof(walk->next) / sizeof(walk->next[0])));
            walk->next[walk->depth] = group;
            walk->base[walk->depth] = base;
        } else if (row->name) {
            walk->next[walk->depth]++;
            walk->place = walk->base[walk->depth] + row->place;
            return row;
        } else if (walk->depth > 0) {
            walk->depth--;
        } else {
            break;
        }
    }
    return NULL;
}

/* ---- values ---- */

static const char *label_of(const struct option_row *row, struct strbuf *out)
{
    if (row->letter)
        strbuf_addf(out, "-%c", row->letter);
    else if (isupper((unsigned char)row->name[0]))
        strbuf_adds(out, row->value ? tr(row->value) : row->name);
    else
        strbuf_addf(out, "--%s", row->name);
    return out->text;
}

bool option_wrong(const struct option_use *use, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    strbuf_init(&text);
    label_of(use->row, &text);
    va_start(args, format);
    strbuf_addv(&text, tr(format), args);
    va_end(args);
    cli_usage(use->command, "%s", text.text);
    strbuf_release(&text);
    return false;
}

bool take_flag(const struct option_use *use)
{
    *(bool *)use->place = true;
    return true;
}

bool take_text(const struct option_use *use)
{
    *(const char **)use->place = use->text;
    return true;
}

bool take_number(const struct option_use *use)
{
    char *end;
    const struct option_row *row = use->row;
    errno = 0;
    long long value = strtoll(use->text, &end, 10);
    if (errno || end == use->text || *end || isspace((unsigned char)*use->text) ||
        value < row->min || value > row->max)
        return option_wrong(use, " is a number from %" PRId64 " to %" PRId64 ", not \"%s\"",
                            row->min, row->max, use->text);
    *(int64_t *)use->place = value;
    return true;
}

/* Of -o: data is the same in all languages. */
static bool is_data(const char *output)
{
    return strcmp(output, "json") == 0 || strcmp(output, "yaml") == 0;
}

bool take_choice(const struct option_use *use)
{
    struct strbuf label;
    strbuf_init(&label);
    bool is_one = cli_choice(use->command, label_of(use->row, &label), use->text, use->row->choices,
                             use->place);
    strbuf_release(&label);
    if (is_one && strcmp(use->row->name, "output") == 0 && is_data(use->text))
        tr_answers_are_data();
    return is_one;
}

bool take_word(const struct option_use *use)
{
    unsigned choice;
    const struct option_use chosen = {
        .command = use->command, .row = use->row, .text = use->text, .place = &choice};
    return take_choice(&chosen) && take_text(use);
}

bool take_list(const struct option_use *use)
{
    struct option_list *list = use->place;
    size_t max = use->row->max ? (size_t)use->row->max : OPTION_LIST_MAX;
    if (list->count == max)
        return option_wrong(use, " may be given %zu times at most", max);
    list->items[list->count++] = use->text;
    return true;
}

bool take_pairs(const struct option_use *use)
{
    const char *equals = strchr(use->text, '=');
    if (!equals || equals == use->text || equals - use->text >= 256)
        return option_wrong(use, " is NAME=VALUE, not \"%s\"", use->text);
    return take_list(use);
}

bool take_variable(const struct option_use *use)
{
    return setenv(use->row->field, use->text, 1) == 0;
}

/* main has looked for it already, for messages about options before it. */
static bool take_language(const struct option_use *use)
{
    unsigned language;
    const struct option_use chosen = {
        .command = use->command, .row = use->row, .text = use->text, .place = &language};
    if (!take_choice(&chosen))
        return false;
    tr_set_language((enum language)language);
    return true;
}

static const char *const languages[] = {
    [LANGUAGE_EN] = "en", [LANGUAGE_ZH] = "zh", [LANGUAGES] = NULL};

const struct option_row shared_options[] = {
    {.name = "lang",
     .value = "L",
     .help = "language of messages: en or zh (else $PEAL_LANG, else that of the locale)",
     .take = take_language,
     .choices = languages},
    {0},
};

/* ---- one command line ---- */

struct parser {
    const struct command *command, *parent;
    char **argv;
    int argc, at; /* the next word */
    int words;    /* words that are not options, at the front of argv */
    int after;    /* how many of them came after `--` */
    char *request;
};

/* By its name or a unique prefix of it. */
static const struct option_row *find_long(const struct command *command, const char *name,
                                          size_t length, size_t *ret_place)
{
    const struct option_row *row, *found = NULL;
    struct option_walk walk = option_walk_of(command);
    int count = 0;
    while ((row = option_next(&walk))) {
        if (length == 0 || strncmp(row->name, name, length) != 0)
            continue;
        found = row;
        *ret_place = walk.place;
        if (strlen(row->name) == length)
            return row;
        count++;
    }
    return count == 1 ? found : NULL;
}

static const struct option_row *find_short(const struct command *command, char letter,
                                           size_t *ret_place)
{
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    while ((row = option_next(&walk))) {
        *ret_place = walk.place;
        if (row->letter == letter)
            return row;
    }
    return NULL;
}

/* Suggests a sibling command that has the option. */
static bool unknown_option(const struct parser *parser, const char *word, size_t length)
{
    const struct command *each = parser->parent ? parser->parent->subcommands : NULL;
    const struct option_row *row;
    struct suggestion best = suggest_start(word + 2, length - 2);
    struct option_walk walk = option_walk_of(parser->command);
    size_t place;
    while ((row = option_next(&walk)))
        suggest_offer(&best, row->name);
    for (; each && each->name; each++) {
        if (find_long(each, word + 2, length - 2, &place)) {
            cli_usage(parser->command, "%.*s is for peal %s", (int)length, word, each->name);
            return false;
        }
    }
    if (best.name)
        cli_usage(parser->command, "unknown option %.*s; did you mean --%s?", (int)length, word,
                  best.name);
    else
        cli_usage(parser->command, "unknown option %.*s", (int)length, word);
    return false;
}

/* `text` NULL: the value is the next word. */
static bool take_value(struct parser *parser, const struct option_row *row, size_t place,
                       const char *text)
{
    struct option_use use = {
        .command = parser->command, .row = row, .text = text, .place = parser->request + place};
    if (row->value && !text) {
        const char *word = parser->argv[parser->at - 1];
        if (parser->at == parser->argc || strcmp(parser->argv[parser->at], "--") == 0) {
            cli_usage(parser->command, "option %s needs a value", word);
            return false;
        }
        use.text = parser->argv[parser->at++];
    }
    return row->take(&use);
}

static bool no_value(const struct parser *parser, const char *word)
{
    cli_usage(parser->command, "option %.*s takes no value", (int)strcspn(word, "="), word);
    return false;
}

static bool parse_long(struct parser *parser, const char *word)
{
    size_t length = strcspn(word, "="), place = 0;
    const struct option_row *row = find_long(parser->command, word + 2, length - 2, &place);
    if (!row)
        return unknown_option(parser, word, length);
    if (!row->value && word[length])
        return no_value(parser, word);
    return take_value(parser, row, place, word[length] ? word + length + 1 : NULL);
}

/* Flags, and as the last one an option with a value: -d, -dn5, -dn=5, -dn 5. */
static bool parse_short(struct parser *parser, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        size_t place = 0;
        const struct option_row *row = find_short(parser->command, *letter, &place);
        if (!row) {
            cli_usage(parser->command, "unknown option -%c", *letter);
            return false;
        }
        if (row->value)
            return take_value(parser, row, place,
                              letter[1] ? letter + 1 + (letter[1] == '=') : NULL);
        if (letter[1] == '=')
            return no_value(parser, word);
        if (!take_value(parser, row, place, NULL))
            return false;
    }
    return true;
}

static bool parse_options(struct parser *parser)
{
    while (parser->at < parser->argc) {
        char *word = parser->argv[parser->at++];
        if (strcmp(word, "--") == 0) {
            parser->after = parser->argc - parser->at;
            while (parser->at < parser->argc)
                parser->argv[parser->words++] = parser->argv[parser->at++];
        } else if (word[0] != '-' || !word[1]) {
            parser->argv[parser->words++] = word;
        } else if (!(word[1] == '-' ? parse_long(parser, word) : parse_short(parser, word))) {
            return false;
        }
    }
    return true;
}

/* ---- arguments ---- */

/* The command's message, with the word for its %s. */
static bool too_many(const struct command *command, const char *word)
{
    const char *text = tr(command->wrong_count ? command->wrong_count
                          : command->too_many  ? command->too_many
                                               : TR("unexpected \"%s\""));
    const char *gap = strstr(text, "%s");
    if (gap)
        cli_usage(command, "%.*s%s%s", (int)(gap - text), text, word, gap + 2);
    else
        cli_usage(command, "%s", text);
    return false;
}

static bool too_few(const struct command *command, const struct option_row *row)
{
    const char *text = command->wrong_count ? command->wrong_count : command->too_few;
    if (text)
        cli_usage(command, "%s", tr(text));
    else
        cli_usage(command, "%s is missing", row->name);
    return false;
}

/* How many words the rows take, without the row for words after `--`. */
static int room_for(const struct option_row *row)
{
    int room = 0;
    for (; row && row->name; row++)
        room = row->is_many && !row->is_after_dashes ? INT_MAX : room + !row->is_after_dashes;
    return room;
}

static bool take_arguments(struct parser *parser)
{
    const struct command *command = parser->command;
    const struct option_row *row = command->arguments;
    int at = 0, end = parser->words, room = room_for(row);
    if (row && row->is_after_dashes) {
        end -= parser->after;
        *(struct words *)(parser->request + row->place) =
            (struct words){.items = parser->argv + end, .count = parser->after};
        row++;
    }
    if (end > room)
        return too_many(command, parser->argv[room]);
    for (; row && row->name; row++) {
        struct option_use use = {
            .command = command, .row = row, .place = parser->request + row->place};
        if (at == end && !row->is_optional)
            return too_few(command, row);
        if (row->is_many) {
            *(struct words *)use.place =
                (struct words){.items = parser->argv + at, .count = end - at};
            at = end;
        } else if (at < end) {
            use.text = parser->argv[at++];
            if (!row->take(&use))
                return false;
        }
    }
    return true;
}

bool options_parse(const struct command *command, const struct command *parent, int argc,
                   char **argv, void *request)
{
    struct parser parser = {
        .command = command, .parent = parent, .argv = argv, .argc = argc, .request = request};
    return parse_options(&parser) && take_arguments(&parser);
}

/* Is the next word the value of this option? */
static bool value_follows(const struct command *commands, const char *word)
{
    const struct option_row *row = NULL;
    size_t place;
    for (; commands->name && !row; commands++)
        row = word[1] == '-' ? find_long(commands, word + 2, strlen(word + 2), &place)
                             : find_short(commands, word[1], &place);
    return row && row->value && (word[1] == '-' || !word[2]);
}

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] && strcmp(word, "--") != 0;
}

int options_find_word(const struct command *commands, int argc, char **argv)
{
    int at = 0;
    while (at < argc && is_option(argv[at]))
        at += value_follows(commands, argv[at]) ? 2 : 1;
    return at < argc && strcmp(argv[at], "--") != 0 ? at : argc;
}
