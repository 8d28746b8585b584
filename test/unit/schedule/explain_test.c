/* What is said of a schedule, word for word, in both languages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "words/explain.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct row {
    int line;
    const char *text, *english, *chinese;
};

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

static int differs(int line, const struct schedule *schedule, enum language language,
                   const char *want)
{
    struct strbuf got;
    strbuf_init(&got);
    schedule_explain(schedule, language, &got);
    int different = strcmp(got.text, want) != 0;
    if (different)
        print_error("line %d:\n  got  %s\n  want %s\n", line, got.text, want);
    strbuf_release(&got);
    return different;
}

/* How many of both sentences are not as wanted. */
static int wrong_words(struct zone_db *zones, const struct schedule_options *options,
                       const struct row *row)
{
    struct parse_error err = {0};
    struct schedule *schedule;
    if (schedule_parse(row->text, options, zones, &schedule, &err) != OK)
        fail_msg("line %d: %s", row->line, err.message);
    int wrong = differs(row->line, schedule, LANGUAGE_EN, row->english) +
                differs(row->line, schedule, LANGUAGE_ZH, row->chinese);
    schedule_free(schedule);
    return wrong;
}

static void check(struct zone_db *zones, const struct row *rows, size_t count)
{
    struct schedule_options options = schedule_options_default();
    int wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += wrong_words(zones, &options, &rows[i]);
    assert_int_equal(wrong, 0);
}

