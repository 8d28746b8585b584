/* Every text that the command line prints for people is there in both languages: the commands' help
 * is taken from their tables, messages from the sources. */
#include "text/tr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "cli/commands.h"
#include "sources.h"
#include "strbuf.h"
#include "text/message.h"
#include "text/texts.h"

/* ---- the language ---- */

static void the_language_is_the_users(void **state)
{
    static const struct {
        int line;
        enum language want;
        const char *all, *messages, *lang, *language, *peal;
    } cases[] = {
        {__LINE__, LANGUAGE_EN, "", "", "", "", ""},
        {__LINE__, LANGUAGE_ZH, "zh_CN.UTF-8", "", "en_US.UTF-8", "", ""},
        {__LINE__, LANGUAGE_ZH, "", "zh_CN.UTF-8", "en_US.UTF-8", "", ""},
        {__LINE__, LANGUAGE_ZH, "", "", "zh_CN.UTF-8", "", ""},
        {__LINE__, LANGUAGE_ZH, "", "", "zh_SG.utf8@pinyin", "", ""},
        {__LINE__, LANGUAGE_EN, "C.UTF-8", "", "zh_CN.UTF-8", "", ""},
        {__LINE__, LANGUAGE_EN, "", "en_GB.UTF-8", "zh_CN.UTF-8", "", ""},
        /* Chinese is printed in UTF-8 only. */
        {__LINE__, LANGUAGE_EN, "", "", "zh_CN", "", ""},
        {__LINE__, LANGUAGE_EN, "", "", "zh_CN.GB18030", "", ""},
        {__LINE__, LANGUAGE_EN, "", "", "zha.UTF-8", "", ""},
        /* LANGUAGE counts where there is a locale. */
        {__LINE__, LANGUAGE_ZH, "", "", "en_US.UTF-8", "zh_CN:en", ""},
        {__LINE__, LANGUAGE_EN, "", "", "zh_CN.UTF-8", "de:en:zh", ""},
        {__LINE__, LANGUAGE_ZH, "", "", "zh_CN.UTF-8", "de", ""},
        {__LINE__, LANGUAGE_EN, "C.UTF-8", "", "", "zh", ""},
        {__LINE__, LANGUAGE_EN, "", "", "", "zh", ""},
        /* PEAL_LANG before all. */
        {__LINE__, LANGUAGE_EN, "", "", "zh_CN.UTF-8", "zh", "en"},
        {__LINE__, LANGUAGE_ZH, "C", "", "", "", "zh"},
        {__LINE__, LANGUAGE_ZH, "", "", "zh_CN.UTF-8", "", "fr"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        setenv("LC_ALL", cases[i].all, 1);
        setenv("LC_MESSAGES", cases[i].messages, 1);
        setenv("LANG", cases[i].lang, 1);
        setenv("LANGUAGE", cases[i].language, 1);
        setenv("PEAL_LANG", cases[i].peal, 1);
        if (language_of_environment() != cases[i].want)
            fail_msg("line %d", cases[i].line);
    }
}

static void a_text_is_looked_up(void **state)
{
    (void)state;
    tr_begin(LANGUAGE_ZH, texts);
    for (const struct message *const *table = texts; *table; table++) {
        for (const struct message *row = *table; row->en; row++)
            assert_string_equal(tr(row->en), row->zh);
    }
    assert_string_equal(tr("of elsewhere"), "of elsewhere");
    assert_int_equal(tr_language_of_answers(), LANGUAGE_ZH);
    tr_answers_are_data();
    assert_int_equal(tr_language_of_answers(), LANGUAGE_EN);
    tr_begin(LANGUAGE_EN, texts);
    assert_string_equal(tr(texts[0]->en), texts[0]->en);
}

/* ---- the rows ---- */

enum { ARGUMENTS_MAX = 12 };

/* The types of the arguments: "%2$s %1$d" and "%d %s" are "d", "s". False: malformed, or %n. */
static bool read_format(const char *format, char types[ARGUMENTS_MAX][8])
{
    int next = 0;
    memset(types, 0, ARGUMENTS_MAX * sizeof(types[0]));
    while ((format = strchr(format, '%'))) {
        char *end;
        long place = strtol(++format, &end, 10);
        bool is_placed = end != format && *end == '$';
        if (*format == '%') {
            format++;
            continue;
        }
        format = is_placed ? end + 1 : format;
        for (; *format && strchr("-+ #0123456789.*", *format); format++) {
            if (*format == '*' && next < ARGUMENTS_MAX)
                strcpy(types[next++], "*");
        }
        size_t length = strspn(format, "hlzjt") + 1;
        int at = is_placed ? (int)place - 1 : next++;
        if (at < 0 || at >= ARGUMENTS_MAX || length > 4 || !strchr("diuxscfg", format[length - 1]))
            return false;
        snprintf(types[at], sizeof(types[at]), "%.*s", (int)length, format);
        format += length;
    }
    return true;
}

/* A percent sign in a text that is no format, as "at 90% of": no conversion is made of it. */
static bool is_format(const char *text)
{
    char types[ARGUMENTS_MAX][8];
    return read_format(text, types);
}

static void a_row_has_the_same_conversions(void **state)
{
    (void)state;
    for (const struct message *const *table = texts; *table; table++) {
        for (const struct message *row = *table; row->en; row++) {
            char en[ARGUMENTS_MAX][8], zh[ARGUMENTS_MAX][8];
            if (!is_format(row->en))
                continue;
            if (!read_format(row->en, en) || !read_format(row->zh, zh) ||
                memcmp(en, zh, sizeof(en)) != 0)
                fail_msg("\"%s\" and \"%s\" have other conversions", row->en, row->zh);
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp((*(const struct message *const *)a)->en, (*(const struct message *const *)b)->en);
}

static void a_text_is_translated_once(void **state)
{
    static const struct message *rows[8192];
    size_t count = 0;
    (void)state;
    for (const struct message *const *table = texts; *table; table++) {
        for (const struct message *row = *table; row->en; row++) {
            assert_true(count < 8192);
            rows[count++] = row;
        }
    }
    qsort(rows, count, sizeof(const struct message *), compare_rows);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(rows[i - 1]->en, rows[i]->en) == 0)
            fail_msg("\"%s\" is there twice", rows[i]->en);
    }
}

/* ---- the texts ---- */

static struct source *sources;
static size_t source_count;
static struct found_list found;

/* cmd_skip_next.c of "skip-next", cmd_calendar.c of "calendar list". */
static const char *source_of(const struct command *command)
{
    char name[80];
    snprintf(name, sizeof(name), "cmd_%.*s.c", (int)strcspn(command->name, " "), command->name);
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    for (size_t i = 0; i < source_count; i++) {
        const char *last = strrchr(sources[i].path, '/');
        if (strcmp(last ? last + 1 : sources[i].path, name) == 0)
            return sources[i].path;
    }
    return "cli/commands.c";
}

static void add_command(const struct command *command)
{
    const char *path = source_of(command);
    const struct option_row *row;
    struct option_walk walk = option_walk_of(command);
    found_add(&found, command->summary, path, true);
    found_add(&found, command->notes, path, true);
    found_add(&found, command->more, path, true);
    found_add(&found, command->too_few, path, true);
    found_add(&found, command->too_many, path, true);
    found_add(&found, command->wrong_count, path, true);
    for (const struct example *each = command->examples; each && each->line; each++)
        found_add(&found, each->remark, path, true);
    while ((row = option_next(&walk))) {
        found_add(&found, row->heading, path, true);
        if (!row->help_zh)
            found_add(&found, row->help, path, true);
    }
    for (const struct command *below = command->subcommands; below && below->name; below++)
        add_command(below);
}

static const struct text_call calls[] = {
    {"tr(", 0, 0, true, NULL},
    {"TR(", 0, 0, true, NULL},
    {"cli_error(", 0, 0, true, NULL},
    {"cli_note(", 0, 0, true, NULL},
    {"cli_usage(", 1, 1, true, NULL},
    {"cli_line(", 1, 2, true, NULL},
    {"option_wrong(", 1, 1, true, NULL},
    {"confirmed(", 1, 1, true, NULL},
    {"confirm_deletion(", 1, 1, true, NULL},
    {"interrupt_say(", 0, 0, true, NULL},
    {"report_add(", 2, 4, true, NULL}, /* of peal doctor */
    {"report_tr(", 1, 1, true, NULL},
    {"COLUMN(", 0, 0, true, NULL},
    {"COLUMN_BY(", 0, 0, true, NULL},
    {"headers[] = {", 0, LAST_ARGUMENT, true, NULL},
    {".none = ", 0, 0, true, NULL},
    {".noun = ", 0, 0, true, NULL},
    /* functions of single files that put a label before cli_line */
    {"print_line(", 0, 0, true, NULL},
    {"print_time(", 0, 0, true, NULL},
    {"print_field(", 0, 0, true, NULL},
    {"print_health(", 0, 0, true, NULL},
    {"print_words(", 0, 0, true, NULL},
    {"bullet(", 0, 0, true, NULL},
    /* what is printed as it is */
    {"printf(", 0, LAST_ARGUMENT, false, NULL},
    {"fprintf(", 1, LAST_ARGUMENT, false, NULL},
    {"fputs(", 0, 0, false, NULL},
    {"puts(", 0, 0, false, NULL},
    {"cli_error(", 1, LAST_ARGUMENT, false, NULL},
    {"cli_note(", 1, LAST_ARGUMENT, false, NULL},
    {"cli_usage(", 2, LAST_ARGUMENT, false, NULL},
    {"cli_line(", 3, LAST_ARGUMENT, false, NULL},
    {"option_wrong(", 2, LAST_ARGUMENT, false, NULL},
    {"confirmed(", 2, LAST_ARGUMENT, false, NULL},
    {"confirm_deletion(", 2, LAST_ARGUMENT, false, NULL},
    {"interrupt_say(", 1, LAST_ARGUMENT, false, NULL},
    {"report_add(", 5, LAST_ARGUMENT, false, NULL},
    {"text_table_cell(", 1, 1, false, NULL},
    {0},
};

/* Scripts for shells, and manual pages, have one language. */
static bool has_one_language(const char *path)
{
    return strcmp(path, "cmd_completion.c") == 0 || strcmp(path, "options/man.c") == 0;
}

static int read_all(void **state)
{
    char folder[300];
    const char *source = getenv("PEAL_SOURCE");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/bin/peal", source ? source : ".");
    source_count = sources_read(folder, &sources);
    sources_search(sources, source_count, calls, &found);
    for (int st = OK; st >= E_SET_ASIDE; st--)
        found_add(&found, status_text((enum status)st), "cli/cli.c", true);
    for (const struct topic *topic = topics; topic->title; topic++) {
        found_add(&found, topic->title, "cli/commands.c", true);
        for (const struct command *const *command = topic->commands; *command; command++)
            add_command(*command);
    }
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    found_free(&found);
    sources_free(sources, source_count);
    return 0;
}

static const struct message *find_row(const char *english)
{
    for (const struct message *const *table = texts; *table; table++) {
        for (const struct message *row = *table; row->en; row++) {
            if (strcmp(row->en, english) == 0)
                return row;
        }
    }
    return NULL;
}

/* cmd/jobs of cmd/jobs/cmd_add.c, jobs of jobs/check/job_check.c. */
static int folder_length(const char *path)
{
    size_t length = strcspn(path, "/");
    if (strncmp(path, "cmd/", 4) == 0)
        length = 4 + strcspn(path + 4, "/");
    return path[length] ? (int)length : 0;
}

/* Printed as they are: the same in all languages. */
static bool is_same_in_all(const char *text)
{
    static const char *const texts_of_all[] = {
        "help",
        "peal %s\n",
        "peal %s (%s)\n",
        "peal - %s\n\n%s\n",
        "\n%speal COMMAND [ARGUMENTS] [OPTIONS]\n",
        "  export PATH=\"$PATH:%.*s\"\n",
        "  export PEAL_DATA=%s\n  peal list\n  peal why flaky\n  peal top\n\n%s\n\n",
    };
    for (size_t i = 0; i < sizeof(texts_of_all) / sizeof(texts_of_all[0]); i++) {
        if (strcmp(texts_of_all[i], text) == 0)
            return true;
    }
    return false;
}

/* Prints how many there are by folder; with PEAL_LIST=FOLDER also those of it. */
static size_t count_missing(bool is_marked)
{
    const char *listed = getenv("PEAL_LIST");
    size_t all = 0;
    for (size_t i = 0; i < source_count; i++) {
        int length = folder_length(sources[i].path);
        size_t count = 0;
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first = is_first && (folder_length(sources[k].path) != length ||
                                    strncmp(sources[k].path, sources[i].path, (size_t)length) != 0);
        for (size_t k = 0; k < found.count && is_first; k++) {
            const struct found *each = &found.items[k];
            if (folder_length(each->path) != length ||
                strncmp(each->path, sources[i].path, (size_t)length) != 0 ||
                each->is_marked != is_marked ||
                (is_marked ? find_row(each->text) != NULL
                           : is_same_in_all(each->text) || has_one_language(each->path)))
                continue;
            count++;
            if (listed && (int)strlen(listed) == length &&
                strncmp(listed, each->path, (size_t)length) == 0)
                print_message("%s: %s: \"%s\"\n", each->path,
                              is_marked ? "no Chinese" : "without tr()", each->text);
        }
        if (count)
            print_message("%5zu %s: %.*s\n", count,
                          is_marked ? "texts without Chinese" : "literals without tr()",
                          length ? length : 4, length ? sources[i].path : "main");
        all += count;
    }
    return all;
}

static void every_text_has_a_row(void **state)
{
    (void)state;
    assert_true(found.count > 500); /* it does find them */
    size_t missing = count_missing(true);
    print_message("%5zu texts without Chinese, of %zu\n", missing, found.count);
    assert_int_equal(missing, 0);
}

static void every_literal_is_marked(void **state)
{
    (void)state;
    size_t unmarked = count_missing(false);
    print_message("%5zu literals without tr()\n", unmarked);
    assert_int_equal(unmarked, 0);
}

static bool is_used(const char *english)
{
    for (size_t i = 0; i < found.count; i++) {
        if (found.items[i].is_marked && strcmp(found.items[i].text, english) == 0)
            return true;
    }
    return false;
}

/* A text without a word, ": %s", is not searched for: only the calls know it. */
static bool has_word(const char *text)
{
    struct found_list list = {0};
    found_add(&list, text, "", true);
    bool has = list.count > 0;
    found_free(&list);
    return has;
}

static void every_row_is_used(void **state)
{
    (void)state;
    for (const struct message *const *table = texts; *table; table++) {
        for (const struct message *row = *table; *table != messages && row->en; row++) {
            if (!is_used(row->en) && has_word(row->en))
                fail_msg("nobody says \"%s\"", row->en);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_language_is_the_users),
        cmocka_unit_test(a_text_is_looked_up),
        cmocka_unit_test(a_row_has_the_same_conversions),
        cmocka_unit_test(a_text_is_translated_once),
        cmocka_unit_test(every_text_has_a_row),
        cmocka_unit_test(every_literal_is_marked),
        cmocka_unit_test(every_row_is_used),
    };
    return cmocka_run_group_tests(tests, read_all, free_all);
}
