#include "civil.h"
#include "timestamp.h"
#include "words/explain_words.h"
#include "words/warning_facts.h"

/* The warning being written. */
struct teller {
    const struct schedule *schedule;
    int64_t now_s;
    bool english;
    struct strbuf *out;
};

static void say(const struct teller *t, const char *english, const char *chinese)
{
    strbuf_adds(t->out, t->english ? english : chinese);
}

static void say_instant(const struct teller *t, int64_t utc_s)
{
    timestamp_print_local(utc_s, schedule_zone(t->schedule), t->out);
}

static void tell_never(const struct teller *t)
{
    switch (warning_never_reason(t->schedule, t->now_s)) {
    case NEVER_NOT:
        break;
    case NEVER_NO_SUCH_DATE:
        say(t, "It never fires: no such date exists.", "永远不会触发：不存在这样的日期。");
        break;
    case NEVER_YEARS_OVER:
        say(t, "It does not fire any more: its last year is ", "不会再触发：最后的年份是");
        strbuf_addf(t->out, "%lld",
                    (long long)cron_expr_year_until(schedule_cron(t->schedule), YEAR_MAX));
        say(t, ".", "年。");
        break;
    case NEVER_ENDED:
        say(t, "It does not fire any more: it ended at ", "不会再触发：已于");
        say_instant(t, schedule_end(t->schedule));
        say(t, ".", "结束。");
        break;
    case NEVER_MISSED:
        say(t, "It does not fire: ", "不会触发：");
        say_instant(t, schedule_at(t->schedule));
        say(t, " is in the past.", "已经过去。");
        break;
    case NEVER_OUTSIDE:
        say(t, "It never fires: nothing matches between its start and its end.",
            "永远不会触发：起止时间之间没有匹配的时刻。");
        break;
    }
}

/* The sentence about how the two day fields combine. */
static void tell_two_days(const struct teller *t, enum warning warning)
{
    struct cron_plan plan;
    cron_plan_make(&plan, schedule_cron(t->schedule));
    if (warning == WARNING_EITHER_DAY)
        say(t, "Day of month and day of week are both given and either is enough: it fires ",
            "日和星期两个字段都有限制，满足其一即触发：");
    else
        say(t,
            "A step over * in a day field still counts as *, so both day fields must match: "
            "it fires ",
            "日或星期字段中带步长的*仍视为*，因此两个字段须同时满足：");
    if (t->english)
        two_days_words_en(&plan, t->out);
    else
        two_days_words_zh(&plan, t->out);
    if (warning == WARNING_EITHER_DAY)
        say(t, "; a + before the day of week asks for both.",
            "；若须同时满足，请在星期字段前加+。");
    else
        say(t, ".", "。");
}

/* Names of the fields, and of one and several of what they count. */
static const struct {
    const char *in_en, *one_en, *many_en, *in_zh, *length_zh;
} fields[CRON_FIELDS] = {
    [CRON_SECOND] = {"seconds", "second", "seconds", "秒字段", "秒"},
    [CRON_MINUTE] = {"minutes", "minute", "minutes", "分钟字段", "分钟"},
    [CRON_HOUR] = {"hours", "hour", "hours", "小时字段", "小时"},
    [CRON_DAY] = {"day of month", "day", "days", "日字段", "天"},
    [CRON_MONTH] = {"months", "month", "months", "月字段", "个月"},
    [CRON_WEEKDAY] = {"day of week", "day", "days", "星期字段", "天"},
    [CRON_YEAR] = {"years", "year", "years", "年字段", "年"},
};

static void tell_uneven_field(const struct teller *t, enum cron_field field,
                              const struct uneven_step *uneven)
{
    if (t->english) {
        strbuf_addf(t->out, uneven->starred ? "*/%d in %s: " : "/%d in %s: ", uneven->step,
                    fields[field].in_en);
        if (field == CRON_DAY)
            strbuf_addf(t->out,
                        "the count starts again every month, and day %d is followed by "
                        "day %d",
                        uneven->last, uneven->first);
        else
            strbuf_addf(t->out, "%d is followed by %d after %d %s, not %d", uneven->last,
                        uneven->first, uneven->rest,
                        uneven->rest == 1 ? fields[field].one_en : fields[field].many_en,
                        uneven->step);
        return;
    }
    strbuf_adds(t->out, fields[field].in_zh);
    strbuf_addf(t->out, uneven->starred ? "的*/%d：" : "的步长%d：", uneven->step);
    if (field == CRON_DAY)
        strbuf_addf(t->out, "每月重新计数，%d日之后是%d日", uneven->last, uneven->first);
    else
        strbuf_addf(t->out, "%d之后过%d%s就到%d，而不是%d%s", uneven->last, uneven->rest,
                    fields[field].length_zh, uneven->first, uneven->step, fields[field].length_zh);
}

static void tell_uneven(const struct teller *t)
{
    struct uneven_step uneven;
    bool any = false;
    for (enum cron_field field = CRON_SECOND; field < CRON_YEAR; field++) {
        if (!warning_find_uneven(schedule_cron(t->schedule), field, &uneven))
            continue;
        if (any)
            say(t, "; ", "；");
        tell_uneven_field(t, field, &uneven);
        any = true;
    }
    say(t, ".", "。");
}

static void tell_single(const struct teller *t)
{
    bool any = false;
    int value;
    for (enum cron_field field = CRON_SECOND; field < CRON_YEAR; field++) {
        if (!warning_find_single(schedule_cron(t->schedule), field, &value))
            continue;
        if (t->english)
            strbuf_addf(t->out, "%s in %s leaves only %d", any ? "; the one" : "The step over *",
                        fields[field].in_en, value);
        else
            strbuf_addf(t->out, "%s%s中*的步长过大，只剩下%d", any ? "；" : "", fields[field].in_zh,
                        value);
        any = true;
    }
    say(t, ".", "。");
}

