/* How often one may ask, and be wrong, by a clock of the test's own. */
#include "auth/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>

enum { KEYS_MAX = 2000, KEEP_MS = 3600 * 1000 };

static void test_rate(void **state)
{
    const struct rate rate = {.per_s = 10, .burst = 3};
    struct limits limits;
    (void)state;
    limits_init(&limits, KEYS_MAX, KEEP_MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(limits_ask(&limits, "anna", rate, 1000), 0);
    assert_int_equal(limits_ask(&limits, "anna", rate, 1000), 100);
    assert_int_equal(limits_ask(&limits, "otto", rate, 1000), 0);
    assert_int_equal(limits_ask(&limits, "anna", rate, 1050), 50);
    assert_int_equal(limits_ask(&limits, "anna", rate, 1100), 0);
    assert_int_equal(limits_ask(&limits, "anna", rate, 1100), 100);
    for (int i = 0; i < 3; i++) /* no more than the burst is saved up */
        assert_int_equal(limits_ask(&limits, "anna", rate, 900000), 0);
    assert_int_equal(limits_ask(&limits, "anna", rate, 900000), 100);
    limits_release(&limits);
}

static void test_pauses(void **state)
{
    static const int64_t pauses_s[] = {0, 0, 1, 2, 4, 8, 10, 10, 10};
    const struct patience patience = {.free = 2, .pause_max_s = 10};
    struct limits limits;
    (void)state;
    limits_init(&limits, KEYS_MAX, KEEP_MS);
    for (size_t i = 0; i < sizeof(pauses_s) / sizeof(pauses_s[0]); i++) {
        limits_wrong(&limits, "anna", patience, 5000);
        int64_t pause_ms = limits_pause(&limits, "anna", 5000);
        if (pause_ms != pauses_s[i] * 1000)
            fail_msg("mistake %zu: %lld ms", i + 1, (long long)pause_ms);
    }
    assert_int_equal(limits_pause(&limits, "otto", 5000), 0);
    assert_int_equal(limits_pause(&limits, "anna", 15000), 0);
    limits_wrong(&limits, "anna", patience, 20000);
    limits_forgive(&limits, "anna");
    assert_int_equal(limits_pause(&limits, "anna", 20000), 0);
    for (int i = 0; i < 200; i++) /* no number of mistakes overflows */
        limits_wrong(&limits, "anna", patience, 5000);
    assert_int_equal(limits_pause(&limits, "anna", 5000), 10000);
    limits_release(&limits);
}

static void test_memory_is_bounded(void **state)
{
    const struct rate rate = {.per_s = 1, .burst = 1};
    struct limits limits;
    (void)state;
    limits_init(&limits, KEYS_MAX, KEEP_MS);
    for (int i = 0; i < KEYS_MAX + 1000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "address %d", i);
        limits_ask(&limits, key, rate, 1000);
    }
    assert_true(limits.by_key.count <= KEYS_MAX);
    limits_ask(&limits, "late", rate, 1000 + KEEP_MS);
    assert_int_equal(limits.by_key.count, 1);
    limits_release(&limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_pauses),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
