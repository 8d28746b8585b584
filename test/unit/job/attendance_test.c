#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attendance.h"

static void a_mark_comes_back(void **state)
{
    (void)state;
    char json[ATTENDANCE_JSON_SIZE];
    struct attendance mark = {1767225600123, 1767225500000, 1767225600000}, read;
    attendance_encode(&mark, json);
    assert_int_equal(attendance_decode(json, &read), OK);
    assert_memory_equal(&read, &mark, sizeof(mark));
}

static void what_is_no_mark_is_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "[]",
        "{\"until_ms\":1}",
        "{\"until_ms\":1,\"away_from_ms\":-1,\"away_to_ms\":0}",
        "{\"until_ms\":253402300800000,\"away_from_ms\":0,\"away_to_ms\":0}",
        "{\"until_ms\":\"1\",\"away_from_ms\":0,\"away_to_ms\":0}",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct attendance read;
        if (attendance_decode(rows[i], &read) != E_INVALID)
            fail_msg("%s", rows[i]);
    }
}

static void what_fell_due_in_an_absence(void **state)
{
    (void)state;
    static const struct {
        int line;
        int64_t start_ms, now_ms;
        bool want;
    } rows[] = {
        {__LINE__, 100000, 200000, false}, /* somebody was there still */
        {__LINE__, 100001, 200000, true},  {__LINE__, 200000, 200000, true},
        {__LINE__, 200001, 200002, false}, {__LINE__, 150000, 199000, true}, /* by another clock */
        {__LINE__, 199500, 199000, false}, /* not due by this one */
        {__LINE__, 150000, 198999, false}, /* set back */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct attendance mark = {200000, 100000, 200000};
        if (attendance_has_missed(&mark, rows[i].start_ms, rows[i].now_ms) != rows[i].want)
            fail_msg("line %d", rows[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_comes_back),
        cmocka_unit_test(what_is_no_mark_is_refused),
        cmocka_unit_test(what_fell_due_in_an_absence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