static void times_of_day(void **state)
{
    static const struct row rows[] = {
        {__LINE__, "* * * * *", "Every minute.", "每分钟。"},
        {__LINE__, "*/5 * * * *", "Every 5 minutes.", "每 5 分钟。"},
        {__LINE__, "*/10 * * * * *", "Every 10 seconds.", "每 10 秒。"},
        {__LINE__, "* * * * * *", "Every second.", "每秒。"},
        {__LINE__, "5,10,15 8 * * *", "At 08:05, 08:10 and 08:15 every day, UTC.",
         "每天 08:05、08:10 和 08:15（UTC）。"},
        {__LINE__, "*/7 * * * *", "Every 7 minutes from minute 0 through 56 of every hour.",
         "每小时从 0 分到 56 分每 7 分钟。"},
        {__LINE__, "0 22-2 * * *", "Every hour from 22:00 through 02:00 every day, UTC.",
         "每天 22:00 至次日 02:00 每小时（UTC）。"},
        {__LINE__, "* 22-2 * * *", "Every minute from 22:00 through 02:59 every day, UTC.",
         "每天 22:00 至次日 02:59 每分钟（UTC）。"},
        {__LINE__, "0 * * * *", "Every hour, on the hour.", "每小时整点。"},
        {__LINE__, "15 * * * *", "At minute 15 of every hour.", "每小时的 15 分。"},
        {__LINE__, "15 */2 * * *", "Every 2 hours from 00:15 through 22:15 every day, UTC.",
         "每天 00:15 至 22:15 每 2 小时（UTC）。"},
        {__LINE__, "0 */4 * * *", "Every 4 hours from 00:00 through 20:00 every day, UTC.",
         "每天 00:00 至 20:00 每 4 小时（UTC）。"},
        {__LINE__, "0 */6 * * *", "Every 6 hours from 00:00 through 18:00 every day, UTC.",
         "每天 00:00 至 18:00 每 6 小时（UTC）。"},
        {__LINE__, "*/20 9 * * *", "At 09:00, 09:20 and 09:40 every day, UTC.",
         "每天 09:00、09:20 和 09:40（UTC）。"},
        {__LINE__, "5,20,35 9-17 * * *",
         "At minutes 5, 20 and 35 of every hour from 09 through 17, UTC.",
         "每天 09 时至 17 时每小时的 5 分、20 分和 35 分（UTC）。"},
        {__LINE__, "*/7 9-17 * * *",
         "Every 7 minutes from minute 0 through 56 of every hour from 09 through 17, UTC.",
         "每天 09 时至 17 时每小时从 0 分到 56 分每 7 分钟（UTC）。"},
        {__LINE__, "*/10 */5 * * * *",
         "Every 10 seconds during every 5th minute from 0 through 55 of every hour.",
         "每小时从 0 分到 55 分每 5 分钟的第 1 分钟内每 10 秒。"},
        {__LINE__, "30 */5 * * * *",
         "At second 30 of every 5th minute from 0 through 55 of every hour.",
         "每小时从 0 分到 55 分每 5 分钟的第 1 分钟的 30 秒。"},
        {__LINE__, "30 * * * * *", "At second 30 of every minute.", "每分钟的 30 秒。"},
        {__LINE__, "15,45 * * * * *", "At seconds 15 and 45 of every minute.",
         "每分钟的 15 秒和 45 秒。"},
        {__LINE__, "0-10 * * * * *", "Every second from second 0 through 10 of every minute.",
         "每分钟从 0 秒到 10 秒每秒。"},
        {__LINE__, "*/7 * * * * *", "Every 7 seconds from second 0 through 56 of every minute.",
         "每分钟从 0 秒到 56 秒每 7 秒。"},
        {__LINE__, "* 5-20 * * * *",
         "Every second during every minute from 5 through 20 of every hour.",
         "每小时 5 分至 20 分内每秒。"},
        {__LINE__, "30 5-20 9-17 * * *",
         "At second 30 of every minute from 5 through 20 of every hour from 09 through 17, UTC.",
         "每天 09 时至 17 时每小时 5 分至 20 分每分钟的 30 秒（UTC）。"},
        {__LINE__, "*/5 */2 * * *",
         "Every 5 minutes during every 2nd hour from 00 through 22, UTC.",
         "每天从 00 时到 22 时每 2 小时的第 1 小时内每 5 分钟（UTC）。"},
        {__LINE__, "5-20 */2 * * *",
         "Every minute from minute 5 through 20 of every 2nd hour from 00 through 22, UTC.",
         "每天从 00 时到 22 时每 2 小时的第 1 小时内从 5 分到 20 分每分钟（UTC）。"},
        {__LINE__, "50-10 * * * *", "Every minute from minute 50 through 10 of every hour.",
         "每小时从 50 分到下一小时 10 分每分钟。"},
        {__LINE__, "50-10 9-12 * * *",
         "At minutes 0 through 10 and 50 through 59 of every hour from 09 through 12, UTC.",
         "每天 09 时至 12 时每小时的 0 分至 10 分和 50 分至 59 分（UTC）。"},
        {__LINE__, "0 0,1,2,5,7,8,9,20 * * *",
         "At minute 0 of hours 00 through 02, 05, 07 through 09 and 20, UTC.",
         "每天 00 时至 02 时、05 时、07 时至 09 时和 20 时的 0 分（UTC）。"},
        {__LINE__, "0,30 8-10 * * *", "Every 30 minutes from 08:00 through 10:30 every day, UTC.",
         "每天 08:00 至 10:30 每 30 分钟（UTC）。"},
        {__LINE__, "0 8,12,18 * * *", "At 08:00, 12:00 and 18:00 every day, UTC.",
         "每天 08:00、12:00 和 18:00（UTC）。"},
        {__LINE__, "0 8,12,14,18 * * *", "At 08:00, 12:00, 14:00 and 18:00 every day, UTC.",
         "每天 08:00、12:00、14:00 和 18:00（UTC）。"},
        {__LINE__, "5 9 8 * * *", "At 08:09:05 every day, UTC.", "每天 08:09:05（UTC）。"},
        {__LINE__, "*/20 5 9 * * *", "At 09:05:00, 09:05:20 and 09:05:40 every day, UTC.",
         "每天 09:05:00、09:05:20 和 09:05:40（UTC）。"},
        {__LINE__, "0 5/15 * * * *", "Every 15 minutes from minute 5 through 50 of every hour.",
         "每小时从 5 分到 50 分每 15 分钟。"},
        {__LINE__, "0 0-23/3,5 * * *",
         "At minute 0 of hours 00, 03, 05, 06, 09, 12, 15, 18 and 21, UTC.",
         "每天 00 时、03 时、05 时、06 时、09 时、12 时、15 时、18 时和 21 时的 0 分（UTC）。"},
        {__LINE__, "1,2,3,7,8,9 * * * *", "At minutes 1 through 3 and 7 through 9 of every hour.",
         "每小时的 1 分至 3 分和 7 分至 9 分。"},
        {__LINE__, "50-10 * * * * *", "Every second from second 50 through 10 of every minute.",
         "每分钟从 50 秒到下一分钟 10 秒每秒。"},
        {__LINE__, "50-10 5 * * * *",
         "At seconds 0 through 10 and 50 through 59 of minute 5 of every hour.",
         "每小时 5 分的 0 秒至 10 秒和 50 秒至 59 秒。"},
        {__LINE__, "* 5 9 * * *", "Every second from 09:05:00 through 09:05:59 every day, UTC.",
         "每天 09:05:00 至 09:05:59 每秒（UTC）。"},
        {__LINE__, "* 5,20 9 * * *", "Every second during minutes 5 and 20 of hour 09, UTC.",
         "每天 09 时的 5 分和 20 分内每秒（UTC）。"},
        {__LINE__, "*/30 * 9 * * *",
         "Every 30 seconds from 09:00:00 through 09:59:30 every day, UTC.",
         "每天 09:00:00 至 09:59:30 每 30 秒（UTC）。"},
        {__LINE__, "*/7 5,20 * * * *",
         "Every 7 seconds from second 0 through 56 of minutes 5 and 20 of every hour.",
         "每小时 5 分和 20 分内从 0 秒到 56 秒每 7 秒。"},
        {__LINE__, "15,45 */2 3,5,9 * * *",
         "At seconds 15 and 45 of every 2nd minute from 0 through 58 of hours 03, 05 and 09, UTC.",
         "每天 03 时、05 时和 09 时内从 0 分到 58 分每 2 分钟的第 1 分钟的 15 秒和 45 秒（UTC）。"},
        {__LINE__, "* * 9-17 * * *", "Every second from 09:00:00 through 17:59:59 every day, UTC.",
         "每天 09:00:00 至 17:59:59 每秒（UTC）。"},
        {__LINE__, "30 * 3,5 * * *", "At second 30 of every minute of hours 03 and 05, UTC.",
         "每天 03 时和 05 时内每分钟的 30 秒（UTC）。"},
        {__LINE__, "*/7 * 3,5 * * *",
         "Every 7 seconds from second 0 through 56 of every minute of hours 03 and 05, UTC.",
         "每天 03 时和 05 时内每分钟从 0 秒到 56 秒每 7 秒（UTC）。"},
        {__LINE__, "*/10 * 3,5 * * *", "Every 10 seconds during hours 03 and 05, UTC.",
         "每天 03 时和 05 时内每 10 秒（UTC）。"},
    };
    check(*state, rows, ROWS(rows));
}

