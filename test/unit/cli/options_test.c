#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "options/help.h"
#include "options/man.h"
#include "random_cron.h"

/* A command with a row of each kind. */
struct inner {
    const char *color;
    int64_t depth;
};
struct request {
    struct request_base base;
    bool quiet, all;
    const char *text, *word;
    int64_t count;
    unsigned form;
    struct option_list list, pairs;
    struct inner inner;
    const char *name;
    struct words rest, command;
};

static const char *const forms[] = {"table", "json", "yaml", NULL};
static const struct option_row inner_rows[] = {
    OPTION_TEXT(inner, color, 'c', "color", "C", "what it looks like"),
    OPTION_NUMBER(inner, depth, 0, "depth", -5, 5, "how deep"),
    {0},
};
static const struct option_row rows[] = {
    OPTION_FLAG(request, quiet, 'q', "quiet", "say nothing"),
    OPTION_FLAG(request, all, 0, "all", "everything"),
    OPTION_TEXT(request, text, 't', "text", "TEXT", "any text"),
    OPTION_WORD(request, word, 0, "word", "W", forms, "one of them, as text"),
    OPTION_GROUP(request, inner, inner_rows),
    OPTION_NUMBER(request, count, 'n', "count", 1, 100, "how many"),
    OPTION_CHOICE(request, form, 'o', "output", "F", forms, "table, json or yaml"),
    OPTION_LIST(request, list, 0, "list", "L", "may repeat", .max = 3),
    OPTION_ROW(take_pairs, request, pairs, struct option_list, 0, "pair", "K=V", "may repeat", ),
    OPTION_VARIABLE("PEAL_TEST_VARIABLE", "variable", "V", "into the environment"),
    {0},
};
static const struct command command = {
    .name = "try",
    .summary = "what is tested",
    .examples = EXAMPLES({"peal try x", "an example"}),
    .arguments = ROWS(ARGUMENTS(request, command, "COMMAND", .is_after_dashes = true),
                      ARGUMENT(request, name, "NAME"),
                      ARGUMENTS(request, rest, "WORD", .is_optional = true)),
    .options = rows,
    .too_few = "which name?",
    .request_size = sizeof(struct request),
};
static const struct command below[] = {
    {
        .name = "top show",
        .summary = "show it",
        .arguments = ROWS(ARGUMENT(request, name, "NAME", .is_optional = true)),
        .options = ROWS(OPTION_FLAG(request, quiet, 'q', "quiet", "say nothing"),
                        OPTION_GROUP(request, inner, inner_rows)),
        .too_many = "one, not \"%s\"",
    },
    {
        .name = "top set",
        .summary = "set it",
        .options = ROWS(OPTION_TEXT(request, text, 0, "value", "V", "the value"),
                        OPTION_GROUP(request, inner, inner_rows)),
    },
    {0},
};
static const struct command parent = {
    .name = "top",
    .summary = "has commands below it",
    .examples = EXAMPLES({"peal top show x", NULL}, {"peal top set --value 1", NULL}),
    .options = inner_rows,
    .too_few = "what?",
    .subcommands = below,
    .request_size = sizeof(struct request),
};

/* ---- one line at a time ---- */

enum { WORDS_MAX = 24 };
struct line {
    char text[1024];
    char *argv[WORDS_MAX + 1];
    int argc;
};

