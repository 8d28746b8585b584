/* The line that says how far a long command is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/text_width.h"
#include "print/progress.h"

static void test_lines(void **state)
{
    static const struct {
        size_t done, total;
        int columns;
        const char *line;
    } cases[] = {
        {0, 100, 36, "[................] 0 of 100 checked"},
        {50, 100, 36, "[#######........] 50 of 100 checked"},
        {100, 100, 36, "[##############] 100 of 100 checked"},
        {101, 100, 36, "[##############] 101 of 100 checked"},
        {50, 100, 20, "50 of 100 checked"},
        {50, 0, 80, "50 checked"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct progress progress = {
            .what = "checked", .done = cases[i].done, .total = cases[i].total};
        char text[256];
        progress_format(&progress, cases[i].columns, text);
        if (strcmp(text, cases[i].line) != 0)
            fail_msg("case %zu: \"%s\"", i, text);
    }
}

/* No line is wider than its terminal has room for, or it would scroll; the bar never shrinks. */
static void test_fits(void **state)
{
    (void)state;
    for (int columns = 30; columns < 200; columns += 7) {
        char text[256];
        size_t before = 0;
        for (size_t done = 0; done <= 100000; done += 997) {
            struct progress progress = {.what = "written", .done = done, .total = 100000};
            progress_format(&progress, columns, text);
            assert_in_range(text_width(text), 1, columns - 1);
            size_t full = strspn(strchr(text, '[') ? text + 1 : text, "#");
            assert_true(full + 2 >= before); /* the count takes room from the bar */
            before = full;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
