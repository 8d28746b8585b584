/* The line of an output that most likely says why it ended. */
#include "runs/last_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include <string.h>

struct piece {
    enum output_stream stream;
    const char *text;
};

static void test_last_line(void **state)
{
    static const struct {
        int line;
        struct piece pieces[3];
        const char *want;
    } cases[] = {
        {__LINE__, {{OUTPUT_STDOUT, "one\ntwo\n"}}, "two"},
        {__LINE__, {{OUTPUT_STDOUT, "one\ntwo"}}, "two"}, /* no newline at the end */
        {__LINE__, {{OUTPUT_STDOUT, "one\n\n \t\n"}}, "one"},
        {__LINE__, {{OUTPUT_STDERR, "bad\n"}, {OUTPUT_STDOUT, "bye\n"}}, "bad"},
        {__LINE__, {{OUTPUT_STDERR, "\n"}, {OUTPUT_STDOUT, "bye\n"}}, "bye"},
        {__LINE__, {{OUTPUT_STDERR, "a\n"}, {OUTPUT_STDERR, "b\n"}}, "b"},
        {__LINE__, {{OUTPUT_STDERR, "a\n"}, {OUTPUT_STDERR, "\n"}}, "a"},
        {__LINE__,
         {{OUTPUT_STDERR, "\033[1;31merror:\033[0m no\tspace  left\r\n"}},
         "error: no space left"},
        {__LINE__, {{OUTPUT_STDERR, "cut \033["}}, "cut"},
        {__LINE__, {{OUTPUT_STDERR, "cut \033"}}, "cut"},
        {__LINE__, {{OUTPUT_STDERR, "连接被拒绝\n"}}, "连接被拒绝"},
        {__LINE__, {{OUTPUT_STDOUT, ""}}, ""},
        {__LINE__, {{OUTPUT_STDOUT, "\n\n"}}, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct output_chunk chunks[3];
        size_t count = 0;
        char line[LINE_SIZE];
        for (; count < 3 && cases[i].pieces[count].text; count++)
            chunks[count] = (struct output_chunk){.stream = cases[i].pieces[count].stream,
                                                  .bytes = cases[i].pieces[count].text,
                                                  .length = strlen(cases[i].pieces[count].text)};
        last_line(chunks, count, line);
        if (strcmp(line, cases[i].want) != 0)
            fail_msg("line %d: \"%s\"", cases[i].line, line);
    }
}

static void test_long_line(void **state)
{
    char text[1000], line[LINE_SIZE];
    struct output_chunk chunk = {.stream = OUTPUT_STDERR, .bytes = text, .length = sizeof(text)};
    (void)state;
    memset(text, 'x', sizeof(text));
    last_line(&chunk, 1, line);
    assert_int_equal(strlen(line), LINE_SIZE - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_line),
        cmocka_unit_test(test_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