static void days_months_and_years(void **state)
{
    static const struct row rows[] = {
        {__LINE__, "0 0 13 * 5", "At 00:00 on the 13th of the month or on a Friday, UTC.",
         "每月 13 日或每周五的 00:00（UTC）。"},
        {__LINE__, "0 0 13 * +5", "At 00:00 on the 13th of the month if it is a Friday, UTC.",
         "每月 13 日（须为周五）00:00（UTC）。"},
        {__LINE__, "0 9-17 * * 1-5",
         "Every hour from 09:00 through 17:00, Monday through Friday, UTC.",
         "每周一至周五，09:00 至 17:00 每小时（UTC）。"},
        {__LINE__, "0 12 L * *", "At 12:00 on the last day of the month, UTC.",
         "每月最后一天 12:00（UTC）。"},
        {__LINE__, "0 12 LW * *",
         "At 12:00 on the last working day (Monday to Friday) of the month, UTC.",
         "每月最后一个工作日（周一至周五）12:00（UTC）。"},
        {__LINE__, "0 12 15W * *",
         "At 12:00 on the working day (Monday to Friday) nearest the 15th of the month, UTC.",
         "每月离 15 日最近的工作日（周一至周五）12:00（UTC）。"},
        {__LINE__, "0 12 1W,15W * *",
         "At 12:00 on the working days (Monday to Friday) nearest the 1st and 15th of the month, "
         "UTC.",
         "每月分别离 1 日和 15 日最近的工作日（周一至周五）12:00（UTC）。"},
        {__LINE__, "0 12 * * 5#3", "At 12:00 on the third Friday of the month, UTC.",
         "每月第三个周五 12:00（UTC）。"},
        {__LINE__, "0 12 * * 5L", "At 12:00 on the last Friday of the month, UTC.",
         "每月最后一个周五 12:00（UTC）。"},
        {__LINE__, "0 12 L-3 * *",
         "At 12:00 on the day 3 days before the last day of the month, UTC.",
         "每月倒数第 4 天 12:00（UTC）。"},
        {__LINE__, "0 12 L,L-1,L-3 * *",
         "At 12:00 on the days 1 and 3 days before the last day and on the last day of the month, "
         "UTC.",
         "每月最后一天、倒数第 2 天和倒数第 4 天 12:00（UTC）。"},
        {__LINE__, "0 0 29 2 *", "At 00:00 on February 29, UTC.", "每年 2 月 29 日 00:00（UTC）。"},
        {__LINE__, "0 22-2 * * 5", "At 00:00, 01:00, 02:00, 22:00 and 23:00 every Friday, UTC.",
         "每周五 00:00、01:00、02:00、22:00 和 23:00（UTC）。"},
        {__LINE__, "* 22-2 * * 5",
         "Every minute during hours 00 through 02, 22 and 23 on Fridays, UTC.",
         "每周五，00 时至 02 时、22 时和 23 时内每分钟（UTC）。"},
        {__LINE__, "0 0 0 1 1 * 2027,2028", "At 00:00 on January 1, in 2027 and 2028, UTC.",
         "2027 年和 2028 年每年 1 月 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 0 1 1 * 2027", "At 00:00 on January 1, 2027, UTC.",
         "2027 年 1 月 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 */2 * 1",
         "At 00:00 on every 2nd day from the 1st through the 31st of the month if it is a Monday, "
         "UTC.",
         "每月从 1 日到 31 日每 2 天（须为周一）00:00（UTC）。"},
        {__LINE__, "0 0 1-7 * */7",
         "At 00:00 on the 1st through the 7th of the month if it is a Sunday, UTC.",
         "每月 1 日至 7 日（须为周日）00:00（UTC）。"},
        {__LINE__, "*/15 9-17 * * 1-5",
         "Every 15 minutes from 09:00 through 17:45, Monday through Friday, UTC.",
         "每周一至周五，09:00 至 17:45 每 15 分钟（UTC）。"},
        {__LINE__, "5,20,35 9,11,14 * * 1",
         "At minutes 5, 20 and 35 of hours 09, 11 and 14 on Mondays, UTC.",
         "每周一，09 时、11 时和 14 时的 5 分、20 分和 35 分（UTC）。"},
        {__LINE__, "0 0 1,15 * *", "At 00:00 on the 1st and 15th of the month, UTC.",
         "每月 1 日和 15 日 00:00（UTC）。"},
        {__LINE__, "0 0 1,15,L * *",
         "At 00:00 on the 1st and 15th and on the last day of the month, UTC.",
         "每月 1 日和 15 日以及最后一天 00:00（UTC）。"},
        {__LINE__, "0 0 1-7 * *", "At 00:00 on the 1st through the 7th of the month, UTC.",
         "每月 1 日至 7 日 00:00（UTC）。"},
        {__LINE__, "0 0 28-3 * *",
         "At 00:00 on the 1st through 3rd and 28th through 31st of the month, UTC.",
         "每月 1 日至 3 日和 28 日至 31 日 00:00（UTC）。"},
        {__LINE__, "0 0 */2 * *",
         "At 00:00 on every 2nd day from the 1st through the 31st of the month, UTC.",
         "每月从 1 日到 31 日每 2 天的 00:00（UTC）。"},
        {__LINE__, "0 0 1 1,7 *", "At 00:00 on January 1 and July 1, UTC.",
         "每年 1 月和 7 月的 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 1 */3 *", "At 00:00 on January 1, April 1, July 1 and October 1, UTC.",
         "每年 1 月、4 月、7 月和 10 月的 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 1 1-3 *", "At 00:00 on January 1, February 1 and March 1, UTC.",
         "每年 1 月至 3 月的 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 1 11-2 *",
         "At 00:00 on January 1, February 1, November 1 and December 1, UTC.",
         "每年 11 月至次年 2 月的 1 日 00:00（UTC）。"},
        {__LINE__, "0 0 * 1-3 *", "At 00:00 every day from January through March, UTC.",
         "每年 1 月至 3 月的每天 00:00（UTC）。"},
        {__LINE__, "*/5 * * 1 *", "Every 5 minutes in January, UTC.",
         "每年 1 月内每 5 分钟（UTC）。"},
        {__LINE__, "*/5 * 1 1 *", "Every 5 minutes on January 1, UTC.",
         "每年 1 月 1 日，每 5 分钟（UTC）。"},
        {__LINE__, "*/5 * * * 6,0", "Every 5 minutes on Saturdays and Sundays, UTC.",
         "每周六和周日，每 5 分钟（UTC）。"},
        {__LINE__, "0 8 * * 6,0", "At 08:00 every Saturday and Sunday, UTC.",
         "每周六和周日 08:00（UTC）。"},
        {__LINE__, "0 8 * * 1,3,5", "At 08:00 every Monday, Wednesday and Friday, UTC.",
         "每周一、周三和周五 08:00（UTC）。"},
        {__LINE__, "0 8 * * FRI-MON", "At 08:00, Friday through Monday, UTC.",
         "每周五至周一 08:00（UTC）。"},
        {__LINE__, "0 8 * 3 1-5", "At 08:00, Monday through Friday, in March, UTC.",
         "每年 3 月的每周一至周五 08:00（UTC）。"},
        {__LINE__, "0 0 13 1 5",
         "At 00:00 on the 13th of the month or on a Friday, in January, UTC.",
         "每年 1 月内，当月 13 日或每周五的 00:00（UTC）。"},
        {__LINE__, "0 0 13 1,3 +5",
         "At 00:00 on the 13th of the month if it is a Friday, in January and March, UTC.",
         "每年 1 月和 3 月的 13 日（须为周五）00:00（UTC）。"},
        {__LINE__, "0 8 * * 1,5#3",
         "At 08:00 every Monday and on the third Friday of the month, UTC.",
         "每周一以及每月第三个周五 08:00（UTC）。"},
        {__LINE__, "0 8 * 1 1,5#3",
         "At 08:00 every Monday and on the third Friday of the month, in January, UTC.",
         "每年 1 月内，每周一以及当月第三个周五 08:00（UTC）。"},
        {__LINE__, "0 8 * * 1#1,1#3,5L",
         "At 08:00 on the first and third Monday and the last Friday of the month, UTC.",
         "每月第一个和第三个周一以及最后一个周五 08:00（UTC）。"},
        {__LINE__, "0 8 * * 1#-2", "At 08:00 on the second-to-last Monday of the month, UTC.",
         "每月倒数第二个周一 08:00（UTC）。"},
        {__LINE__, "0 8 * 6 5L", "At 08:00 on the last Friday of June, UTC.",
         "每年 6 月的最后一个周五 08:00（UTC）。"},
        {__LINE__, "0 0 1,15 * 1-5",
         "At 00:00 on the 1st and 15th of the month or on any day from Monday through Friday, UTC.",
         "每月 1 日和 15 日或每周一至周五的 00:00（UTC）。"},
        {__LINE__, "0 0 1,15 * +1-5",
         "At 00:00 on the 1st and 15th of the month if it is a day from Monday through Friday, "
         "UTC.",
         "每月 1 日和 15 日（须为周一至周五）00:00（UTC）。"},
        {__LINE__, "0 0 1,15 * +1,5#2",
         "At 00:00 on the 1st and 15th of the month if it is a Monday or the second Friday of the "
         "month, UTC.",
         "每月 1 日和 15 日（须为周一或当月第二个周五）00:00（UTC）。"},
        {__LINE__, "0 0 0 ? * * 2027-2030", "At 00:00 every day from 2027 through 2030, UTC.",
         "2027 年至 2030 年的每天 00:00（UTC）。"},
        {__LINE__, "*/5 * * * * * 2027", "Every 5 seconds in 2027, UTC.",
         "2027 年内每 5 秒（UTC）。"},
        {__LINE__, "0 */5 * * * * 2027", "Every 5 minutes in 2027, UTC.",
         "2027 年内每 5 分钟（UTC）。"},
        {__LINE__, "0 0 0 ? 1 * 2027-2030",
         "At 00:00 every day in January, from 2027 through 2030, UTC.",
         "2027 年至 2030 年每年 1 月的每天 00:00（UTC）。"},
        {__LINE__, "0 0 0 * * * 2027/2", "At 00:00 every day in every 2nd year from 2027 on, UTC.",
         "自 2027 年起每 2 年的第 1 年的每天 00:00（UTC）。"},
        {__LINE__, "0 0 0 * * * 2027-9999", "At 00:00 every day from 2027 on, UTC.",
         "自 2027 年起的每天 00:00（UTC）。"},
        {__LINE__, "0 0 8 1 * ? 2027", "At 08:00 on the 1st of the month in 2027, UTC.",
         "2027 年的每月 1 日 08:00（UTC）。"},
        {__LINE__, "0 0 31 2 *", "At 00:00 on February 31, UTC.", "每年 2 月 31 日 00:00（UTC）。"},
        {__LINE__, "0 0 31 * *", "At 00:00 on the 31st of the month, UTC.",
         "每月 31 日 00:00（UTC）。"},
        {__LINE__, "0 0 2,3,22,23 * *",
         "At 00:00 on the 2nd, 3rd, 22nd and 23rd of the month, UTC.",
         "每月 2 日、3 日、22 日和 23 日 00:00（UTC）。"},
        {__LINE__, "0 0 12,13,21 * *", "At 00:00 on the 12th, 13th and 21st of the month, UTC.",
         "每月 12 日、13 日和 21 日 00:00（UTC）。"},
        {__LINE__, "0 0 1-10,20 2 *", "At 00:00 on the 1st through 10th and 20th of February, UTC.",
         "每年 2 月 1 日至 10 日和 20 日 00:00（UTC）。"},
        {__LINE__, "0 0 L 2 *", "At 00:00 on the last day of February, UTC.",
         "每年 2 月最后一天 00:00（UTC）。"},
        {__LINE__, "0 0 LW */3 *",
         "At 00:00 on the last working day (Monday to Friday) of every 3rd month from January "
         "through October, UTC.",
         "每年 1 月、4 月、7 月和 10 月的最后一个工作日（周一至周五）00:00（UTC）。"},
        {__LINE__, "0 0 L-1 * *", "At 00:00 on the day before the last day of the month, UTC.",
         "每月倒数第 2 天 00:00（UTC）。"},
        {__LINE__, "0 0 15W,LW * *",
         "At 00:00 on the working day (Monday to Friday) nearest the 15th and on the last working "
         "day (Monday to Friday) of the month, UTC.",
         "每月离 15 日最近的工作日（周一至周五）以及最后一个工作日（周一至周五）00:00（UTC）。"},
        {__LINE__, "0 0 15 1-6 *",
         "At 00:00 on the 15th of every month from January through June, UTC.",
         "每年 1 月至 6 月的 15 日 00:00（UTC）。"},
        {__LINE__, "0 9 * 1,3 1-5", "At 09:00, Monday through Friday, in January and March, UTC.",
         "每年 1 月和 3 月的每周一至周五 09:00（UTC）。"},
        {__LINE__, "0 9 * */2 1",
         "At 09:00 every Monday in every 2nd month from January through November, UTC.",
         "每年 1 月、3 月、5 月、7 月、9 月和 11 月的每周一 09:00（UTC）。"},
        {__LINE__, "0 0 1-31 * 5", "At 00:00 every day, UTC.", "每天 00:00（UTC）。"},
        {__LINE__, "0 0 * * 0-7", "At 00:00 every day, UTC.", "每天 00:00（UTC）。"},
        {__LINE__, "0 0 13 * 5#3",
         "At 00:00 on the 13th of the month or on the third Friday of the month, UTC.",
         "每月 13 日或每月第三个周五的 00:00（UTC）。"},
        {__LINE__, "0 0 L * +5L",
         "At 00:00 on the last day of the month if it is the last Friday of the month, UTC.",
         "每月最后一天（须为当月最后一个周五）00:00（UTC）。"},
        {__LINE__, "0 0 */10 * 1,3",
         "At 00:00 on every 10th day from the 1st through the 31st of the month if it is a Monday "
         "or a Wednesday, UTC.",
         "每月从 1 日到 31 日每 10 天（须为周一或周三）00:00（UTC）。"},
        {__LINE__, "*/5 * 13 * 5", "Every 5 minutes on the 13th of the month or on a Friday, UTC.",
         "每月 13 日或每周五，每 5 分钟（UTC）。"},
        {__LINE__, "*/5 * 13 * +5",
         "Every 5 minutes on the 13th of the month if it is a Friday, UTC.",
         "每月 13 日（须为周五），每 5 分钟（UTC）。"},
        {__LINE__, "*/5 9-17 13 6 5",
         "Every 5 minutes from 09:00 through 17:55 on the 13th of the month or on a Friday, in "
         "June, UTC.",
         "每年 6 月内，当月 13 日或每周五，09:00 至 17:55 每 5 分钟（UTC）。"},
        {__LINE__, "*/5 9,12,14 * * 1-5",
         "Every 5 minutes during hours 09, 12 and 14, Monday through Friday, UTC.",
         "每周一至周五，09 时、12 时和 14 时内每 5 分钟（UTC）。"},
        {__LINE__, "0 0 0 ? * MON#1 2027",
         "At 00:00 on the first Monday of the month in 2027, UTC.",
         "2027 年的每月第一个周一 00:00（UTC）。"},
        {__LINE__, "0 0 0 ? 1,2,3 MON 2027-2029",
         "At 00:00 every Monday from January through March, from 2027 through 2029, UTC.",
         "2027 年至 2029 年每年 1 月至 3 月的每周一 00:00（UTC）。"},
        {__LINE__, "0 0 0 29 2 ? 2024-2040",
         "At 00:00 on February 29, in every 4th year from 2024 through 2040, UTC.",
         "从 2024 年到 2040 年每 4 年的 2 月 29 日 00:00（UTC）。"},
        {__LINE__, "0 0 9 13 * 5 2030",
         "At 09:00 on the 13th of the month or on a Friday, in 2030, UTC.",
         "2030 年内，每月 13 日或每周五的 09:00（UTC）。"},
        {__LINE__, "0 30 9 ? * 1-5 2027", "At 09:30, Monday through Friday, in 2027, UTC.",
         "2027 年的每周一至周五 09:30（UTC）。"},
        {__LINE__, "* * 29 2 *", "Every minute on February 29, UTC.",
         "每年 2 月 29 日，每分钟（UTC）。"},
        {__LINE__, "0 9 * * 1-6", "At 09:00, Monday through Saturday, UTC.",
         "每周一至周六 09:00（UTC）。"},
        {__LINE__, "0 9 * * 2-0", "At 09:00, Tuesday through Sunday, UTC.",
         "每周二至周日 09:00（UTC）。"},
        {__LINE__, "0 9 * * 5#1,5#2,5#3,5#4,5#5", "At 09:00 every Friday, UTC.",
         "每周五 09:00（UTC）。"},
        {__LINE__, "0 9 * * 1#1,2#1",
         "At 09:00 on the first Monday and the first Tuesday of the month, UTC.",
         "每月第一个周一以及第一个周二 09:00（UTC）。"},
        {__LINE__, "0 9 * * 1-3,5L",
         "At 09:00 on Monday through Wednesday and on the last Friday of the month, UTC.",
         "每周一至周三以及每月最后一个周五 09:00（UTC）。"},
        {__LINE__, "0 0 15,LW * +5",
         "At 00:00 on the 15th and on the last working day (Monday to Friday) of the month, each "
         "only if it is a Friday, UTC.",
         "每月 15 日以及最后一个工作日（周一至周五）（均须为周五）00:00（UTC）。"},
        {__LINE__, "0 */5 * * * * 2027-2035/2",
         "Every 5 minutes in every 2nd year from 2027 through 2035, UTC.",
         "从 2027 年到 2035 年每 2 年的第 1 年内每 5 分钟（UTC）。"},
        {__LINE__, "15 * * */3 *",
         "At minute 15 of every hour in every 3rd month from January through October, UTC.",
         "每年 1 月、4 月、7 月和 10 月内每小时的 15 分（UTC）。"},
        {__LINE__, "0 0 1,15W * +1-5",
         "At 00:00 on the 1st and on the working day (Monday to Friday) nearest the 15th of the "
         "month, each only if it is a day from Monday through Friday, UTC.",
         "每月 1 日以及离 15 日最近的工作日（周一至周五）（均须为周一至周五）00:00（UTC）。"},
    };
    check(*state, rows, ROWS(rows));
}

