#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run.h"

static void every_name_leads_back(void **state)
{
    (void)state;
    for (int i = 0; i < RUN_STATES; i++) {
        enum run_state found;
        assert_int_equal(run_state_by_name(run_state_name((enum run_state)i), &found), OK);
        assert_int_equal(found, i);
    }
    for (int i = 0; i < REASONS; i++) {
        enum run_reason found;
        assert_int_equal(run_reason_by_name(run_reason_name((enum run_reason)i), &found), OK);
        assert_int_equal(found, i);
    }
    for (int i = 0; i < CAUSES; i++) {
        assert_true(*run_cause_name((enum run_cause)i));
    }
}

static void unknown_names_are_not_found(void **state)
{
    (void)state;
    enum run_state a = RUN_OK;
    enum run_reason b;
    assert_int_equal(run_state_by_name("OK", &a), E_NOT_FOUND);
    assert_int_equal(a, RUN_OK);
    assert_int_equal(run_reason_by_name("nope", &b), E_NOT_FOUND);
}

static void ends_are_ends(void **state)
{
    (void)state;
    assert_false(run_state_is_end(RUN_QUEUED));
    assert_false(run_state_is_end(RUN_RUNNING));
    assert_true(run_state_is_end(RUN_OK));
    assert_true(run_state_is_end(RUN_LOST));
    assert_true(run_state_is_end(RUN_MISSED));
}

/* In whatever order they are told. */
static void the_last_run_ended_latest(void **state)
{
    static const struct {
        int line;
        struct last_run told;
        bool is_news;
        int64_t want_ended_ms, want_succeeded_ms;
    } cases[] = {
        {__LINE__, {{{2}}, 10, 20, 0, RUN_FAILED, false}, true, 20, 0},
        {__LINE__, {{{1}}, 10, 15, 15, RUN_OK, false}, true, 20, 15},
        {__LINE__, {{{1}}, 10, 15, 15, RUN_OK, false}, false, 20, 15},
        {__LINE__, {{{3}}, 10, 12, 12, RUN_OK, false}, false, 20, 15},
        {__LINE__, {{{4}}, 25, 30, 0, RUN_LOST, false}, true, 30, 15},
        {__LINE__, {{{4}}, 25, 28, 28, RUN_OK, false}, true, 28, 28}, /* amended */
        {__LINE__, {{{5}}, 28, 28, 0, RUN_FAILED, false}, true, 28, 28},
    };
    struct last_run last = {.run_id = {{0}}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_news = last_run_take(&last, &cases[i].told);
        if (is_news != cases[i].is_news || last.ended_ms != cases[i].want_ended_ms ||
            last.succeeded_ms != cases[i].want_succeeded_ms)
            fail_msg("line %d: %d, ended %lld, succeeded %lld", cases[i].line, is_news,
                     (long long)last.ended_ms, (long long)last.succeeded_ms);
    }
}

static void no_time_is_after_a_clock_that_was_set_back(void **state)
{
    static const struct {
        int line;
        int64_t to_ms;
        struct last_run last, want;
    } cases[] = {
        {__LINE__, 30, {{{1}}, 10, 20, 20, RUN_OK, false}, {{{1}}, 10, 20, 20, RUN_OK, false}},
        {__LINE__, 15, {{{1}}, 10, 20, 20, RUN_OK, false}, {{{1}}, 10, 15, 15, RUN_OK, false}},
        {__LINE__, 5, {{{1}}, 10, 20, 2, RUN_FAILED, false}, {{{1}}, 5, 5, 2, RUN_FAILED, false}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct last_run last = cases[i].last;
        const struct last_run *want = &cases[i].want;
        last_run_set_back(&last, cases[i].to_ms);
        if (last.started_ms != want->started_ms || last.ended_ms != want->ended_ms ||
            last.succeeded_ms != want->succeeded_ms)
            fail_msg("line %d: started %lld, ended %lld, succeeded %lld", cases[i].line,
                     (long long)last.started_ms, (long long)last.ended_ms,
                     (long long)last.succeeded_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_leads_back),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(ends_are_ends),
        cmocka_unit_test(the_last_run_ended_latest),
        cmocka_unit_test(no_time_is_after_a_clock_that_was_set_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
