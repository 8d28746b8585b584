#include "cron_check.h"

#include <string.h>

#include "civil.h"
#include "cron/cron_years.h"

static bool are_years_equal(const struct cron_years *a, const struct cron_years *b)
{
    if (!a || !b)
        return a == b;
    for (int64_t year = YEAR_MIN; year <= YEAR_MAX; year++) {
        if (cron_years_has(a, year) != cron_years_has(b, year))
            return false;
    }
    return true;
}

bool cron_expr_equal(const struct cron_expr *a, const struct cron_expr *b)
{
    const unsigned day_stars = 1 << CRON_DAY | 1 << CRON_WEEKDAY;
    return a->seconds == b->seconds && a->minutes == b->minutes && a->hours == b->hours &&
           a->days == b->days && a->days_to_last == b->days_to_last && a->workdays == b->workdays &&
           a->months == b->months && a->weekdays == b->weekdays &&
           memcmp(a->nth, b->nth, sizeof(a->nth)) == 0 &&
           memcmp(a->nth_last, b->nth_last, sizeof(a->nth_last)) == 0 &&
           a->last_workday == b->last_workday && a->either_day == b->either_day &&
           (a->stars & day_stars) == (b->stars & day_stars) && a->fixed == b->fixed &&
           a->never == b->never && are_years_equal(a->years, b->years);
}

bool cron_expr_matches(const struct cron_expr *expr, int64_t local_s)
{
    struct civil at = civil_from_seconds(local_s);
    int first_weekday = (at.weekday + 35 - (at.day - 1)) % 7;
    return !expr->never && (!expr->years || cron_years_has(expr->years, at.year)) &&
           expr->months >> at.month & 1 && expr->hours >> at.hour & 1 &&
           expr->minutes >> at.minute & 1 && expr->seconds >> at.second & 1 &&
           cron_expr_month_days(expr, first_weekday, civil_month_days(at.year, at.month)) >>
                   at.day &
               1;
}
