/* The whole of an expression: splits it into fields, reads each, and draws the conclusions that
 * searching relies on. */
#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "cron_expr.h"
#include "cron_field.h"

struct word {
    int begin, end;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Fills words[0..max) and returns how many there are, which may be more than max. */
static int split(const char *text, struct word *words, int max)
{
    int count = 0;
    for (int at = 0;;) {
        while (is_space(text[at]))
            at++;
        if (!text[at])
            return count;
        int begin = at;
        while (text[at] && !is_space(text[at]))
            at++;
        if (count < max)
            words[count] = (struct word){begin, at};
        count++;
    }
}

/* Which field comes at which place. */
static enum cron_field field_at(const struct cron_dialect *dialect, int count, int place)
{
    bool seconds_first = count == 7 || (count == 6 && !(dialect->features & CRON_YEAR_SIXTH));
    return (enum cron_field)(place + (seconds_first ? 0 : 1));
}

static enum status check_count(const struct cron_dialect *dialect, const char *text, int count,
                               const struct word *words, struct parse_error *reterr)
{
    if (count >= dialect->min_fields && count <= dialect->max_fields)
        return OK;
    int column = 1;
    if (count > dialect->max_fields)
        column = words[dialect->max_fields].begin + 1;
    else if (count > 0)
        column = words[count - 1].end + 1;
    if (count == 0)
        return parse_fail(reterr, column,
                          text[0] ? "the schedule is blank" : "the schedule is empty");
    if (dialect->min_fields == dialect->max_fields)
        return parse_fail(reterr, column, "expected %d fields, found %d", dialect->min_fields,
                          count);
    return parse_fail(reterr, column, "expected %d to %d fields, found %d", dialect->min_fields,
                      dialect->max_fields, count);
}

static void store_bits(struct cron_expr *expr, enum cron_field field, uint64_t bits)
{
    switch (field) {
    case CRON_SECOND:
        expr->seconds = bits;
        break;
    case CRON_MINUTE:
        expr->minutes = bits;
        break;
    case CRON_HOUR:
        expr->hours = (uint32_t)bits;
        break;
    case CRON_DAY:
        expr->days = (uint32_t)bits;
        break;
    case CRON_MONTH:
        expr->months = (uint16_t)bits;
        break;
    case CRON_WEEKDAY:
        expr->weekdays = (uint8_t)bits;
        break;
    case CRON_YEAR:
    case CRON_FIELDS:
        break;
    }
}

static void store_field(struct cron_expr *expr, enum cron_field field,
                        const struct cron_field_set *set)
{
    store_bits(expr, field, set->bits);
    if (field == CRON_DAY) {
        expr->days_to_last = set->days_to_last;
        expr->workdays = set->workdays;
        expr->last_workday = set->last_workday;
    }
    if (field == CRON_WEEKDAY) {
        memcpy(expr->nth, set->nth, sizeof(expr->nth));
        memcpy(expr->nth_last, set->nth_last, sizeof(expr->nth_last));
    }
    if (set->star)
        expr->stars |= (uint8_t)(1 << field);
    expr->notes |= (uint8_t)set->notes;
}

static bool any(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i])
            return true;
    }
    return false;
}

static bool month_can_match(const struct cron_expr *expr, int length)
{
    for (int weekday = 0; weekday < 7; weekday++) {
        if (cron_expr_month_days(expr, weekday, length))
            return true;
    }
    return false;
}

/* Is there a matching day in some year, whatever the year is? Every month starts on every weekday
 * within a calendar cycle, February in leap years too. */
static bool some_year_matches(const struct cron_expr *expr)
{
    for (int month = 1; month <= 12; month++) {
        if (!(expr->months >> month & 1))
            continue;
        if (month_can_match(expr, civil_month_days(2000, month)))
            return true;
        if (month == 2 && month_can_match(expr, 28))
            return true;
    }
    return false;
}

static bool year_matches(const struct cron_expr *expr, int year)
{
    for (int month = 1; month <= 12; month++) {
        if (expr->months >> month & 1 &&
            cron_expr_month_days(expr, civil_weekday(civil_to_days(year, month, 1)),
                                 civil_month_days(year, month)))
            return true;
    }
    return false;
}

/* Keeps of the listed years those in which some day matches, so that a search never visits a year
 * in vain. */
