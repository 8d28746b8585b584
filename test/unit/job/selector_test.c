#include "definition/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    int line;
    const char *where, *labels;
    bool want;
} matches[] = {
    {__LINE__, "zone=eu", "disk=ssd,zone=eu", true},
    {__LINE__, "zone=eu", "zone=eu-1", false},
    {__LINE__, "zone=eu", "subzone=eu", false},
    {__LINE__, "zone=eu", "zone=us", false},
    {__LINE__, "zone=eu", "zone", false},
    {__LINE__, "zone=eu", "", false},
    {__LINE__, "zone", "zone=eu", true},
    {__LINE__, "zone", "zone", true},
    {__LINE__, "zone", "zones", false},
    {__LINE__, "!gpu", "", true},
    {__LINE__, "!gpu", "gpu", false},
    {__LINE__, "!gpu", "gpu=2", false},
    {__LINE__, "!gpu", "cpu", true},
    {__LINE__, "arch!=arm", "arch=arm", false},
    {__LINE__, "arch!=arm", "arch=x86", true},
    {__LINE__, "arch!=arm", "", true},
    {__LINE__, "zone=eu,disk=ssd,!gpu,arch!=arm", "arch=x86,disk=ssd,zone=eu", true},
    {__LINE__, "zone=eu,disk=ssd,!gpu,arch!=arm", "arch=x86,disk=ssd,gpu,zone=eu", false},
    {__LINE__, "zone=eu,disk=ssd,!gpu,arch!=arm", "arch=x86,disk=hdd,zone=eu", false},
    {__LINE__, " zone = eu , ! gpu ", "zone=eu", true},
    {__LINE__, "zone=eu,zone=us", "zone=eu", false},
    {__LINE__, "a.b/c-d=1.0", "a.b/c-d=1.0", true},
};

static void test_matches(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
        struct parse_error error = {0};
        if (selector_check(matches[i].where, &error) != OK)
            fail_msg("line %d: column %d: %s", matches[i].line, error.column, error.message);
        if (selector_matches(matches[i].where, matches[i].labels) != matches[i].want)
            fail_msg("line %d: \"%s\" and \"%s\"", matches[i].line, matches[i].where,
                     matches[i].labels);
    }
}

static const struct {
    int line;
    const char *where, *want;
} mistakes[] = {
    {__LINE__, "", "1: expected the name of a label, like zone"},
    {__LINE__, "zone=", "6: expected the value of \"zone\""},
    {__LINE__, "zone!=", "7: expected the value of \"zone\""},
    {__LINE__, "zone=eu,", "9: expected the name of a label, like zone"},
    {__LINE__, "zone=eu,,gpu", "9: expected the name of a label, like zone"},
    {__LINE__, "=eu", "1: expected the name of a label, like zone"},
    {__LINE__, "!", "2: expected the name of a label, like zone"},
    {__LINE__, "!!gpu", "2: expected the name of a label, like zone"},
    {__LINE__, "!zone=eu", "6: write zone!=VALUE for a label with another value"},
    {__LINE__, "zone==eu", "6: expected the value of \"zone\""},
    {__LINE__, "zone eu", "6: expected a comma, found \"eu\""},
    {__LINE__, "zone in (a)", "6: expected a comma, found \"in (a)\""},
    {__LINE__, "zone=eu;gpu", "8: expected a comma, found \";gpu\""},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct parse_error error = {0};
        char text[300];
        assert_int_equal(selector_check(mistakes[i].where, &error), E_INVALID);
        snprintf(text, sizeof(text), "%d: %s", error.column, error.message);
        if (strcmp(text, mistakes[i].want) != 0)
            fail_msg("line %d: %s", mistakes[i].line, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
