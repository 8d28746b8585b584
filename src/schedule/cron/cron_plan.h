/* How to describe a cron expression, independent of the language: the form that fits its times of
 * day, and how its two day fields combine. For explain_*.c and warnings. Pure. */
#ifndef PEAL_CRON_PLAN_H
#define PEAL_CRON_PLAN_H

#include "cron/number_set.h"

enum time_form {
    TIMES_LISTED, /* a few times of day: 08:05, 08:10 and 08:15 */
    TIMES_EVERY,  /* every so often, all day long, in step with the clock */
    TIMES_HOURLY, /* every hour, on the hour */
    TIMES_SPAN,   /* every so often from one time of day through another */
    TIMES_FIELDS, /* none of these: seconds of minutes of hours */
};

enum day_rule {
    DAYS_ALL,
    DAYS_OF_MONTH,
    DAYS_OF_WEEK,
    DAYS_EITHER, /* of month, or of week */
    DAYS_BOTH,   /* of month, if the weekday matches too */
};

/* Seconds of a day, `step_s` apart. first_s > last_s: through midnight. */
struct day_span {
    int first_s, last_s, step_s;
};

struct cron_plan {
    enum time_form form;
    bool with_seconds;    /* some time is not on a full minute */
    struct day_span span; /* TIMES_EVERY and TIMES_SPAN */
    struct number_set seconds, minutes, hours;
    struct shape second, minute, hour;

    enum day_rule rule;
    struct number_set days, days_to_last, workdays;
    struct shape day;
    bool only_days;        /* day of month has only plain days: no `L`, no `W` */
    bool several_of_month; /* day of month uses more than one of its forms */
    bool last_workday;
    struct number_set weekdays; /* 1 = Monday ... 7 = Sunday */
    struct shape weekday;
    uint16_t ordinals[8]; /* by weekday: bits 0-4 the first to fifth, 5-9 the last to fifth last */
    bool has_ordinals;

    struct number_set months, years;
    struct shape month, year;
};

void cron_plan_make(struct cron_plan *plan, const struct cron_expr *expr);

/* The first time of day (in seconds) at or after this one; DAY_S when there is none. */
int cron_plan_next_time(const struct cron_plan *plan, int second_of_day);

/* The expression says nothing about hours, days, months and years. */
bool cron_plan_is_plain_frequency(const struct cron_plan *plan);

/* 02:30, or 02:30:05. */
void clock_time_print(int second_of_day, bool with_seconds, struct strbuf *out);

#endif
