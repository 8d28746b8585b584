/* Dates on which jobs do not run: how they are written, which they are, and the ticks that are left
 * in zones whose clock jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "calendars.h"
#include "civil.h"
#include "random_cron.h"
#include "timestamp.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* "2026-12-25 12-25 sat": dates and weekdays, in any order. */
static void make(const char *text, struct calendar *ret)
{
    char word[32];
    struct parse_error error;
    calendar_init(ret);
    for (int length; sscanf(text, " %31s%n", word, &length) == 1; text += length) {
        enum status st = word[0] >= 'a' ? calendar_add_weekday(ret, word, &error)
                                        : calendar_add_date(ret, word, &error);
        if (st != OK)
            fail_msg("%s: %s", word, error.message);
    }
    assert_int_equal(calendar_settle(ret), OK);
}

static int64_t day_of(const char *text)
{
    int year, month, day;
    assert_int_equal(sscanf(text, "%d-%d-%d", &year, &month, &day), 3);
    return civil_to_days(year, month, day);
}

static void mistakes_have_a_place(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 1, "not a date"},
        {__LINE__, "christmas", 1, "not a date"},
        {__LINE__, "2026-13-01", 6, "month 13 is out of range 1-12"},
        {__LINE__, "2026-02-29", 9, "day 29 is out of range 1-28"},
        {__LINE__, "02-30", 4, "day 30 is out of range 1-29"},
        {__LINE__, "0000-01-01", 1, "year 0 is out of range 1-9999"},
        {__LINE__, "2026-1-1", 6, "not a date"},
        {__LINE__, "2026-01-011", 9, "not a date"},
        {__LINE__, "2026-01-01 ", 11, "not a date"},
        {__LINE__, "2026-01-01/", 12, "not a date"},
        {__LINE__, "2026-01-02/2026-01-01", 12, "the last day is before the first"},
        {__LINE__, "2026-01-02/01-03", 12, "give the year on both sides of the / or on neither"},
        {__LINE__, "12-24/2027-01-03", 7, "give the year on both sides of the / or on neither"},
        {__LINE__, "2026-01-01/2026-01-02/2026-01-03", 22, "not a date"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar calendar;
        struct parse_error error = {0};
        calendar_init(&calendar);
        enum status st = calendar_add_date(&calendar, cases[i].text, &error);
        if (st != E_INVALID || error.column != cases[i].column ||
            strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("line %d: %d:%s", cases[i].line, error.column, error.message);
        calendar_release(&calendar);
    }
}

static void weekdays_are_three_letters(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text, *message; /* NULL: it is one */
    } cases[] = {
        {__LINE__, "sat", NULL},
        {__LINE__, "SUN", NULL},
        {__LINE__, "saturday", "unknown weekday \"saturday\"; did you mean sat?"},
        {__LINE__, "w", "unknown weekday \"w\"; did you mean wed?"},
        {__LINE__, "x", "unknown weekday \"x\"; known: mon tue wed thu fri sat sun"},
        {__LINE__, "", "unknown weekday \"\"; known: mon tue wed thu fri sat sun"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar calendar;
        struct parse_error error = {0};
        calendar_init(&calendar);
        enum status st = calendar_add_weekday(&calendar, cases[i].text, &error);
        if ((st == OK) != !cases[i].message ||
            (cases[i].message && strcmp(error.message, cases[i].message) != 0))
            fail_msg("line %d: %s", cases[i].line, error.message);
        calendar_release(&calendar);
    }
}