/* "a b c": words between blanks; _ stands for an empty one. */
static void line_split(struct line *line, const char *text)
{
    char *rest = NULL;
    snprintf(line->text, sizeof(line->text), "%s", text);
    line->argc = 0;
    for (char *word = strtok_r(line->text, " ", &rest); word && line->argc < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        line->argv[line->argc++] = strcmp(word, "_") == 0 ? word + 1 : word;
    line->argv[line->argc] = NULL;
}

static void print_list(struct strbuf *out, const char *name, const struct option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        strbuf_addf(out, " %s=%s", name, list->items[i]);
}

static void print_words(struct strbuf *out, const char *name, const struct words *words)
{
    for (int i = 0; i < words->count; i++)
        strbuf_addf(out, " %s:%s", name, words->items[i]);
}

/* What was understood, as text; "wrong" when it was not. What is said goes to *said. */
static void parse(const struct command *of, const struct command *above, const char *text,
                  struct strbuf *out, char said[512])
{
    struct line line;
    struct request request = {.base.command = of};
    FILE *kept = tmpfile();
    int before = dup(STDERR_FILENO);
    line_split(&line, text);
    fflush(stderr);
    dup2(fileno(kept), STDERR_FILENO);
    bool good = options_parse(of, above, line.argc, line.argv, &request);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(kept);
    said[fread(said, 1, 511, kept)] = '\0';
    fclose(kept);
    strbuf_reset(out);
    if (!good) {
        strbuf_adds(out, "wrong");
        return;
    }
    if (request.quiet)
        strbuf_adds(out, " quiet");
    if (request.all)
        strbuf_adds(out, " all");
    const char *const texts[][2] = {{"text", request.text},
                                    {"word", request.word},
                                    {"color", request.inner.color},
                                    {"name", request.name}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i][1])
            strbuf_addf(out, " %s=%s", texts[i][0], texts[i][1]);
    }
    if (request.count || request.inner.depth || request.form)
        strbuf_addf(out, " %d/%d/%u", (int)request.count, (int)request.inner.depth, request.form);
    print_list(out, "list", &request.list);
    print_list(out, "pair", &request.pairs);
    print_words(out, "rest", &request.rest);
    print_words(out, "command", &request.command);
}

static void understands_lines(void **state)
{
    static const struct {
        int line;
        const char *text, *want; /* what was understood, or what is said */
    } cases[] = {
        {__LINE__, "x", " name=x"},
        {__LINE__, "x --quiet", " quiet name=x"},
        {__LINE__, "--quiet x", " quiet name=x"},
        {__LINE__, "-q x", " quiet name=x"},
        {__LINE__, "x a --all b", " all name=x rest:a rest:b"},
        {__LINE__, "x -t y", " text=y name=x"},
        {__LINE__, "x -ty", " text=y name=x"},
        {__LINE__, "x -t=y", " text=y name=x"},
        {__LINE__, "x -t _", " text= name=x"},
        {__LINE__, "x -t=", " text= name=x"},
        {__LINE__, "x --text=", " text= name=x"},
        {__LINE__, "x --text=a=b", " text=a=b name=x"},
        {__LINE__, "x --text -q", " text=-q name=x"},
        {__LINE__, "x -qty", " quiet text=y name=x"},
        {__LINE__, "x -qn 5", " quiet name=x 5/0/0"},
        {__LINE__, "x --tex y", " text=y name=x"}, /* the start of one name alone */
        {__LINE__, "x --c y", "unknown option --c"},
        {__LINE__, "x --co 3", "unknown option --co"}, /* color or count */
        {__LINE__, "x --col red --depth -5", " color=red name=x 0/-5/0"},
        {__LINE__, "x -c red -o=yaml", " color=red name=x 0/0/2"},
        {__LINE__, "x --word json", " word=json name=x"},
        {__LINE__, "x --list a --list b", " name=x list=a list=b"},
        {__LINE__, "x --list a --list b --list c --list d", "--list may be given 3 times at most"},
        {__LINE__, "x --pair a=b --pair c=", " name=x pair=a=b pair=c="},
        {__LINE__, "x --pair a", "--pair is NAME=VALUE, not \"a\""},
        {__LINE__, "x --pair =a", "--pair is NAME=VALUE, not \"=a\""},
        {__LINE__, "x -- y --quiet", " name=x command:y command:--quiet"},
        {__LINE__, "-- y", "which name?"},
        {__LINE__, "x -", " name=x rest:-"},
        {__LINE__, "_", " name="},
        {__LINE__, "", "which name?"},
        {__LINE__, "x -n", "option -n needs a value"},
        {__LINE__, "x --count", "option --count needs a value"},
        {__LINE__, "x --text -- y", "option --text needs a value"},
        {__LINE__, "x -n 0", "-n is a number from 1 to 100, not \"0\""},
        {__LINE__, "x -n 5x", "-n is a number from 1 to 100, not \"5x\""},
        {__LINE__, "x -n _", "-n is a number from 1 to 100, not \"\""},
        {__LINE__, "x --depth 6", "--depth is a number from -5 to 5, not \"6\""},
        {__LINE__, "x -o jso", "-o is table, json or yaml, not \"jso\"; did you mean json?"},
        {__LINE__, "x --word xml", "--word is table, json or yaml, not \"xml\""},
        {__LINE__, "x --quiet=1", "option --quiet takes no value"},
        {__LINE__, "x -q=1", "option -q takes no value"},
        {__LINE__, "x -qz", "unknown option -z"},
        {__LINE__, "x --quit", "unknown option --quit; did you mean --quiet?"},
        {__LINE__, "x --=3", "unknown option --"},
    };
    struct strbuf got;
    char said[512];
    (void)state;
    strbuf_init(&got);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_good = cases[i].want[0] == ' ';
        parse(&command, NULL, cases[i].text, &got, said);
        if (is_good ? strcmp(got.text, cases[i].want) != 0 : !strstr(said, cases[i].want))
            fail_msg("line %d: %s: got%s, said %s", cases[i].line, cases[i].text, got.text, said);
        if (!is_good && !strstr(said, "See: peal try --help"))
            fail_msg("line %d: no word of the help: %s", cases[i].line, said);
    }
    strbuf_release(&got);
}

