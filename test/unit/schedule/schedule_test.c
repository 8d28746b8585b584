/* Windows, intervals, instants, several schedules of one job, and what they answer at the ends of
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schedule_set.h"
#include "timestamp.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

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

static int64_t at(const char *text)
{
    int64_t utc_s;
    if (!text)
        return TIME_UNSET;
    if (strcmp(text, "never") == 0)
        return NEVER;
    assert_int_equal(timestamp_parse(text, 1, zone_utc(), &utc_s, NULL), OK);
    return utc_s;
}

static struct schedule *parsed(struct zone_db *zones, const char *text, const char *start,
                               const char *end)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    struct parse_error err;
    options.start_s = at(start);
    options.end_s = at(end);
    if (schedule_parse(text, &options, zones, &schedule, &err) != OK)
        fail_msg("\"%s\": %s", text, err.message);
    return schedule;
}

static void windows_and_anchors(void **state)
{
    static const struct {
        int line;
        const char *text, *start, *end, *from;
        const char *next, *prev; /* NULL: NEVER_BEFORE */
    } cases[] = {
        /* the start is in, the end is out */
        {__LINE__, "0 * * * *", "2026-01-01T10:00", NULL, "2026-01-01T00:00", "2026-01-01T10:00",
         NULL},
        {__LINE__, "0 * * * *", "2026-01-01T10:00:01", NULL, "2026-01-01T00:00", "2026-01-01T11:00",
         NULL},
        {__LINE__, "0 * * * *", "2026-01-01T10:00", NULL, "2026-01-01T10:00", "2026-01-01T11:00",
         NULL},
        {__LINE__, "0 * * * *", "2026-01-01T10:00", NULL, "2026-01-01T10:00:01", "2026-01-01T11:00",
         "2026-01-01T10:00"},
        {__LINE__, "0 * * * *", NULL, "2026-01-01T10:00", "2026-01-01T09:00", "never",
         "2026-01-01T08:00"},
        {__LINE__, "0 * * * *", NULL, "2026-01-01T10:00:01", "2026-01-01T09:00", "2026-01-01T10:00",
         "2026-01-01T08:00"},
        {__LINE__, "0 * * * *", NULL, "2026-01-01T10:00", "2027-01-01T00:00", "never",
         "2026-01-01T09:00"},
        {__LINE__, "0 * * * *", NULL, "2026-01-01T10:00:01", "2027-01-01T00:00", "never",
         "2026-01-01T10:00"},
        {__LINE__, "0 0 1 * *", "2026-01-02", "2026-02-01", "2026-01-05", "never", NULL},
        /* a gap's fire belongs to the window that holds the gap's end */
        {__LINE__, "TZ=America/New_York 30 2 * * *", "2026-03-08T07:00", NULL, "2026-03-01",
         "2026-03-08T07:00", NULL},
        {__LINE__, "TZ=America/New_York 30 2 * * *", "2026-03-08T07:00:01", NULL, "2026-03-01",
         "2026-03-09T06:30", NULL},
        {__LINE__, "TZ=America/New_York 30 2 * * *", NULL, "2026-03-08T07:00", "2026-03-07T12:00",
         "never", "2026-03-07T07:30"},
        /* a fixed rate counts from the start, else from 1970 */
        {__LINE__, "@every 1h", NULL, NULL, "2026-01-01T10:10", "2026-01-01T11:00",
         "2026-01-01T10:00"},
        {__LINE__, "@every 1h", NULL, NULL, "2026-01-01T10:00", "2026-01-01T11:00",
         "2026-01-01T09:00"},
        {__LINE__, "@every 7s", NULL, NULL, "1970-01-01T00:00:14", "1970-01-01T00:00:21",
         "1970-01-01T00:00:07"},
        {__LINE__, "@every 7s", NULL, NULL, "1969-12-31T23:59:59", "1970-01-01T00:00:00",
         "1969-12-31T23:59:53"},
        {__LINE__, "@every 1h", "2026-01-01T10:10", NULL, "2026-01-01T00:00", "2026-01-01T10:10",
         NULL},
        {__LINE__, "@every 1h", "2026-01-01T10:10", NULL, "2026-01-01T12:00", "2026-01-01T12:10",
         "2026-01-01T11:10"},
        {__LINE__, "@every 1h", "2026-01-01T10:10", "2026-01-01T12:10", "2026-01-01T11:10", "never",
         "2026-01-01T10:10"},
        {__LINE__, "@every 1w", NULL, NULL, "2026-01-01T00:00", "2026-01-08T00:00",
         "2025-12-25T00:00"}, /* weeks from the epoch start on Thursdays */
        {__LINE__, "TZ=America/New_York @every 1d", "2026-03-07T17:00", NULL, "2026-03-08T00:00",
         "2026-03-08T17:00", "2026-03-07T17:00"},
        {__LINE__, "rate(5 minutes)", NULL, NULL, "2026-01-01T00:01", "2026-01-01T00:05",
         "2026-01-01T00:00"},
        /* once */
        {__LINE__, "@at 2026-06-01T12:00Z", NULL, NULL, "2026-01-01", "2026-06-01T12:00", NULL},
        {__LINE__, "@at 2026-06-01T12:00Z", NULL, NULL, "2026-06-01T11:59:59", "2026-06-01T12:00",
         NULL},
        {__LINE__, "@at 2026-06-01T12:00Z", NULL, NULL, "2026-06-01T12:00", "never", NULL},
        {__LINE__, "@at 2026-06-01T12:00Z", NULL, NULL, "2027-01-01", "never", "2026-06-01T12:00"},
        {__LINE__, "@at 2026-06-01T12:00Z", "2026-06-01T12:00", NULL, "2026-01-01",
         "2026-06-01T12:00", NULL},
        {__LINE__, "@at 2026-06-01T12:00Z", NULL, "2026-06-01T12:00", "2026-01-01", "never", NULL},
        {__LINE__, "@at 2026-06-01T12:00Z", "2026-07-01", NULL, "2026-01-01", "never", NULL},
        {__LINE__, "TZ=America/New_York @at 2026-03-08 02:30", NULL, NULL, "2026-01-01",
         "2026-03-08T07:00", NULL},
        {__LINE__, "TZ=America/New_York @at 2026-11-01 01:30", NULL, NULL, "2026-01-01",
         "2026-11-01T05:30", NULL},
        {__LINE__, "TZ=Pacific/Apia @at 2011-12-30 12:00", NULL, NULL, "2011-01-01",
         "2011-12-30T10:00", NULL},
        /* no ticks of their own */
        {__LINE__, "@after 5m", NULL, NULL, "2026-01-01", "never", NULL},
        {__LINE__, "@reboot", NULL, NULL, "2026-01-01", "never", NULL},
        {__LINE__, "@manual", NULL, NULL, "2026-01-01", "never", NULL},
        {__LINE__, "0 0 31 2 *", NULL, NULL, "2026-01-01", "never", NULL},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule = parsed(*state, cases[i].text, cases[i].start, cases[i].end);
        int64_t from = at(cases[i].from);
        int64_t next = schedule_next(schedule, from), prev = schedule_prev(schedule, from);
        int64_t want_prev = cases[i].prev ? at(cases[i].prev) : NEVER_BEFORE;
        if (next != at(cases[i].next))
            fail_msg("line %d: next is %lld, want %s", cases[i].line, (long long)next,
                     cases[i].next);
        if (prev != want_prev)
            fail_msg("line %d: prev is %lld, want %s", cases[i].line, (long long)prev,
                     cases[i].prev ? cases[i].prev : "never");
        schedule_free(schedule);
    }
}

