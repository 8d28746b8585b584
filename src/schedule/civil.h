/* Proleptic Gregorian calendar arithmetic on 64-bit days and seconds. Pure. */
#ifndef PEAL_CIVIL_H
#define PEAL_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

enum {
    DAY_S = 86400,
    CYCLE_YEARS = 400,   /* the calendar repeats after 400 years ... */
    CYCLE_DAYS = 146097, /* ... which are a whole number of weeks */
};
#define CYCLE_S ((int64_t)CYCLE_DAYS * DAY_S)

/* A broken-down local time. */
struct civil {
    int64_t year;
    int month; /* 1-12 */
    int day;   /* 1-31 */
    int hour, minute, second;
    int weekday; /* 0 = Sunday */
};

bool civil_is_leap(int64_t year);
int civil_month_days(int64_t year, int month);

/* Days since 1970-01-01 of a date, and back. */
int64_t civil_to_days(int64_t year, int month, int day);
void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);

/* 0 = Sunday, for any day number. */
int civil_weekday(int64_t days);

/* Seconds since 1970-01-01 00:00:00 of the same clock, and back. */
int64_t civil_to_seconds(const struct civil *civil);
struct civil civil_from_seconds(int64_t seconds);

#endif
