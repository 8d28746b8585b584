/* Zone prefixes, macros, intervals, instants and AWS wrappers: what they become, and what is said
 * about the wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    int line;
    const char *text, *canonical;
} accepted[] = {
    {__LINE__, "@yearly", "0 0 1 1 *"},
    {__LINE__, "@annually", "0 0 1 1 *"},
    {__LINE__, "@monthly", "0 0 1 * *"},
    {__LINE__, "@weekly", "0 0 * * 0"},
    {__LINE__, "@daily", "0 0 * * *"},
    {__LINE__, "@midnight", "0 0 * * *"},
    {__LINE__, "@hourly", "0 * * * *"},
    {__LINE__, "@minutely", "* * * * *"},
    {__LINE__, "@secondly", "* * * * * *"},
    {__LINE__, "@reboot", "@reboot"},
    {__LINE__, "@manual", "@manual"},
    {__LINE__, " @daily ", "0 0 * * *"},
    {__LINE__, "@every 90s", "@every 1m30s"},
    {__LINE__, "@every  1w ", "@every 1w"},
    {__LINE__, "@after 1h30m", "@after 1h30m"},
    {__LINE__, "@at 2027-01-01T00:00:00Z", "@at 2027-01-01T00:00:00Z"},
    {__LINE__, "@at 2027-01-01", "@at 2027-01-01T00:00:00Z"},
    {__LINE__, "@at  2027-01-01 08:00 ", "@at 2027-01-01T08:00:00Z"},
    {__LINE__, "TZ=Asia/Kathmandu @at 2027-01-01 08:00", "@at 2027-01-01T02:15:00Z"},
    {__LINE__, "TZ=Asia/Kathmandu @at 2027-01-01T08:00Z", "@at 2027-01-01T08:00:00Z"},
    {__LINE__, "CRON_TZ=Europe/Berlin 0 8 * * *", "CRON_TZ=Europe/Berlin 0 8 * * *"},
    {__LINE__, "TZ=Europe/Berlin   0 8 * * *", "CRON_TZ=Europe/Berlin 0 8 * * *"},
    {__LINE__, "  TZ=Europe/Berlin\n0 8 * * *", "CRON_TZ=Europe/Berlin 0 8 * * *"},
    {__LINE__, "TZ=Europe/Berlin @daily", "CRON_TZ=Europe/Berlin 0 0 * * *"},
    {__LINE__, "TZ=Europe/Berlin cron(0 8 * * ? *)", "CRON_TZ=Europe/Berlin 0 8 * * *"},
    {__LINE__, "rate(2 hours)", "@every 2h"},
    {__LINE__, "rate(7 days)", "@every 1w"},
    {__LINE__, "TZ=UTC @daily", "0 0 * * *"},
    {__LINE__, "@every 36500d", "@every 36500d"},
    {__LINE__, "@at 2027-02-28T10:00:00+0100", "@at 2027-02-28T09:00:00Z"},
    {__LINE__, "cron(0 12 * * ? *)", "0 12 * * *"},
    {__LINE__, "rate(5 minutes)", "@every 5m"},
    {__LINE__, "rate(1 minute)", "@every 1m"},
    {__LINE__, "rate(5 minute)", "@every 5m"},
    {__LINE__, "rate( 5 minutes )", "@every 5m"},
    {__LINE__, "at(2027-01-01T00:00:00)", "@at 2027-01-01T00:00:00Z"},
};

static const struct {
    int line;
    const char *text;
    int column;
    const char *message;
} refused[] = {
    {__LINE__, "TZ=UTC", 7, "schedule missing after the time zone"},
    {__LINE__, "CRON_TZ=Mars/X 0 0 * * *", 9, "unknown time zone \"Mars/X\""},
    {__LINE__, "@every -5m", 8, "an interval is 1s or more"},
    {__LINE__, "@Hourly", 1, "unknown macro; did you mean @hourly?"},
    {__LINE__, "TZ=", 4, "a time zone is missing after '='"},
    {__LINE__, "TZ= * * * * *", 4, "a time zone is missing after '='"},
    {__LINE__, "TZ=UTC TZ=UTC * * * * *", 8, "time zone given twice"},
    {__LINE__, "CRON_TZ=UTC CRON_TZ=Europe/Berlin * * * * *", 13, "time zone given twice"},
    {__LINE__, "tz=UTC * * * * *", 1, "TZ= and CRON_TZ= are written in capital letters"},
    {__LINE__, "TZ=Europe/berlin * * * * *", 4,
     "unknown time zone \"Europe/berlin\"; did you mean \"Europe/Berlin\"?"},
    {__LINE__, "@", 1,
     "unknown macro; @hourly, @daily, @weekly, @monthly, @yearly, @every 90s and others are known"},
    {__LINE__, "@foo", 1,
     "unknown macro; @hourly, @daily, @weekly, @monthly, @yearly, @every 90s and others are known"},
    {__LINE__, "@daily 5", 8, "unexpected text after @daily"},
    {__LINE__, "@DAILY", 1, "unknown macro; did you mean @daily?"},
    {__LINE__, "@dayly", 1, "unknown macro; did you mean @daily?"},
    {__LINE__, "@every", 7, "a duration is missing, like 90s or 1h30m"},
    {__LINE__, "@every 5", 9, "a unit is missing; use w, d, h, m or s"},
    {__LINE__, "@every 0s", 8, "an interval is 1s or more"},
    {__LINE__, "@every 1.5h", 9, "a duration has no fractions; write 1h30m for 1.5h"},
    {__LINE__, "@every 500ms", 11, "unknown unit; use w, d, h, m or s"},
    {__LINE__, "@every 1h 30m", 10, "a duration is numbers with units, like 90s or 1h30m"},
    {__LINE__, "@every 30m1h", 12, "units go from large to small, each once: w d h m s"},
    {__LINE__, "@every 1m1m", 11, "units go from large to small, each once: w d h m s"},
    {__LINE__, "@every five", 8, "a duration is numbers with units, like 90s or 1h30m"},
    {__LINE__, "@every 1y", 9, "unknown unit; use w, d, h, m or s"},
    {__LINE__, "@every 99999999999999999999s", 8, "the duration is too long; 36500d is the most"},
    {__LINE__, "@every 36501d", 8, "the duration is too long; 36500d is the most"},
    {__LINE__, "@every 5m foo", 10, "a duration is numbers with units, like 90s or 1h30m"},
    {__LINE__, "@every5m", 1, "unknown macro; did you mean @every?"},
    {__LINE__, "@after 0s", 8, "an interval is 1s or more"},
    {__LINE__, "@after", 7, "a duration is missing, like 90s or 1h30m"},
    {__LINE__, "@at", 4, "not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at tomorrow", 5, "not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 2027-13-01", 10, "month 13 is out of range 1-12"},
    {__LINE__, "@at 2027-02-29", 13, "day 29 is out of range 1-28"},
    {__LINE__, "@at 2027-02-28T25:00", 16, "hour 25 is out of range 0-23"},
    {__LINE__, "@at 2027-02-28T10", 18, "not a time of day; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 2027-02-28T10:00:60Z", 22, "second 60 is out of range 0-59"},
    {__LINE__, "@at 2027-02-28T10:00:00.5Z", 24,
     "times are to the second; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 2027-02-28T10:00:00+24:00", 25, "offset hour 24 is out of range 0-23"},
    {__LINE__, "@at 2027-02-28T10:00:00Zfoo", 25,
     "unexpected text after the time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 27-02-28", 5, "not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 2027-02-28T10:00:00 +01:00", 24,
     "unexpected text after the time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@at 2027-02-28T10:00:00+01", 27, "not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "@reboot now", 9, "unexpected text after @reboot"},
    {__LINE__, "@manual x", 9, "unexpected text after @manual"},
    {__LINE__, "cron(0 12 * * * *)", 11,
     "AWS wants '?' in one of day of month and day of week, and in one only"},
    {__LINE__, "cron(0 12 ? * ? *)", 15,
     "AWS wants '?' in one of day of month and day of week, and in one only"},
    {__LINE__, "cron(0 12 * * ?)", 16, "expected 6 fields, found 5"},
    {__LINE__, "cron(0 12 * * ? *", 18, "')' is missing"},
    {__LINE__, "cron(0 12 * * ? *) x", 20, "unexpected text after ')'"},
    {__LINE__, "cron(60 12 * * ? *)", 6, "minute 60 is out of range 0-59"},
    {__LINE__, "cron()", 6, "the schedule is empty"},
    {__LINE__, "rate(0 minutes)", 6,
     "a rate is a number and minutes, hours or days: rate(5 minutes)"},
    {__LINE__, "rate(5)", 6, "a rate is a number and minutes, hours or days: rate(5 minutes)"},
    {__LINE__, "rate(x)", 6, "a rate is a number and minutes, hours or days: rate(5 minutes)"},
    {__LINE__, "at(x)", 4, "not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, "Cron(0 12 * * ? *)", 1, "unexpected \"Cron\"; second is a number 0-59"},
};

static int open_zones(void **state)
{
    struct zone_db *zones = NULL;
    enum status st = zone_db_new(NULL, &zones);
    *state = zones;
    return st;
}

static int close_zones(void **state)
{
    zone_db_free(*state);
    return 0;
}

static void texts_have_one_spelling(void **state)
{
    struct schedule_options options = schedule_options_default();
    struct strbuf first, second;
    strbuf_init(&first);
    strbuf_init(&second);
    for (size_t i = 0; i < ROWS(accepted); i++) {
        struct schedule *schedule = NULL;
        struct parse_error err;
        if (schedule_parse(accepted[i].text, &options, *state, &schedule, &err) != OK)
            fail_msg("line %d: \"%s\" is refused at %d: %s", accepted[i].line, accepted[i].text,
                     err.column, err.message);
        strbuf_reset(&first);
        schedule_print(schedule, &first);
        if (strcmp(first.text, accepted[i].canonical) != 0)
            fail_msg("line %d: \"%s\" prints \"%s\"", accepted[i].line, accepted[i].text,
                     first.text);
        schedule_free(schedule);
        assert_int_equal(schedule_parse(first.text, &options, *state, &schedule, &err), OK);
        strbuf_reset(&second);
        schedule_print(schedule, &second);
        assert_string_equal(first.text, second.text);
        schedule_free(schedule);
    }
    strbuf_release(&first);
    strbuf_release(&second);
}

static void errors_say_where_and_why(void **state)
{
    struct schedule_options options = schedule_options_default();
    for (size_t i = 0; i < ROWS(refused); i++) {
        struct schedule *schedule = NULL;
        struct parse_error err = {0};
        enum status st = schedule_parse(refused[i].text, &options, *state, &schedule, &err);
        if (st != E_INVALID)
            fail_msg("line %d: \"%s\" gives status %d", refused[i].line, refused[i].text, st);
        if (err.column != refused[i].column || strcmp(err.message, refused[i].message) != 0)
            fail_msg("line %d: \"%s\" says :%d %s", refused[i].line, refused[i].text, err.column,
                     err.message);
        assert_null(schedule);
        st = schedule_parse(refused[i].text, &options, *state, &schedule, NULL);
        assert_int_equal(st, E_INVALID);
    }
}

/* The columns of a cron expression count from the start of the whole text. */
static void columns_count_what_stands_before(void **state)
{
    static const struct {
        int line;
        const char *text;
        int column;
    } cases[] = {
        {__LINE__, "60 * * * *", 1},          {__LINE__, "   60 * * * *", 4},
        {__LINE__, "TZ=UTC 60 * * * *", 8},   {__LINE__, "TZ=UTC  * 24 * * *", 11},
        {__LINE__, " cron(0 24 * * ? *)", 9},
    };
    struct schedule_options options = schedule_options_default();
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule = NULL;
        struct parse_error err = {0};
        assert_int_equal(schedule_parse(cases[i].text, &options, *state, &schedule, &err),
                         E_INVALID);
        if (err.column != cases[i].column)
            fail_msg("line %d: \"%s\" points to %d", cases[i].line, cases[i].text, err.column);
    }
}

