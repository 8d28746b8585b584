#include "cron/cron_plan.h"

#include "civil.h"

enum {
    HOUR_S = 3600,
    LISTED_ALWAYS = 3, /* up to so many times of day are listed rather than described */
    LISTED_AT_MOST = 6,
    ALL_FIVE = 0x1f,
};

static int times_count(const struct cron_plan *plan)
{
    return number_set_count(&plan->seconds) * number_set_count(&plan->minutes) *
           number_set_count(&plan->hours);
}

int cron_plan_next_time(const struct cron_plan *plan, int second_of_day)
{
    for (int hour = number_set_from(&plan->hours, second_of_day / HOUR_S); hour <= 23;
         hour = number_set_from(&plan->hours, hour + 1)) {
        int rest = second_of_day > hour * HOUR_S ? second_of_day - hour * HOUR_S : 0;
        for (int minute = number_set_from(&plan->minutes, rest / 60); minute <= 59;
             minute = number_set_from(&plan->minutes, minute + 1)) {
            int second = number_set_from(&plan->seconds, rest > minute * 60 ? rest % 60 : 0);
            if (second <= 59)
                return hour * HOUR_S + minute * 60 + second;
        }
    }
    return DAY_S;
}

/* Are the times of a day equally far apart, apart from one larger break at its end, or, when days
 * follow each other, anywhere? */
static bool find_span(const struct cron_plan *plan, bool may_wrap, struct day_span *ret)
{
    int first = cron_plan_next_time(plan, 0);
    int second = cron_plan_next_time(plan, first + 1);
    int third = cron_plan_next_time(plan, second + 1);
    if (third == DAY_S)
        return false;
    /* The break may come right after the first time: then the step is that of the next two. */
    int step = second - first <= third - second ? second - first : third - second;
    int before_break = -1, after_break = first, last = first;
    for (int next; (next = cron_plan_next_time(plan, last + 1)) < DAY_S; last = next) {
        if (next - last == step)
            continue;
        if (next - last < step || before_break >= 0)
            return false;
        before_break = last;
        after_break = next;
    }
    if (before_break < 0) {
        *ret = (struct day_span){first, last, step};
        return true;
    }
    *ret = (struct day_span){after_break, before_break, step};
    return may_wrap && first + DAY_S - last == step;
}

static enum time_form choose_form(struct cron_plan *plan, bool every_day)
{
    bool on_minute = plan->second.kind == SHAPE_ONE && plan->second.first == 0;
    bool hours_all = plan->hour.kind == SHAPE_ALL;
    if (hours_all && on_minute && plan->minute.kind == SHAPE_ONE && plan->minute.first == 0)
        return TIMES_HOURLY;
    if (times_count(plan) <= LISTED_ALWAYS)
        return TIMES_LISTED;
    bool spans = find_span(plan, every_day, &plan->span);
    if (hours_all) {
        bool in_step = spans && HOUR_S % plan->span.step_s == 0 &&
                       plan->span.last_s + plan->span.step_s == DAY_S;
        return in_step ? TIMES_EVERY : TIMES_FIELDS;
    }
    if (spans)
        return TIMES_SPAN;
    return times_count(plan) <= LISTED_AT_MOST ? TIMES_LISTED : TIMES_FIELDS;
}

/* Monday first; a weekday with all five ordinals becomes a plain weekday. */
static void plan_weekdays(struct cron_plan *plan, const struct cron_expr *expr)
{
    uint64_t every = 0;
    for (int weekday = 1; weekday <= 7; weekday++) {
        unsigned bit = 1U << weekday % 7, ordinals = 0;
        for (int i = 0; i < 5; i++) {
            ordinals |= expr->nth[i] & bit ? 1U << i : 0;
            ordinals |= expr->nth_last[i] & bit ? 1U << (i + 5) : 0;
        }
        if (expr->weekdays & bit || (ordinals & ALL_FIVE) == ALL_FIVE || ordinals >> 5 == ALL_FIVE)
            every |= UINT64_C(1) << weekday;
        else
            plan->ordinals[weekday] = (uint16_t)ordinals;
        plan->has_ordinals |= plan->ordinals[weekday] != 0;
    }
    plan->weekdays = number_set_from_mask(every, 1, 7);
    plan->weekday = number_set_shape(&plan->weekdays, true);
}

static enum day_rule choose_rule(const struct cron_plan *plan, bool either_day)
{
    bool all_of_month = number_set_count(&plan->days) == 31;
    bool all_of_week = plan->weekday.kind == SHAPE_ALL;
    if (either_day)
        return all_of_month || all_of_week ? DAYS_ALL : DAYS_EITHER;
    if (all_of_month)
        return all_of_week ? DAYS_ALL : DAYS_OF_WEEK;
    return all_of_week ? DAYS_OF_MONTH : DAYS_BOTH;
}

void cron_plan_make(struct cron_plan *plan, const struct cron_expr *expr)
{
    *plan = (struct cron_plan){
        .seconds = number_set_from_mask(expr->seconds, 0, 59),
        .minutes = number_set_from_mask(expr->minutes, 0, 59),
        .hours = number_set_from_mask(expr->hours, 0, 23),
        .days = number_set_from_mask(expr->days, 1, 31),
        .days_to_last = number_set_from_mask(expr->days_to_last, 0, 30),
        .workdays = number_set_from_mask(expr->workdays, 1, 31),
        .only_days = !expr->days_to_last && !expr->workdays && !expr->last_workday,
        .several_of_month = (expr->days != 0) + (expr->days_to_last != 0) + (expr->workdays != 0) +
                                expr->last_workday >
                            1,
        .last_workday = expr->last_workday,
        .months = number_set_from_mask(expr->months, 1, 12),
        .years = number_set_from_years(expr),
        .with_seconds = expr->seconds != 1,
    };
    plan_weekdays(plan, expr);
    plan->rule = choose_rule(plan, expr->either_day);

    /* 22 through 2 is one range only where nothing interrupts the round. */
    plan->year = number_set_shape(&plan->years, false);
    plan->month = number_set_shape(&plan->months, plan->year.kind == SHAPE_ALL);
    bool every_month = plan->month.kind == SHAPE_ALL && plan->year.kind == SHAPE_ALL;
    plan->day = number_set_shape(&plan->days, false);
    bool every_day = every_month && plan->rule == DAYS_ALL;
    plan->hour = number_set_shape(&plan->hours, every_day);
    plan->minute = number_set_shape(&plan->minutes, plan->hour.kind == SHAPE_ALL);
    plan->second = number_set_shape(&plan->seconds, plan->minute.kind == SHAPE_ALL);
    plan->form = choose_form(plan, every_day);
}

bool cron_plan_is_plain_frequency(const struct cron_plan *plan)
{
    return plan->hour.kind == SHAPE_ALL && plan->rule == DAYS_ALL &&
           plan->month.kind == SHAPE_ALL && plan->year.kind == SHAPE_ALL;
}

void clock_time_print(int second_of_day, bool with_seconds, struct strbuf *out)
{
    strbuf_addf(out, "%02d:%02d", second_of_day / HOUR_S, second_of_day / 60 % 60);
    if (with_seconds)
        strbuf_addf(out, ":%02d", second_of_day % 60);
}
