/* The whole of an expression: splits it into fields, reads each, and draws the conclusions that
 * searching relies on. */
#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "cron/cron_expr.h"
#include "cron/cron_field.h"

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

static enum status check_count(const struct cron_dialect *dialect, int count,
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
        return parse_fail(reterr, column, "the schedule is empty");
    if (dialect->min_fields == dialect->max_fields)
        return parse_fail(reterr, column, "expected %d fields, found %d", dialect->min_fields,
                          count);
    return parse_fail(reterr, column, "expected %d %s %d fields, found %d", dialect->min_fields,
                      dialect->max_fields - dialect->min_fields > 1 ? "to" : "or",
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

/* Does some day match in the years that start on this weekday? There are 14 kinds of years, and all
 * of them come in every calendar cycle. */
static bool year_kind_matches(const struct cron_expr *expr, bool leap, int first_weekday)
{
    /* Weekday of each month's first day, counted from that of January. */
    static const uint8_t offsets[2][13] = {
        {0, 0, 3, 3, 6, 1, 4, 6, 2, 5, 0, 3, 5},
        {0, 0, 3, 4, 0, 2, 5, 0, 3, 6, 1, 4, 6},
    };
    for (unsigned rest = expr->months; rest; rest &= rest - 1) {
        int month = __builtin_ctz(rest);
        int weekday = (first_weekday + offsets[leap][month]) % 7;
        if (cron_expr_month_days(expr, weekday, civil_month_days(leap ? 2000 : 2001, month)))
            return true;
    }
    return false;
}

static bool some_year_matches(const struct cron_expr *expr, bool leap)
{
    for (int weekday = 0; weekday < 7; weekday++) {
        if (year_kind_matches(expr, leap, weekday))
            return true;
    }
    return false;
}

/* The kinds of years in which some day matches, for each weekday of January 1st. */
struct year_kinds {
    bool matches[2][7]; /* [is leap][weekday] */
};

static struct year_kinds matching_kinds(const struct cron_expr *expr)
{
    struct year_kinds kinds;
    for (int weekday = 0; weekday < 7; weekday++) {
        kinds.matches[false][weekday] = year_kind_matches(expr, false, weekday);
        kinds.matches[true][weekday] = year_kind_matches(expr, true, weekday);
    }
    return kinds;
}

static bool year_matches(const struct year_kinds *kinds, int64_t year)
{
    return kinds->matches[civil_is_leap(year)][civil_weekday(civil_to_days(year, 1, 1))];
}

/* Drops listed years in which no day matches, so that a search never visits them. */
static enum status keep_years(struct cron_expr *expr, const struct cron_years *listed)
{
    struct year_kinds kinds = matching_kinds(expr);
    int64_t first = cron_years_from(listed, YEAR_MIN);
    int64_t last = cron_years_until(listed, YEAR_MAX);
    int64_t first_match = first, last_match = last;
    while (first_match <= last && !year_matches(&kinds, first_match))
        first_match = cron_years_from(listed, first_match + 1);
    while (last_match >= first && !year_matches(&kinds, last_match))
        last_match = cron_years_until(listed, last_match - 1);
    expr->never = first_match > last;
    if (!expr->never) { /* else keep the list as it was given, to show it */
        first = first_match;
        last = last_match;
    }
    expr->years = cron_years_new((int)first, (int)last);
    if (!expr->years)
        return E_NOMEM;
    for (int64_t year = first; year <= last; year = cron_years_from(listed, year + 1)) {
        if (expr->never || year_matches(&kinds, year))
            cron_years_add(expr->years, (int)year);
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
    expr->leap_only = !some_year_matches(expr, false);
    expr->never = expr->leap_only && !some_year_matches(expr, true);
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

/* The state of parsing one expression. */
struct parsing {
    struct cron_expr expr;
    struct cron_years *listed; /* NULL: no year field, or a plain star */
    bool both_days;            /* a leading '+' */
    int day, weekday;          /* where these fields begin */
    bool day_question, weekday_question;
};

static enum status parse_field(struct parsing *p, struct cron_field_source source,
                               struct parse_error *reterr)
{
    struct cron_field_set set = {0};
    if (source.field == CRON_WEEKDAY && source.text[source.begin] == '+' &&
        source.dialect->features & CRON_HAS_AND) {
        p->both_days = true;
        p->expr.notes |= CRON_NOTE_BOTH_DAYS;
        if (++source.begin == source.end)
            return parse_fail(reterr, source.end + 1, "a day of week is missing after '+'");
    }
    if (source.field == CRON_YEAR) {
        if (source.end - source.begin == 1 && source.text[source.begin] == '*')
            return OK;
        set.years = p->listed = cron_years_new(YEAR_MIN, YEAR_MAX);
        if (!p->listed)
            return E_NOMEM;
    }
    enum status st = cron_field_parse(&source, &set, reterr);
    if (st != OK)
        return st;
    if (source.field == CRON_DAY) {
        p->day = source.begin;
        p->day_question = set.question;
    }
    if (source.field == CRON_WEEKDAY) {
        p->weekday = source.begin;
        p->weekday_question = set.question;
    }
    store_field(&p->expr, source.field, &set);
    return OK;
}

static enum status check_questions(const struct parsing *p, const struct cron_dialect *dialect,
                                   struct parse_error *reterr)
{
    if (!(dialect->features & CRON_ONE_QUESTION) || p->day_question != p->weekday_question)
        return OK;
    return parse_fail(reterr, (p->day_question ? p->weekday : p->day) + 1,
                      "%s wants '?' in one of day of month and day of week, and in one only",
                      dialect->title);
}

enum status cron_expr_parse(struct cron_expr *ret, const char *text, enum cron_profile profile,
                            const struct cron_seed *seed, struct parse_error *reterr)
{
    const struct cron_dialect *dialect = cron_dialect(profile);
    struct parsing p = {.expr = {.seconds = 1}};
    struct word words[CRON_FIELDS + 1] = {0};
    int count = split(text, words, CRON_FIELDS + 1);
    enum status st = check_count(dialect, count, words, reterr);
    for (int place = 0; st == OK && place < count; place++) {
        struct cron_field_source source = {
            .text = text,
            .begin = words[place].begin,
            .end = words[place].end,
            .field = field_at(dialect, count, place),
            .field_count = count,
            .dialect = dialect,
            .seed = seed,
        };
        st = parse_field(&p, source, reterr);
    }
    if (st == OK)
        st = check_questions(&p, dialect, reterr);
    if (st == OK && p.listed && !restricts_years(p.listed)) {
        free(p.listed);
        p.listed = NULL;
    }
    if (st == OK)
        st = conclude(&p.expr, p.listed, p.both_days, dialect);
    if (st == OK)
        *ret = p.expr;
    free(p.listed);
    return st;
}

void cron_expr_release(struct cron_expr *expr)
{
    free(expr->years);
    expr->years = NULL;
}
