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

static const struct {
    int line;
    const char *text;
    enum spread_kind kind;
    int count;
} spreads[] = {
    {__LINE__, "one", SPREAD_ONE, 0},         {__LINE__, "1", SPREAD_ONE, 0},
    {__LINE__, "all", SPREAD_ALL, 0},         {__LINE__, "3", SPREAD_NODES, 3},
    {__LINE__, "256", SPREAD_NODES, 256},     {__LINE__, "shards 1", SPREAD_SHARDS, 1},
    {__LINE__, "shards 8", SPREAD_SHARDS, 8}, {__LINE__, "shards   256", SPREAD_SHARDS, 256},
};

static void test_spreads(void **state)
{
    static const char *const bad[] = {"",           "0",
                                      "257",        "-1",
                                      "3x",         "every",
                                      "All",        "shards",
                                      "shards ",    "shards 0",
                                      "shards 257", "shards x",
                                      "shards8",    "99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++) {
        struct spread spread = spread_read(spreads[i].text);
        if (spread_complaint(spreads[i].text) || spread.kind != spreads[i].kind ||
            spread.count != spreads[i].count)
            fail_msg("line %d: %d of %d", spreads[i].line, (int)spread.kind, spread.count);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (!spread_complaint(bad[i]))
            fail_msg("\"%s\" is taken", bad[i]);
    assert_int_equal(spread_read(NULL).kind, SPREAD_ONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
