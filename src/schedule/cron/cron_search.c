/* next() and previous() of an expression on a local clock. Days of a month are one 31-bit mask,
 * computed from the weekday of the 1st; everything else is a bit scan. */
#include "civil.h"
#include "cron/cron_expr.h"
#include "cron/cron_years.h"

/* Far beyond any real date, near enough to zero for day arithmetic not to overflow. */
#define SEARCH_LIMIT_S (INT64_MAX / 4)

/* Bits of a week starting at `weekday`: bit k is set if weekday + k is in the set. */
static uint32_t week_from(uint8_t weekdays, int weekday)
{
    return (((uint32_t)weekdays >> weekday) | ((uint32_t)weekdays << (7 - weekday))) & 0x7f;
}

/* The Monday-Friday nearest to `day` in its month. */
static int nearest_workday(int day, int first_weekday, int length)
{
    int weekday = (first_weekday + day - 1) % 7;
    if (weekday == 6)
        return day == 1 ? day + 2 : day - 1;
    if (weekday == 0)
        return day == length ? day - 2 : day + 1;
    return day;
}

/* `L`, `L-n`, `LW` and `nW` as bits of a month. */
static uint32_t special_days(const struct cron_expr *expr, int first_weekday, int length)
{
    uint32_t days = 0;
    for (uint32_t rest = expr->days_to_last; rest; rest &= rest - 1) {
        int day = length - __builtin_ctz(rest);
        if (day >= 1)
            days |= UINT32_C(1) << day;
    }
    for (uint32_t rest = expr->workdays; rest; rest &= rest - 1) {
        int day = __builtin_ctz(rest);
        if (day <= length)
            days |= UINT32_C(1) << nearest_workday(day, first_weekday, length);
    }
    if (expr->last_workday)
        days |= UINT32_C(1) << nearest_workday(length, first_weekday, length);
    return days;
}

/* `w#n` and `w#-n` as bits of a month. */
static uint32_t nth_days(const struct cron_expr *expr, int first_weekday, int length)
{
    uint64_t days = 0;
    for (int i = 0; i < 5; i++) {
        if (expr->nth[i])
            days |= (uint64_t)week_from(expr->nth[i], first_weekday) << (7 * i + 1);
        if (expr->nth_last[i]) {
            int first = length - 7 * i - 6; /* first day of the week counted from the end; >= -6 */
            int weekday = (first_weekday + first - 1 + 7) % 7;
            days |= (uint64_t)week_from(expr->nth_last[i], weekday) << (first + 8) >> 8;
        }
    }
    return (uint32_t)days;
}

uint32_t cron_expr_month_days(const struct cron_expr *expr, int first_weekday, int length)
{
    /* A week times 1 + 2^7 + 2^14 + 2^21 + 2^28 is that week repeated through the month. */
    uint64_t weeks = week_from(expr->weekdays, first_weekday) * UINT64_C(0x10204081);
    uint32_t by_weekday = (uint32_t)(weeks << 1);
    uint32_t by_day = expr->days;
    if (expr->special_days)
        by_day |= special_days(expr, first_weekday, length);
    if (expr->nth_days)
        by_weekday |= nth_days(expr, first_weekday, length);
    uint32_t month = (UINT32_C(2) << length) - 2;
    return (expr->either_day ? by_day | by_weekday : by_day & by_weekday) & month;
}

static bool is_year_allowed(const struct cron_expr *expr, int64_t year)
{
    return !expr->years || cron_years_has(expr->years, year);
}

int64_t cron_expr_year_from(const struct cron_expr *expr, int64_t year)
{
    return expr->years ? cron_years_from(expr->years, year) : year;
}

int64_t cron_expr_year_until(const struct cron_expr *expr, int64_t year)
{
    return expr->years ? cron_years_until(expr->years, year) : year;
}

bool cron_expr_is_fixed(const struct cron_expr *expr)
{
    return expr->fixed;
}

