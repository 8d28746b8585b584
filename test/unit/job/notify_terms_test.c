/* Limits and deadlines of notify. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "expect/notify_terms.h"

static void test_values(void **state)
{
    static const struct {
        int line;
        const char *text;
        int64_t want_ms;
    } limits[] = {
        {__LINE__, NULL, -1},         {__LINE__, "auto", 0}, {__LINE__, "2h", 7200000},
        {__LINE__, "1h30m", 5400000}, {__LINE__, "0s", -1},  {__LINE__, "soon", -1},
        {__LINE__, "", -1},
    };
    static const struct {
        int line;
        const char *text, *want; /* NULL: none */
    } clocks[] = {
        {__LINE__, "06:00", "0 6 * * *"}, {__LINE__, "23:59", "59 23 * * *"},
        {__LINE__, "24:00", NULL},        {__LINE__, "6:00", NULL},
        {__LINE__, "06:60", NULL},        {__LINE__, "06:0x", NULL},
        {__LINE__, "-6:00", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (notify_limit_ms(limits[i].text) != limits[i].want_ms)
            fail_msg("line %d: %lld", limits[i].line, (long long)notify_limit_ms(limits[i].text));
    }
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        char cron[32] = "";
        bool is_good = notify_clock_cron(clocks[i].text, cron);
        if (is_good != !!clocks[i].want || (is_good && strcmp(cron, clocks[i].want) != 0) ||
            is_good == !!notify_clock_complaint(clocks[i].text))
            fail_msg("line %d: %s", clocks[i].line, cron);
    }
}

static void test_learning(void **state)
{
    int64_t few[9] = {0}, same[50], mixed[20];
    (void)state;
    for (size_t i = 0; i < 50; i++)
        same[i] = 60000;
    for (size_t i = 0; i < 20; i++)
        mixed[i] = (int64_t)(20 - i) * 1000; /* 1 s to 20 s, not sorted */
    struct learned learned = learn_limits(few, 9);
    assert_int_equal(learned.too_long_ms, 0);
    assert_int_equal(learned.too_short_ms, 0);
    learned = learn_limits(same, 50);
    assert_int_equal(learned.too_long_ms, 90000);
    assert_int_equal(learned.too_short_ms, 30000);
    learned = learn_limits(mixed, 20);
    assert_int_equal(learned.too_long_ms, 19000 + 30000);
    assert_int_equal(learned.too_short_ms, 500);
    assert_int_equal(learned.runs, 20);
}

static void test_bounds(void **state)
{
    static const struct learned learned = {.too_long_ms = 90000, .too_short_ms = 2500, .runs = 20};
    static const struct learned nothing;
    static const struct learned little = {.too_long_ms = 30400, .too_short_ms = 200, .runs = 20};
    static const struct {
        int line;
        struct job_expect expect;
        const struct learned *learned;
        struct length_bounds want;
    } cases[] = {
        {__LINE__, {.min_s = 1, .max_s = 5}, &learned, {1000, 5000, false, false}},
        {__LINE__, {.duration = EXPECT_DURATION_AUTO}, &learned, {2500, 90000, true, true}},
        {__LINE__, {.duration = EXPECT_DURATION_AUTO}, &nothing, {0, 0, false, false}},
        {__LINE__,
         {.duration = EXPECT_DURATION_AUTO, .min_s = 1},
         &learned,
         {1000, 90000, false, true}},
        {__LINE__,
         {.duration = EXPECT_DURATION_AUTO, .max_s = 5},
         &learned,
         {2500, 5000, true, false}},
        /* less than a second says little */
        {__LINE__, {.duration = EXPECT_DURATION_AUTO}, &little, {0, 30400, false, true}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct length_bounds got = expected_bounds(&cases[i].expect, cases[i].learned);
        const struct length_bounds *want = &cases[i].want;
        if (got.min_ms != want->min_ms || got.max_ms != want->max_ms ||
            got.min_is_learned != want->min_is_learned ||
            got.max_is_learned != want->max_is_learned)
            fail_msg("line %d: %lld to %lld", cases[i].line, (long long)got.min_ms,
                     (long long)got.max_ms);
    }
}

static void test_deadlines(void **state)
{
    static const struct {
        int line;
        struct overdue_facts facts;
        int64_t now_ms, want_ms;
    } cases[] = {
        {__LINE__, {0}, 100, 0},
        /* within 1 s of the last success, or of the beginning */
        {__LINE__, {.succeeded_ms = 5000, .from_ms = 1000, .within_s = 1}, 5999, 0},
        {__LINE__, {.succeeded_ms = 5000, .from_ms = 1000, .within_s = 1}, 6000, 6000},
        {__LINE__, {.succeeded_ms = 5000, .from_ms = 1000, .within_s = 1}, 900000, 6000},
        {__LINE__, {.from_ms = 1000, .within_s = 1}, 3000, 2000},
        {__LINE__, {.succeeded_ms = 5000, .from_ms = 7000, .within_s = 1}, 7500, 0},
        /* by 8000, and by 4000 the day before */
        {__LINE__,
         {.succeeded_ms = 4001, .by_ms = 8000, .before_ms = 4000, .had_tick = true},
         8000,
         0},
        {__LINE__,
         {.succeeded_ms = 4000, .by_ms = 8000, .before_ms = 4000, .had_tick = true},
         8000,
         8000},
        {__LINE__, {.by_ms = 8000, .before_ms = 4000, .had_tick = true}, 9999, 8000},
        {__LINE__, {.by_ms = 8000, .before_ms = 4000, .had_tick = false}, 9999, 0},
        {__LINE__, {.from_ms = 8000, .by_ms = 8000, .before_ms = 4000, .had_tick = true}, 9999, 0},
        {__LINE__,
         {.succeeded_ms = 8500, .by_ms = 8000, .before_ms = 4000, .had_tick = true},
         9999,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got_ms = overdue_deadline_ms(&cases[i].facts, cases[i].now_ms);
        if (got_ms != cases[i].want_ms)
            fail_msg("line %d: %lld", cases[i].line, (long long)got_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_deadlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
