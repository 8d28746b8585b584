#include "civil.h"

/* Years are counted from March, so that the leap day is the last day of a year and month lengths
 * follow one linear formula; eras are cycles of 400 years. */

bool civil_is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int civil_month_days(int64_t year, int month)
{
    if (month == 2)
        return civil_is_leap(year) ? 29 : 28;
    return 30 + ((month + (month >> 3)) & 1);
}

int64_t civil_to_days(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - (CYCLE_YEARS - 1)) / CYCLE_YEARS;
    unsigned year_of_era = (unsigned)(year - era * CYCLE_YEARS);
    unsigned day_of_year =
        (153 * (unsigned)(month + (month > 2 ? -3 : 9)) + 2) / 5 + (unsigned)day - 1;
    unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * CYCLE_DAYS + (int64_t)day_of_era - 719468; /* 0000-03-01 to 1970-01-01 */
}

void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - (CYCLE_DAYS - 1)) / CYCLE_DAYS;
    unsigned day_of_era = (unsigned)(days - era * CYCLE_DAYS);
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned month_from_march = (5 * day_of_year + 2) / 153;
    *ret_day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    *ret_month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    *ret_year = (int64_t)year_of_era + era * CYCLE_YEARS + (*ret_month <= 2);
}

int civil_weekday(int64_t days)
{
    int64_t weekday = (days + 4) % 7; /* 1970-01-01 was a Thursday */
    return (int)(weekday < 0 ? weekday + 7 : weekday);
}

int64_t civil_to_seconds(const struct civil *civil)
{
    return civil_to_days(civil->year, civil->month, civil->day) * DAY_S + civil->hour * 3600 +
           civil->minute * 60 + civil->second;
}

struct civil civil_from_seconds(int64_t seconds)
{
    struct civil civil;
    int64_t days = seconds / DAY_S - (seconds % DAY_S < 0);
    int second_of_day = (int)(seconds - days * DAY_S);
    civil_from_days(days, &civil.year, &civil.month, &civil.day);
    civil.hour = second_of_day / 3600;
    civil.minute = second_of_day / 60 % 60;
    civil.second = second_of_day % 60;
    civil.weekday = civil_weekday(days);
    return civil;
}