static int lowest(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

static int highest(uint64_t bits)
{
    return 63 - __builtin_clzll(bits);
}

/* Members of the set above, and below, n; n may be -1 to 64. */
static uint64_t above(uint64_t bits, int n)
{
    return n >= 63 ? 0 : bits >> (n + 1) << (n + 1);
}

static uint64_t below(uint64_t bits, int n)
{
    return n <= 0 ? 0 : bits & (~UINT64_C(0) >> (64 - n));
}

/* The first matching second of a day at or after second_of_day; -1: none. */
static int first_time_from(const struct cron_expr *expr, int second_of_day)
{
    int hour = second_of_day / 3600, minute = second_of_day / 60 % 60, second = second_of_day % 60;
    if (expr->hours >> hour & 1) {
        if (expr->minutes >> minute & 1) {
            uint64_t seconds = above(expr->seconds, second - 1);
            if (seconds)
                return hour * 3600 + minute * 60 + lowest(seconds);
        }
        uint64_t minutes = above(expr->minutes, minute);
        if (minutes)
            return hour * 3600 + lowest(minutes) * 60 + lowest(expr->seconds);
    }
    uint64_t hours = above(expr->hours, hour);
    if (!hours)
        return -1;
    return lowest(hours) * 3600 + lowest(expr->minutes) * 60 + lowest(expr->seconds);
}

/* The last matching second of a day at or before second_of_day; -1: none. */
static int last_time_until(const struct cron_expr *expr, int second_of_day)
{
    int hour = second_of_day / 3600, minute = second_of_day / 60 % 60, second = second_of_day % 60;
    if (expr->hours >> hour & 1) {
        if (expr->minutes >> minute & 1) {
            uint64_t seconds = below(expr->seconds, second + 1);
            if (seconds)
                return hour * 3600 + minute * 60 + highest(seconds);
        }
        uint64_t minutes = below(expr->minutes, minute);
        if (minutes)
            return hour * 3600 + highest(minutes) * 60 + highest(expr->seconds);
    }
    uint64_t hours = below(expr->hours, hour);
    if (!hours)
        return -1;
    return highest(hours) * 3600 + highest(expr->minutes) * 60 + highest(expr->seconds);
}

/* A month under search. */
struct month {
    int64_t year;
    int month;
    int64_t first_day; /* days since 1970 of the 1st */
};

static uint32_t matching_days(const struct cron_expr *expr, const struct month *m)
{
    return cron_expr_month_days(expr, civil_weekday(m->first_day),
                                civil_month_days(m->year, m->month));
}

/* The nearest year at or after (before) this one that may match. A list of years holds only
 * matching years already. */
static int64_t useful_year_from(const struct cron_expr *expr, int64_t year)
{
    if (expr->years || !expr->leap_only)
        return cron_expr_year_from(expr, year);
    year = (year + 3) & ~INT64_C(3);
    return civil_is_leap(year) ? year : year + 4;
}

static int64_t useful_year_until(const struct cron_expr *expr, int64_t year)
{
    if (expr->years || !expr->leap_only)
        return cron_expr_year_until(expr, year);
    year &= ~INT64_C(3);
    return civil_is_leap(year) ? year : year - 4;
}

/* Moves on to the next allowed month, false when there is none. */
static bool next_month(const struct cron_expr *expr, struct month *m)
{
    uint64_t months = above(expr->months, m->month);
    if (!months || !is_year_allowed(expr, m->year)) {
        m->year = useful_year_from(expr, m->year + 1);
        if (m->year == INT64_MAX)
            return false;
        months = expr->months;
    }
    m->month = lowest(months);
    m->first_day = civil_to_days(m->year, m->month, 1);
    return true;
}

static bool previous_month(const struct cron_expr *expr, struct month *m)
{
    uint64_t months = below(expr->months, m->month);
    if (!months || !is_year_allowed(expr, m->year)) {
        m->year = useful_year_until(expr, m->year - 1);
        if (m->year == INT64_MIN)
            return false;
        months = expr->months;
    }
    m->month = highest(months);
    m->first_day = civil_to_days(m->year, m->month, 1);
    return true;
}

/* The month of a date, which has *ret_day in it, and its days that match. */
static struct month month_at(const struct cron_expr *expr, int64_t date, int *ret_day,
                             uint32_t *ret_days)
{
    struct month m;
    civil_from_days(date, &m.year, &m.month, ret_day);
    m.first_day = date - *ret_day + 1;
    bool is_allowed = is_year_allowed(expr, m.year) && expr->months >> m.month & 1;
    *ret_days = is_allowed ? matching_days(expr, &m) : 0;
    return m;
}

int64_t cron_expr_next(const struct cron_expr *expr, int64_t after_s)
{
    if (expr->never || after_s >= SEARCH_LIMIT_S)
        return NEVER;
    int64_t from = after_s < -SEARCH_LIMIT_S ? -SEARCH_LIMIT_S : after_s + 1;
    int64_t today = from / DAY_S - (from % DAY_S < 0);
    int day;
    uint32_t days;
    struct month m = month_at(expr, today, &day, &days);
    if (days >> day & 1) {
        int time = first_time_from(expr, (int)(from - today * DAY_S));
        if (time >= 0)
            return today * DAY_S + time;
    }
    uint64_t later = above(days, day);
    if (later)
        return (m.first_day + lowest(later) - 1) * DAY_S + first_time_from(expr, 0);
    /* Ends: an expression that can match does so in every 400 years, or in a listed year. */
    while (next_month(expr, &m)) {
        days = matching_days(expr, &m);
        if (days)
            return (m.first_day + lowest(days) - 1) * DAY_S + first_time_from(expr, 0);
    }
    return NEVER;
}

int64_t cron_expr_prev(const struct cron_expr *expr, int64_t before_s)
{
    if (expr->never || before_s <= -SEARCH_LIMIT_S)
        return NEVER_BEFORE;
    int64_t until = before_s > SEARCH_LIMIT_S ? SEARCH_LIMIT_S : before_s - 1;
    int64_t today = until / DAY_S - (until % DAY_S < 0);
    int day;
    uint32_t days;
    struct month m = month_at(expr, today, &day, &days);
    if (days >> day & 1) {
        int time = last_time_until(expr, (int)(until - today * DAY_S));
        if (time >= 0)
            return today * DAY_S + time;
    }
    uint64_t earlier = below(days, day);
    if (earlier)
        return (m.first_day + highest(earlier) - 1) * DAY_S + last_time_until(expr, DAY_S - 1);
    while (previous_month(expr, &m)) {
        days = matching_days(expr, &m);
        if (days)
            return (m.first_day + highest(days) - 1) * DAY_S + last_time_until(expr, DAY_S - 1);
    }
    return NEVER_BEFORE;
}
