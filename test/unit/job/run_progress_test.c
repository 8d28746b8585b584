/* Progress of calls: in words, in heartbeats, in the detail of a run. */
#include "function/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void words_are_made_plain(void **state)
{
    static const struct {
        int percent;
        const char *words;
        const char *expected;
    } cases[] = {
        {40, "rows", "40% rows"},
        {0, NULL, "0%"},
        {100, "", "100%"},
        {-3, "a;b\nc", "0% a b c"},
        {130, "行", "100% 行"},
        {7, "123456789012345678901234567890123456789012345678901234567890",
         "7% 123456789012345678901234567890123456789012345678"},
        {7, "12345678901234567890123456789012345678901234567行",
         "7% 12345678901234567890123456789012345678901234567"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct progress progress = progress_make(cases[i].percent, cases[i].words);
        char text[80];
        progress_print(&progress, text, sizeof(text));
        assert_string_equal(text, cases[i].expected);
    }
}

static void a_run_is_found_among_others(void **state)
{
    (void)state;
    char text[PROGRESS_SIZE] = "";
    struct id ids[40];
    size_t added = 0;
    for (size_t i = 0; i < 40; i++) {
        char words[32];
        snprintf(words, sizeof(words), "%zu rows", i);
        struct progress progress = progress_make((int)i, words), found;
        ids[i] = (struct id){{1, 2, (uint8_t)i}};
        assert_false(progress_find(text, &ids[i], &found));
        if (!progress_add(text, &ids[i], &progress))
            break;
        added++;
    }
    assert_in_range(added, 8, 39);
    for (size_t i = 0; i < added; i++) {
        char words[32];
        struct progress found;
        snprintf(words, sizeof(words), "%zu rows", i);
        assert_true(progress_find(text, &ids[i], &found));
        assert_int_equal(found.percent, i);
        assert_string_equal(found.words, words);
    }
}

static void a_detail_is_progress_or_not(void **state)
{
    static const struct {
        enum run_state state;
        const char *detail;
        int percent; /* -1: none */
        const char *words;
    } cases[] = {
        {RUN_OK, "100% rows", 100, "rows"},
        {RUN_KILLED, "7%", 7, ""},
        {RUN_FAILED, "HTTP 503, expected 200-299", -1, NULL},
        {RUN_FAILED, "", -1, NULL},
        {RUN_FAILED, "101% rows", -1, NULL},
        {RUN_FAILED, "40%rows", -1, NULL},
        {RUN_FAILED, "40", -1, NULL},
        {RUN_BEGUN, "40% rows", -1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = {.state = cases[i].state};
        struct progress found;
        snprintf(run.detail, sizeof(run.detail), "%s", cases[i].detail);
        assert_int_equal(progress_of_run(&run, &found), cases[i].percent >= 0);
        if (cases[i].percent < 0)
            continue;
        assert_int_equal(found.percent, cases[i].percent);
        assert_string_equal(found.words, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_made_plain),
        cmocka_unit_test(a_run_is_found_among_others),
        cmocka_unit_test(a_detail_is_progress_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