static void dates_come_back_in_order(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *typed, *want;
        size_t ranges;
    } cases[] = {
        {__LINE__, "", "", 0},
        {__LINE__, "2026-12-26 2026-12-25 2026-12-26", "2026-12-25 2026-12-26 ", 1},
        {__LINE__, "2026-10-05 2026-10-01/2026-10-07", "2026-10-01/2026-10-07 2026-10-05 ", 1},
        {__LINE__, "2027-01-01/2027-01-01 12-25 02-29", "02-29 12-25 2027-01-01 ", 1},
        {__LINE__, "12-24/01-02 2026-01-05 2026-01-03", "12-24/01-02 2026-01-03 2026-01-05 ", 2},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar calendar;
        struct strbuf text;
        strbuf_init(&text);
        make(cases[i].typed, &calendar);
        for (size_t j = 0; j < calendar.date_count; j++) {
            calendar_print_date(&calendar.dates[j], &text);
            strbuf_addc(&text, ' ');
        }
        if (strcmp(text.text, cases[i].want) != 0 || calendar.range_count != cases[i].ranges)
            fail_msg("line %d: %s, %zu ranges", cases[i].line, text.text, calendar.range_count);
        strbuf_release(&text);
        calendar_release(&calendar);
    }
}

static void the_next_free_day(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *calendar, *day, *from, *until; /* NULL: there is none */
    } cases[] = {
        {__LINE__, "", "2026-11-15", "2026-11-15", "2026-11-15"},
        {__LINE__, "sat sun", "2026-11-14", "2026-11-16", "2026-11-13"},
        {__LINE__, "sat sun 2026-11-16/2026-11-20", "2026-11-14", "2026-11-23", "2026-11-13"},
        {__LINE__, "12-25", "2026-12-25", "2026-12-26", "2026-12-24"},
        {__LINE__, "12-24/01-02", "2026-12-31", "2027-01-03", "2026-12-23"},
        {__LINE__, "12-24/01-02", "2027-01-03", "2027-01-03", "2027-01-03"},
        {__LINE__, "05-10/05-03", "2026-05-04", "2026-05-04", "2026-05-04"},
        {__LINE__, "05-10/05-03", "2026-05-10", "2027-05-04", "2026-05-09"},
        {__LINE__, "02-29", "2028-02-29", "2028-03-01", "2028-02-28"},
        {__LINE__, "02-28", "2027-02-28", "2027-03-01", "2027-02-27"},
        {__LINE__, "03-01/02-28", "2026-01-01", "2028-02-29", "2024-02-29"},
        {__LINE__, "03-01/02-28 sun mon tue wed thu fri", "2029-01-01", "2048-02-29", "2020-02-29"},
        {__LINE__, "0001-01-01/9999-12-31", "2026-01-01", "10000-01-01", "0-12-31"},
        {__LINE__, "sun mon tue wed thu fri sat", "2026-01-01", NULL, NULL},
        {__LINE__, "01-01/12-31", "2026-01-01", NULL, NULL},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar calendar;
        int64_t day = day_of(cases[i].day);
        make(cases[i].calendar, &calendar);
        int64_t from = calendar_free_from(&calendar, day);
        int64_t until = calendar_free_until(&calendar, day);
        if (from != (cases[i].from ? day_of(cases[i].from) : NEVER) ||
            until != (cases[i].until ? day_of(cases[i].until) : NEVER_BEFORE) ||
            calendar_has(&calendar, day) != (from != day))
            fail_msg("line %d: %lld, %lld", cases[i].line, (long long)from, (long long)until);
        calendar_release(&calendar);
    }
}

