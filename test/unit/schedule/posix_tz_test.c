#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "zone/posix_tz.h"

static void refuses_what_is_wrong_and_says_where(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 1, "a zone's abbreviation has three letters or more"},
        {__LINE__, "AB3", 3, "a zone's abbreviation has three letters or more"},
        {__LINE__, "<A>3", 3, "a zone's abbreviation has three letters or more"},
        {__LINE__, "<ABC3", 6, "expected '>' after the abbreviation"},
        {__LINE__, "ABC", 4, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC25", 4, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC99999999999999999999", 4, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC+", 5, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC+-3", 5, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC3:60", 6, "minutes are 0 to 59"},
        {__LINE__, "ABC3:", 6, "minutes are 0 to 59"},
        {__LINE__, "ABC3:00:60", 9, "seconds are 0 to 59"},
        {__LINE__, "ABC3DE", 7, "a zone's abbreviation has three letters or more"},
        {__LINE__, "ABC3DEF", 8, "an offset has 0 to 24 hours"},
        {__LINE__, "ABC3DEF2", 9,
         "expected ',' and the day when daylight saving time begins or ends"},
        {__LINE__, "ABC3DEF,M3.2.0", 15,
         "expected ',' and the day when daylight saving time begins or ends"},
        {__LINE__, "ABC3DEF,M0.2.0,M11.1.0", 10, "a month is 1 to 12"},
        {__LINE__, "ABC3DEF,M13.2.0,M11.1.0", 10, "a month is 1 to 12"},
        {__LINE__, "ABC3DEF,M3,M11.1.0", 11, "expected '.' and a week after the month"},
        {__LINE__, "ABC3DEF,M3.0.0,M11.1.0", 12, "a week is 1 to 5"},
        {__LINE__, "ABC3DEF,M3.6.0,M11.1.0", 12, "a week is 1 to 5"},
        {__LINE__, "ABC3DEF,M3.2,M11.1.0", 13, "expected '.' and a weekday after the week"},
        {__LINE__, "ABC3DEF,M3.2.7,M11.1.0", 14, "a weekday is 0 to 6"},
        {__LINE__, "ABC3DEF,J0,J1", 10, "a day after 'J' is 1 to 365"},
        {__LINE__, "ABC3DEF,J366,J1", 10, "a day after 'J' is 1 to 365"},
        {__LINE__, "ABC3DEF,366,1", 9, "a day of the year is 0 to 365"},
        {__LINE__, "ABC3DEF,X,1", 9, "a day of the year is 0 to 365"},
        {__LINE__, "ABC3DEF,1/168,2", 11, "a time of day has -167 to 167 hours"},
        {__LINE__, "ABC3DEF,1/-168,2", 12, "a time of day has -167 to 167 hours"},
        {__LINE__, "ABC3DEF,1/,2", 11, "a time of day has -167 to 167 hours"},
        {__LINE__, "ABC3DEF,1,2 ", 12, "unexpected text after the rule"},
        {__LINE__, "ABC3,", 5, "a zone's abbreviation has three letters or more"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct posix_tz tz;
        struct parse_error error = {0};
        enum status st = posix_tz_parse(cases[i].text, strlen(cases[i].text), &tz, &error);
        if (st != E_INVALID || error.column != cases[i].column ||
            strcmp(error.message, cases[i].message) != 0)
            fail_msg("line %d: \"%s\" gave %s, %d: %s", cases[i].line, cases[i].text,
                     status_text(st), error.column, error.message);
    }
}