static void tell_open(const struct teller *t)
{
    say(t, "A step after a single value goes on to the end of the field: this is read as ",
        "单个数值后的步长一直延续到该字段的最大值，即：");
    cron_expr_print(schedule_cron(t->schedule), t->out);
    say(t, ".", "。");
}

static void tell_every_second(const struct teller *t)
{
    int count = DAY_S;
    if (schedule_kind(t->schedule) == SCHEDULE_CRON) {
        const struct cron_expr *expr = schedule_cron(t->schedule);
        count = 60 * __builtin_popcountll(expr->minutes) * __builtin_popcount(expr->hours);
    }
    if (t->english)
        strbuf_addf(t->out, "It fires every second, %d times a day.", count);
    else
        strbuf_addf(t->out, "每秒触发一次，每天共%d次。", count);
}

static void clock_time(const struct teller *t, int64_t local_s, bool with_seconds)
{
    struct civil civil = civil_from_seconds(local_s);
    clock_time_print(civil.hour * 3600 + civil.minute * 60 + civil.second, with_seconds, t->out);
}

static void date(const struct teller *t, int64_t local_s)
{
    struct civil civil = civil_from_seconds(local_s);
    strbuf_addf(t->out, "%04lld-%02d-%02d", (long long)civil.year, civil.month, civil.day);
}

/* "02:30", or "4 times from 02:00 through 02:45". */
static void jumped_times(const struct teller *t, const struct clock_jump *jump)
{
    bool with_seconds = schedule_cron(t->schedule)->seconds != 1;
    if (jump->count > 1 && t->english)
        strbuf_addf(t->out, "%d times from ", jump->count);
    clock_time(t, jump->first_local_s, with_seconds);
    if (jump->count == 1)
        return;
    say(t, " through ", "至");
    clock_time(t, jump->last_local_s, with_seconds);
    if (!t->english)
        strbuf_addf(t->out, "之间的%d个时刻", jump->count);
}

static void tell_gap(const struct teller *t, const struct clock_jump *jump)
{
    const char *zone = zone_name(schedule_zone(t->schedule));
    bool many = jump->count > 1;
    if (t->english) {
        jumped_times(t, jump);
        strbuf_adds(t->out, many ? " do not exist on " : " does not exist on ");
        date(t, jump->first_local_s);
        strbuf_addf(t->out, " in %s; ", zone);
    } else {
        strbuf_addf(t->out, "%s时区在", zone);
        date(t, jump->first_local_s);
        strbuf_adds(t->out, "不存在");
        jumped_times(t, jump);
        strbuf_adds(t->out, "；");
    }
    if (schedule_dst(t->schedule) == DST_SKIP) {
        say(t, many ? "they do not fire then." : "it does not fire then.", "届时不会触发。");
        return;
    }
    say(t, many ? "they fire once, at " : "it fires at ", many ? "合并为一次，在" : "改在");
    if (jump->resumes_local_s / DAY_S != jump->first_local_s / DAY_S) {
        date(t, jump->resumes_local_s);
        strbuf_addc(t->out, ' ');
    }
    clock_time(t, jump->resumes_local_s, jump->resumes_local_s % 60 != 0);
    say(t, many ? "." : " instead.", "触发。");
}

static void tell_fold(const struct teller *t, const struct clock_jump *jump)
{
    const char *zone = zone_name(schedule_zone(t->schedule));
    bool many = jump->count > 1, both = schedule_dst(t->schedule) == DST_BOTH;
    if (t->english) {
        jumped_times(t, jump);
        strbuf_adds(t->out, many ? " happen twice on " : " happens twice on ");
        date(t, jump->first_local_s);
        strbuf_addf(t->out, " in %s; %s ", zone, many ? "they fire" : "it fires");
        strbuf_adds(t->out, both ? "both times." : "the first time only.");
    } else {
        strbuf_addf(t->out, "%s时区在", zone);
        date(t, jump->first_local_s);
        strbuf_adds(t->out, "会两次经过");
        jumped_times(t, jump);
        strbuf_adds(t->out, both ? "；两次都触发。" : "；只在第一次触发。");
    }
}

static void tell(const struct teller *t, enum warning warning)
{
    struct clock_jump jump;
    switch (warning) {
    case WARNING_NEVER:
        tell_never(t);
        break;
    case WARNING_EITHER_DAY:
    case WARNING_STEP_IS_STAR:
        tell_two_days(t, warning);
        break;
    case WARNING_UNEVEN_STEP:
        tell_uneven(t);
        break;
    case WARNING_SINGLE_STEP:
        tell_single(t);
        break;
    case WARNING_OPEN_STEP:
        tell_open(t);
        break;
    case WARNING_EVERY_SECOND:
        tell_every_second(t);
        break;
    case WARNING_GAP:
        if (warning_find_gap(t->schedule, t->now_s, &jump))
            tell_gap(t, &jump);
        break;
    case WARNING_FOLD:
        if (warning_find_fold(t->schedule, t->now_s, &jump))
            tell_fold(t, &jump);
        break;
    case WARNINGS:
        break;
    }
}

void schedule_warning_explain(const struct schedule *schedule, enum warning warning, int64_t now_s,
                              enum language language, struct strbuf *out)
{
    if (!(schedule_warnings(schedule, now_s) >> warning & 1))
        return;
    struct strbuf unspaced;
    strbuf_init(&unspaced);
    bool english = language == LANGUAGE_EN;
    struct teller teller = {schedule, now_s, english, english ? out : &unspaced};
    tell(&teller, warning);
    if (!english)
        spaced_zh(&unspaced, out);
    strbuf_release(&unspaced);
}
