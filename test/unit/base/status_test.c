#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "status.h"

/* Every code has a text of its own; the last one is written out so that a new code is added here.
 */
static void every_status_has_its_own_text(void **state)
{
    (void)state;
    for (int a = OK; a >= E_ROLLED_BACK; a--) {
        const char *text = status_text((enum status)a);
        if (!text[0] || strcmp(text, "unknown status") == 0)
            fail_msg("status %d has no text", a);
        for (int b = a - 1; b >= E_ROLLED_BACK; b--)
            if (strcmp(text, status_text((enum status)b)) == 0)
                fail_msg("status %d and %d both say \"%s\"", a, b, text);
    }
}

static void a_stray_status_has_a_text_too(void **state)
{
    (void)state;
    assert_string_equal(status_text((enum status)(INT_MIN)), "unknown status");
}

static void parse_fail_says_where_and_why(void **state)
{
    (void)state;
    struct parse_error err = {.line = 7, .column = 7, .message = "old"};
    assert_int_equal(parse_fail(&err, 3, "minute %d is out of range %s", 60, "0-59"), E_INVALID);
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 3);
    assert_string_equal(err.message, "minute 60 is out of range 0-59");
}

static void parse_fail_takes_no_error(void **state)
{
    (void)state;
    assert_int_equal(parse_fail(NULL, 1, "%s", "nobody listens"), E_INVALID);
}

static void parse_fail_cuts_a_long_message(void **state)
{
    (void)state;
    struct parse_error err;
    char text[2 * sizeof(err.message)];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(parse_fail(&err, 1, "%s", text), E_INVALID);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(a_stray_status_has_a_text_too),
        cmocka_unit_test(parse_fail_says_where_and_why),
        cmocka_unit_test(parse_fail_takes_no_error),
        cmocka_unit_test(parse_fail_cuts_a_long_message),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