static void sets_variables(void **state)
{
    struct strbuf got;
    char said[512];
    (void)state;
    strbuf_init(&got);
    parse(&command, NULL, "x --variable here", &got, said);
    assert_string_equal(got.text, " name=x");
    assert_string_equal(getenv("PEAL_TEST_VARIABLE"), "here");
    strbuf_release(&got);
}

static void knows_commands_below(void **state)
{
    static const struct {
        int line;
        const char *text;
        int want; /* where the word is */
    } words[] = {
        {__LINE__, "show x", 0},        {__LINE__, "-q show x", 1},  {__LINE__, "--value v set", 2},
        {__LINE__, "--value=v set", 1}, {__LINE__, "-c red set", 2}, {__LINE__, "-cred set", 1},
        {__LINE__, "--what set", 1},    {__LINE__, "-- set", 2},     {__LINE__, "--value", 1},
        {__LINE__, "- set", 0},
    };
    struct strbuf got;
    struct line line;
    char said[512];
    (void)state;
    strbuf_init(&got);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        line_split(&line, words[i].text);
        int at = options_find_word(below, line.argc, line.argv);
        if (at != words[i].want)
            fail_msg("line %d: %s: got %d", words[i].line, words[i].text, at);
    }
    parse(&below[0], &parent, "x --value 3", &got, said);
    assert_non_null(strstr(said, "--value is for peal top set"));
    assert_non_null(strstr(said, "See: peal top show --help"));
    parse(&below[0], &parent, "x y", &got, said);
    assert_non_null(strstr(said, "one, not \"y\""));
    parse(&below[1], &parent, "x", &got, said);
    assert_non_null(strstr(said, "unexpected \"x\""));
    strbuf_release(&got);
}

/* ---- lines that nobody would type ---- */

static void add_random_word(struct random *random, struct strbuf *out)
{
    static const char *const words[] = {
        "x",  "-",    "_",    "-q",      "-n",    "5",      "-n5",    "-t",
        "-o", "json", "-qqq", "--quiet", "--all", "--text", "a=b",    "=",
        "-=", "--=",  "-nq",  "--c",     "--",    "--list", "--pair", "---"};
    size_t count = sizeof(words) / sizeof(words[0]);
    strbuf_addc(out, ' ');
    if (random_chance(random, 80)) {
        strbuf_adds(out, words[random_next(random) % count]);
        return;
    }
    for (int i = random_between(random, 1, 6); i > 0; i--)
        strbuf_addc(out, "-=qntox5_\xff"[random_between(random, 0, 9)]);
}

