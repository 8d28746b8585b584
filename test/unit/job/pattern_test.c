#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "expect/pattern.h"

static bool is_found(const char *pattern_text, const char *text, size_t length)
{
    struct pattern *pattern;
    struct pattern_search search;
    struct parse_error err = {0};
    if (pattern_parse(pattern_text, &pattern, &err) != OK)
        fail_msg("%s: %s", pattern_text, err.message);
    pattern_search_init(&search, pattern);
    pattern_search_feed(&search, text, length);
    bool found = pattern_search_break(&search);
    pattern_free(pattern);
    return found;
}

static void finds_what_grep_finds(void **state)
{
    static const struct {
        int line;
        const char *pattern, *text;
        bool want;
    } cases[] = {
        {__LINE__, "rows", "42 rows\n", true},
        {__LINE__, "rows", "42 row\ns\n", false}, /* line by line */
        {__LINE__, "^rows: [1-9]", "a\nrows: 7\n", true},
        {__LINE__, "^rows: [1-9]", "a rows: 7\n", false},
        {__LINE__, "done$", "all done\r\nx", true},
        {__LINE__, "done$", "done\rx", false},
        {__LINE__, "done.$", "done\r", false},
        {__LINE__, "done$", "done", true}, /* an unfinished line */
        {__LINE__, "^$", "a\n\nb\n", true},
        {__LINE__, "^$", "a\nb\n", false},
        {__LINE__, "ERROR|WARN(ING)?:", "WARNING: x", true},
        {__LINE__, "(^|x)a", "ba xa", true},
        {__LINE__, "(^|x)a", "ba", false},
        {__LINE__, "a{2,3}b", "ab", false},
        {__LINE__, "^a{2,3}b", "aaaab", false},
        {__LINE__, "^a{2,3}b", "aaab", true},
        {__LINE__, "^a{2,}b", "aaaaab", true},
        {__LINE__, "^(ab){2}$", "abab", true},
        {__LINE__, "^(a*){2}b", "aab", true},
        {__LINE__, "[^,]+,[[:digit:]]{3}$", "x,123", true},
        {__LINE__, "[]a-]", "]", true},
        {__LINE__, "[^]]", "]", false},
        {__LINE__, "\\d+ rows\\.", "7 rows.", true},
        {__LINE__, "\\d+ rows\\.", "7 rows!", false},
        {__LINE__, "^\\w+\\s\\W$", "a_1 !", true},
        {__LINE__, "\xe6\x88\x90\xe5\x8a\x9f", "\xe6\x88\x90\xe5\x8a\x9f", true},
        {__LINE__, "[\\]x", "\\x", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *pattern = cases[i].pattern;
        if (is_found(pattern, cases[i].text, strlen(cases[i].text)) != cases[i].want)
            fail_msg("line %d", cases[i].line);
    }
}

static void says_what_is_wrong(void **state)
{
    static const struct {
        int line;
        const char *pattern;
        int column;
    } cases[] = {
        {__LINE__, "a(b", 2},         {__LINE__, "a)b", 2},
        {__LINE__, "a[b", 2},         {__LINE__, "*a", 1},
        {__LINE__, "a|+", 3},         {__LINE__, "a**", 3},
        {__LINE__, "a{3,2}", 2},      {__LINE__, "a{0}", 2},
        {__LINE__, "a{256}", 2},      {__LINE__, "a{x}", 2},
        {__LINE__, "(a)\\1", 4},      {__LINE__, "a\\", 2},
        {__LINE__, "\\b", 1},         {__LINE__, "[z-a]", 2},
        {__LINE__, "[[:nope:]]", 2},  {__LINE__, "", 1},
        {__LINE__, "a*", 1},          {__LINE__, "a||b", 1},
        {__LINE__, "(a{200}){2}", 2}, {__LINE__, "a\nb", 2},
        {__LINE__, "[[.a.]]", 2},     {__LINE__, "((((((){255}){255}){255}){255}){255}){255}a", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pattern *pattern;
        struct parse_error err = {0};
        if (pattern_parse(cases[i].pattern, &pattern, &err) != E_INVALID)
            fail_msg("line %d: taken", cases[i].line);
        if (cases[i].column && err.column != cases[i].column)
            fail_msg("line %d: column %d, %s", cases[i].line, err.column, err.message);
        assert_true(strlen(err.message) > 10);
    }
}

static unsigned pick(unsigned *seed, unsigned of)
{
    return (unsigned)rand_r(seed) / 7 % of;
}

/* A pattern that the C library understands in the same way. NOLINTNEXTLINE(misc-no-recursion) */
static void make_pattern(unsigned *seed, int depth, char *text, size_t size)
{
    static const char *const atoms[] = {"a", "b", "c", ".", "[ab]", "[^a]", "[[:upper:]]", "\\."};
    static const char *const repeats[] = {"", "", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"};
    char inner[200];
    unsigned pieces = 1 + pick(seed, 3);
    text[0] = '\0';
    if (!depth && pick(seed, 5) == 0)
        strcat(text, "^");
    for (unsigned i = 0; i < pieces && strlen(text) + 60 < size; i++) {
        if (depth < 2 && pick(seed, 4) == 0) {
            make_pattern(seed, depth + 1, inner, 40);
            size_t length = strlen(text);
            snprintf(text + length, size - length, "(%s%s)", inner, pick(seed, 3) ? "" : "|b");
        } else {
            strcat(text, atoms[pick(seed, 8)]);
        }
        strcat(text, repeats[pick(seed, 10)]);
        if (i + 1 < pieces && pick(seed, 8) == 0)
            strcat(text, "|c");
    }
    if (!depth && pick(seed, 5) == 0)
        strcat(text, "$");
}

static void make_text(unsigned *seed, char *text, size_t size)
{
    size_t length = pick(seed, (unsigned)size - 1);
    for (size_t i = 0; i < length; i++)
        text[i] = "aabbccA.\n"[pick(seed, 9)];
    text[length] = '\0';
}

/* The C library, with a line break after each line, as in a text of lines. */
static bool is_found_by_library(const regex_t *compiled, const char *text)
{
    char copy[64], *at = copy, *line;
    snprintf(copy, sizeof(copy), "%s", text);
    size_t length = strlen(copy);
    if (length && copy[length - 1] == '\n')
        copy[length - 1] = '\0';
    while (length && (line = strsep(&at, "\n"))) {
        if (regexec(compiled, line, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

static void finds_what_the_library_finds(void **state)
{
    const char *given = getenv("PEAL_SEED");
    unsigned first = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    int compared = 0, found = 0;
    (void)state;
    print_message("seed %u\n", first);
    for (unsigned seed = first, i = 0; i < 20000; i++) {
        char text[200], line[40];
        regex_t compiled;
        struct pattern *pattern;
        struct parse_error err;
        make_pattern(&seed, 0, text, sizeof(text));
        if (pattern_parse(text, &pattern, &err) != OK)
            continue; /* it is found everywhere */
        pattern_free(pattern);
        assert_int_equal(regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB), 0);
        for (int k = 0; k < 5; k++) {
            make_text(&seed, line, sizeof(line));
            bool want = is_found_by_library(&compiled, line);
            if (is_found(text, line, strlen(line)) != want)
                fail_msg("seed %u: %s in \"%s\": %d", first, text, line, !want);
            compared++;
            found += want;
        }
        regfree(&compiled);
    }
    assert_true(compared > 20000 && found > compared / 10 && found < compared);
}

/* Pieces of any length make no difference. */
static void pieces_do_not_matter(void **state)
{
    static const char text[] = "first\r\nrows: 12\r\nlast";
    struct pattern *pattern;
    struct pattern_search search;
    (void)state;
    assert_int_equal(pattern_parse("^rows: \\d+$", &pattern, NULL), OK);
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        pattern_search_init(&search, pattern);
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            size_t left = sizeof(text) - 1 - at;
            pattern_search_feed(&search, text + at, left < piece ? left : piece);
        }
        assert_true(pattern_search_break(&search));
    }
    pattern_free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_grep_finds),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(finds_what_the_library_finds),
        cmocka_unit_test(pieces_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
