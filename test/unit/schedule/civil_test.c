/* The calendar, against a second formula and against the C library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "civil.h"
#include "random_cron.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void known_days(void **state)
{
    (void)state;
    static const struct {
        int line;
        int64_t year;
        int month, day;
        int64_t days;
        int weekday;
    } cases[] = {
        {__LINE__, 1970, 1, 1, 0, 4},         {__LINE__, 1969, 12, 31, -1, 3},
        {__LINE__, 2000, 2, 29, 11016, 2},    {__LINE__, 2000, 3, 1, 11017, 3},
        {__LINE__, 1900, 2, 28, -25509, 3},   {__LINE__, 1900, 3, 1, -25508, 4},
        {__LINE__, 2038, 1, 19, 24855, 2},    {__LINE__, 2100, 3, 1, 47541, 1},
        {__LINE__, 1, 1, 1, -719162, 1},      {__LINE__, 0, 3, 1, -719468, 3},
        {__LINE__, 0, 2, 29, -719469, 2},     {__LINE__, -1, 12, 31, -719529, 5},
        {__LINE__, 9999, 12, 31, 2932896, 5}, {__LINE__, 1600, 2, 29, -135081, 2},
        {__LINE__, -400, 2, 29, -865566, 2},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t year;
        int month, day;
        int64_t days = civil_to_days(cases[i].year, cases[i].month, cases[i].day);
        civil_from_days(cases[i].days, &year, &month, &day);
        if (days != cases[i].days || year != cases[i].year || month != cases[i].month ||
            day != cases[i].day || civil_weekday(cases[i].days) != cases[i].weekday)
            fail_msg("line %d: %lld days, %lld-%d-%d, weekday %d", cases[i].line, (long long)days,
                     (long long)year, month, day, civil_weekday(cases[i].days));
    }
}

/* Counts one day after the other, by the rule that everyone learns at school. */
static void every_day_of_two_cycles(void **state)
{
    (void)state;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = civil_to_days(1600, 1, 1);
    assert_int_equal(days, -135140);
    int weekday = 6; /* 1600-01-01 was a Saturday */
    for (int64_t year = 1600; year < 2400; year++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        assert_int_equal(civil_is_leap(year), leap);
        for (int month = 1; month <= 12; month++) {
            int length = lengths[month - 1] + (month == 2 && leap);
            assert_int_equal(civil_month_days(year, month), length);
            for (int day = 1; day <= length; day++, days++, weekday = (weekday + 1) % 7) {
                int64_t got_year;
                int got_month, got_day;
                civil_from_days(days, &got_year, &got_month, &got_day);
                if (got_year != year || got_month != month || got_day != day ||
                    civil_to_days(year, month, day) != days || civil_weekday(days) != weekday)
                    fail_msg("%lld-%02d-%02d", (long long)year, month, day);
            }
        }
    }
}

static void random_seconds_agree_with_the_c_library(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    const int64_t limit = INT64_C(10000) * 366 * DAY_S;
    for (int i = 0; i < 200000; i++) {
        int64_t seconds = (int64_t)(random_next(&random) % (uint64_t)(2 * limit)) - limit;
        time_t time = (time_t)seconds;
        struct tm tm;
        struct civil civil = civil_from_seconds(seconds);
        gmtime_r(&time, &tm);
        if (civil.year != tm.tm_year + 1900 || civil.month != tm.tm_mon + 1 ||
            civil.day != tm.tm_mday || civil.hour != tm.tm_hour || civil.minute != tm.tm_min ||
            civil.second != tm.tm_sec || civil.weekday != tm.tm_wday)
            fail_msg("PEAL_SEED=%llu: second %lld reads %lld-%d-%d", (unsigned long long)seed,
                     (long long)seconds, (long long)civil.year, civil.month, civil.day);
        if (civil_to_seconds(&civil) != seconds)
            fail_msg("PEAL_SEED=%llu: second %lld comes back as %lld", (unsigned long long)seed,
                     (long long)seconds, (long long)civil_to_seconds(&civil));
    }
}

static void the_calendar_repeats_after_its_cycle(void **state)
{
    (void)state;
    struct random random = random_new(random_seed());
    assert_int_equal(CYCLE_DAYS % 7, 0);
    for (int i = 0; i < 10000; i++) {
        int64_t seconds = (int64_t)(random_next(&random) >> 24);
        struct civil now = civil_from_seconds(seconds);
        struct civil later = civil_from_seconds(seconds + CYCLE_S);
        assert_int_equal(later.year, now.year + CYCLE_YEARS);
        assert_int_equal(later.month, now.month);
        assert_int_equal(later.day, now.day);
        assert_int_equal(later.weekday, now.weekday);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_days),
        cmocka_unit_test(every_day_of_two_cycles),
        cmocka_unit_test(random_seconds_agree_with_the_c_library),
        cmocka_unit_test(the_calendar_repeats_after_its_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
