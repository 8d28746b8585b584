/* How dialects of cron differ, as a table; for cron_parse.c and schedule.c. */
#ifndef PEAL_CRON_PROFILE_H
#define PEAL_CRON_PROFILE_H

#include <stdbool.h>

#include "cron/cron_expr.h"

/* What a dialect accepts beyond numbers, lists, ranges and steps. */
enum cron_feature {
    CRON_HAS_HASH = 1 << 0,               /* H */
    CRON_HAS_RANDOM = 1 << 1,             /* ~ and R */
    CRON_HAS_QUESTION = 1 << 2,           /* ? */
    CRON_HAS_LAST = 1 << 3,               /* L, W, # */
    CRON_HAS_AND = 1 << 4,                /* a leading + */
    CRON_HAS_WRAP = 1 << 5,               /* 22-2 */
    CRON_HAS_OPEN_STEP = 1 << 6,          /* 5/15 */
    CRON_HAS_ZONE = 1 << 7,               /* CRON_TZ= */
    CRON_HAS_MACROS = 1 << 8,             /* @daily */
    CRON_HAS_INTERVALS = 1 << 9,          /* @every */
    CRON_HAS_OWN_MACROS = 1 << 10,        /* @reboot, @manual, @after, @at, @minutely, @secondly */
    CRON_STEP_IS_STAR = 1 << 11,          /* a day field with a step over a star takes the AND */
    CRON_ALWAYS_AND = 1 << 12,            /* both day fields must match */
    CRON_ONE_QUESTION = 1 << 13,          /* exactly one day field is ? */
    CRON_BARE_LAST_IS_SATURDAY = 1 << 14, /* L in day of week */
    CRON_SUNDAY_IS_1 = 1 << 15,           /* weekdays are 1-7 from Sunday */
    CRON_YEAR_SIXTH = 1 << 16,            /* minute first, year last */
    CRON_QUESTION_ANYWHERE = 1 << 17,     /* ? is * in every field */
};

struct cron_dialect {
    const char *name;  /* as in `--profile` */
    const char *title; /* as in messages */
    int min_fields, max_fields;
    int weekday_max;
    int year_max;
    unsigned features;
};

const struct cron_dialect *cron_dialect(enum cron_profile profile);

#endif
