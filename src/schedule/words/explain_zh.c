/* Chinese goes from the large to the small: years, months, days, hours, minutes, seconds. */
#include "words/explain_words.h"

#include "civil.h"

static const char *const weekday_names[] = {
    "", "周一", "周二", "周三", "周四", "周五", "周六", "周日",
};
static const char *const nth_names[] = {
    "第一个",   "第二个",     "第三个",     "第四个",     "第五个",
    "最后一个", "倒数第二个", "倒数第三个", "倒数第四个", "倒数第五个",
};

enum { UNITS = 5 };
static const struct {
    int64_t length_s;
    const char *name;
} units[UNITS] = {{7 * DAY_S, "周"}, {DAY_S, "天"}, {3600, "小时"}, {60, "分钟"}, {1, "秒"}};

static void write_second(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d秒", number);
}

static void write_minute(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d分", number);
}

static void write_hour(int number, struct strbuf *out)
{
    strbuf_addf(out, "%02d时", number);
}

static void write_day(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d日", number);
}

/* The last day is the first one counted back. */
static void write_day_to_last(int number, struct strbuf *out)
{
    if (number == 0)
        strbuf_adds(out, "最后一天");
    else
        strbuf_addf(out, "倒数第%d天", number + 1);
}

static void write_month(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d月", number);
}

static void write_weekday(int number, struct strbuf *out)
{
    strbuf_adds(out, weekday_names[number]);
}

static void write_nth(int number, struct strbuf *out)
{
    strbuf_adds(out, nth_names[number]);
}

static void write_year(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d年", number);
}

/* What is counted within the next larger unit. */
struct unit {
    number_writer *write;
    const char *every;     /* 每小时 */
    const char *length;    /* 每 2 `小时` */
    const char *first;     /* the unit that steps pick from each of their intervals */
    const char *next_turn; /* how a range through the end of the larger unit goes on */
};
static const struct unit second_unit = {write_second, "每秒", "秒", "第1秒", "下一分钟"};
static const struct unit minute_unit = {write_minute, "每分钟", "分钟", "第1分钟", "下一小时"};
static const struct unit hour_unit = {write_hour, "每小时", "小时", "第1小时", "次日"};

void duration_words_zh(int64_t seconds, struct strbuf *out)
{
    for (size_t i = 0; i < UNITS; i++) {
        if (seconds / units[i].length_s)
            strbuf_addf(out, "%lld%s", (long long)(seconds / units[i].length_s), units[i].name);
        seconds %= units[i].length_s;
    }
}

enum script { OTHER, LATIN, HAN };

/* By the first byte of a character. Chinese is U+4000 to U+9FFF here; the full-width signs lie
 * elsewhere and bring their own space. */
static enum script script_of(unsigned char lead)
{
    if (lead > ' ' && lead < 0x7f)
        return LATIN;
    return lead >= 0xe4 && lead <= 0xe9 ? HAN : OTHER;
}

void spaced_zh(const struct strbuf *text, struct strbuf *out)
{
    enum script before = OTHER;
    for (const unsigned char *at = (const unsigned char *)text->text; *at; at++) {
        if ((*at & 0xc0) != 0x80) {
            enum script now = script_of(*at);
            if ((before == LATIN && now == HAN) || (before == HAN && now == LATIN))
                strbuf_addc(out, ' ');
            before = now;
        }
        strbuf_addc(out, (char)*at);
    }
    out->failed |= text->failed;
}

/* 5分、20分和35分; runs of `min_run` and more as 5分至9分. */
static void write_list(const struct number_set *set, int min_run, const char *last_joiner,
                       number_writer *write, struct strbuf *out)
{
    list_words(set, min_run, &(struct list_style){"、", last_joiner, "至"}, write, out);
}

static void write_range(const struct shape *shape, const char *joiner, const char *next_turn,
                        number_writer *write, struct strbuf *out)
{
    write(shape->first, out);
    strbuf_adds(out, joiner);
    strbuf_adds(out, shape->wraps ? next_turn : "");
    write(shape->last, out);
}

