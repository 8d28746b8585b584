#include "words/explain_words.h"

#include "civil.h"

static const char *const month_names[] = {
    "",     "January", "February",  "March",   "April",    "May",      "June",
    "July", "August",  "September", "October", "November", "December",
};
static const char *const weekday_names[] = {
    "", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};
static const char *const nth_names[] = {
    "first", "second",         "third",         "fourth",         "fifth",
    "last",  "second-to-last", "third-to-last", "fourth-to-last", "fifth-to-last",
};

enum { UNITS = 5 };
static const struct {
    int64_t length_s;
    const char *name;
} units[UNITS] = {
    {7 * DAY_S, "week"}, {DAY_S, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};

/* How a number is written in its field. */
static void write_number(int number, struct strbuf *out)
{
    strbuf_addf(out, "%d", number);
}

static void write_hour(int number, struct strbuf *out)
{
    strbuf_addf(out, "%02d", number);
}

static void write_month(int number, struct strbuf *out)
{
    strbuf_adds(out, month_names[number]);
}

static void write_weekday(int number, struct strbuf *out)
{
    strbuf_adds(out, weekday_names[number]);
}

static void write_weekdays(int number, struct strbuf *out)
{
    strbuf_addf(out, "%ss", weekday_names[number]);
}

static void write_a_weekday(int number, struct strbuf *out)
{
    strbuf_addf(out, "a %s", weekday_names[number]);
}

/* 1st, 2nd, 3rd, 4th */
static void ordinal_words(int number, struct strbuf *out)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    bool teen = number / 10 % 10 == 1;
    strbuf_addf(out, "%d%s", number, teen || number % 10 > 3 ? "th" : endings[number % 10]);
}

void duration_words_en(int64_t seconds, struct strbuf *out)
{
    const char *space = "";
    for (size_t i = 0; i < UNITS; i++) {
        int64_t count = seconds / units[i].length_s;
        seconds %= units[i].length_s;
        if (!count)
            continue;
        strbuf_addf(out, "%s%lld %s%s", space, (long long)count, units[i].name,
                    count == 1 ? "" : "s");
        space = " ";
    }
}

/* "5, 20 and 35"; runs of `min_run` and more as "5 through 9". */
static void write_list(const struct number_set *set, int min_run, const char *last_joiner,
                       number_writer *write, struct strbuf *out)
{
    list_words(set, min_run, &(struct list_style){", ", last_joiner, " through "}, write, out);
}

static void write_ends(const struct shape *shape, number_writer *write, struct strbuf *out)
{
    write(shape->first, out);
    strbuf_adds(out, " through ");
    write(shape->last, out);
}

void every_words_en(int64_t step_s, struct strbuf *out)
{
    strbuf_adds(out, "Every ");
    for (size_t i = 0; i < UNITS; i++) {
        if (step_s == units[i].length_s) {
            strbuf_adds(out, units[i].name);
            return;
        }
    }
    duration_words_en(step_s, out);
}

/* The smallest unit that is not zero, at the start of the sentence. */
static void lead(const struct number_set *set, const struct shape *shape, const char *unit,
                 struct strbuf *out)
{
    switch (shape->kind) {
    case SHAPE_ALL:
        strbuf_addf(out, "Every %s", unit);
        break;
    case SHAPE_RANGE:
        strbuf_addf(out, "Every %s from %s ", unit, unit);
        write_ends(shape, write_number, out);
        break;
    case SHAPE_STEPS:
        strbuf_addf(out, "Every %d %ss", shape->step, unit);
        if (shape->fills)
            break;
        strbuf_addf(out, " from %s ", unit);
        write_ends(shape, write_number, out);
        break;
    case SHAPE_NONE:
    case SHAPE_ONE:
    case SHAPE_LIST:
        strbuf_addf(out, shape->kind == SHAPE_ONE ? "At %s " : "At %ss ", unit);
        write_list(set, 3, " and ", write_number, out);
        break;
    }
}