static void options_are_checked(void **state)
{
    struct schedule_options good = schedule_options_default(), options;
    struct schedule *schedule = NULL;
    struct parse_error err;
    options = good;
    options.start_s = options.end_s = 1000;
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    assert_string_equal(err.message, "the window is empty: its end is not after its start");
    assert_int_equal(err.column, 0);
    options = good;
    options.start_s = INT64_MAX;
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    assert_string_equal(err.message, "start and end are in the years 1 to 9999");
    options = good;
    options.end_s = INT64_MIN + 1;
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    options = good;
    options.jitter_s = 86401;
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    assert_string_equal(err.message, "jitter is 0s to 1d");
    options.jitter_s = -1;
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    options = good;
    options.tz = "Mars/X";
    assert_int_equal(schedule_parse("@daily", &options, *state, &schedule, &err), E_INVALID);
    assert_int_equal(err.column, 0);
    assert_string_equal(err.message, "unknown time zone \"Mars/X\"");
    options.tz = "Europe/Berlin";
    assert_int_equal(schedule_parse("TZ=UTC * * * * *", &options, *state, &schedule, &err),
                     E_INVALID);
    assert_int_equal(err.column, 1);
    assert_string_equal(
        err.message, "time zone given twice: in the schedule and as \"Europe/Berlin\" beside it");
    assert_null(schedule);
}

