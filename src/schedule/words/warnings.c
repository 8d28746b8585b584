#include "civil.h"
#include "cron/cron_plan.h"
#include "words/warning_facts.h"

#define HORIZON_S (INT64_C(5) * 366 * DAY_S)

enum { MAX_SHIFT_S = 3 * 3600 }; /* larger shifts are corrections, no rule applies to them */

static const char *const names[WARNINGS] = {
    [WARNING_NEVER] = "never",
    [WARNING_EITHER_DAY] = "either_day",
    [WARNING_STEP_IS_STAR] = "step_is_star",
    [WARNING_UNEVEN_STEP] = "uneven_step",
    [WARNING_SINGLE_STEP] = "single_step",
    [WARNING_OPEN_STEP] = "open_step",
    [WARNING_EVERY_SECOND] = "every_second",
    [WARNING_GAP] = "gap",
    [WARNING_FOLD] = "fold",
};

const char *warning_name(enum warning warning)
{
    return names[warning];
}

/* Are the years of the expression over at this instant? */
static bool years_over(const struct schedule *schedule, int64_t at_s)
{
    const struct cron_expr *expr = schedule_cron(schedule);
    if (!expr->years)
        return false;
    int64_t local_s = at_s + zone_span_at(schedule_zone(schedule), at_s).offset_s;
    return cron_expr_next(expr, local_s - 1) == NEVER;
}

enum never_reason warning_never_reason(const struct schedule *schedule, int64_t now_s)
{
    enum schedule_kind kind = schedule_kind(schedule);
    int64_t start_s = schedule_start(schedule), end_s = schedule_end(schedule);
    if (kind == SCHEDULE_MANUAL)
        return NEVER_NOT;
    if (kind == SCHEDULE_CRON && schedule_cron(schedule)->never)
        return NEVER_NO_SUCH_DATE;
    if (end_s != TIME_UNSET && end_s <= now_s)
        return NEVER_ENDED;
    if (kind == SCHEDULE_AFTER || kind == SCHEDULE_REBOOT)
        return NEVER_NOT;
    if (schedule_next(schedule, now_s - 1) != NEVER)
        return NEVER_NOT;
    if (kind == SCHEDULE_AT && schedule_at(schedule) < now_s)
        return NEVER_MISSED;
    int64_t from_s = start_s != TIME_UNSET && start_s > now_s ? start_s : now_s;
    if (kind == SCHEDULE_CRON && years_over(schedule, from_s))
        return NEVER_YEARS_OVER;
    return NEVER_OUTSIDE;
}

static bool in_window(const struct schedule *schedule, int64_t at_s)
{
    int64_t start_s = schedule_start(schedule), end_s = schedule_end(schedule);
    return (start_s == TIME_UNSET || at_s >= start_s) && (end_s == TIME_UNSET || at_s < end_s);
}

/* The matches in [low_s, high_s) of the local clock; false when there is none. */
static bool matches_between(const struct cron_expr *expr, int64_t low_s, int64_t high_s,
                            struct clock_jump *ret)
{
    struct clock_jump jump = {.count = 0};
    for (int64_t match = cron_expr_next(expr, low_s - 1); match < high_s;
         match = cron_expr_next(expr, match)) {
        if (!jump.count++)
            jump.first_local_s = match;
        jump.last_local_s = match;
    }
    if (!jump.count)
        return false;
    *ret = jump;
    return true;
}

/* `direction` 1: forward, a gap; -1: back, a fold. */
static bool find_jump(const struct schedule *schedule, int64_t now_s, int direction,
                      struct clock_jump *ret)
{
    if (schedule_kind(schedule) != SCHEDULE_CRON || !cron_expr_is_fixed(schedule_cron(schedule)))
        return false;
    const struct zone *zone = schedule_zone(schedule);
    struct zone_span before = zone_span_at(zone, now_s), after;
    for (; before.end_s - HORIZON_S <= now_s; before = after) {
        after = zone_span_at(zone, before.end_s);
        int shift_s = (after.offset_s - before.offset_s) * direction;
        if (shift_s <= 0 || shift_s > MAX_SHIFT_S || !in_window(schedule, after.start_s))
            continue;
        int64_t left_s = after.start_s + before.offset_s;
        int64_t resumes_s = after.start_s + after.offset_s;
        bool gap = direction > 0;
        if (matches_between(schedule_cron(schedule), gap ? left_s : resumes_s,
                            gap ? resumes_s : left_s, ret)) {
            ret->resumes_local_s = resumes_s;
            return true;
        }
    }
    return false;
}

bool warning_find_gap(const struct schedule *schedule, int64_t now_s, struct clock_jump *ret)
{
    return find_jump(schedule, now_s, 1, ret);
}

bool warning_find_fold(const struct schedule *schedule, int64_t now_s, struct clock_jump *ret)
{
    return find_jump(schedule, now_s, -1, ret);
}

static uint64_t field_mask(const struct cron_expr *expr, enum cron_field field)
{
    switch (field) {
    case CRON_SECOND:
        return expr->seconds;
    case CRON_MINUTE:
        return expr->minutes;
    case CRON_HOUR:
        return expr->hours;
    case CRON_DAY:
        return expr->special_days ? 0 : expr->days;
    case CRON_MONTH:
        return expr->months;
    case CRON_WEEKDAY:
        return expr->nth_days ? 0 : expr->weekdays;
    case CRON_YEAR:
    case CRON_FIELDS:
        break;
    }
    return 0;
}

