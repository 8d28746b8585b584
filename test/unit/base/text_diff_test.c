#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text_diff.h"

static void differs_as_diff_does(void **state)
{
    static const struct {
        int line;
        const char *old_text, *new_text, *want;
    } cases[] = {
        {__LINE__, "", "", ""},
        {__LINE__, "a\nb\n", "a\nb\n", ""},
        {__LINE__, "", "a\n", "--- o\n+++ n\n@@ -0,0 +1 @@\n+a\n"},
        {__LINE__, "a\nb\n", "", "--- o\n+++ n\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
        {__LINE__, "a\n", "b\n", "--- o\n+++ n\n@@ -1 +1 @@\n-a\n+b\n"},
        {__LINE__, "a\nb\nc\n", "a\nc\n", "--- o\n+++ n\n@@ -1,3 +1,2 @@\n a\n-b\n c\n"},
        {__LINE__, "a", "a\nb", "--- o\n+++ n\n@@ -1 +1,2 @@\n a\n+b\n"}, /* no line end */
        /* three lines around a change, and no more */
        {__LINE__, "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
         "--- o\n+++ n\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
        /* six equal lines between two changes join them, seven part them */
        {__LINE__, "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
         "--- o\n+++ n\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
        {__LINE__, "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
         "--- o\n+++ n\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n "
         "7\n-b\n+B\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf out;
        strbuf_init(&out);
        enum status st = text_diff("o", cases[i].old_text, "n", cases[i].new_text, &out);
        if (st != OK || strcmp(out.text, cases[i].want) != 0)
            fail_msg("line %d: status %d, got:\n%s", cases[i].line, st, out.text);
        strbuf_release(&out);
    }
}

static void refuses_what_is_too_long(void **state)
{
    struct strbuf text, out;
    (void)state;
    strbuf_init(&text);
    strbuf_init(&out);
    for (int i = 0; i < 5001; i++)
        strbuf_adds(&text, "x\n");
    assert_int_equal(text_diff("o", text.text, "n", "", &out), E_TOO_LARGE);
    assert_int_equal(out.length, 0);
    strbuf_release(&text);
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differs_as_diff_does),
        cmocka_unit_test(refuses_what_is_too_long),
    };
    return cmocka_run_group_tests_name("text_diff", tests, NULL, NULL);
}