static enum status keep_years(struct cron_expr *expr, const struct cron_years *listed)
{
    int first = 0, last = 0;
    for (int64_t year = cron_years_from(listed, YEAR_MIN); year != INT64_MAX;
         year = cron_years_from(listed, year + 1)) {
        if (!year_matches(expr, (int)year))
            continue;
        first = first ? first : (int)year;
        last = (int)year;
    }
    expr->never = !first;
    if (!first) { /* nothing left: keep the list as it was given, to show it */
        first = (int)cron_years_from(listed, YEAR_MIN);
        last = (int)cron_years_until(listed, YEAR_MAX);
    }
    expr->years = cron_years_new(first, last);
    if (!expr->years)
        return E_NOMEM;
    for (int year = first; year <= last; year++) {
        if (cron_years_has(listed, year) && (expr->never || year_matches(expr, year)))
            cron_years_add(expr->years, year);
    }
    return OK;
}

static enum status conclude(struct cron_expr *expr, const struct cron_years *listed, bool both_days,
                            const struct cron_dialect *dialect)
{
    bool day_star = expr->stars >> CRON_DAY & 1, weekday_star = expr->stars >> CRON_WEEKDAY & 1;
    expr->either_day =
        !day_star && !weekday_star && !both_days && !(dialect->features & CRON_ALWAYS_AND);
    expr->special_days = expr->days_to_last || expr->workdays || expr->last_workday;
    expr->nth_days = any(expr->nth, 5) || any(expr->nth_last, 5);
    const unsigned time_stars = 1 << CRON_SECOND | 1 << CRON_MINUTE | 1 << CRON_HOUR;
    expr->fixed = !(expr->stars & time_stars) && expr->seconds != cron_field_all(CRON_SECOND) &&
                  expr->minutes != cron_field_all(CRON_MINUTE) &&
                  expr->hours != cron_field_all(CRON_HOUR);
    expr->never = !some_year_matches(expr);
    return listed ? keep_years(expr, listed) : OK;
}

/* Does the list leave any year out? */
static bool restricts_years(const struct cron_years *listed)
{
    for (int year = YEAR_MIN; year <= YEAR_MAX; year++) {
        if (!cron_years_has(listed, year))
            return true;
    }
    return false;
}

enum status cron_expr_parse(struct cron_expr *ret, const char *text, enum cron_profile profile,
                            const struct cron_seed *seed, struct parse_error *reterr)
{
    const struct cron_dialect *dialect = cron_dialect(profile);
    struct cron_expr expr = {.seconds = 1};
    struct cron_years *listed = NULL;
    struct word words[CRON_FIELDS + 1] = {0};
    bool both_days = false;
    int questions = 0;
    int count = split(text, words, CRON_FIELDS + 1);
    enum status st = check_count(dialect, text, count, words, reterr);
    for (int place = 0; st == OK && place < count; place++) {
        struct cron_field_set set = {0};
        struct cron_field_source source = {
            .text = text,
            .begin = words[place].begin,
            .end = words[place].end,
            .field = field_at(dialect, count, place),
            .field_count = count,
            .dialect = dialect,
            .seed = seed,
        };
        if (source.field == CRON_WEEKDAY && text[source.begin] == '+' &&
            dialect->features & CRON_HAS_AND) {
            both_days = true;
            expr.notes |= CRON_NOTE_BOTH_DAYS;
            source.begin++;
        }
        if (source.field == CRON_YEAR) {
            listed = cron_years_new(YEAR_MIN, YEAR_MAX);
            if (!listed)
                return E_NOMEM;
            set.years = listed;
        }
        st = cron_field_parse(&source, &set, reterr);
        if (st != OK)
            goto out;
        questions += set.question;
        store_field(&expr, source.field, &set);
    }
    if (st == OK && dialect->features & CRON_ONE_QUESTION && questions != 1)
        st = parse_fail(reterr, words[count - 1].begin + 1,
                        "%s wants '?' in one of day of month and day of week, and only there",
                        dialect->title);
    if (st == OK)
        st = conclude(&expr, listed && restricts_years(listed) ? listed : NULL, both_days, dialect);
    if (st == OK)
        *ret = expr;
out:
    free(listed);
    return st;
}

void cron_expr_release(struct cron_expr *expr)
{
    free(expr->years);
    expr->years = NULL;
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
           a->never == b->never && cron_years_equal(a->years, b->years);
}
