/* Which warnings a schedule gets and what they say; and that they agree with its ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "civil.h"
#include "words/explain.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define NOW_S       INT64_C(1794700800) /* 2026-11-15T00:00:00Z */
#define BIT(name)   (1U << WARNING_##name)

static int set_up(void **state)
{
    struct zone_db *zones;
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    *state = zones;
    return 0;
}

static int tear_down(void **state)
{
    zone_db_free(*state);
    return 0;
}

static struct schedule *parse(struct zone_db *zones, const struct schedule_options *options,
                              const char *text)
{
    struct parse_error err = {0};
    struct schedule *schedule = NULL;
    if (schedule_parse(text, options, zones, &schedule, &err) != OK)
        fail_msg("%s: %s", text, err.message);
    return schedule;
}

static void which_apply(void **state)
{
    static const struct {
        int line;
        const char *text;
        unsigned want;
    } rows[] = {
        {__LINE__, "*/5 * * * *", 0},
        {__LINE__, "0 0 31 2 *", BIT(NEVER)},
        {__LINE__, "0 0 31 4,6,9,11 *", BIT(NEVER)},
        {__LINE__, "0 0 29 2 *", 0},
        {__LINE__, "0 0 0 29 2 * 2027", BIT(NEVER)},
        {__LINE__, "0 0 0 1 1 * 2026", BIT(NEVER)},
        {__LINE__, "0 0 0 1 12 * 2026", 0},
        {__LINE__, "@at 2026-11-14T23:59:59Z", BIT(NEVER)},
        {__LINE__, "@at 2026-11-15T00:00:00Z", 0},
        {__LINE__, "@reboot", 0},
        {__LINE__, "@manual", 0},
        {__LINE__, "@after 5m", 0},
        {__LINE__, "0 0 13 * 5", BIT(EITHER_DAY)},
        {__LINE__, "0 0 13 * +5", 0},
        {__LINE__, "0 0 L * 5#3", BIT(EITHER_DAY)},
        {__LINE__, "0 0 1-31 * 5", 0},
        {__LINE__, "0 0 1-7 * */2", BIT(STEP_IS_STAR) | BIT(UNEVEN_STEP)},
        {__LINE__, "0 0 */2 * 1", BIT(STEP_IS_STAR) | BIT(UNEVEN_STEP)},
        {__LINE__, "0 0 1-7 * +*/2", BIT(UNEVEN_STEP)},
        {__LINE__, "0 0 1-7 * */7", BIT(STEP_IS_STAR) | BIT(SINGLE_STEP)},
        {__LINE__, "*/7 * * * *", BIT(UNEVEN_STEP)},
        {__LINE__, "0-59/7 * * * *", BIT(UNEVEN_STEP)},
        {__LINE__, "*/7 9 * * *", 0},  /* 56 is followed by tomorrow's 0 */
        {__LINE__, "0,40 * * * *", 0}, /* a list, not steps */
        {__LINE__, "*/40 * * * *", BIT(UNEVEN_STEP)},
        {__LINE__, "0 */5 * * *", BIT(UNEVEN_STEP)},
        {__LINE__, "0 */5 * * 1", 0},
        {__LINE__, "0 */5 * * 1-5", BIT(UNEVEN_STEP)},
        {__LINE__, "*/60 * * * *", BIT(SINGLE_STEP)},
        {__LINE__, "5/15 * * * *", BIT(OPEN_STEP)},
        {__LINE__, "* * * * * *", BIT(EVERY_SECOND)},
        {__LINE__, "0-59 0 9 * * *", BIT(EVERY_SECOND)},
        {__LINE__, "@secondly", BIT(EVERY_SECOND)},
        {__LINE__, "@every 1s", BIT(EVERY_SECOND)},
        {__LINE__, "@every 2s", 0},
        {__LINE__, "CRON_TZ=America/New_York 30 2 * * *", BIT(GAP)},
        {__LINE__, "CRON_TZ=America/New_York 30 1 * * *", BIT(FOLD)},
        {__LINE__, "CRON_TZ=America/New_York 30 3 * * *", 0},
        {__LINE__, "CRON_TZ=America/New_York 30 2 * * 1", 0}, /* the clock jumps on Sundays */
        {__LINE__, "CRON_TZ=America/New_York 30 2 * 6 *", 0},
        {__LINE__, "CRON_TZ=America/New_York 0 30 2 * * * 2040", 0}, /* too far away */
        {__LINE__, "CRON_TZ=America/New_York * 2 * * *", 0},         /* not fixed */
        {__LINE__, "CRON_TZ=America/New_York 0 1,2 * * *", BIT(GAP) | BIT(FOLD)},
        {__LINE__, "CRON_TZ=Australia/Lord_Howe 10 2 * * *", BIT(GAP)},
        {__LINE__, "CRON_TZ=Australia/Lord_Howe 40 1 * * *", BIT(FOLD)},
        {__LINE__, "CRON_TZ=Asia/Shanghai 30 2 * * *", 0},
    };
    struct schedule_options options = schedule_options_default();
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct schedule *schedule = parse(*state, &options, rows[i].text);
        unsigned got = schedule_warnings(schedule, NOW_S);
        if (got != rows[i].want)
            fail_msg("line %d: %s: got %#x, want %#x", rows[i].line, rows[i].text, got,
                     rows[i].want);
        schedule_free(schedule);
    }
}

