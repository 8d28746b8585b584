#include "systemd/calendar_print.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "systemd/timer_calendar.h"

enum { EVERY_DAY = 0xfe, DAYS_ALL = -2, NEAREST_MAX = 27 };

/* Days of a month, or from its end, that are one of these weekdays too. */
struct day_rule {
    bool is_from_end; /* bit n of `days`: the nth from the last */
    uint32_t days;
    uint8_t weekdays; /* bits 1-7 from Monday */
};

struct rules {
    struct day_rule items[CALENDAR_EVENTS_MAX];
    size_t count;
    const char *why; /* systemd lacks one of them */
};

static const struct day_rule any_day = {false, (uint32_t)DAYS_ALL, EVERY_DAY};

static void add_rule(struct rules *rules, struct day_rule rule)
{
    if (!rule.days || !rule.weekdays)
        return;
    if (rules->count == CALENDAR_EVENTS_MAX)
        rules->why = "it would take too many calendar events";
    else
        rules->items[rules->count++] = rule;
}

/* Bits 0-6 from Sunday as bits 1-7 from Monday. */
static uint8_t from_monday(uint8_t weekdays)
{
    return (uint8_t)((weekdays & 0x7e) | (weekdays & 1) << 7);
}

/* The Monday to Friday nearest to a day: itself, the Friday before or the Monday after it. */
static void add_nearest(struct rules *rules, int day)
{
    enum { MONDAY = 1 << 1, FRIDAY = 1 << 5, WORKDAYS = 0x3e };
    if (day > NEAREST_MAX) {
        rules->why = "systemd can't say which workday is nearest to the end of a month";
        return;
    }
    add_rule(rules, (struct day_rule){false, UINT32_C(1) << day, WORKDAYS});
    if (day > 1)
        add_rule(rules, (struct day_rule){false, UINT32_C(1) << (day - 1), FRIDAY});
    else
        add_rule(rules, (struct day_rule){false, UINT32_C(1) << 3, MONDAY});
    add_rule(rules, (struct day_rule){false, UINT32_C(1) << (day + 1), MONDAY});
}

static void add_month_days(const struct cron_expr *expr, struct rules *rules)
{
    enum { FRIDAY = 1 << 5, WORKDAYS = 0x3e, LAST_FAR = 28 };
    add_rule(rules, (struct day_rule){false, expr->days, EVERY_DAY});
    if (expr->days_to_last >> LAST_FAR)
        rules->why = "systemd counts 28 days from the end of a month at most";
    add_rule(rules, (struct day_rule){true, expr->days_to_last << 1, EVERY_DAY});
    for (int day = 1; day <= 31; day++) {
        if (expr->workdays >> day & 1)
            add_nearest(rules, day);
    }
    if (expr->last_workday) {
        add_rule(rules, (struct day_rule){true, 1 << 1, WORKDAYS});
        add_rule(rules, (struct day_rule){true, 1 << 2, FRIDAY});
        add_rule(rules, (struct day_rule){true, 1 << 3, FRIDAY});
    }
}

/* The seven days in which the (i+1)th of each weekday lies. */
static uint32_t week_of(int i)
{
    return (uint32_t)((UINT64_C(0x7f) << (7 * i + 1)) & UINT32_MAX);
}

static void add_week_days(const struct cron_expr *expr, struct rules *rules)
{
    enum { FIFTH = 4 };
    add_rule(rules, (struct day_rule){false, (uint32_t)DAYS_ALL, from_monday(expr->weekdays)});
    for (int i = 0; i <= FIFTH; i++) {
        add_rule(rules, (struct day_rule){false, week_of(i), from_monday(expr->nth[i])});
        if (i == FIFTH && expr->nth_last[i])
            rules->why = "systemd can't count five weeks from the end of a month";
        else
            add_rule(rules, (struct day_rule){true, week_of(i), from_monday(expr->nth_last[i])});
    }
}

/* What is in both. */
static void add_both(struct rules *rules, const struct day_rule *a, const struct day_rule *b)
{
    uint8_t weekdays = a->weekdays & b->weekdays;
    bool is_all = !a->is_from_end && a->days == any_day.days;
    if (is_all || (!b->is_from_end && b->days == any_day.days)) {
        const struct day_rule *days = is_all ? b : a;
        add_rule(rules, (struct day_rule){days->is_from_end, days->days, weekdays});
    } else if (a->is_from_end == b->is_from_end) {
        add_rule(rules, (struct day_rule){a->is_from_end, a->days & b->days, weekdays});
    } else {
        rules->why = "systemd can't count days from both ends of a month";
    }
}

