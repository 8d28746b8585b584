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
        assert_true(i == REASON_NONE || strlen(run_reason_text((enum run_reason)i)) > 10);
    }
    for (int i = 0; i <= CAUSE_REBOOT; i++) {
        enum run_cause found;
        assert_int_equal(run_cause_by_name(run_cause_name((enum run_cause)i), &found), OK);
        assert_int_equal(found, i);
    }
}

static void unknown_names_are_not_found(void **state)
{
    (void)state;
    enum run_state a = RUN_OK;
    enum run_reason b;
    enum run_cause c;
    assert_int_equal(run_state_by_name("OK", &a), E_NOT_FOUND);
    assert_int_equal(a, RUN_OK);
    assert_int_equal(run_reason_by_name("nope", &b), E_NOT_FOUND);
    assert_int_equal(run_cause_by_name("", &c), E_NOT_FOUND);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_leads_back),
        cmocka_unit_test(unknown_names_are_not_found),
        cmocka_unit_test(ends_are_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