/* The smallest unit of a time: 每5分钟, 从0分到56分每7分钟, 5分和20分. */
static void smallest(const struct number_set *set, const struct shape *shape,
                     const struct unit *unit, struct strbuf *out)
{
    bool bounded = shape->kind == SHAPE_RANGE || (shape->kind == SHAPE_STEPS && !shape->fills);
    if (bounded) {
        strbuf_adds(out, "从");
        write_range(shape, "到", unit->next_turn, unit->write, out);
    }
    if (shape->kind == SHAPE_STEPS)
        strbuf_addf(out, "每%d%s", shape->step, unit->length);
    else if (shape->kind == SHAPE_RANGE || shape->kind == SHAPE_ALL)
        strbuf_adds(out, unit->every);
    else
        write_list(set, 3, "和", unit->write, out);
}

/* What follows a larger unit, which decides the word between them. */
enum follower {
    FOLLOWED_BY_POINTS, /* 5分和20分 */
    FOLLOWED_BY_PART,   /* 从0分到56分每7分钟: once in each */
    FOLLOWED_BY_FLOW,   /* 每5分钟: on and on */
};

static enum follower follower_of(const struct shape *shape)
{
    if (shape->fills)
        return FOLLOWED_BY_FLOW;
    bool part = shape->kind == SHAPE_RANGE || shape->kind == SHAPE_STEPS;
    return part ? FOLLOWED_BY_PART : FOLLOWED_BY_POINTS;
}

static void larger(const struct number_set *set, const struct shape *shape, const struct unit *unit,
                   enum follower follower, struct strbuf *out)
{
    const char *within = follower == FOLLOWED_BY_POINTS ? "的" : "内";
    switch (shape->kind) {
    case SHAPE_ALL:
        strbuf_addf(out, "%s%s", unit->every, follower == FOLLOWED_BY_POINTS ? "的" : "");
        break;
    case SHAPE_RANGE:
        write_range(shape, "至", unit->next_turn, unit->write, out);
        if (follower == FOLLOWED_BY_FLOW)
            strbuf_adds(out, "内");
        else
            strbuf_addf(out, "%s%s", unit->every, follower == FOLLOWED_BY_POINTS ? "的" : "");
        break;
    case SHAPE_STEPS:
        strbuf_adds(out, "从");
        write_range(shape, "到", unit->next_turn, unit->write, out);
        strbuf_addf(out, "每%d%s的%s%s", shape->step, unit->length, unit->first, within);
        break;
    case SHAPE_NONE:
    case SHAPE_ONE:
    case SHAPE_LIST:
        write_list(set, 3, "和", unit->write, out);
        strbuf_adds(out, within);
        break;
    }
}

static void fields(const struct cron_plan *plan, struct strbuf *out)
{
    bool minutes_all = plan->minute.kind == SHAPE_ALL;
    if (plan->hour.kind != SHAPE_ALL || !minutes_all) {
        enum follower follower = follower_of(&plan->minute);
        bool each = plan->hour.kind == SHAPE_ALL || plan->hour.kind == SHAPE_RANGE;
        if (plan->with_seconds && (plan->minute.kind == SHAPE_STEPS || each))
            follower = minutes_all ? FOLLOWED_BY_FLOW : FOLLOWED_BY_PART;
        larger(&plan->hours, &plan->hour, &hour_unit, follower, out);
    }
    if (!plan->with_seconds) {
        smallest(&plan->minutes, &plan->minute, &minute_unit, out);
        return;
    }
    if (!minutes_all || !plan->second.fills)
        larger(&plan->minutes, &plan->minute, &minute_unit, follower_of(&plan->second), out);
    smallest(&plan->seconds, &plan->second, &second_unit, out);
}

static void listed_times(const struct cron_plan *plan, struct strbuf *out)
{
    for (int next, at = cron_plan_next_time(plan, 0); at < DAY_S; at = next) {
        clock_time_print(at, plan->with_seconds, out);
        next = cron_plan_next_time(plan, at + 1);
        if (next < DAY_S)
            strbuf_adds(out, cron_plan_next_time(plan, next + 1) < DAY_S ? "、" : "和");
    }
}

void every_words_zh(int64_t step_s, struct strbuf *out)
{
    strbuf_adds(out, "每");
    for (size_t i = 0; i < UNITS; i++) {
        if (step_s == units[i].length_s) {
            strbuf_adds(out, units[i].name);
            return;
        }
    }
    duration_words_zh(step_s, out);
}