static void zones_and_macros(void **state)
{
    static const struct row rows[] = {
        {__LINE__, "CRON_TZ=America/New_York 30 2 * * 0",
         "At 02:30 every Sunday, America/New_York time.",
         "每周日 02:30（America/New_York 时区）。"},
        {__LINE__, "@every 90s", "Every 1 minute 30 seconds, counted from 1970-01-01T00:00:00Z.",
         "每 1 分钟 30 秒，自 1970-01-01T00:00:00Z 起计。"},
        {__LINE__, "@every 1d", "Every day, counted from 1970-01-01T00:00:00Z.",
         "每天，自 1970-01-01T00:00:00Z 起计。"},
        {__LINE__, "@after 90s", "1 minute 30 seconds after the end of the previous run.",
         "上一次运行结束后 1 分钟 30 秒。"},
        {__LINE__, "@at 2027-01-01T00:00:00Z", "Once, at 2027-01-01T00:00:00Z.",
         "仅一次，于 2027-01-01T00:00:00Z。"},
        {__LINE__, "TZ=Asia/Shanghai @at 2027-01-01 08:00",
         "Once, at 2027-01-01T08:00:00+08:00, Asia/Shanghai time.",
         "仅一次，于 2027-01-01T08:00:00+08:00（Asia/Shanghai 时区）。"},
        {__LINE__, "@reboot", "When the node starts.", "节点启动时。"},
        {__LINE__, "@manual", "Only when triggered by hand.", "仅手动触发。"},
        {__LINE__, "@daily", "At 00:00 every day, UTC.", "每天 00:00（UTC）。"},
        {__LINE__, "@hourly", "Every hour, on the hour.", "每小时整点。"},
        {__LINE__, "@weekly", "At 00:00 every Sunday, UTC.", "每周日 00:00（UTC）。"},
        {__LINE__, "@monthly", "At 00:00 on the 1st of the month, UTC.",
         "每月 1 日 00:00（UTC）。"},
        {__LINE__, "@yearly", "At 00:00 on January 1, UTC.", "每年 1 月 1 日 00:00（UTC）。"},
        {__LINE__, "CRON_TZ=Asia/Shanghai */5 * * * *", "Every 5 minutes, Asia/Shanghai time.",
         "每 5 分钟（Asia/Shanghai 时区）。"},
        {__LINE__, "CRON_TZ=Asia/Shanghai 0 9 * * 1-5",
         "At 09:00, Monday through Friday, Asia/Shanghai time.",
         "每周一至周五 09:00（Asia/Shanghai 时区）。"},
        {__LINE__, "CRON_TZ=Asia/Shanghai * * * * * *", "Every second, Asia/Shanghai time.",
         "每秒（Asia/Shanghai 时区）。"},
        {__LINE__, "CRON_TZ=Etc/UTC 0 9 * * *", "At 09:00 every day, UTC.", "每天 09:00（UTC）。"},
        {__LINE__, "@every 1h30m", "Every 1 hour 30 minutes, counted from 1970-01-01T00:00:00Z.",
         "每 1 小时 30 分钟，自 1970-01-01T00:00:00Z 起计。"},
        {__LINE__, "@every 1h", "Every hour, counted from 1970-01-01T00:00:00Z.",
         "每小时，自 1970-01-01T00:00:00Z 起计。"},
        {__LINE__, "@after 1h", "1 hour after the end of the previous run.",
         "上一次运行结束后 1 小时。"},
        {__LINE__, "@minutely", "Every minute.", "每分钟。"},
        {__LINE__, "@secondly", "Every second.", "每秒。"},
        {__LINE__, "CRON_TZ=Asia/Kathmandu @at 2027-06-01T12:00:00Z",
         "Once, at 2027-06-01T17:45:00+05:45, Asia/Kathmandu time.",
         "仅一次，于 2027-06-01T17:45:00+05:45（Asia/Kathmandu 时区）。"},
    };
    check(*state, rows, ROWS(rows));
}

