#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gates/only_if.h"
#include "timestamp.h"
#include "zone/zone_db.h"

static int64_t utc_ms(const char *text)
{
    int64_t at_s;
    struct parse_error error;
    assert_int_equal(timestamp_parse(text, 1, zone_utc(), &at_s, &error), OK);
    return at_s * 1000;
}

/* The day of the tick, by the clock of its zone. */
static void since_midnight(void **state)
{
    static const struct {
        int line;
        const char *zone, *tick, *want;
    } cases[] = {
        {__LINE__, "UTC", "2026-03-08T08:30", "2026-03-08T00:00"},
        {__LINE__, "UTC", "2026-03-08T00:00", "2026-03-08T00:00"},
        {__LINE__, "Asia/Shanghai", "2026-03-08T00:30", "2026-03-07T16:00"},
        {__LINE__, "America/New_York", "2026-03-08T05:30", "2026-03-08T05:00"},
        {__LINE__, "America/New_York", "2026-03-08T20:00", "2026-03-08T05:00"}, /* 23 hours */
        {__LINE__, "America/New_York", "2026-11-01T20:00", "2026-11-01T04:00"}, /* 25 hours */
        {__LINE__, "America/Santiago", "2026-09-06T12:00", "2026-09-06T04:00"}, /* no midnight */
        {__LINE__, "America/Santiago", "2026-04-05T12:00", "2026-04-05T04:00"}, /* 23:00 twice */
        {__LINE__, "America/Santiago", "2026-04-05T03:30", "2026-04-04T03:00"},
        {__LINE__, "Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00"}, /* no 30th */
    };
    struct zone_db *zones;
    (void)state;
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct zone *zone;
        struct parse_error error;
        assert_int_equal(zone_db_get(zones, cases[i].zone, &zone, &error), OK);
        int64_t since_ms = only_if_since_ms(0, zone, utc_ms(cases[i].tick));
        if (since_ms != utc_ms(cases[i].want))
            fail_msg("line %d: %lld", cases[i].line, (long long)since_ms / 1000);
    }
    assert_int_equal(only_if_since_ms(6000, zone_utc(), 10000), 4000);
    zone_db_free(zones);
}

static void ends_that_count(void **state)
{
    enum { SUCCESS = 1 << RUN_OK, FAILURE = 1 << RUN_FAILED };
    static const struct {
        int line;
        unsigned states;
        enum run_state last;
        int64_t ended_ms, succeeded_ms;
        bool retried;
        int64_t want_ms; /* since 100 */
    } cases[] = {
        {__LINE__, SUCCESS, RUN_OK, 150, 150, false, 150},
        {__LINE__, SUCCESS, RUN_OK, 100, 100, false, 100},
        {__LINE__, SUCCESS, RUN_OK, 99, 99, false, 0},
        {__LINE__, SUCCESS, RUN_FAILED, 200, 150, false, 150},
        {__LINE__, SUCCESS, RUN_FAILED, 200, 0, false, 0},
        {__LINE__, FAILURE, RUN_FAILED, 200, 150, false, 200},
        {__LINE__, FAILURE, RUN_FAILED, 200, 150, true, 0}, /* another attempt follows */
        {__LINE__, FAILURE, RUN_OK, 200, 200, false, 0},
        {__LINE__, SUCCESS | FAILURE, RUN_FAILED, 200, 150, false, 200},
        {__LINE__, SUCCESS | FAILURE, RUN_KILLED, 200, 0, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct last_run last = {.run_id = {{1}},
                                .state = cases[i].last,
                                .ended_ms = cases[i].ended_ms,
                                .succeeded_ms = cases[i].succeeded_ms,
                                .retried = cases[i].retried};
        if (only_if_met_ms(cases[i].states, &last, 100) != cases[i].want_ms)
            fail_msg("line %d", cases[i].line);
    }
    struct last_run none = {.ended_ms = 0};
    assert_false(only_if_is_met(SUCCESS | FAILURE, &none, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(since_midnight),
        cmocka_unit_test(ends_that_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