static void check_text(int line, const struct schedule *schedule, enum warning warning,
                       enum language language, const char *want)
{
    struct strbuf got;
    strbuf_init(&got);
    schedule_warning_explain(schedule, warning, NOW_S, language, &got);
    if (strcmp(got.text, want) != 0)
        fail_msg("line %d:\n  got  %s\n  want %s", line, got.text, want);
    strbuf_release(&got);
}

static void what_they_say(void **state)
{
    static const struct {
        int line;
        const char *text;
        enum dst_policy dst;
        enum warning warning;
        const char *english, *chinese;
    } rows[] = {
        {__LINE__, "CRON_TZ=America/New_York 30 2 * * *", DST_DEFAULT, WARNING_GAP,
         "02:30 does not exist on 2027-03-14 in America/New_York; it fires at 03:00 instead.",
         "America/New_York 时区在 2027-03-14 不存在 02:30；改在 03:00 触发。"},
        {__LINE__, "CRON_TZ=America/New_York 0,15,30,45 2 * * *", DST_DEFAULT, WARNING_GAP,
         "4 times from 02:00 through 02:45 do not exist on 2027-03-14 in America/New_York; they "
         "fire once, at 03:00.",
         "America/New_York 时区在 2027-03-14 不存在 02:00 至 02:45 之间的 4 个时刻；合并为一次，在 "
         "03:00 触发。"},
        {__LINE__, "CRON_TZ=America/New_York 30 1 * * *", DST_DEFAULT, WARNING_FOLD,
         "01:30 happens twice on 2027-11-07 in America/New_York; it fires the first time only.",
         "America/New_York 时区在 2027-11-07 会两次经过 01:30；只在第一次触发。"},
        {__LINE__, "CRON_TZ=America/New_York 0,30 1,2 * * *", DST_DEFAULT, WARNING_GAP,
         "2 times from 02:00 through 02:30 do not exist on 2027-03-14 in America/New_York; they "
         "fire once, at 03:00.",
         "America/New_York 时区在 2027-03-14 不存在 02:00 至 02:30 之间的 2 个时刻；合并为一次，在 "
         "03:00 触发。"},
        {__LINE__, "CRON_TZ=America/New_York 0,30 1,2 * * *", DST_DEFAULT, WARNING_FOLD,
         "2 times from 01:00 through 01:30 happen twice on 2027-11-07 in America/New_York; they "
         "fire the first time only.",
         "America/New_York 时区在 2027-11-07 会两次经过 01:00 至 01:30 之间的 2 "
         "个时刻；只在第一次触发。"},
        {__LINE__, "CRON_TZ=Australia/Lord_Howe 10 2 * * *", DST_DEFAULT, WARNING_GAP,
         "02:10 does not exist on 2027-10-03 in Australia/Lord_Howe; it fires at 02:30 instead.",
         "Australia/Lord_Howe 时区在 2027-10-03 不存在 02:10；改在 02:30 触发。"},
        {__LINE__, "CRON_TZ=America/Nuuk 30 23 * * *", DST_DEFAULT, WARNING_GAP,
         "23:30 does not exist on 2027-03-27 in America/Nuuk; it fires at 2027-03-28 00:00 "
         "instead.",
         "America/Nuuk 时区在 2027-03-27 不存在 23:30；改在 2027-03-28 00:00 触发。"},
        {__LINE__, "CRON_TZ=America/Nuuk 30 23 * * *", DST_DEFAULT, WARNING_FOLD,
         "23:30 happens twice on 2027-10-30 in America/Nuuk; it fires the first time only.",
         "America/Nuuk 时区在 2027-10-30 会两次经过 23:30；只在第一次触发。"},
        {__LINE__, "0 0 31 2 *", DST_DEFAULT, WARNING_NEVER, "It never fires: no such date exists.",
         "永远不会触发：不存在这样的日期。"},
        {__LINE__, "0 0 0 1 1 * 2020", DST_DEFAULT, WARNING_NEVER,
         "It does not fire any more: its last year is 2020.", "不会再触发：最后的年份是 2020 年。"},
        {__LINE__, "0 0 13 * 5", DST_DEFAULT, WARNING_EITHER_DAY,
         "Day of month and day of week are both given and either is enough: it fires on the 13th "
         "of the month or on a Friday; a + before the day of week asks for both.",
         "日和星期两个字段都有限制，满足其一即触发：每月 13 "
         "日或每周五；若须同时满足，请在星期字段前加 +。"},
        {__LINE__, "0 0 1-7 * */7", DST_DEFAULT, WARNING_STEP_IS_STAR,
         "A step over * in a day field still counts as *, so both day fields must match: it fires "
         "on the 1st through the 7th of the month if it is a Sunday.",
         "日或星期字段中带步长的 * 仍视为 *，因此两个字段须同时满足：每月 1 日至 7 "
         "日（须为周日）。"},
        {__LINE__, "0 0 1-7 * */7", DST_DEFAULT, WARNING_SINGLE_STEP,
         "The step over * in day of week leaves only 0.", "星期字段中 * 的步长过大，只剩下 0。"},
        {__LINE__, "0 0 1-7 * +*/7", DST_DEFAULT, WARNING_SINGLE_STEP,
         "The step over * in day of week leaves only 0.", "星期字段中 * 的步长过大，只剩下 0。"},
        {__LINE__, "*/7 */5 * * *", DST_DEFAULT, WARNING_UNEVEN_STEP,
         "*/5 in hours: 20 is followed by 0 after 4 hours, not 5.",
         "小时字段的 */5：20 之后过 4 小时就到 0，而不是 5 小时。"},
        {__LINE__, "0-59/7 * * * *", DST_DEFAULT, WARNING_UNEVEN_STEP,
         "/7 in minutes: 56 is followed by 0 after 4 minutes, not 7.",
         "分钟字段的步长 7：56 之后过 4 分钟就到 0，而不是 7 分钟。"},
        {__LINE__, "0 0 */2 * *", DST_DEFAULT, WARNING_UNEVEN_STEP,
         "*/2 in day of month: the count starts again every month, and day 31 is followed by day "
         "1.",
         "日字段的 */2：每月重新计数，31 日之后是 1 日。"},
        {__LINE__, "0 0 * * */2", DST_DEFAULT, WARNING_UNEVEN_STEP,
         "*/2 in day of week: 6 is followed by 0 after 1 day, not 2.",
         "星期字段的 */2：6 之后过 1 天就到 0，而不是 2 天。"},
        {__LINE__, "0 0 1 */5 *", DST_DEFAULT, WARNING_UNEVEN_STEP,
         "*/5 in months: 11 is followed by 1 after 2 months, not 5.",
         "月字段的 */5：11 之后过 2 个月就到 1，而不是 5 个月。"},
        {__LINE__, "*/60 */24 * * *", DST_DEFAULT, WARNING_SINGLE_STEP,
         "The step over * in minutes leaves only 0; the one in hours leaves only 0.",
         "分钟字段中 * 的步长过大，只剩下 0；小时字段中 * 的步长过大，只剩下 0。"},
        {__LINE__, "5/15 * * * *", DST_DEFAULT, WARNING_OPEN_STEP,
         "A step after a single value goes on to the end of the field: this is read as 5-50/15 * * "
         "* *.",
         "单个数值后的步长一直延续到该字段的最大值，即：5-50/15 * * * *。"},
        {__LINE__, "* * 9-17 * * *", DST_DEFAULT, WARNING_EVERY_SECOND,
         "It fires every second, 32400 times a day.", "每秒触发一次，每天共 32400 次。"},
        {__LINE__, "@every 1s", DST_DEFAULT, WARNING_EVERY_SECOND,
         "It fires every second, 86400 times a day.", "每秒触发一次，每天共 86400 次。"},
        {__LINE__, "@at 2020-01-01", DST_DEFAULT, WARNING_NEVER,
         "It does not fire: 2020-01-01T00:00:00Z is in the past.",
         "不会触发：2020-01-01T00:00:00Z 已经过去。"},
        {__LINE__, "CRON_TZ=America/New_York 30 2 * * *", DST_SKIP, WARNING_GAP,
         "02:30 does not exist on 2027-03-14 in America/New_York; it does not fire then.",
         "America/New_York 时区在 2027-03-14 不存在 02:30；届时不会触发。"},
        {__LINE__, "CRON_TZ=America/New_York 0,30 2 * * *", DST_SKIP, WARNING_GAP,
         "2 times from 02:00 through 02:30 do not exist on 2027-03-14 in America/New_York; they do "
         "not fire then.",
         "America/New_York 时区在 2027-03-14 不存在 02:00 至 02:30 之间的 2 "
         "个时刻；届时不会触发。"},
        {__LINE__, "CRON_TZ=America/New_York 30 1 * * *", DST_BOTH, WARNING_FOLD,
         "01:30 happens twice on 2027-11-07 in America/New_York; it fires both times.",
         "America/New_York 时区在 2027-11-07 会两次经过 01:30；两次都触发。"},
        {__LINE__, "CRON_TZ=America/New_York 15 30 2 * * *", DST_DEFAULT, WARNING_GAP,
         "02:30:15 does not exist on 2027-03-14 in America/New_York; it fires at 03:00 instead.",
         "America/New_York 时区在 2027-03-14 不存在 02:30:15；改在 03:00 触发。"},
        {__LINE__, "0 0 1 * *", DST_DEFAULT, WARNING_GAP, "", ""},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct schedule_options options = schedule_options_default();
        options.dst = rows[i].dst;
        struct schedule *schedule = parse(*state, &options, rows[i].text);
        check_text(rows[i].line, schedule, rows[i].warning, LANGUAGE_EN, rows[i].english);
        check_text(rows[i].line, schedule, rows[i].warning, LANGUAGE_ZH, rows[i].chinese);
        schedule_free(schedule);
    }
}