/* Against a second formula: every date in a list of its own. */
static void lookups_agree_with_a_list(void **state)
{
    (void)state;
    enum { DAYS = 3000, FIRST = 20000 };
    struct random random = random_new(random_seed());
    for (int round = 0; round < 50 * random_rounds(); round++) {
        struct calendar calendar;
        static bool out[DAYS];
        char text[64];
        struct parse_error error;
        memset(out, 0, sizeof(out));
        calendar_init(&calendar);
        for (int i = random_between(&random, 0, 40); i > 0; i--) {
            int first = random_between(&random, 0, DAYS - 30);
            int last = first + (random_chance(&random, 50) ? 0 : random_between(&random, 0, 20));
            int64_t y1, y2;
            int m1, d1, m2, d2;
            civil_from_days(FIRST + first, &y1, &m1, &d1);
            civil_from_days(FIRST + last, &y2, &m2, &d2);
            snprintf(text, sizeof(text), "%04d-%02d-%02d/%04d-%02d-%02d", (int)y1, m1, d1, (int)y2,
                     m2, d2);
            assert_int_equal(calendar_add_date(&calendar, text, &error), OK);
            for (int day = first; day <= last; day++)
                out[day] = true;
        }
        assert_int_equal(calendar_settle(&calendar), OK);
        for (int day = 0; day < DAYS; day++) {
            if (calendar_has(&calendar, FIRST + day) != out[day])
                fail_msg("seed %llu, round %d: day %d", (unsigned long long)random_seed(), round,
                         FIRST + day);
        }
        calendar_release(&calendar);
    }
}

/* ---- ticks ---- */

static int64_t utc(const char *text)
{
    int64_t at_s;
    struct parse_error error;
    assert_int_equal(timestamp_parse(text, 1, zone_utc(), &at_s, &error), OK);
    return at_s;
}

static struct schedule *parse(struct zone_db *zones, const char *zone, const char *text)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule;
    struct parse_error error;
    options.tz = zone;
    if (schedule_parse(text, &options, zones, &schedule, &error) != OK)
        fail_msg("%s: %s", text, error.message);
    return schedule;
}

/* Times are UTC. Where the clock jumps at midnight, a date begins late, ends early, comes twice, or
 * not at all. St. John's was set back from 00:01 to 23:01 of the day before. */
