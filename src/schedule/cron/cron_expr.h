/* A cron expression, 5, 6 or 7 fields, without a time zone: it matches seconds of a local clock,
 * counted from 1970-01-01 00:00:00 of that clock. What each form means is fixed in
 * docs/SCHEDULES.md. Pure: no clock, no I/O, no globals.
 *
 * A plain value of a few machine words: copy it freely. Only cron_*.c and explain read its
 * members. */
#ifndef PEAL_CRON_EXPR_H
#define PEAL_CRON_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"
#include "strbuf.h"

#define NEVER        INT64_MAX /* no later match */
#define NEVER_BEFORE INT64_MIN /* no earlier match */

enum { YEAR_MIN = 1970, YEAR_MAX = 9999 };

enum cron_field {
    CRON_SECOND,
    CRON_MINUTE,
    CRON_HOUR,
    CRON_DAY,
    CRON_MONTH,
    CRON_WEEKDAY,
    CRON_YEAR,
    CRON_FIELDS,
};

/* Which dialect a text is written in; CRON_PEAL unless something is imported. */
enum cron_profile {
    CRON_PEAL,
    CRON_QUARTZ,
    CRON_AWS,
    CRON_JENKINS,
    CRON_K8S,
    CRON_OCPS_STRICT,
};

/* What `H` and `~` are drawn from. NULL counts as "". */
struct cron_seed {
    const char *job_name; /* H */
    const char *job_uid;  /* ~ and R */
};

/* Spellings that are accepted but deserve a word; see explain.h. */
enum cron_note {
    CRON_NOTE_OPEN_STEP = 1 << 0,   /* `a/n`: from a to the maximum */
    CRON_NOTE_SEEDED_NAME = 1 << 1, /* has an `H`: depends on the job's name */
    CRON_NOTE_SEEDED_UID = 1 << 2,  /* has a `~` or `R`: depends on the job's uid */
    CRON_NOTE_BOTH_DAYS = 1 << 3,   /* has the `+` that asks for both day fields */
};

/* Set of years, only where the expression restricts them. */
struct cron_years;

struct cron_expr {
    uint64_t seconds, minutes; /* bit n: n */
    uint32_t hours;
    uint32_t days;            /* bit d: day d of the month */
    uint32_t days_to_last;    /* bit n: the day n days before the month's last (`L`, `L-n`) */
    uint32_t workdays;        /* bit d: the Monday-Friday nearest to day d (`dW`) */
    uint16_t months;          /* bit m: month m, 1-12 */
    uint8_t weekdays;         /* bit w: every weekday w, 0 = Sunday */
    uint8_t nth[5];           /* bit w: the (i+1)th weekday w of the month (`w#n`) */
    uint8_t nth_last[5];      /* bit w: the (i+1)th weekday w from the month's end (`wL`, `w#-n`) */
    bool last_workday;        /* `LW` */
    uint8_t stars;            /* bit enum cron_field: the field has a `*` or `?` */
    bool either_day;          /* day of month OR day of week; else both must match */
    uint8_t notes;            /* enum cron_note */
    bool special_days;        /* any of days_to_last, workdays, last_workday */
    bool nth_days;            /* any of nth, nth_last */
    bool fixed;               /* seconds, minutes and hours have neither a star nor all values */
    bool never;               /* can't match in any year */
    bool leap_only;           /* can match in leap years only */
    struct cron_years *years; /* NULL: every year */
};

/* OK: *ret holds the expression; release it. E_INVALID: *reterr says where and why; columns count
 * in `text`. E_NOMEM. Neither `text` nor `seed` is kept. */
MUST_CHECK enum status cron_expr_parse(struct cron_expr *ret, const char *text,
                                       enum cron_profile profile, const struct cron_seed *seed,
                                       struct parse_error *reterr);
void cron_expr_release(struct cron_expr *expr);

/* Appends the canonical spelling in peal's own dialect, `H` and `~` resolved; parsing it again
 * gives an equal expression. */
void cron_expr_print(const struct cron_expr *expr, struct strbuf *out);

/* First match strictly after, and last match strictly before, a local second. NEVER or
 * NEVER_BEFORE when there is none. Bounded time for every input. */
int64_t cron_expr_next(const struct cron_expr *expr, int64_t after_s);
int64_t cron_expr_prev(const struct cron_expr *expr, int64_t before_s);

/* Seconds, minutes and hours are all given by number: the DST rules for fixed times apply. */
bool cron_expr_is_fixed(const struct cron_expr *expr);

/* The days of a month that match, as bits 1-31. `first_weekday` is that of the 1st. */
uint32_t cron_expr_month_days(const struct cron_expr *expr, int first_weekday, int length);

/* The nearest year at or after (before) this one that the expression allows. INT64_MAX / INT64_MIN
 * when there is none. */
int64_t cron_expr_year_from(const struct cron_expr *expr, int64_t year);
int64_t cron_expr_year_until(const struct cron_expr *expr, int64_t year);

#endif