/* Whatever comes, it is understood or something is said. */
static void survives_anything(void **state)
{
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    struct strbuf text, got;
    char said[512];
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)seed);
    strbuf_init(&text);
    strbuf_init(&got);
    for (int round = 0; round < 2000 * random_rounds(); round++) {
        strbuf_reset(&text);
        for (int i = random_between(&random, 0, 8); i > 0; i--)
            add_random_word(&random, &text);
        parse(&command, NULL, text.text, &got, said);
        if ((strcmp(got.text, "wrong") == 0) != (said[0] != '\0'))
            fail_msg("seed %llu: %s: got%s, said %s", (unsigned long long)seed, text.text, got.text,
                     said);
    }
    strbuf_release(&text);
    strbuf_release(&got);
}

/* `--x v`, `--x=v`, `-x v` and `-x=v` mean the same, also when they are wrong. */
static void spells_one_thing_in_many_ways(void **state)
{
    static const char *const values[] = {"5", "json", "a=b", "-q", "x y", "-", "---", "\xff", "0"};
    struct random random = random_new(random_seed());
    struct strbuf want, got, line;
    char said[512], said_now[512];
    (void)state;
    strbuf_init(&want);
    strbuf_init(&got);
    strbuf_init(&line);
    for (int round = 0; round < 500; round++) {
        const char *value = values[random_next(&random) % (sizeof(values) / sizeof(values[0]))];
        const struct option_row *row;
        struct option_walk walk = option_walk(rows);
        while ((row = option_next(&walk))) {
            if (!row->value)
                continue;
            strbuf_reset(&line);
            strbuf_addf(&line, "x --%s %s", row->name, value);
            parse(&command, NULL, line.text, &want, said);
            for (int i = 0; i < (row->letter ? 3 : 1); i++) {
                char letter[2] = {row->letter, '\0'};
                strbuf_reset(&line);
                strbuf_adds(&line, "x ");
                strbuf_addf(&line,
                            i == 0   ? "--%s="
                            : i == 1 ? "-%s "
                                     : "-%s=",
                            i == 0 ? row->name : letter);
                strbuf_adds(&line, value);
                parse(&command, NULL, line.text, &got, said_now);
                if (strcmp(want.text, got.text) != 0 || strcmp(said, said_now) != 0)
                    fail_msg("%s: got%s, want%s", line.text, got.text, want.text);
            }
        }
    }
    strbuf_release(&want);
    strbuf_release(&got);
    strbuf_release(&line);
}

/* ---- pages ---- */

static void must_have(const char *page, const struct option_row *of, bool is_roff)
{
    const struct option_row *row;
    struct option_walk walk = option_walk(of);
    while ((row = option_next(&walk))) {
        char name[64];
        snprintf(name, sizeof(name), is_roff ? "\\-\\-%s" : "--%s", row->name);
        if (!strstr(page, name) || !strstr(page, row->help))
            fail_msg("--%s is missing in:\n%s", row->name, page);
    }
}

static void shows_every_row(void **state)
{
    static const struct command *const commands[] = {&command, NULL};
    static const struct topic all[] = {{"Topic", commands}, {0}};
    struct strbuf page;
    (void)state;
    strbuf_init(&page);
    help_print(&command, NULL, &page);
    must_have(page.text, rows, false);
    assert_non_null(strstr(page.text, "Examples:\n  peal try x  an example\n\nUsage: peal try "));
    strbuf_reset(&page);
    help_print(&parent, NULL, &page);
    must_have(page.text, below[0].options, false);
    must_have(page.text, below[1].options, false);
    assert_non_null(strstr(page.text, "Options of set:\n"));
    strbuf_reset(&page);
    help_print(&below[1], &parent, &page);
    must_have(page.text, below[1].options, false);
    assert_null(strstr(page.text, "peal top show"));
    strbuf_reset(&page);
    man_print(&command, all, "2027-01-31", &page);
    must_have(page.text, rows, true);
    strbuf_reset(&page);
    man_print(NULL, all, "2027-01-31", &page);
    assert_non_null(strstr(page.text, "what is tested"));
    strbuf_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(understands_lines),
        cmocka_unit_test(sets_variables),
        cmocka_unit_test(knows_commands_below),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(spells_one_thing_in_many_ways),
        cmocka_unit_test(shows_every_row),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