static void windows_that_hold_nothing(void **state)
{
    static const struct {
        int line;
        const char *text;
        int64_t start_s, end_s;
        const char *english, *chinese;
    } rows[] = {
        {__LINE__, "0 8 * * *", TIME_UNSET, NOW_S + DAY_S, "", ""},
        {__LINE__, "0 8 * * *", TIME_UNSET, NOW_S,
         "It does not fire any more: it ended at 2026-11-15T00:00:00Z.",
         "不会再触发：已于 2026-11-15T00:00:00Z 结束。"},
        {__LINE__, "@after 5m", TIME_UNSET, NOW_S - 1,
         "It does not fire any more: it ended at 2026-11-14T23:59:59Z.",
         "不会再触发：已于 2026-11-14T23:59:59Z 结束。"},
        {__LINE__, "0 8 * * *", NOW_S + DAY_S, NOW_S + DAY_S + 3600,
         "It never fires: nothing matches between its start and its end.",
         "永远不会触发：起止时间之间没有匹配的时刻。"},
        {__LINE__, "0 0 8 1 1 * 2027", NOW_S + INT64_C(400) * DAY_S, TIME_UNSET,
         "It does not fire any more: its last year is 2027.", "不会再触发：最后的年份是 2027 年。"},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct schedule_options options = schedule_options_default();
        options.start_s = rows[i].start_s;
        options.end_s = rows[i].end_s;
        struct schedule *schedule = parse(*state, &options, rows[i].text);
        check_text(rows[i].line, schedule, WARNING_NEVER, LANGUAGE_EN, rows[i].english);
        check_text(rows[i].line, schedule, WARNING_NEVER, LANGUAGE_ZH, rows[i].chinese);
        schedule_free(schedule);
    }
}