/* 2027-01-01T00:00:00Z and a year later. */
#define START_S INT64_C(1798761600)
#define END_S   INT64_C(1830297600)

static void windows_and_jitter(void **state)
{
    static const struct {
        int64_t start_s, end_s, jitter_s;
        const char *tz;
        struct row row;
    } rows[] = {
        {START_S,
         TIME_UNSET,
         0,
         NULL,
         {__LINE__, "0 8 * * *", "At 08:00 every day, UTC, from 2027-01-01T00:00:00Z.",
          "每天 08:00（UTC），自 2027-01-01T00:00:00Z 起。"}},
        {START_S,
         END_S,
         0,
         NULL,
         {__LINE__, "*/5 * * * *",
          "Every 5 minutes, from 2027-01-01T00:00:00Z until 2028-01-01T00:00:00Z.",
          "每 5 分钟，自 2027-01-01T00:00:00Z 起至 2028-01-01T00:00:00Z 止。"}},
        {TIME_UNSET,
         END_S,
         0,
         "Asia/Shanghai",
         {__LINE__, "0 8 * * *",
          "At 08:00 every day, Asia/Shanghai time, until 2028-01-01T08:00:00+08:00.",
          "每天 08:00（Asia/Shanghai 时区），至 2028-01-01T08:00:00+08:00 止。"}},
        {TIME_UNSET,
         TIME_UNSET,
         30,
         NULL,
         {__LINE__, "0 8 * * *",
          "At 08:00 every day, UTC, delayed by up to 30 seconds, the same for each run.",
          "每天 08:00（UTC），每次运行都推迟同样长的时间，最多 30 秒。"}},
        {START_S,
         TIME_UNSET,
         90,
         NULL,
         {__LINE__, "* * * * *",
          "Every minute, from 2027-01-01T00:00:00Z, delayed by up to 1 minute 30 seconds, the same "
          "for each run.",
          "每分钟，自 2027-01-01T00:00:00Z 起，每次运行都推迟同样长的时间，最多 1 分钟 30 秒。"}},
        {START_S,
         TIME_UNSET,
         0,
         "Asia/Shanghai",
         {__LINE__, "@every 90s",
          "Every 1 minute 30 seconds, counted from 2027-01-01T08:00:00+08:00.",
          "每 1 分钟 30 秒，自 2027-01-01T08:00:00+08:00 起计。"}},
        {START_S,
         END_S,
         0,
         NULL,
         {__LINE__, "@every 1h",
          "Every hour, counted from 2027-01-01T00:00:00Z, until 2028-01-01T00:00:00Z.",
          "每小时，自 2027-01-01T00:00:00Z 起计，至 2028-01-01T00:00:00Z 止。"}},
        {START_S,
         END_S,
         0,
         NULL,
         {__LINE__, "@after 5m",
          "5 minutes after the end of the previous run, from 2027-01-01T00:00:00Z until "
          "2028-01-01T00:00:00Z.",
          "上一次运行结束后 5 分钟，自 2027-01-01T00:00:00Z 起至 2028-01-01T00:00:00Z 止。"}},
    };
    int wrong = 0;
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct schedule_options options = schedule_options_default();
        options.start_s = rows[i].start_s;
        options.end_s = rows[i].end_s;
        options.jitter_s = rows[i].jitter_s;
        options.tz = rows[i].tz;
        wrong += wrong_words(*state, &options, &rows[i].row);
    }
    assert_int_equal(wrong, 0);
}

