/* Windows of calendars: how they are written, and the ticks that they leave, also where the clock
 * jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "calendars.h"
#include "civil.h"
#include "random_cron.h"
#include "timestamp.h"
#include "window/held.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void texts_come_back(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *typed, *want; /* NULL: as it was typed */
    } cases[] = {
        {__LINE__, "09:00-17:30", NULL},
        {__LINE__, "22:00-06:00", NULL},
        {__LINE__, "22:00-00:00", "22:00-24:00"},
        {__LINE__, "00:00-24:00", NULL},
        {__LINE__, "00:00:00-00:00:01", "00:00-00:00:01"},
        {__LINE__, "09:00:30-09:00:15", NULL},
        {__LINE__, "mon-fri 09:00-17:30", NULL},
        {__LINE__, "MON-Fri 09:00-17:30", "mon-fri 09:00-17:30"},
        {__LINE__, "mon,tue,wed 09:00-17:30", "mon-wed 09:00-17:30"},
        {__LINE__, "fri-mon 09:00-17:30", "mon,fri-sun 09:00-17:30"},
        {__LINE__, "sun,sat 09:00-17:30", "sat,sun 09:00-17:30"},
        {__LINE__, "mon-sun 09:00-17:30", "09:00-17:30"},
        {__LINE__, "fri   22:00-06:00", "fri 22:00-06:00"},
        {__LINE__, "2026-12-24 12:00-24:00", NULL},
        {__LINE__, "2026-12-24/2026-12-31 22:00-06:00", NULL},
        {__LINE__, "12-24/01-02 12:00-14:00", NULL},
        {__LINE__, "02-29 12:00-14:00", NULL},
        {__LINE__, "2026-12-24T12:00/2027-01-02T06:00", NULL},
        {__LINE__, "2026-12-24T12:00:05/2027-01-02T06:00:00",
         "2026-12-24T12:00:05/2027-01-02T06:00"},
        {__LINE__, "2026-12-24T12:00Z/2027-01-02T06:00Z", NULL},
        {__LINE__, "2026-12-24T12:00+01:00/2027-01-02T06:00+01:00",
         "2026-12-24T11:00Z/2027-01-02T05:00Z"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct window window, again;
        struct parse_error error = {0};
        struct strbuf text;
        const char *want = cases[i].want ? cases[i].want : cases[i].typed;
        strbuf_init(&text);
        if (window_read(cases[i].typed, &window, &error) != OK)
            fail_msg("line %d: %s", cases[i].line, error.message);
        window_print(&window, &text);
        if (strcmp(text.text, want) != 0)
            fail_msg("line %d: %s", cases[i].line, text.text);
        assert_int_equal(window_read(text.text, &again, &error), OK);
        assert_int_equal(window_compare(&window, &again), 0);
        strbuf_release(&text);
    }
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
        {__LINE__, "", 1, "not a window; write it like"},
        {__LINE__, " 09:00-17:30", 1, "not a window"},
        {__LINE__, "9:00-17:30", 1, "not a window"},
        {__LINE__, "09:00", 6, "not a window"},
        {__LINE__, "09:00-", 7, "not a window"},
        {__LINE__, "09-17", 1, "not a window"},
        {__LINE__, "09:00-17", 9, "not a window"},
        {__LINE__, "09:00-17:30 ", 12, "not a window"},
        {__LINE__, "24:00-08:00", 1, "hour 24 is out of range 0-23"},
        {__LINE__, "08:00-25:00", 7, "hour 25 is out of range 0-24"},
        {__LINE__, "08:00-24:30", 7, "a day ends at 24:00"},
        {__LINE__, "08:60-09:00", 4, "minute 60 is out of range 0-59"},
        {__LINE__, "08:00:61-09:00", 7, "second 61 is out of range 0-59"},
        {__LINE__, "08:00-08:00", 1, "the window is empty; a whole day is 00:00-24:00"},
        {__LINE__, "mon 08:00-08:00", 5, "the window is empty"},
        {__LINE__, "weekdays 08:00-09:00", 1, "unknown weekday \"weekdays\"; did you mean wed?"},
        {__LINE__, "mon-fry 08:00-09:00", 5, "unknown weekday \"fry\"; did you mean fri?"},
        {__LINE__, "mon, tue 08:00-09:00", 5, "unknown weekday \"\"; known:"},
        {__LINE__, "mon08:00-09:00", 4, "not a window"},
        {__LINE__, "2026-02-30 08:00-09:00", 9, "day 30 is out of range 1-28"},
        {__LINE__, "2026-02-28", 1, "not a window"},
        {__LINE__, "2026-02-28 08:00", 17, "not a window"},
        {__LINE__, "2026-12-24T12:00", 17, "not a window"},
        {__LINE__, "2026-12-24T12:00/2026-12-25", 18, "not a window"},
        {__LINE__, "2026-12-24T25:00/2026-12-25T12:00", 12, "hour 25 is out of range 0-23"},
        {__LINE__, "2026-12-24T12:00/2026-12-24T12:00", 18,
         "the window is empty: its end is not after its start"},
        {__LINE__, "2026-12-24T12:00Z/2026-12-25T12:00", 19,
         "give the offset on both sides of the / or on neither"},
        {__LINE__, "2026-12-24T12:00/2026-12-25T12:00/", 34, "not a window"},
        {__LINE__, "0001-01-01T00:00+01:00/0001-01-02T00:00Z", 1,
         "start and end are in the years 1 to 9999"},
        {__LINE__, "9999-12-31T00:00Z/9999-12-31T23:30-01:00", 1,
         "start and end are in the years 1 to 9999"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct window window;
        struct parse_error error = {0};
        enum status st = window_read(cases[i].text, &window, &error);
        if (st != E_INVALID || error.column != cases[i].column ||
            strncmp(error.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("line %d: %d:%s", cases[i].line, error.column, error.message);
    }
}

/* ---- ticks ---- */

static const struct zone *zone_of(struct zone_db *zones, const char *name)
{
    const struct zone *zone;
    struct parse_error error;
    if (zone_db_get(zones, name, &zone, &error) != OK)
        fail_msg("%s", error.message);
    return zone;
}

/* Windows, each with a semicolon behind it; `@ZONE` is the time zone, and what is neither is a
 * weekday or a date. */
static void make(struct zone_db *zones, const char *text, struct calendar *ret)
{
    char word[64];
    struct parse_error error;
    calendar_init(ret);
    for (int length; sscanf(text, " %63[^;];%n", word, &length) == 1; text += length) {
        enum status st = OK;
        if (word[0] == '@')
            ret->zone = zone_of(zones, word + 1);
        else if (strchr(word, ':'))
            st = calendar_add_window(ret, word, &error);
        else
            st = word[0] >= 'a' ? calendar_add_weekday(ret, word, &error)
                                : calendar_add_date(ret, word, &error);
        if (st != OK)
            fail_msg("%s: %s", word, error.message);
    }
    assert_int_equal(calendar_settle(ret), OK);
}

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

/* Times are UTC. */
static void ticks_that_are_left(void **state)
{
    static const struct {
        int line;
        const char *zone, *expr, *calendar, *after, *want; /* separated by spaces */
    } cases[] = {
        /* Friday, 2026-11-13: the start is in it, the end is not */
        {__LINE__, "UTC", "*/30 * * * *", "mon-fri 09:00-17:30;", "2026-11-13T08:00",
         "2026-11-13T08:30 2026-11-13T17:30 2026-11-13T18:00"},
        {__LINE__, "UTC", "0 9 * * *", "mon-fri 09:00-17:30;", "2026-11-12T10:00",
         "2026-11-14T09:00 2026-11-15T09:00 2026-11-21T09:00"},
        /* over midnight: of the evenings of Monday to Friday */
        {__LINE__, "UTC", "0 */3 * * *", "mon-fri 22:00-06:00;", "2026-11-13T19:00",
         "2026-11-13T21:00 2026-11-14T06:00 2026-11-14T09:00"},
        {__LINE__, "UTC", "0 3 * * *", "mon-fri 22:00-06:00;", "2026-11-13T12:00",
         "2026-11-15T03:00 2026-11-16T03:00 2026-11-22T03:00"},
        {__LINE__, "UTC", "0 * * * *", "2026-12-24 12:00-24:00;12-25;", "2026-12-24T10:00",
         "2026-12-24T11:00 2026-12-26T00:00"},
        {__LINE__, "UTC", "0 0 * * *", "2026-12-24T12:00/2026-12-27T06:00;", "2026-12-23T10:00",
         "2026-12-24T00:00 2026-12-28T00:00"},
        {__LINE__, "Asia/Shanghai", "0 * * * *", "2026-12-24T12:00Z/2026-12-24T14:00Z;",
         "2026-12-24T10:30", "2026-12-24T11:00 2026-12-24T14:00"},
        /* the calendar's own zone, not the schedule's */
        {__LINE__, "UTC", "0 * * * *", "@Asia/Shanghai;09:00-17:00;", "2026-11-12T23:30",
         "2026-11-13T00:00 2026-11-13T09:00"},
        {__LINE__, "UTC", "0 */6 * * *", "@Asia/Shanghai;2026-11-13;", "2026-11-12T11:00",
         "2026-11-12T12:00 2026-11-13T18:00"},
        /* New York: 02:00 to 03:00 is left out on the 8th of March, and comes twice from 01:00 on
         * the 1st of November. */
        {__LINE__, "America/New_York", "*/30 * * * *", "02:00-03:00;", "2026-03-08T06:00",
         "2026-03-08T06:30 2026-03-08T07:00 2026-03-08T07:30"},
        {__LINE__, "America/New_York", "30 2 * * *", "02:00-03:00;", "2026-03-07T06:00",
         "2026-03-08T07:00 2027-03-14T07:00"}, /* moved to 03:00, where no window is */
        {__LINE__, "America/New_York", "*/30 * * * *", "01:00-02:00;", "2026-11-01T04:00",
         "2026-11-01T04:30 2026-11-01T07:00"},
        {__LINE__, "America/New_York", "*/30 * * * *", "01:30-02:30;", "2026-11-01T04:30",
         "2026-11-01T05:00 2026-11-01T06:00 2026-11-01T07:30"},
        {__LINE__, "America/New_York", "0 * * * *", "only 01:00-02:00;", "2026-11-01T00:00",
         "2026-11-01T05:00 2026-11-01T06:00 2026-11-02T06:00"},
        {__LINE__, "America/New_York", "30 * * * *", "only 02:00-03:00;", "2026-03-07T00:00",
         "2026-03-07T07:30 2026-03-09T06:30"},
        {__LINE__, "America/New_York", "0 * * * *", "22:00-06:00;", "2026-03-08T01:30",
         "2026-03-08T02:00 2026-03-08T10:00"}, /* seven hours */
        /* a job in Berlin, a calendar in New York: the offset is 5 hours for some weeks */
        {__LINE__, "Europe/Berlin", "0 * * * *", "@America/New_York;09:00-10:00;",
         "2026-03-20T12:30", "2026-03-20T14:00 2026-03-20T15:00"},
        {__LINE__, "Europe/Berlin", "0 15 * * *", "@America/New_York;09:00-10:00;",
         "2026-03-27T00:00", "2026-03-27T14:00 2026-03-28T14:00 2026-10-25T14:00"},
        /* only in windows */
        {__LINE__, "UTC", "*/20 * * * *", "only mon 09:00-10:00;", "2026-11-13T08:00",
         "2026-11-16T09:00 2026-11-16T09:20 2026-11-16T09:40 2026-11-23T09:00"},
        {__LINE__, "UTC", "0 12 * * *", "only 02-29 00:00-13:00;", "2026-11-13T08:00",
         "2028-02-29T12:00 2032-02-29T12:00"},
        {__LINE__, "UTC", "0 12 * * *", "only 2027-05-01 11:00-13:00;", "2026-11-13T08:00",
         "2027-05-01T12:00 never"},
        {__LINE__, "UTC", "0 12 * * *", "only 2027-05-01T00:00Z/2027-05-01T12:00Z;",
         "2026-11-13T08:00", "never"},
        {__LINE__, "UTC", "* * * * *", "00:00-12:00;12:00-24:00;", "2026-11-13T08:00", "never"},
        {__LINE__, "UTC", "* * * * * *", "00:00-24:00;", "2026-11-13T08:00", "never"},
        {__LINE__, "UTC", "@every 7h", "00:00-08:00;", "1970-01-01T20:00",
         "1970-01-01T21:00 1970-01-02T11:00 1970-01-02T18:00"}, /* it keeps its phase */
        {__LINE__, "UTC", "@at 2026-12-24T12:00:00Z", "12-24 12:00-24:00;", "2026-01-01T00:00",
         "never"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule = parse(*state, cases[i].zone, cases[i].expr);
        struct calendar calendar;
        bool is_only = strncmp(cases[i].calendar, "only ", 5) == 0;
        make(*state, cases[i].calendar + (is_only ? 5 : 0), &calendar);
        const struct calendar *items[] = {&calendar};
        struct calendars calendars = {items, !is_only, is_only};
        int64_t at_s = utc(cases[i].after), before_s = NEVER_BEFORE;
        char word[32];
        int length;
        for (const char *want = cases[i].want; sscanf(want, " %31s%n", word, &length) == 1;
             want += length) {
            int64_t want_s = strcmp(word, "never") == 0 ? NEVER : utc(word);
            at_s = schedule_next_free(schedule, &calendars, at_s);
            if (want_s != NEVER ? at_s != want_s : at_s < utc("2031-01-01") && before_s != at_s)
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

/* The first window that holds an instant is named; a date as a whole has none. */
static void the_window_is_named(void **state)
{
    static const struct {
        int line;
        const char *at, *want; /* NULL: none */
    } cases[] = {
        {__LINE__, "2026-11-13T08:59:59", NULL},
        {__LINE__, "2026-11-13T09:00", "mon-fri 09:00-17:30"},
        {__LINE__, "2026-11-13T17:29:59", "mon-fri 09:00-17:30"},
        {__LINE__, "2026-11-13T17:30", NULL},
        {__LINE__, "2026-11-14T05:00", "fri 23:00-06:00"},
        {__LINE__, "2026-12-24T12:00", "mon-fri 09:00-17:30"},
        {__LINE__, "2026-12-24T18:00", "2026-12-24 12:00-24:00"},
        {__LINE__, "2026-12-25T12:00", NULL}, /* its whole date */
        {__LINE__, "2027-01-01T03:00", "2027-01-01T02:00Z/2027-01-01T04:00Z"},
    };
    struct calendar calendar;
    make(*state,
         "mon-fri 09:00-17:30;fri 23:00-06:00;2026-12-24 12:00-24:00;12-25;"
         "2027-01-01T02:00Z/2027-01-01T04:00Z;",
         &calendar);
    for (size_t i = 0; i < ROWS(cases); i++) {
        const struct window *window = calendar_window_at(&calendar, zone_utc(), utc(cases[i].at));
        struct strbuf text;
        strbuf_init(&text);
        if (window)
            window_print(window, &text);
        if (strcmp(text.text, cases[i].want ? cases[i].want : "") != 0)
            fail_msg("line %d: %s", cases[i].line, text.text);
        strbuf_release(&text);
    }
    calendar_release(&calendar);
}

static void too_many_that_repeat(void **state)
{
    (void)state;
    struct calendar calendar;
    struct parse_error error;
    char text[32];
    calendar_init(&calendar);
    for (int i = 0; i < CALENDAR_REPEATS_MAX; i++) {
        snprintf(text, sizeof(text), "00:00:%02d-%02d:30", i % 60, 1 + i / 60);
        assert_int_equal(calendar_add_window(&calendar, text, &error), OK);
    }
    assert_int_equal(calendar_add_window(&calendar, "2026-12-24 12:00-13:00", &error), OK);
    assert_int_equal(calendar_add_window(&calendar, "mon 12:00-13:00", &error), E_INVALID);
    assert_string_equal(error.message,
                        "more than 100 windows that come again; give those of single "
                        "dates their dates");
    calendar_release(&calendar);
}

/* ---- against a walk over minutes ---- */

enum { MINUTES = 30 * 24 * 60 };

/* A window as it was drawn, and its text. */
struct drawn {
    enum { EVERY_DAY, WEEKDAYS, DATES, YEARLY, CLOCK_SPAN, UTC_SPAN } kind;
    int weekdays;         /* bits, Sunday first */
    int first, last;      /* of DATES: days since 1970; of YEARLY: MONTH * 100 + DAY */
    int from, to;         /* minutes of the day */
    int64_t start, until; /* of spans: minutes since 1970 */
    char text[400];
};

static struct tm broken(int64_t minute)
{
    time_t seconds = (time_t)(minute * 60);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    return tm;
}

static bool starts_on(const struct drawn *drawn, int day)
{
    struct tm tm = broken(day * 1440LL);
    int place = (tm.tm_mon + 1) * 100 + tm.tm_mday;
    switch (drawn->kind) {
    case EVERY_DAY:
        return true;
    case WEEKDAYS:
        return drawn->weekdays >> tm.tm_wday & 1;
    case DATES:
        return day >= drawn->first && day <= drawn->last;
    case YEARLY:
        return drawn->first <= drawn->last ? place >= drawn->first && place <= drawn->last
                                           : place >= drawn->first || place <= drawn->last;
    case CLOCK_SPAN:
    case UTC_SPAN:
        break;
    }
    return false;
}

/* What the window says of a minute that the clock shows: no arithmetic of the code under test. */
static bool drawn_holds(const struct drawn *drawn, int64_t local, int64_t utc_minute)
{
    int day = (int)(local / 1440), minute = (int)(local % 1440);
    bool over_midnight = drawn->to <= drawn->from;
    if (drawn->kind == CLOCK_SPAN)
        return local >= drawn->start && local < drawn->until;
    if (drawn->kind == UTC_SPAN)
        return utc_minute >= drawn->start && utc_minute < drawn->until;
    if (!over_midnight)
        return starts_on(drawn, day) && minute >= drawn->from && minute < drawn->to;
    return (starts_on(drawn, day) && minute >= drawn->from) ||
           (starts_on(drawn, day - 1) && minute < drawn->to);
}

enum { TEXT = 96 };

/* "2026-12-24", or without its year. */
static void print_date(int64_t minute, bool has_year, char text[TEXT])
{
    struct tm tm = broken(minute);
    if (has_year)
        snprintf(text, TEXT, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    else
        snprintf(text, TEXT, "%02d-%02d", tm.tm_mon + 1, tm.tm_mday);
}

static void print_moment(int64_t minute, const char *end, char text[TEXT])
{
    struct tm tm = broken(minute);
    snprintf(text, TEXT, "%04d-%02d-%02dT%02d:%02d%s", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
             tm.tm_hour, tm.tm_min, end);
}

static void draw_days(struct random *random, int64_t middle, struct drawn *ret, char text[3 * TEXT])
{
    static const char *const names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
    char first[TEXT], last[TEXT];
    int64_t one = middle + random_between(random, -12, 12) * 1440LL;
    int64_t other = one + random_between(random, 0, 9) * 1440LL;
    size_t length = 0;
    ret->kind = (unsigned)random_between(random, EVERY_DAY, YEARLY);
    if (ret->kind == WEEKDAYS) {
        ret->weekdays = random_between(random, 1, 127);
        for (int day = 0; day < 7; day++) {
            if (ret->weekdays >> day & 1)
                length += (size_t)snprintf(text + length, 3 * TEXT - length, "%s%s",
                                           length ? "," : "", names[day]);
        }
        snprintf(text + length, 3 * TEXT - length, " ");
    } else if (ret->kind == DATES) {
        ret->first = (int)(one / 1440);
        ret->last = (int)(other / 1440);
        print_date(one, true, first);
        print_date(other, true, last);
        snprintf(text, 3 * TEXT, "%s/%s ", first, last);
    } else if (ret->kind == YEARLY) {
        struct tm a = broken(one), b = broken(other);
        ret->first = (a.tm_mon + 1) * 100 + a.tm_mday;
        ret->last = (b.tm_mon + 1) * 100 + b.tm_mday;
        print_date(one, false, first);
        print_date(other, false, last);
        snprintf(text, 3 * TEXT, "%s/%s ", first, last);
    }
}

static void draw(struct random *random, int64_t middle, struct drawn *ret)
{
    char days[3 * TEXT] = "", first[TEXT], last[TEXT];
    *ret = (struct drawn){0};
    if (random_chance(random, 70)) {
        draw_days(random, middle, ret, days);
        ret->from = random_between(random, 0, 1439);
        do
            ret->to = random_between(random, 0, 1440);
        while (ret->to == ret->from);
        snprintf(ret->text, sizeof(ret->text), "%s%02d:%02d-%02d:%02d", days, ret->from / 60,
                 ret->from % 60, ret->to / 60, ret->to % 60);
        return;
    }
    ret->kind = random_chance(random, 50) ? CLOCK_SPAN : UTC_SPAN;
    ret->start = middle + random_between(random, -12 * 1440, 12 * 1440);
    ret->until = ret->start + random_between(random, 1, 3 * 1440);
    const char *end = ret->kind == UTC_SPAN ? "Z" : "";
    print_moment(ret->start, end, first);
    print_moment(ret->until, end, last);
    snprintf(ret->text, sizeof(ret->text), "%s/%s", first, last);
}

/* A few windows in a zone, near a transition of its clock. */
struct walk {
    struct drawn drawn[4];
    int count;
    struct calendar calendar;
    int64_t from_s;
    bool held[MINUTES];
};

static void fail_at(const struct walk *walk, int round, const char *zone, int64_t at_s,
                    const char *what)
{
    for (int i = 0; i < walk->count; i++)
        print_message("%s\n", walk->drawn[i].text);
    fail_msg("seed %llu, round %d: %s at %lld: %s", (unsigned long long)random_seed(), round, zone,
             (long long)at_s, what);
}

static void walk_minutes(struct walk *walk, const struct zone *zone)
{
    for (int i = 0; i < MINUTES; i++) {
        int64_t at_s = walk->from_s + i * 60LL;
        int64_t local = (at_s + zone_span_at(zone, at_s).offset_s) / 60;
        walk->held[i] = false;
        for (int k = 0; k < walk->count && !walk->held[i]; k++)
            walk->held[i] = drawn_holds(&walk->drawn[k], local, at_s / 60);
    }
}

/* The first minute at or after place, or the last before it, of which the calendar says so. */
static int minute_from(const struct walk *walk, int place, bool is_held)
{
    while (place < MINUTES && walk->held[place] != is_held)
        place++;
    return place;
}

static int minute_before(const struct walk *walk, int place, bool is_held)
{
    do
        place--;
    while (place >= 0 && walk->held[place] != is_held);
    return place;
}

static void compare(const struct walk *walk, const struct schedule *every_minute, int round,
                    const char *zone, struct random *random)
{
    const struct calendar *items[] = {&walk->calendar};
    for (int i = 0; i < MINUTES; i++) {
        int64_t at_s = walk->from_s + i * 60LL + random_between(random, 0, 59);
        if (calendar_holds(&walk->calendar, schedule_zone(every_minute), at_s) != walk->held[i])
            fail_at(walk, round, zone, at_s, walk->held[i] ? "not held" : "held");
    }
    for (int i = 0; i < 40; i++) {
        bool is_only = i % 2;
        struct calendars calendars = {items, !is_only, is_only};
        int place = random_between(random, 0, MINUTES - 1),
            want = minute_from(walk, place, is_only);
        int64_t at_s = walk->from_s + place * 60LL, want_s = walk->from_s + want * 60LL;
        int64_t next_s = schedule_next_free(every_minute, &calendars, at_s - 1);
        if (want < MINUTES ? next_s != want_s : next_s < want_s)
            fail_at(walk, round, zone, at_s, "another next tick");
        want = minute_before(walk, place, is_only);
        want_s = walk->from_s + want * 60LL;
        int64_t last_s = schedule_prev_free(every_minute, &calendars, at_s);
        if (want >= 0 ? last_s != want_s : last_s > want_s)
            fail_at(walk, round, zone, at_s, "another tick before it");
    }
}

static void windows_agree_with_a_walk(void **state)
{
    static const char *const zones[] = {"UTC",
                                        "America/New_York",
                                        "Europe/Berlin",
                                        "America/Santiago",
                                        "Australia/Lord_Howe",
                                        "Africa/Cairo",
                                        "Asia/Kolkata"};
    static const char *const jumps[] = {"2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04",
                                        "2026-10-25", "2026-11-01", "2027-01-01"};
    static struct walk walk;
    struct random random = random_new(random_seed());
    for (int round = 0; round < 40 * random_rounds(); round++) {
        const char *name = zones[random_between(&random, 0, ROWS(zones) - 1)];
        const char *of_schedule = zones[random_between(&random, 0, ROWS(zones) - 1)];
        const struct zone *zone = zone_of(*state, name);
        bool has_own = random_chance(&random, 50);
        int64_t middle = utc(jumps[random_between(&random, 0, ROWS(jumps) - 1)]) / 60;
        struct parse_error error;
        struct schedule *schedule = parse(*state, has_own ? of_schedule : name, "* * * * *");
        walk.count = random_between(&random, 1, 4);
        walk.from_s = (middle - MINUTES / 2) * 60;
        calendar_init(&walk.calendar);
        walk.calendar.zone = has_own ? zone : NULL;
        for (int i = 0; i < walk.count; i++) {
            draw(&random, middle, &walk.drawn[i]);
            if (calendar_add_window(&walk.calendar, walk.drawn[i].text, &error) != OK)
                fail_msg("%s: %s", walk.drawn[i].text, error.message);
        }
        assert_int_equal(calendar_settle(&walk.calendar), OK);
        walk_minutes(&walk, zone);
        compare(&walk, schedule, round, name, &random);
        calendar_release(&walk.calendar);
        schedule_free(schedule);
    }
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
        cmocka_unit_test(texts_come_back),      cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(ticks_that_are_left),  cmocka_unit_test(the_window_is_named),
        cmocka_unit_test(too_many_that_repeat), cmocka_unit_test(windows_agree_with_a_walk),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
