#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/text_width.h"

static void counts_columns(void **state)
{
    static const struct {
        int line;
        const char *text;
        int want;
    } cases[] = {
        {__LINE__, "", 0},
        {__LINE__, "backup", 6},
        {__LINE__, "Zürich", 6},
        {__LINE__, "备份", 4},
        {__LINE__, "バックアップ", 12},
        {__LINE__, "한국", 4},
        {__LINE__, "ｆｕｌｌ", 8},
        {__LINE__, "🔔", 2},
        {__LINE__, "e\xcc\x81", 1}, /* a combining accent */
        {__LINE__, "…", 1},
        {__LINE__, "\xff", 1},             /* not UTF-8 */
        {__LINE__, "\xe5\xa4", 2},         /* cut off: each byte by itself */
        {__LINE__, "\xc0\x80", 2},         /* overlong */
        {__LINE__, "\xed\xa0\x80", 3},     /* a surrogate */
        {__LINE__, "\xf4\x90\x80\x80", 4}, /* beyond Unicode */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int got = text_width(cases[i].text);
        if (got != cases[i].want)
            fail_msg("line %d: \"%s\" is %d columns, want %d", cases[i].line, cases[i].text, got,
                     cases[i].want);
    }
}

static void fits_whole_characters(void **state)
{
    static const struct {
        int line;
        const char *text;
        int columns;
        size_t want;
    } cases[] = {
        {__LINE__, "abc", 0, 0},  {__LINE__, "abc", 2, 2},        {__LINE__, "abc", 9, 3},
        {__LINE__, "备份", 3, 3}, /* half of the second does not fit */
        {__LINE__, "备份", 4, 6}, {__LINE__, "e\xcc\x81x", 1, 3}, /* the accent stays with its
                                                                     letter */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t got = text_fit(cases[i].text, cases[i].columns);
        if (got != cases[i].want)
            fail_msg("line %d: %zu bytes fit, want %zu", cases[i].line, got, cases[i].want);
    }
}

static void makes_text_safe(void **state)
{
    static const struct {
        int line;
        const char *text, *want;
    } cases[] = {
        {__LINE__, "plain", "plain"},
        {__LINE__, "备份", "备份"},
        {__LINE__, "a\tb\nc\r", "a b c "},
        {__LINE__, "\033[2J", "?[2J"},
        {__LINE__, "\x7f", "?"},
        {__LINE__, "\xc2\x9b", "?"},       /* the 8-bit form of ESC [ */
        {__LINE__, "a\xe2\x80\xae", "a?"}, /* would turn the line around */
        {__LINE__, "a\xff", "a\xef\xbf\xbd"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf out;
        strbuf_init(&out);
        text_print_safe(cases[i].text, strlen(cases[i].text), &out);
        if (strcmp(out.text, cases[i].want) != 0)
            fail_msg("line %d: \"%s\", want \"%s\"", cases[i].line, out.text, cases[i].want);
        strbuf_release(&out);
    }
}

/* "|" is where lines may be broken, besides blanks. */
static void breaks_east_asian_text(void **state)
{
    static const struct {
        int line;
        const char *pieces;
    } cases[] = {
        {__LINE__, "word"},
        {__LINE__, "--wait"},
        {__LINE__, "暂|停|任|务。"},
        {__LINE__, "默|认|（见|下|文），|否|则"}, /* no sign begins or ends a line that must not */
        {__LINE__, "取|$PEAL_DATA|的|值"},
        {__LINE__, "“备|份”|任|务"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf text, got;
        strbuf_init(&text);
        strbuf_init(&got);
        for (const char *c = cases[i].pieces; *c; c++)
            strbuf_add(&text, c, *c != '|');
        for (const char *at = text.text; *at; at += text_piece(at)) {
            strbuf_adds(&got, at == text.text ? "" : "|");
            strbuf_add(&got, at, text_piece(at));
        }
        if (strcmp(got.text, cases[i].pieces) != 0)
            fail_msg("line %d: \"%s\"", cases[i].line, got.text);
        strbuf_release(&text);
        strbuf_release(&got);
    }
    assert_int_equal(text_piece("one two"), 3);
    assert_int_equal(text_piece("one\ntwo"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(fits_whole_characters),
        cmocka_unit_test(makes_text_safe),
        cmocka_unit_test(breaks_east_asian_text),
    };
    return cmocka_run_group_tests_name("text_width", tests, NULL, NULL);
}