/* A larger unit after " of" or " during": " every hour from 09 through 17". */
static void larger(const struct number_set *set, const struct shape *shape, const char *unit,
                   number_writer *write, struct strbuf *out)
{
    switch (shape->kind) {
    case SHAPE_ALL:
        strbuf_addf(out, " every %s", unit);
        break;
    case SHAPE_RANGE:
        strbuf_addf(out, " every %s from ", unit);
        write_ends(shape, write, out);
        break;
    case SHAPE_STEPS:
        strbuf_adds(out, " every ");
        ordinal_words(shape->step, out);
        strbuf_addf(out, " %s from ", unit);
        write_ends(shape, write, out);
        break;
    case SHAPE_NONE:
    case SHAPE_ONE:
    case SHAPE_LIST:
        strbuf_addf(out, shape->kind == SHAPE_ONE ? " %s " : " %ss ", unit);
        write_list(set, 3, " and ", write, out);
        break;
    }
}

static void fields(const struct cron_plan *plan, struct strbuf *out)
{
    bool minutes_all = plan->minute.kind == SHAPE_ALL;
    const struct shape *smallest = plan->with_seconds ? &plan->second : &plan->minute;
    const char *preposition = smallest->fills ? " during" : " of";
    if (!plan->with_seconds) {
        lead(&plan->minutes, &plan->minute, "minute", out);
    } else {
        lead(&plan->seconds, &plan->second, "second", out);
        if (!minutes_all || !smallest->fills) {
            strbuf_adds(out, preposition);
            larger(&plan->minutes, &plan->minute, "minute", write_number, out);
            preposition = " of";
        }
    }
    if (plan->hour.kind != SHAPE_ALL || !minutes_all) {
        strbuf_adds(out, preposition);
        larger(&plan->hours, &plan->hour, "hour", write_hour, out);
    }
}

static void listed_times(const struct cron_plan *plan, struct strbuf *out)
{
    strbuf_adds(out, "At ");
    for (int next, at = cron_plan_next_time(plan, 0); at < DAY_S; at = next) {
        clock_time_print(at, plan->with_seconds, out);
        next = cron_plan_next_time(plan, at + 1);
        if (next < DAY_S)
            strbuf_adds(out, cron_plan_next_time(plan, next + 1) < DAY_S ? ", " : " and ");
    }
}

static void times(const struct cron_plan *plan, struct strbuf *out)
{
    switch (plan->form) {
    case TIMES_LISTED:
        listed_times(plan, out);
        break;
    case TIMES_HOURLY:
        strbuf_adds(out, "Every hour, on the hour");
        break;
    case TIMES_EVERY:
        every_words_en(plan->span.step_s, out);
        break;
    case TIMES_SPAN:
        every_words_en(plan->span.step_s, out);
        strbuf_adds(out, " from ");
        clock_time_print(plan->span.first_s, plan->with_seconds, out);
        strbuf_adds(out, " through ");
        clock_time_print(plan->span.last_s, plan->with_seconds, out);
        break;
    case TIMES_FIELDS:
        fields(plan, out);
        break;
    }
}

static void plain_days(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->day.kind == SHAPE_RANGE) {
        strbuf_adds(out, "the ");
        ordinal_words(plan->day.first, out);
        strbuf_adds(out, " through the ");
        ordinal_words(plan->day.last, out);
    } else if (plan->day.kind == SHAPE_STEPS) {
        strbuf_adds(out, "every ");
        ordinal_words(plan->day.step, out);
        strbuf_adds(out, " day from the ");
        ordinal_words(plan->day.first, out);
        strbuf_adds(out, " through the ");
        ordinal_words(plan->day.last, out);
    } else {
        strbuf_adds(out, "the ");
        write_list(&plan->days, 3, " and ", ordinal_words, out);
    }
}

static void days_to_last(const struct cron_plan *plan, struct strbuf *out)
{
    struct number_set before = plan->days_to_last;
    bool last = number_set_from(&before, 0) == 0;
    before.words[0] &= ~UINT64_C(1);
    int count = number_set_count(&before), only = number_set_from(&before, 1);
    if (count == 1 && only == 1) {
        strbuf_adds(out, "the day before the last day");
    } else if (count) {
        strbuf_adds(out, count == 1 ? "the day " : "the days ");
        write_list(&before, 3, " and ", write_number, out);
        strbuf_adds(out, " days before the last day");
    }
    if (last)
        strbuf_adds(out, count ? " and on the last day" : "the last day");
}