static void delays_count_from_the_end_of_the_last_run(void **state)
{
    static const struct {
        int line;
        const char *text, *start, *end, *ended, *want;
    } cases[] = {
        {__LINE__, "@after 90s", NULL, NULL, "2026-01-01T00:00", "2026-01-01T00:01:30"},
        {__LINE__, "@after 1d", NULL, NULL, "2026-01-01T00:00:07", "2026-01-02T00:00:07"},
        {__LINE__, "@after 1h", "2026-01-01T10:00", NULL, "2026-01-01T00:00", "2026-01-01T11:00"},
        {__LINE__, "@after 1h", "2026-01-01T10:00", NULL, "2026-01-01T12:30", "2026-01-01T13:30"},
        {__LINE__, "@after 1h", NULL, "2026-01-01T13:30", "2026-01-01T12:30", "never"},
        {__LINE__, "@after 1h", NULL, "2026-01-01T13:30:01", "2026-01-01T12:30",
         "2026-01-01T13:30"},
        {__LINE__, "@every 1h", NULL, NULL, "2026-01-01T12:30", "never"},
        {__LINE__, "@daily", NULL, NULL, "2026-01-01T12:30", "never"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule = parsed(*state, cases[i].text, cases[i].start, cases[i].end);
        int64_t next = schedule_next_after(schedule, at(cases[i].ended));
        if (next != at(cases[i].want))
            fail_msg("line %d: %lld", cases[i].line, (long long)next);
        schedule_free(schedule);
    }
}

static void parts_can_be_asked_for(void **state)
{
    struct schedule *every = parsed(*state, "@every 90s", "2026-01-01", "2027-01-01");
    assert_int_equal(schedule_kind(every), SCHEDULE_EVERY);
    assert_int_equal(schedule_interval(every), 90);
    assert_int_equal(schedule_start(every), at("2026-01-01"));
    assert_int_equal(schedule_end(every), at("2027-01-01"));
    assert_null(schedule_cron(every));
    schedule_free(every);
    struct schedule *once = parsed(*state, "@at 2026-01-01", NULL, NULL);
    assert_int_equal(schedule_kind(once), SCHEDULE_AT);
    assert_int_equal(schedule_at(once), at("2026-01-01"));
    schedule_free(once);
    struct schedule *cron = parsed(*state, "0 8 * * *", NULL, NULL);
    assert_int_equal(schedule_kind(cron), SCHEDULE_CRON);
    assert_non_null(schedule_cron(cron));
    assert_int_equal(schedule_start(cron), TIME_UNSET);
    assert_int_equal(schedule_dst(cron), DST_DEFAULT);
    assert_null(schedule_free(cron));
    assert_null(schedule_free(NULL));
}

/* Any 64-bit instant may be asked about; the answer is on the right side of it. */
static void ends_of_time(void **state)
{
    static const char *const texts[] = {
        "* * * * * *",
        "TZ=America/New_York 30 2 * * *",
        "TZ=America/New_York */5 * * * *",
        "@every 1s",
        "@every 36500d",
        "@at 9999-12-31T23:59:59Z",
        "0 0 29 2 +SUN",
        "TZ=Asia/Kathmandu 0 0 0 1 1 * 9999",
    };
    static const int64_t instants[] = {
        INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, INT64_MIN / 4, -1,
        0,         INT64_MAX / 4, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < ROWS(texts); i++) {
        for (int bounded = 0; bounded < 2; bounded++) {
            struct schedule *schedule = parsed(*state, texts[i], bounded ? "0001-01-01" : NULL,
                                               bounded ? "9999-12-31T23:59:59Z" : NULL);
            for (size_t k = 0; k < ROWS(instants); k++) {
                int64_t next = schedule_next(schedule, instants[k]);
                int64_t prev = schedule_prev(schedule, instants[k]);
                if (next != NEVER && next <= instants[k])
                    fail_msg("\"%s\": next of %lld", texts[i], (long long)instants[k]);
                if (prev != NEVER_BEFORE && prev >= instants[k])
                    fail_msg("\"%s\": prev of %lld", texts[i], (long long)instants[k]);
            }
            schedule_free(schedule);
        }
    }
}

static void several_schedules_are_due_once_per_instant(void **state)
{
    static const struct {
        int64_t after_s, next_s;
        size_t index;
    } cases[] = {{0, 600, 0},     {600, 900, 1},   {900, 1200, 0},
                 {1200, 1800, 0}, {1800, 2400, 0}, {2400, 2700, 1},
                 {2700, 3000, 0}, {3000, 3333, 2}, {3333, 3600, 0}};
    struct schedule_set set;
    schedule_set_init(&set);
    size_t index = 77;
    assert_int_equal(schedule_set_next(&set, 0, &index), NEVER);
    assert_int_equal(schedule_set_prev(&set, 0, &index), NEVER_BEFORE);
    assert_int_equal(index, 77);
    assert_int_equal(schedule_set_add(&set, parsed(*state, "*/10 * * * *", NULL, NULL)), OK);
    assert_int_equal(schedule_set_add(&set, parsed(*state, "@every 15m", NULL, NULL)), OK);
    assert_int_equal(schedule_set_add(&set, parsed(*state, "@at 1970-01-01T00:55:33Z", NULL, NULL)),
                     OK);
    assert_int_equal(schedule_set_add(&set, parsed(*state, "@manual", NULL, NULL)), OK);
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t next = schedule_set_next(&set, cases[i].after_s, &index);
        if (next != cases[i].next_s || index != cases[i].index)
            fail_msg("after %lld: %lld by %zu", (long long)cases[i].after_s, (long long)next,
                     index);
        assert_int_equal(schedule_set_prev(&set, cases[i].next_s, NULL), cases[i].after_s);
        assert_int_equal(schedule_set_next(&set, cases[i].after_s, NULL), cases[i].next_s);
    }
    assert_int_equal(schedule_set_prev(&set, 3334, &index), 3333);
    assert_int_equal(index, 2);
    schedule_set_release(&set);
    assert_int_equal(set.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_and_anchors),
        cmocka_unit_test(delays_count_from_the_end_of_the_last_run),
        cmocka_unit_test(parts_can_be_asked_for),
        cmocka_unit_test(ends_of_time),
        cmocka_unit_test(several_schedules_are_due_once_per_instant),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
