#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "clock.h"

static void clocks_go_on(void **state)
{
    (void)state;
    int64_t before_ms = (int64_t)time(NULL) * 1000;
    struct now one = clock_now(), two = clock_now();
    assert_true(one.boot.ms > 0 && two.boot.ms >= one.boot.ms);
    assert_true(one.wall.ms > before_ms - 60000 && one.wall.ms < before_ms + 60000);
}

static void wall_time_of_a_boot_time(void **state)
{
    (void)state;
    static const struct {
        int line;
        struct now now;
        int64_t boot_ms, want_ms;
    } cases[] = {
        {__LINE__, {{1000000}, {500}}, 500, 1000000},
        {__LINE__, {{1000000}, {500}}, 1500, 1001000},
        {__LINE__, {{1000000}, {500}}, 0, 999500},
        {__LINE__, {{0}, {500}}, 0, -500},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t ms = wall_at(cases[i].now, (struct boot_ms){cases[i].boot_ms});
        if (ms != cases[i].want_ms)
            fail_msg("line %d: %lld", cases[i].line, (long long)ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_go_on),
        cmocka_unit_test(wall_time_of_a_boot_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