/* "the 1st and 15th and on the last day", to follow "on ". */
static void days_of_month(const struct cron_plan *plan, struct strbuf *out)
{
    const char *joiner = "";
    if (plan->day.kind != SHAPE_NONE) {
        plain_days(plan, out);
        joiner = " and on ";
    }
    int workdays = number_set_count(&plan->workdays);
    if (workdays) {
        strbuf_addf(out, "%sthe working day%s (Monday to Friday) nearest the ", joiner,
                    workdays == 1 ? "" : "s");
        write_list(&plan->workdays, 3, " and ", ordinal_words, out);
        joiner = " and on ";
    }
    if (plan->last_workday) {
        strbuf_addf(out, "%sthe last working day (Monday to Friday)", joiner);
        joiner = " and on ";
    }
    if (number_set_count(&plan->days_to_last)) {
        strbuf_adds(out, joiner);
        days_to_last(plan, out);
    }
}

/* "the first and third Friday", one weekday after the other. */
static void ordinals(const struct cron_plan *plan, const char *joiner, struct strbuf *out)
{
    const char *before = "";
    for (int weekday = 1; weekday <= 7; weekday++) {
        if (!plan->ordinals[weekday])
            continue;
        struct number_set set = number_set_from_mask(plan->ordinals[weekday], 0, 9);
        strbuf_addf(out, "%sthe ", before);
        for (int next, at = number_set_from(&set, 0); at <= set.max; at = next) {
            next = number_set_from(&set, at + 1);
            strbuf_adds(out, nth_names[at]);
            if (next <= set.max)
                strbuf_adds(out, number_set_from(&set, next + 1) <= set.max ? ", " : " and ");
        }
        strbuf_addf(out, " %s", weekday_names[weekday]);
        before = joiner;
    }
}

static void of_months(const struct cron_plan *plan, struct strbuf *out)
{
    strbuf_adds(out, " of");
    if (plan->month.kind == SHAPE_ALL) {
        strbuf_adds(out, " the month");
    } else if (plan->month.kind == SHAPE_RANGE || plan->month.kind == SHAPE_STEPS) {
        larger(&plan->months, &plan->month, "month", write_month, out);
    } else {
        strbuf_addc(out, ' ');
        write_list(&plan->months, 3, " and ", write_month, out);
    }
}

static void in_months(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->month.kind == SHAPE_RANGE) {
        strbuf_adds(out, " from ");
        write_ends(&plan->month, write_month, out);
    } else if (plan->month.kind == SHAPE_STEPS) {
        strbuf_adds(out, " in every ");
        ordinal_words(plan->month.step, out);
        strbuf_adds(out, " month from ");
        write_ends(&plan->month, write_month, out);
    } else {
        strbuf_adds(out, " in ");
        write_list(&plan->months, 3, " and ", write_month, out);
    }
}

/* A few dates of the year by name: " on January 1 and July 1". False: they are too many. */
static bool dates(const struct cron_plan *plan, struct strbuf *out)
{
    int rest = number_set_count(&plan->months) * number_set_count(&plan->days);
    if (!plan->only_days || plan->month.kind == SHAPE_ALL || rest > 4)
        return false;
    strbuf_adds(out, " on ");
    for (int month = number_set_from(&plan->months, 1); month <= 12;
         month = number_set_from(&plan->months, month + 1)) {
        for (int day = number_set_from(&plan->days, 1); day <= 31;
             day = number_set_from(&plan->days, day + 1)) {
            strbuf_addf(out, "%s %d", month_names[month], day);
            if (--rest)
                strbuf_adds(out, rest > 1 ? ", " : " and ");
        }
    }
    return true;
}

/* Days of the week on their own. */
static void days_of_week(const struct cron_plan *plan, struct strbuf *out)
{
    if (plan->weekday.kind == SHAPE_RANGE) {
        strbuf_adds(out, plan->has_ordinals ? " on " : ", ");
        write_ends(&plan->weekday, write_weekday, out);
    } else if (plan->weekday.kind != SHAPE_NONE && plan->form == TIMES_LISTED) {
        strbuf_adds(out, " every ");
        write_list(&plan->weekdays, 8, " and ", write_weekday, out);
    } else if (plan->weekday.kind != SHAPE_NONE) {
        strbuf_adds(out, " on ");
        write_list(&plan->weekdays, 8, " and ", write_weekdays, out);
    }
    if (plan->has_ordinals) {
        strbuf_adds(out, plan->weekday.kind == SHAPE_NONE ? " on " : " and on ");
        ordinals(plan, " and ", out);
    }
}