static bool has_neighbours(uint64_t mask)
{
    return (mask & mask >> 1) != 0;
}

/* Do two matching days ever follow each other? */
static bool days_have_neighbours(const struct cron_expr *expr)
{
    for (int first_weekday = 0; first_weekday < 7; first_weekday++) {
        if (has_neighbours(cron_expr_month_days(expr, first_weekday, 31)))
            return true;
    }
    return false;
}

/* Does the end of the field's round ever meet the start of the next? Where values of the larger
 * unit are never adjacent, an uneven step can't be seen. */
static bool rounds_meet(const struct cron_expr *expr, enum cron_field field)
{
    switch (field) {
    case CRON_SECOND:
        return has_neighbours(expr->minutes);
    case CRON_MINUTE:
        return has_neighbours(expr->hours);
    case CRON_HOUR:
        return days_have_neighbours(expr);
    case CRON_DAY:
        return has_neighbours(expr->months);
    case CRON_MONTH:
        return !expr->years;
    case CRON_WEEKDAY:
    case CRON_YEAR:
    case CRON_FIELDS:
        break;
    }
    return true;
}

bool warning_find_uneven(const struct cron_expr *expr, enum cron_field field,
                         struct uneven_step *ret)
{
    static const struct {
        int min, max;
        int least; /* this many values count as steps even without a star; 0: only with a star */
    } fields[CRON_FIELDS] = {
        [CRON_SECOND] = {0, 59, 3}, [CRON_MINUTE] = {0, 59, 3}, [CRON_HOUR] = {0, 23, 3},
        [CRON_DAY] = {1, 31, 0},    [CRON_MONTH] = {1, 12, 3},  [CRON_WEEKDAY] = {0, 6, 0},
        [CRON_YEAR] = {0, 0, 0},
    };
    int min = fields[field].min, max = fields[field].max, length = max - min + 1;
    bool starred = expr->stars >> field & 1;
    uint64_t mask = field_mask(expr, field), rest = mask & (mask - 1);
    if (!rest ||
        (!starred && (!fields[field].least || __builtin_popcountll(mask) < fields[field].least)))
        return false;
    int first = __builtin_ctzll(mask), last = 63 - __builtin_clzll(mask);
    int step = __builtin_ctzll(rest) - first;
    uint64_t steps = 0;
    for (int at = first; at <= max; at += step)
        steps |= UINT64_C(1) << at;
    if (steps != mask || step == 1 || first - min >= step || length % step == 0 ||
        !rounds_meet(expr, field))
        return false;
    *ret = (struct uneven_step){starred, first, last, step, first + length - last};
    return true;
}

bool warning_find_single(const struct cron_expr *expr, enum cron_field field, int *ret)
{
    uint64_t mask = field_mask(expr, field);
    if (!(expr->stars >> field & 1) || __builtin_popcountll(mask) != 1)
        return false;
    *ret = __builtin_ctzll(mask);
    return true;
}

static unsigned step_warnings(const struct cron_expr *expr)
{
    unsigned found = 0;
    struct uneven_step uneven;
    int single;
    for (enum cron_field field = CRON_SECOND; field < CRON_YEAR; field++) {
        if (warning_find_uneven(expr, field, &uneven))
            found |= 1U << WARNING_UNEVEN_STEP;
        if (warning_find_single(expr, field, &single))
            found |= 1U << WARNING_SINGLE_STEP;
    }
    if (expr->notes & CRON_NOTE_OPEN_STEP)
        found |= 1U << WARNING_OPEN_STEP;
    return found;
}

static unsigned day_warnings(const struct cron_expr *expr)
{
    const unsigned day_stars = 1U << CRON_DAY | 1U << CRON_WEEKDAY;
    struct cron_plan plan;
    cron_plan_make(&plan, expr);
    if (plan.rule == DAYS_EITHER)
        return 1U << WARNING_EITHER_DAY;
    if (plan.rule == DAYS_BOTH && expr->stars & day_stars && !(expr->notes & CRON_NOTE_BOTH_DAYS))
        return 1U << WARNING_STEP_IS_STAR;
    return 0;
}

static bool every_second(const struct schedule *schedule)
{
    if (schedule_kind(schedule) == SCHEDULE_CRON)
        return __builtin_popcountll(schedule_cron(schedule)->seconds) == 60;
    return schedule_kind(schedule) == SCHEDULE_EVERY && schedule_interval(schedule) == 1;
}

unsigned schedule_warnings(const struct schedule *schedule, int64_t now_s)
{
    unsigned found = 0;
    struct clock_jump jump;
    if (warning_never_reason(schedule, now_s) != NEVER_NOT)
        found |= 1U << WARNING_NEVER;
    if (schedule_kind(schedule) == SCHEDULE_CRON)
        found |= step_warnings(schedule_cron(schedule)) | day_warnings(schedule_cron(schedule));
    if (every_second(schedule))
        found |= 1U << WARNING_EVERY_SECOND;
    if (warning_find_gap(schedule, now_s, &jump))
        found |= 1U << WARNING_GAP;
    if (warning_find_fold(schedule, now_s, &jump))
        found |= 1U << WARNING_FOLD;
    return found;
}