static void zones_come_from_text_then_job_then_default(void **state)
{
    static const struct {
        int line;
        const char *text, *tz, *default_tz, *want;
    } cases[] = {
        {__LINE__, "* * * * *", NULL, NULL, "UTC"},
        {__LINE__, "* * * * *", NULL, "Asia/Tokyo", "Asia/Tokyo"},
        {__LINE__, "* * * * *", "Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"},
        {__LINE__, "TZ=America/Lima * * * * *", NULL, "Asia/Tokyo", "America/Lima"},
        {__LINE__, "@every 5m", "Europe/Berlin", NULL, "Europe/Berlin"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule_options options = schedule_options_default();
        struct schedule *schedule = NULL;
        options.tz = cases[i].tz;
        options.default_tz = cases[i].default_tz;
        assert_int_equal(schedule_parse(cases[i].text, &options, *state, &schedule, NULL), OK);
        if (strcmp(zone_name(schedule_zone(schedule)), cases[i].want) != 0)
            fail_msg("line %d: zone %s", cases[i].line, zone_name(schedule_zone(schedule)));
        schedule_free(schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_one_spelling),
        cmocka_unit_test(errors_say_where_and_why),
        cmocka_unit_test(columns_count_what_stands_before),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(zones_come_from_text_then_job_then_default),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
