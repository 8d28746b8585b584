#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spawn_build.h"

static void builds_are_compared(void **state)
{
    (void)state;
    static const struct {
        int line;
        struct spawn_build build, own;
        enum build_order want;
    } cases[] = {
        {__LINE__, {"1.2.0", ""}, {"1.2.0", ""}, BUILD_SAME},
        {__LINE__, {"1.2.0", "abc"}, {"1.2.0", "abc"}, BUILD_SAME},
        {__LINE__, {"1.2.0", "abc"}, {"1.2.0", "abd"}, BUILD_OTHER},
        {__LINE__, {"1.2.0", "abc"}, {"1.2.0", ""}, BUILD_OTHER},
        {__LINE__, {"1.2", ""}, {"1.2.0", ""}, BUILD_OTHER},
        {__LINE__, {"1.2.0-rc1", ""}, {"1.2.0", ""}, BUILD_OTHER},
        {__LINE__, {"1.2.0", "z"}, {"1.2.1", "a"}, BUILD_OLDER},
        {__LINE__, {"1.9.0", ""}, {"1.10.0", ""}, BUILD_OLDER}, /* as numbers */
        {__LINE__, {"1.2", ""}, {"1.2.1", ""}, BUILD_OLDER},
        {__LINE__, {"", ""}, {"0.0.1", ""}, BUILD_OLDER},
        {__LINE__, {"2.0", ""}, {"1.99.99", ""}, BUILD_NEWER},
        {__LINE__, {"1.2.0.1", ""}, {"1.2.0", ""}, BUILD_NEWER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum build_order got = build_compare(&cases[i].build, &cases[i].own);
        if (got != cases[i].want)
            fail_msg("line %d: %d", cases[i].line, (int)got);
    }
}

static void builds_are_told(void **state)
{
    (void)state;
    char text[64];
    assert_string_equal(build_text(&(struct spawn_build){"1.2.0", ""}, text, sizeof(text)),
                        "1.2.0");
    assert_string_equal(build_text(&(struct spawn_build){"1.2.0", "abc"}, text, sizeof(text)),
                        "1.2.0 (abc)");
    assert_string_equal(build_text(&(struct spawn_build){"", ""}, text, sizeof(text)),
                        "an earlier version");
}

static void damaged_builds_are_refused(void **state)
{
    (void)state;
    static const struct {
        int line;
        struct spawn_build build;
        enum status want;
    } cases[] = {
        {__LINE__, {"1.2.0", "v1-2-gabc"}, OK},
        {__LINE__, {"", ""}, OK},
        {__LINE__, {"1\n2", ""}, E_CORRUPT},
        {__LINE__, {"1", "a\"b"}, E_CORRUPT},
        {__LINE__, {"1\0x", ""}, E_CORRUPT},
        {__LINE__, {"01234567890123456789012345678901", ""}, E_CORRUPT}, /* has no end */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char packet[SPAWN_FIXED_MAX] __attribute__((aligned(16)));
        struct spawn_message message;
        struct spawn_build got;
        size_t length = spawn_encode(SPAWN_BUILD, &cases[i].build, packet);
        assert_int_equal(spawn_decode(packet, length, &message), OK);
        enum status st = spawn_decode_build(&message, &got);
        if (st != cases[i].want || (st == OK && memcmp(&got, &cases[i].build, sizeof(got)) != 0))
            fail_msg("line %d: %s", cases[i].line, status_text(st));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_are_compared),
        cmocka_unit_test(builds_are_told),
        cmocka_unit_test(damaged_builds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