static void steps_that_do_not_divide_are_uneven(void **state)
{
    struct schedule_options options = schedule_options_default();
    for (int field = 0; field < 3; field++) {
        int length = field < 2 ? 60 : 24;
        for (int step = 1; step <= length; step++) {
            char text[40];
            if (field == 0)
                snprintf(text, sizeof(text), "*/%d * * * * *", step);
            else if (field == 1)
                snprintf(text, sizeof(text), "0 */%d * * * *", step);
            else
                snprintf(text, sizeof(text), "0 0 */%d * * *", step);
            struct schedule *schedule = parse(*state, &options, text);
            bool got = schedule_warnings(schedule, NOW_S) & BIT(UNEVEN_STEP);
            if (got != (length % step != 0))
                fail_msg("%s: uneven is %d", text, got);
            schedule_free(schedule);
        }
    }
}

/* Walks five years of ticks and asks each what the clock did. */
static unsigned jumps_seen(const struct schedule *schedule)
{
    unsigned seen = 0;
    const int64_t until_s = NOW_S + INT64_C(5) * 366 * DAY_S;
    for (int64_t at_s = schedule_next(schedule, NOW_S); at_s < until_s;
         at_s = schedule_next(schedule, at_s)) {
        enum tick_note_kind kind = schedule_tick_note(schedule, at_s).kind;
        if (kind == TICK_MOVED)
            seen |= BIT(GAP);
        else if (kind != TICK_PLAIN)
            seen |= BIT(FOLD);
    }
    return seen;
}