static void ticks_that_are_left(void **state)
{
    static const struct {
        int line;
        const char *zone, *expr, *calendar, *after, *want; /* separated by spaces */
    } cases[] = {
        {__LINE__, "UTC", "0 9 * * *", "sat sun", "2026-11-13T00:00",
         "2026-11-13T09:00 2026-11-16T09:00 2026-11-17T09:00"},
        {__LINE__, "Asia/Shanghai", "0 * * * *", "2026-10-01/2026-10-07", "2026-09-30T14:30",
         "2026-09-30T15:00 2026-10-07T16:00"},
        {__LINE__, "America/New_York", "30 2 * * *", "2026-03-08", "2026-03-07T00:00",
         "2026-03-07T07:30 2026-03-09T06:30"}, /* the day of the gap */
        {__LINE__, "America/New_York", "30 * * * *", "2026-10-31", "2026-10-31T03:00",
         "2026-10-31T03:30 2026-11-01T04:30 2026-11-01T05:30 2026-11-01T06:30"},
        {__LINE__, "America/New_York", "30 * * * *", "2026-11-01", "2026-11-01T03:00",
         "2026-11-01T03:30 2026-11-02T05:30"}, /* a day of 25 hours */
        {__LINE__, "America/Santiago", "0 0 * * *", "2026-09-06", "2026-09-05T12:00",
         "2026-09-07T03:00"}, /* its midnight does not exist, the tick moves to 01:00 */
        {__LINE__, "America/Santiago", "0 0 * * *", "2026-09-05", "2026-09-04T12:00",
         "2026-09-06T04:00"},
        {__LINE__, "America/Santiago", "*/30 * * * *", "2026-04-05", "2026-04-05T02:40",
         "2026-04-05T03:00 2026-04-05T03:30 2026-04-06T04:00"}, /* 23:00 and 23:30 come again */
        {__LINE__, "America/St_Johns", "0 * * * * *", "2006-10-29", "2006-10-29T02:28",
         "2006-10-29T02:29 2006-10-29T02:31 2006-10-29T02:32"}, /* 23:59, 23:01, 23:02 */
        {__LINE__, "America/St_Johns", "0 * * * * *", "2006-10-28", "2006-10-28T12:00",
         "2006-10-29T02:30 2006-10-29T03:30 2006-10-29T03:31"}, /* 00:00, then the 28th again */
        {__LINE__, "Pacific/Apia", "0 12 * * *", "2011-12-30", "2011-12-29T00:00",
         "2011-12-29T22:00 2011-12-30T22:00 2011-12-31T22:00"}, /* there was no 30th */
        {__LINE__, "UTC", "@every 7h", "1970-01-02", "1970-01-01T20:00",
         "1970-01-01T21:00 1970-01-03T01:00 1970-01-03T08:00"}, /* it keeps its phase */
        {__LINE__, "UTC", "@at 2026-12-25T08:00:00Z", "12-25", "2026-01-01T00:00", "never"},
        {__LINE__, "UTC", "@at 2026-12-24T08:00:00Z", "12-25", "2026-01-01T00:00",
         "2026-12-24T08:00 never"},
        {__LINE__, "UTC", "* * * * * *", "0001-01-01/9999-12-31", "2026-01-01T00:00", "never"},
        {__LINE__, "UTC", "0 0 * * MON", "mon", "2026-01-01T00:00", "never"},
        {__LINE__, "UTC", "0 9 * * *", "only sat sun", "2026-11-13T00:00",
         "2026-11-14T09:00 2026-11-15T09:00 2026-11-21T09:00"},
        {__LINE__, "Asia/Shanghai", "0 * * * *", "only 2026-10-01/2026-10-07 2026-10-09",
         "2026-10-07T14:30", "2026-10-07T15:00 2026-10-08T16:00"},
        {__LINE__, "America/New_York", "30 * * * *", "only 2026-11-01", "2026-10-01T00:00",
         "2026-11-01T04:30 2026-11-01T05:30 2026-11-01T06:30"}, /* a day of 25 hours */
        {__LINE__, "UTC", "0 12 * * *", "only 02-29", "2097-01-01T00:00",
         "2104-02-29T12:00 2108-02-29T12:00"}, /* 2100 has none */
        {__LINE__, "UTC", "0 12 * * *", "only 2026-05-01", "2026-01-01T00:00",
         "2026-05-01T12:00 never"},
        {__LINE__, "UTC", "0 12 * * *", "only ", "2026-01-01T00:00", "never"},
        {__LINE__, "UTC", "@at 2026-12-25T08:00:00Z", "only 12-25", "2026-01-01T00:00",
         "2026-12-25T08:00 never"},
        {__LINE__, "UTC", "0 0 29 2 *", "2028-02-29 2032-02-29", "2026-01-01T00:00",
         "2036-02-29T00:00"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule = parse(*state, cases[i].zone, cases[i].expr);
        struct calendar calendar;
        bool is_only = strncmp(cases[i].calendar, "only ", 5) == 0;
        make(cases[i].calendar + (is_only ? 5 : 0), &calendar);
        const struct calendar *items[] = {&calendar};
        struct calendars calendars = {items, !is_only, is_only};
        int64_t at_s = utc(cases[i].after), before_s = NEVER_BEFORE;
        char word[32];
        int length;
        for (const char *want = cases[i].want; sscanf(want, " %31s%n", word, &length) == 1;
             want += length) {
            int64_t want_s = strcmp(word, "never") == 0 ? NEVER : utc(word);
            at_s = schedule_next_free(schedule, &calendars, at_s);
            if (at_s != want_s)
                fail_msg("line %d: %s: %lld", cases[i].line, word, (long long)at_s);
            if (at_s != NEVER && before_s != NEVER_BEFORE &&
                schedule_prev_free(schedule, &calendars, at_s) != before_s)
                fail_msg("line %d: before %s", cases[i].line, word);
            before_s = at_s;
        }
        calendar_release(&calendar);
        schedule_free(schedule);
    }
}

/* Jumping over what is out finds what a walk over all ticks finds. */
static void jumps_agree_with_a_walk(void **state)
{
    enum { YEAR_S = 366 * DAY_S };
    static const char *const zones[] = {
        "UTC",          "America/New_York", "America/Santiago", "Australia/Lord_Howe",
        "Africa/Cairo", "Pacific/Apia"};
    static const char *const some[] = {"sat sun", "2026-03-01/2026-04-20 2026-09-06 2026-11-01",
                                       "04-05 10-01/10-07 wed", ""};
    struct random random = random_new(random_seed());
    for (int round = 0; round < 300 * random_rounds(); round++) {
        struct random_cron cron;
        random_cron_make(&random, RANDOM_CRON_DENSE | RANDOM_CRON_MINUTE, &cron);
        const char *zone = zones[random_between(&random, 0, 5)];
        struct schedule *schedule = parse(*state, zone, cron.text);
        struct calendar one, other;
        make(some[random_between(&random, 0, 3)], &one);
        make(some[random_between(&random, 0, 3)], &other);
        const struct calendar *items[] = {&one, &other};
        size_t only = (size_t)random_between(&random, 0, 2);
        struct calendars calendars = {items, 2 - only, only};
        int64_t after_s = 1767225600 + random_between(&random, 0, 365 * DAY_S), walk_s = after_s;
        do
            walk_s = schedule_next(schedule, walk_s);
        while (walk_s < after_s + YEAR_S &&
               calendars_which(&calendars, schedule_zone(schedule), walk_s) != CALENDARS_FREE);
        int64_t next_s = schedule_next_free(schedule, &calendars, after_s);
        if (walk_s < after_s + YEAR_S ? next_s != walk_s : next_s < after_s + YEAR_S)
            fail_msg("seed %llu, round %d: %s in %s after %lld: %lld, not %lld",
                     (unsigned long long)random_seed(), round, cron.text, zone, (long long)after_s,
                     (long long)next_s, (long long)walk_s);
        if (next_s != NEVER && schedule_prev_free(schedule, &calendars, next_s + 1) != next_s)
            fail_msg("seed %llu, round %d: not found back", (unsigned long long)random_seed(),
                     round);
        calendar_release(&one);
        calendar_release(&other);
        schedule_free(schedule);
    }
}

/* Each tick that is out counts as an end: the first one after the day is a whole number of pauses
 * later. */
static void fixed_delays_go_on_behind_the_day(void **state)
{
    struct schedule *schedule = parse(*state, "UTC", "@after 7h");
    struct calendar calendar;
    make("2026-01-02/2026-01-03", &calendar);
    const struct calendar *items[] = {&calendar};
    struct calendars calendars = {items, 1, 0};
    static const struct {
        int line;
        const char *ended, *want;
    } cases[] = {
        {__LINE__, "2026-01-01T12:00", "2026-01-01T19:00"},
        {__LINE__, "2026-01-01T17:00", "2026-01-04T01:00"}, /* 00:00 on the 2nd, + 7 x 7 h */
        {__LINE__, "2026-01-03T17:00", "2026-01-04T00:00"},
        {__LINE__, "2026-01-03T16:59", "2026-01-04T06:59"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t next_s = schedule_next_after_free(schedule, &calendars, utc(cases[i].ended));
        if (next_s != utc(cases[i].want))
            fail_msg("line %d: %lld", cases[i].line, (long long)next_s);
    }
    calendar_release(&calendar);
    schedule_free(schedule);
}

static int set_up(void **state)
{
    struct zone_db *zones;
    enum status st = zone_db_new(NULL, &zones);
    *state = zones;
    return st == OK ? 0 : -1;
}

static int tear_down(void **state)
{
    zone_db_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(weekdays_are_three_letters),
        cmocka_unit_test(dates_come_back_in_order),
        cmocka_unit_test(the_next_free_day),
        cmocka_unit_test(lookups_agree_with_a_list),
        cmocka_unit_test(ticks_that_are_left),
        cmocka_unit_test(jumps_agree_with_a_walk),
        cmocka_unit_test(fixed_delays_go_on_behind_the_day),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