/* The first two changes after an instant, and how many a cycle has. */
static void writes_out_a_cycle(void **state)
{
    (void)state;
    enum { Y2023 = 1672531200, Y2024 = 1704067200 };
    static const struct {
        int line;
        const char *text;
        int64_t from_s;
        int32_t offset_s;
        size_t count;
        struct offset_change first, second;
    } cases[] = {
        {__LINE__, "UTC0", Y2023, 0, 0, {0, 0}, {0, 0}},
        {__LINE__, "<+0330>-3:30", Y2023, 12600, 0, {0, 0}, {0, 0}},
        {__LINE__, "<-033045>+3:30:45", Y2023, -12645, 0, {0, 0}, {0, 0}},
        /* New York: 2023-03-12T07:00Z, 2023-11-05T06:00Z */
        {__LINE__,
         "EST5EDT,M3.2.0,M11.1.0",
         Y2023,
         -18000,
         800,
         {1678604400, -14400},
         {1699164000, -18000}},
        /* the change itself is not after it */
        {__LINE__,
         "EST5EDT,M3.2.0,M11.1.0",
         1678604400,
         -14400,
         800,
         {1699164000, -18000},
         {1710054000, -14400}},
        /* Nuuk: 2024-03-31T01:00Z and 2024-10-27T01:00Z, in local time the evening before */
        {__LINE__,
         "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
         Y2024,
         -7200,
         800,
         {1711846800, -3600},
         {1729990800, -7200}},
        /* Santiago: the south, where a year begins with daylight saving time */
        {__LINE__,
         "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
         Y2023,
         -10800,
         800,
         {1680404400, -14400},
         {1693713600, -10800}},
        /* Dublin: "daylight saving" is winter, an hour back */
        {__LINE__,
         "IST-1GMT0,M10.5.0,M3.5.0/1",
         Y2023,
         0,
         800,
         {1679792400, 3600},
         {1698541200, 0}},
        /* Lord Howe: half an hour */
        {__LINE__,
         "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
         Y2023,
         39600,
         800,
         {1680361200, 37800},
         {1696087800, 39600}},
        /* day 59 of a leap year is February 29; J60 is March 1 in every year */
        {__LINE__, "AAA0BBB,59/0,J60/1", Y2024, 0, 194, {1709164800, 3600}, {1709251200, 0}},
        {__LINE__, "AAA0BBB,J59/0,J60/1", Y2024, 0, 800, {1709078400, 3600}, {1709251200, 0}},
        /* hours of version 3: Thursday 50:00 after the third week is Saturday 02:00 */
        {__LINE__,
         "IST-2IDT,M3.4.4/50,M10.5.0",
         Y2024,
         7200,
         800,
         {1711756800, 10800},
         {1729983600, 7200}},
        {__LINE__, "AAA0BBB,J10/-167,J20/167", Y2024, 0, 800, {1704243600, 3600}, {1706306400, 0}},
        /* all-year daylight saving time */
        {__LINE__, "EST5EDT,0/0,J365/25", Y2023, -14400, 0, {0, 0}, {0, 0}},
        {__LINE__, "XXX3EDT4,0/0,J365/23", Y2023, -14400, 0, {0, 0}, {0, 0}},
        /* daylight saving time that never is, or is no change */
        {__LINE__, "AAA0BBB,J100/0,J100/1", Y2023, 0, 0, {0, 0}, {0, 0}},
        {__LINE__, "AAA0BBB0,M3.2.0,M11.1.0", Y2023, 0, 0, {0, 0}, {0, 0}},
        /* all year but for December 31 of leap years: 97 in a cycle */
        {__LINE__, "AAA0BBB,0/0,364/25", Y2023, 3600, 194, {1735603200, 0}, {1735689600, 3600}},
        /* far away from our days, a whole number of cycles */
        {__LINE__,
         "EST5EDT,M3.2.0,M11.1.0",
         Y2023 + 1000000 * CYCLE_S,
         -18000,
         800,
         {1678604400 + 1000000 * CYCLE_S, -14400},
         {1699164000 + 1000000 * CYCLE_S, -18000}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct posix_tz tz;
        struct parse_error error = {0};
        struct offset_change got[POSIX_TZ_CHANGES_MAX] = {{0, 0}};
        int32_t offset_s;
        if (posix_tz_parse(cases[i].text, strlen(cases[i].text), &tz, &error) != OK)
            fail_msg("line %d: column %d: %s", cases[i].line, error.column, error.message);
        size_t count = posix_tz_cycle(&tz, cases[i].from_s, &offset_s, got);
        if (count != cases[i].count || offset_s != cases[i].offset_s ||
            got[0].start_s != cases[i].first.start_s ||
            got[0].offset_s != cases[i].first.offset_s ||
            got[1].start_s != cases[i].second.start_s ||
            got[1].offset_s != cases[i].second.offset_s)
            fail_msg("line %d: %zu changes from %d: %lld %d, %lld %d", cases[i].line, count,
                     offset_s, (long long)got[0].start_s, got[0].offset_s,
                     (long long)got[1].start_s, got[1].offset_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_wrong_and_says_where),
        cmocka_unit_test(writes_out_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