static void jumps_agree_with_ticks(void **state)
{
    static const char *const zones[] = {
        "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll",
        "America/Santiago", "Asia/Beirut",   "Africa/Cairo",        "Africa/Casablanca",
        "Europe/Dublin",    "America/Nuuk",  "Asia/Kathmandu",      "Atlantic/Azores",
    };
    struct schedule_options options = schedule_options_default();
    for (size_t i = 0; i < ROWS(zones); i++) {
        for (int half_hour = 0; half_hour < 48; half_hour++) {
            char text[80];
            snprintf(text, sizeof(text), "CRON_TZ=%s %d %d * * *", zones[i], half_hour % 2 * 30,
                     half_hour / 2);
            struct schedule *schedule = parse(*state, &options, text);
            unsigned got = schedule_warnings(schedule, NOW_S) & (BIT(GAP) | BIT(FOLD));
            unsigned want = jumps_seen(schedule);
            if (got != want)
                fail_msg("%s: got %#x, its ticks say %#x", text, got, want);
            schedule_free(schedule);
        }
    }
}

static void names_are_there(void **state)
{
    (void)state;
    for (enum warning warning = 0; warning < WARNINGS; warning++) {
        assert_non_null(warning_name(warning));
        for (enum warning other = 0; other < warning; other++)
            assert_string_not_equal(warning_name(warning), warning_name(other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_apply),
        cmocka_unit_test(what_they_say),
        cmocka_unit_test(windows_that_hold_nothing),
        cmocka_unit_test(steps_that_do_not_divide_are_uneven),
        cmocka_unit_test(jumps_agree_with_ticks),
        cmocka_unit_test(names_are_there),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
