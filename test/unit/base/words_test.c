#include "words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = {"", "red", "green"};
static const struct word_table words = {"colour", names, 3};

static void every_number_has_a_name(void **state)
{
    static const struct {
        int line;
        unsigned number;
        const char *want;
    } cases[] = {
        {__LINE__, 0, ""},
        {__LINE__, 2, "green"},
        {__LINE__, 3, "colour-3"},
        {__LINE__, 4095, "colour-4095"},
        {__LINE__, 4096, "colour-?"},
        {__LINE__, (unsigned)-1, "colour-?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (strcmp(words_name(&words, cases[i].number), cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, words_name(&words, cases[i].number));
}

static void two_names_can_be_printed_at_once(void **state)
{
    const char *first = words_name(&words, 5), *second = words_name(&words, 6);
    (void)state;
    assert_string_equal(first, "colour-5");
    assert_string_equal(second, "colour-6");
}

static void names_are_read(void **state)
{
    static const struct {
        int line;
        const char *name;
        int known, any; /* -1: not found */
    } cases[] = {
        {__LINE__, "red", 1, 1},           {__LINE__, "", 0, 0},
        {__LINE__, "colour-3", -1, 3},     {__LINE__, "colour-4095", -1, 4095},
        {__LINE__, "colour-4096", -1, -1}, {__LINE__, "colour-1", -1, -1},
        {__LINE__, "colour-03", -1, -1},   {__LINE__, "colour-?", -1, -1},
        {__LINE__, "colour-", -1, -1},     {__LINE__, "colour--3", -1, -1},
        {__LINE__, "blue", -1, -1},        {__LINE__, "colour-3 ", -1, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned known = (unsigned)-1, any = (unsigned)-1;
        enum status found = words_find(&words, cases[i].name, &known);
        enum status read = words_read(&words, cases[i].name, &any);
        if ((int)known != cases[i].known || (int)any != cases[i].any ||
            (found == OK) != (cases[i].known >= 0) || (read == OK) != (cases[i].any >= 0))
            fail_msg("line %d: %d %d", cases[i].line, (int)known, (int)any);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_a_name),
        cmocka_unit_test(two_names_can_be_printed_at_once),
        cmocka_unit_test(names_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