static void find_rules(const struct cron_expr *expr, struct rules *ret)
{
    struct rules days = {.count = 0}, week = {.count = 0};
    add_month_days(expr, &days);
    add_week_days(expr, &week);
    ret->why = days.why ? days.why : week.why;
    if (expr->either_day) {
        for (size_t i = 0; i < days.count; i++)
            add_rule(ret, days.items[i]);
        for (size_t i = 0; i < week.count; i++)
            add_rule(ret, week.items[i]);
        return;
    }
    for (size_t i = 0; i < days.count; i++) {
        for (size_t k = 0; k < week.count; k++)
            add_both(ret, &days.items[i], &week.items[k]);
    }
}

/* ---- as text ---- */

/* "*", or values with commas and ranges. */
static void add_values(struct strbuf *out, uint64_t mask, int least, int most)
{
    bool is_first = true;
    int all = most - least + 1;
    if (__builtin_popcountll(mask) == all) {
        strbuf_addc(out, '*');
        return;
    }
    for (int value = least; value <= most; value++) {
        if (!(mask >> value & 1))
            continue;
        int last = value;
        while (last < most && (mask >> (last + 1) & 1))
            last++;
        strbuf_addf(out, "%s%02d", is_first ? "" : ",", value);
        if (last > value)
            strbuf_addf(out, "..%02d", last);
        is_first = false;
        value = last;
    }
}

static void add_weekdays(struct strbuf *out, uint8_t weekdays)
{
    static const char *const names[] = {"", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    bool is_first = true;
    if (weekdays == EVERY_DAY)
        return;
    for (int day = 1; day <= 7; day++) {
        if (!(weekdays >> day & 1))
            continue;
        strbuf_addf(out, "%s%s", is_first ? "" : ",", names[day]);
        is_first = false;
    }
    strbuf_addc(out, ' ');
}

/* systemd ends with the year 2199. */
static void add_years(struct strbuf *out, const struct cron_expr *expr)
{
    bool is_first = true;
    if (!expr->years) {
        strbuf_addc(out, '*');
        return;
    }
    for (int64_t year = cron_expr_year_from(expr, TIMER_YEAR_MIN); year <= TIMER_YEAR_MAX;
         year = cron_expr_year_from(expr, year + 1)) {
        int64_t last = year;
        while (last < TIMER_YEAR_MAX && cron_expr_year_from(expr, last + 1) == last + 1)
            last++;
        strbuf_addf(out, "%s%d", is_first ? "" : ",", (int)year);
        if (last > year)
            strbuf_addf(out, "..%d", (int)last);
        is_first = false;
        year = last;
    }
}

static enum status add_event(struct calendar_events *events, const struct cron_expr *expr,
                             const struct day_rule *rule, const char *zone)
{
    enum status st = array_grow(&events->items, events->count, sizeof(*events->items));
    if (st != OK)
        return st;
    struct strbuf *out = &events->items[events->count++];
    strbuf_init(out);
    add_weekdays(out, rule->weekdays);
    add_years(out, expr);
    strbuf_addc(out, '-');
    add_values(out, expr->months, 1, 12);
    strbuf_addc(out, rule->is_from_end ? '~' : '-');
    add_values(out, rule->days, 1, rule->is_from_end ? 28 : 31);
    strbuf_addc(out, ' ');
    add_values(out, expr->hours, 0, 23);
    strbuf_addc(out, ':');
    add_values(out, expr->minutes, 0, 59);
    strbuf_addc(out, ':');
    add_values(out, expr->seconds, 0, 59);
    strbuf_addf(out, " %s", zone);
    return strbuf_status(out);
}

void calendar_events_release(struct calendar_events *events)
{
    for (size_t i = 0; i < events->count; i++)
        strbuf_release(&events->items[i]);
    free(events->items);
    *events = (struct calendar_events){.items = NULL};
}

enum status calendar_events_of(const struct cron_expr *expr, const char *zone,
                               struct calendar_events *ret, const char **ret_why)
{
    struct rules rules = {.count = 0};
    enum status st = OK;
    if (expr->never || (expr->years && cron_expr_year_from(expr, TIMER_YEAR_MIN) > TIMER_YEAR_MAX))
        rules.why = "it never fires";
    else
        find_rules(expr, &rules);
    if (!rules.why && !rules.count)
        rules.why = "it never fires";
    *ret_why = rules.why;
    for (size_t i = 0; i < rules.count && st == OK && !rules.why; i++)
        st = add_event(ret, expr, &rules.items[i], zone);
    return st;
}