static void times(const struct cron_plan *plan, struct strbuf *out)
{
    switch (plan->form) {
    case TIMES_LISTED:
        listed_times(plan, out);
        break;
    case TIMES_HOURLY:
        strbuf_adds(out, "每小时整点");
        break;
    case TIMES_EVERY:
        every_words_zh(plan->span.step_s, out);
        break;
    case TIMES_SPAN:
        clock_time_print(plan->span.first_s, plan->with_seconds, out);
        strbuf_adds(out, plan->span.first_s > plan->span.last_s ? "至次日" : "至");
        clock_time_print(plan->span.last_s, plan->with_seconds, out);
        every_words_zh(plan->span.step_s, out);
        break;
    case TIMES_FIELDS:
        fields(plan, out);
        break;
    }
}

static void plain_days(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->day.kind == SHAPE_RANGE) {
        write_range(&plan->day, "至", "", write_day, out);
    } else if (plan->day.kind == SHAPE_STEPS) {
        strbuf_adds(out, "从");
        write_range(&plan->day, "到", "", write_day, out);
        strbuf_addf(out, "每%d天", plan->day.step);
    } else {
        write_list(&plan->days, 3, "和", write_day, out);
    }
}

/* 1日和15日以及最后一天 */
static void days_of_month(const struct cron_plan *plan, struct strbuf *out)
{
    const char *joiner = "";
    if (plan->day.kind != SHAPE_NONE) {
        plain_days(plan, out);
        joiner = "以及";
    }
    if (number_set_count(&plan->workdays)) {
        strbuf_addf(out, "%s%s离", joiner, number_set_count(&plan->workdays) > 1 ? "分别" : "");
        write_list(&plan->workdays, 3, "和", write_day, out);
        strbuf_adds(out, "最近的工作日（周一至周五）");
        joiner = "以及";
    }
    if (plan->last_workday) {
        strbuf_addf(out, "%s最后一个工作日（周一至周五）", joiner);
        joiner = "以及";
    }
    if (number_set_count(&plan->days_to_last)) {
        strbuf_adds(out, joiner);
        write_list(&plan->days_to_last, 3, "和", write_day_to_last, out);
    }
}

/* 第一个和第三个周五 */
static void ordinals(const struct cron_plan *plan, const char *joiner, struct strbuf *out)
{
    const char *before = "";
    for (int weekday = 1; weekday <= 7; weekday++) {
        if (!plan->ordinals[weekday])
            continue;
        struct number_set set = number_set_from_mask(plan->ordinals[weekday], 0, 9);
        strbuf_adds(out, before);
        write_list(&set, 11, "和", write_nth, out);
        strbuf_adds(out, weekday_names[weekday]);
        before = joiner;
    }
}

/* 周一、周三和周五, without 每. */
static void weekdays(const struct cron_plan *plan, const char *last_joiner, struct strbuf *out)
{
    if (plan->weekday.kind == SHAPE_RANGE)
        write_range(&plan->weekday, "至", "", write_weekday, out);
    else
        write_list(&plan->weekdays, 8, last_joiner, write_weekday, out);
}

/* 每周一和周五以及第三个周五; `month` stands before the ordinals: 每月, 当月 or nothing. */
static void days_of_week(const struct cron_plan *plan, const char *month, const char *joiner,
                         struct strbuf *out)
{
    if (plan->weekday.kind != SHAPE_NONE) {
        strbuf_adds(out, "每");
        weekdays(plan, "和", out);
    }
    if (plan->has_ordinals) {
        strbuf_addf(out, "%s%s", plan->weekday.kind == SHAPE_NONE ? "" : joiner, month);
        ordinals(plan, "以及", out);
    }
}

/* （须为周五） */
static void must_be(const struct cron_plan *plan, struct strbuf *out)
{
    strbuf_adds(out, plan->several_of_month ? "（均须为" : "（须为");
    if (plan->weekday.kind != SHAPE_NONE)
        weekdays(plan, "或", out);
    if (plan->has_ordinals) {
        strbuf_adds(out, plan->weekday.kind == SHAPE_NONE ? "当月" : "或当月");
        ordinals(plan, "或", out);
    }
    strbuf_adds(out, "）");
}

static void either_day(const struct cron_plan *plan, const char *month, struct strbuf *out)
{
    strbuf_adds(out, month);
    days_of_month(plan, out);
    strbuf_adds(out, "或");
    days_of_week(plan, month, "或", out);
}