/* Words are made from what was understood: different spellings are the same words. */
static void spellings_of_one_schedule(void **state)
{
    static const char *const spellings[][2] = {
        {"0,15,30,45 * * * *", "*/15 * * * *"},
        {"0 9 * * MON-FRI", "0 9 ? * 1,2,3,4,5"},
        {"0 0 * * 7", "@weekly"},
        {"0 0 12 * * *", "0 12 * * *"},
        {"0 12 * * FRIL", "0 12 * * 5#-1"},
        {"0 22-2 * * *", "0 22,23,0,1,2 * * *"},
    };
    struct schedule_options options = schedule_options_default();
    for (size_t i = 0; i < ROWS(spellings); i++) {
        struct strbuf words[2];
        for (int k = 0; k < 2; k++) {
            struct schedule *schedule;
            strbuf_init(&words[k]);
            assert_int_equal(schedule_parse(spellings[i][k], &options, *state, &schedule, NULL),
                             OK);
            schedule_explain(schedule, LANGUAGE_EN, &words[k]);
            schedule_explain(schedule, LANGUAGE_ZH, &words[k]);
            schedule_free(schedule);
        }
        assert_string_equal(words[0].text, words[1].text);
        strbuf_release(&words[0]);
        strbuf_release(&words[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_of_day),
        cmocka_unit_test(days_months_and_years),
        cmocka_unit_test(zones_and_macros),
        cmocka_unit_test(windows_and_jitter),
        cmocka_unit_test(spellings_of_one_schedule),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
