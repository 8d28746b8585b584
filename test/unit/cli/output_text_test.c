/* Output of jobs on a terminal: what passes, what is shown, however it comes in pieces. */
#include "cli/output_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static const struct {
    int line;
    const char *text, *shown;
} cases[] = {
    {__LINE__, "plain\ttext\n", "plain\ttext\n"},
    {__LINE__, "看不懂 ü 🙂\n", "看不懂 ü 🙂\n"},
    {__LINE__, "\033[31mred\033[0m \033[1;38;5;9mbold\033[m",
     "\033[31mred\033[0m \033[1;38;5;9mbold\033[m"},
    {__LINE__, "\033[38:2:1:2:3mred", "\033[38:2:1:2:3mred"},
    {__LINE__, "dos\r\n", "dos\r\n"},
    {__LINE__, "10%\r20%", "10%^M20%"},
    {__LINE__, "\033]0;title\a", "^[]0;title^G"},
    {__LINE__, "\033]52;c;cm0gLXJm\033\\", "^[]52;c;cm0gLXJm^[\\"},
    {__LINE__, "\033[2J\033[H", "^[[2J^[[H"},
    {__LINE__, "\033[6n\033c\033[8;1;1t", "^[[6n^[c^[[8;1;1t"},
    {__LINE__, "\033P$q\"p\033\\", "^[P$q\"p^[\\"},
    {__LINE__, "\033[31", "^[[31"},
    {__LINE__, "\033\033[31mred", "^[\033[31mred"},
    {__LINE__, "\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19mx",
     "^[[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19mx"},
    {__LINE__, "a\b \b\177\016", "a^H ^H^?^N"},
    {__LINE__,
     "\xc2\x9b"
     "31m \xc2\x85",
     "<U+009B>31m <U+0085>"},
    {__LINE__,
     "\x9b"
     "2J \xff\xc3",
     "<9b>2J <ff><c3>"},
    {__LINE__,
     "\xe7\x9c"
     "x",
     "<e7><9c>x"},
    {__LINE__, "\xc3\xbc\xc3\xbc\xc3", "\xc3\xbc\xc3\xbc<c3>"},
};

/* In pieces of every size. */
static void test_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length = strlen(cases[i].text);
        for (size_t size = 1; size <= length; size++) {
            struct output_text text = {.length = 0};
            struct strbuf out;
            strbuf_init(&out);
            for (size_t at = 0; at < length; at += size)
                output_text_add(&text, cases[i].text + at, length - at < size ? length - at : size,
                                &out);
            output_text_end(&text, &out);
            if (strcmp(out.text, cases[i].shown) != 0)
                fail_msg("line %d, pieces of %zu: %s", cases[i].line, size, out.text);
            strbuf_release(&out);
        }
    }
}

static void test_nul(void **state)
{
    struct output_text text = {.length = 0};
    struct strbuf out;
    (void)state;
    strbuf_init(&out);
    output_text_add(&text, "a\0b\033[\0m", 7, &out);
    output_text_end(&text, &out);
    assert_string_equal(out.text, "a^@b^[[^@m");
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_nul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