void two_days_words_zh(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->rule == DAYS_EITHER) {
        either_day(plan, "每月", out);
    } else {
        strbuf_adds(out, "每月");
        days_of_month(plan, out);
        must_be(plan, out);
    }
}

static void years(const struct cron_plan *plan, struct strbuf *out)
{
    const struct shape *year = &plan->year;
    bool stepped = year->kind == SHAPE_STEPS;
    if (year->kind != SHAPE_RANGE && !stepped) {
        write_list(&plan->years, 3, "和", write_year, out);
    } else if (year->last + year->step > YEAR_MAX) {
        strbuf_addf(out, "自%d年起", year->first);
    } else {
        strbuf_adds(out, stepped ? "从" : "");
        write_range(year, stepped ? "到" : "至", "", write_year, out);
    }
    if (stepped)
        strbuf_addf(out, "每%d年", year->step);
}

static void months(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->month.kind == SHAPE_RANGE)
        write_range(&plan->month, "至", "次年", write_month, out);
    else
        write_list(&plan->months, 3, "和", write_month, out);
}

/* Between years and months: 2027年1月, 从2027年到2035年每2年的1月, 2027年和2028年每年1月. */
static const char *year_joiner(const struct cron_plan *plan)
{
    if (plan->year.kind == SHAPE_ONE)
        return "";
    return plan->year.kind == SHAPE_STEPS ? "的" : "每年";
}

/* Years and months, and the word that leads on to the days. */
static void seasons(const struct cron_plan *plan, struct strbuf *out)
{
    bool years_all = plan->year.kind == SHAPE_ALL, months_all = plan->month.kind == SHAPE_ALL;
    if (years_all && months_all)
        return;
    if (!years_all)
        years(plan, out);
    if (!months_all) {
        strbuf_adds(out, year_joiner(plan));
        months(plan, out);
    } else if (plan->year.kind == SHAPE_STEPS) {
        strbuf_adds(out, "的第1年");
    }
    bool flow = plan->rule == DAYS_ALL && plan->form != TIMES_LISTED && plan->form != TIMES_SPAN;
    bool mixed = plan->rule == DAYS_EITHER || (plan->rule == DAYS_OF_WEEK && plan->has_ordinals &&
                                               plan->weekday.kind != SHAPE_NONE);
    bool dates = plan->rule == DAYS_OF_MONTH || plan->rule == DAYS_BOTH;
    if (mixed)
        strbuf_adds(out, "内，");
    else if (flow)
        strbuf_adds(out, "内");
    else if (!dates || plan->month.kind != SHAPE_ONE)
        strbuf_adds(out, "的");
}

/* The days, and the word or sign that leads on to the time. */
static void days(const struct cron_plan *plan, struct strbuf *out)
{
    bool months_all = plan->month.kind == SHAPE_ALL;
    const char *flow = plan->form == TIMES_LISTED ? "" : "，";
    switch (plan->rule) {
    case DAYS_ALL:
        if (plan->form == TIMES_LISTED || plan->form == TIMES_SPAN ||
            (plan->form == TIMES_FIELDS && plan->hour.kind != SHAPE_ALL))
            strbuf_adds(out, "每天");
        return;
    case DAYS_OF_MONTH:
        strbuf_adds(out, months_all ? "每月" : "");
        days_of_month(plan, out);
        if (plan->form == TIMES_LISTED && plan->only_days && plan->day.kind == SHAPE_STEPS)
            flow = "的";
        break;
    case DAYS_OF_WEEK:
        if (plan->weekday.kind == SHAPE_NONE)
            days_of_week(plan, months_all ? "每月" : "", "", out);
        else
            days_of_week(plan, months_all ? "每月" : "当月", "以及", out);
        break;
    case DAYS_EITHER:
        either_day(plan, months_all ? "每月" : "当月", out);
        flow = plan->form == TIMES_LISTED ? "的" : flow;
        break;
    case DAYS_BOTH:
        strbuf_adds(out, months_all ? "每月" : "");
        days_of_month(plan, out);
        must_be(plan, out);
        break;
    }
    strbuf_adds(out, flow);
}

void cron_words_zh(const struct cron_plan *plan, struct strbuf *out)
{
    seasons(plan, out);
    days(plan, out);
    times(plan, out);
}
