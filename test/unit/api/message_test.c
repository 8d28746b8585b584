/* Every sentence of the API is there in both languages: its sources, and the agent's for what they
 * tell it, are searched for those that are passed to call_fail and its kin. */
#include "text/message.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "strbuf.h"

static void test_language(void **state)
{
    static const struct {
        int line;
        const char *header;
        enum language language;
    } cases[] = {
        {__LINE__, NULL, LANGUAGE_EN},
        {__LINE__, "", LANGUAGE_EN},
        {__LINE__, "zh", LANGUAGE_ZH},
        {__LINE__, "zh-CN,zh;q=0.9,en;q=0.8", LANGUAGE_ZH},
        {__LINE__, "ZH-hans", LANGUAGE_ZH},
        {__LINE__, "en-US,en;q=0.9,zh;q=0.8", LANGUAGE_EN},
        {__LINE__, "de, zh;q=0.5, en;q=0.1", LANGUAGE_ZH},
        {__LINE__, "zh;q=0", LANGUAGE_EN},
        {__LINE__, "zha", LANGUAGE_EN},
        {__LINE__, "*", LANGUAGE_EN},
        {__LINE__, ",,;q=,zh", LANGUAGE_ZH},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (language_wanted(cases[i].header) != cases[i].language)
            fail_msg("line %d: %s", cases[i].line, cases[i].header);
    }
}

/* The conversions of a format, in order: "%.127s %lld" is "s,lld,"; a width does not matter. */
static void conversions(const char *format, struct strbuf *out)
{
    while ((format = strchr(format, '%'))) {
        format += 1 + strspn(format + 1, "-+ #0123456789.");
        if (*format == '%') {
            format++;
            continue;
        }
        size_t length = strspn(format, "hlzjt") + 1;
        strbuf_add(out, format, length);
        strbuf_addc(out, ',');
        format += length;
    }
}

static bool is_in(const struct message *rows, const struct message *end, const char *english)
{
    for (; rows != end && rows->en; rows++) {
        if (strcmp(rows->en, english) == 0)
            return true;
    }
    return false;
}

static void check_row(const struct message *row)
{
    struct strbuf en, zh;
    strbuf_init(&en);
    strbuf_init(&zh);
    conversions(row->en, &en);
    conversions(row->zh, &zh);
    if (strcmp(en.text, zh.text) != 0)
        fail_msg("\"%s\" has %s, but \"%s\" has %s", row->en, en.text, row->zh, zh.text);
    assert_string_equal(message_in(LANGUAGE_ZH, row->en), row->zh);
    assert_string_equal(message_in(LANGUAGE_EN, row->en), row->en);
    strbuf_release(&en);
    strbuf_release(&zh);
}

static void test_table(void **state)
{
    (void)state;
    for (const struct message *row = messages; row->en; row++) {
        check_row(row);
        if (is_in(messages, row, row->en))
            fail_msg("\"%s\" is there twice", row->en);
    }
    for (const struct message *row = why_messages; row->en; row++) {
        check_row(row);
        if (is_in(messages, NULL, row->en) || is_in(why_messages, row, row->en))
            fail_msg("\"%s\" is there twice", row->en);
    }
    assert_string_equal(message_in(LANGUAGE_ZH, "of elsewhere"), "of elsewhere");
}

/* ---- the sources ---- */

static void read_source(const char *path, struct strbuf *out)
{
    char bytes[4096];
    size_t length;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
        strbuf_add(out, bytes, length);
    fclose(file);
}

/* A literal, with those that follow it directly, undone of its escapes; behind it. */
static const char *read_literal(const char *at, struct strbuf *out)
{
    while (*at == '"') {
        for (at++; *at && *at != '"'; at++) {
            if (*at == '\\')
                at++;
            strbuf_addc(out, *at);
        }
        at++;
        at += strspn(at, " \t\n");
    }
    return at;
}

/* "%s" is a text from below, which has its own words. */
static bool is_known(const char *english)
{
    return strcmp(english, "%s") == 0 || is_in(messages, NULL, english) ||
           is_in(why_messages, NULL, english);
}

/* Checks the literals of the argument of that number, in the call whose arguments start at `at`. */
static int check_argument(const char *at, int wanted, const char *file)
{
    int depth = 0, argument = 0, found = 0;
    while (depth >= 0 && *at) {
        if (*at == '"') {
            struct strbuf text;
            strbuf_init(&text);
            at = read_literal(at, &text);
            if (argument == wanted && depth == 0) {
                found++;
                if (!is_known(text.text))
                    fail_msg("%s: \"%s\" is not in message.c or message_why.c", file, text.text);
            }
            strbuf_release(&text);
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        argument += depth == 0 && *at == ',';
        at++;
    }
    return found;
}

static int check_source(const char *path)
{
    static const struct {
        const char *start;
        int argument;
    } calls[] = {{"call_fail(", 2},      {"call_fail_at(", 2},    {"call_fail_with(", 3},
                 {"call_fail_word(", 4}, {"call_fail_later(", 2}, {"fail_wrong(", 1},
                 {"fail_param(", 2},     {"fail_field(", 2},      {"refuse(", 2},
                 {"refuse_field(", 2},   {"read_unknown, ", 0},   {"tell(answer", 1},
                 {"tell_end(run", 1},    {"message_in(", 1},      {"say(look", 1},
                 {"say(words", 1},       {"say(&words", 1}};
    struct strbuf text;
    int found = 0;
    strbuf_init(&text);
    read_source(path, &text);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (const char *at = text.text; (at = strstr(at, calls[i].start));) {
            at += strlen(calls[i].start);
            found += check_argument(at, calls[i].argument, path);
        }
    }
    strbuf_release(&text);
    return found;
}

static int found;

static int check_entry(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    size_t length = strlen(path);
    (void)about;
    (void)where;
    if (kind == FTW_F && strcmp(path + length - 2, ".c") == 0)
        found += check_source(path);
    return 0;
}

static void test_sources(void **state)
{
    static const char *const folders[] = {"src/api", "bin/peal/agent"};
    const char *source = getenv("PEAL_SOURCE");
    (void)state;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char folder[300];
        snprintf(folder, sizeof(folder), "%s/%s", source ? source : ".", folders[i]);
        found = 0;
        assert_int_equal(nftw(folder, check_entry, 8, FTW_PHYS), 0);
        assert_true(found > 20); /* it does find them */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