/* One of the days of the week, after "or on" and "if it is". */
static void one_of_week(const struct cron_plan *plan, const char *range_before, struct strbuf *out)
{
    if (plan->weekday.kind == SHAPE_RANGE) {
        strbuf_adds(out, range_before);
        write_ends(&plan->weekday, write_weekday, out);
    } else if (plan->weekday.kind != SHAPE_NONE) {
        write_list(&plan->weekdays, 8, " or ", write_a_weekday, out);
    }
    if (plan->has_ordinals) {
        strbuf_adds(out, plan->weekday.kind == SHAPE_NONE ? "" : " or ");
        ordinals(plan, " or ", out);
        strbuf_adds(out, " of the month");
    }
}

void two_days_words_en(const struct cron_plan *plan, struct strbuf *out)
{
    strbuf_adds(out, "on ");
    days_of_month(plan, out);
    if (plan->rule == DAYS_EITHER) {
        strbuf_adds(out, " of the month or on ");
        one_of_week(plan, "any day from ", out);
    } else {
        strbuf_adds(out, " of the month");
        strbuf_adds(out, plan->several_of_month ? ", each only if it is " : " if it is ");
        one_of_week(plan, "a day from ", out);
    }
}

/* Days and months. Where a month would seem to belong to the nearer of two parts only, a comma
 * sets it apart. */
static void days(const struct cron_plan *plan, struct strbuf *out)
{
    bool months_said = plan->month.kind == SHAPE_ALL, comma = false;
    switch (plan->rule) {
    case DAYS_ALL:
        if (plan->form == TIMES_LISTED || plan->form == TIMES_SPAN)
            strbuf_adds(out, " every day");
        break;
    case DAYS_OF_MONTH:
        if (!dates(plan, out)) {
            strbuf_adds(out, " on ");
            days_of_month(plan, out);
            of_months(plan, out);
        }
        months_said = true;
        break;
    case DAYS_OF_WEEK:
        days_of_week(plan, out);
        if (plan->has_ordinals && plan->weekday.kind == SHAPE_NONE) {
            of_months(plan, out);
            months_said = true;
        } else if (plan->has_ordinals) {
            strbuf_adds(out, " of the month");
        }
        comma = plan->has_ordinals || plan->weekday.kind == SHAPE_RANGE;
        break;
    case DAYS_EITHER:
    case DAYS_BOTH:
        strbuf_addc(out, ' ');
        two_days_words_en(plan, out);
        comma = true;
        break;
    }
    if (!months_said) {
        strbuf_adds(out, comma ? "," : "");
        in_months(plan, out);
    }
}

static void years(const struct cron_plan *plan, struct strbuf *out)
{
    const struct shape *year = &plan->year;
    if (year->kind == SHAPE_ALL)
        return;
    if (year->kind == SHAPE_ONE && plan->rule == DAYS_OF_MONTH && plan->only_days &&
        plan->month.kind == SHAPE_ONE && plan->day.kind == SHAPE_ONE) {
        strbuf_addf(out, ", %d", year->first); /* January 1, 2027 */
        return;
    }
    bool simple = plan->month.kind == SHAPE_ALL && plan->rule != DAYS_EITHER &&
                  plan->rule != DAYS_BOTH && plan->weekday.kind != SHAPE_RANGE;
    strbuf_adds(out, simple ? "" : ",");
    if (year->kind != SHAPE_RANGE && year->kind != SHAPE_STEPS) {
        strbuf_adds(out, " in ");
        write_list(&plan->years, 3, " and ", write_number, out);
        return;
    }
    if (year->kind == SHAPE_STEPS) {
        strbuf_adds(out, " in every ");
        ordinal_words(year->step, out);
        strbuf_adds(out, " year");
    }
    if (year->last + year->step > YEAR_MAX)
        strbuf_addf(out, " from %d on", year->first);
    else
        strbuf_addf(out, " from %d through %d", year->first, year->last);
}

void cron_words_en(const struct cron_plan *plan, struct strbuf *out)
{
    times(plan, out);
    days(plan, out);
    years(plan, out);
}
