#include "calendars.h"

#include "civil.h"

enum {
    JUMPS_MAX = 10000, /* from an excluded date to the end of its range, or of the zone's span */
    TRIES_MAX = 2000,  /* ticks that turn out to be excluded */
};

static int64_t local_day(const struct zone_span *span, int64_t at_s)
{
    int64_t local_s = at_s + span->offset_s;
    return local_s / DAY_S - (local_s % DAY_S < 0);
}

static bool is_required_day(const struct calendars *calendars, int64_t day)
{
    size_t end = calendars->count + calendars->only_count;
    for (size_t i = calendars->count; i < end; i++) {
        if (calendar_has(calendars->items[i], day))
            return true;
    }
    return !calendars->only_count;
}

static size_t which_has(const struct calendars *calendars, int64_t day)
{
    size_t i = 0;
    while (i < calendars->count && !calendar_has(calendars->items[i], day))
        i++;
    return i == calendars->count && is_required_day(calendars, day) ? CALENDARS_FREE : i;
}

/* The first day at or after this one, or the last at or before it, that the calendar which excludes
 * it allows. */
static int64_t next_allowed(const struct calendars *calendars, size_t which, int64_t day)
{
    int64_t first = NEVER;
    if (which < calendars->count)
        return calendar_free_from(calendars->items[which], day);
    for (size_t i = 0; i < calendars->only_count; i++) {
        int64_t held = calendar_held_from(calendars->items[which + i], day);
        first = held < first ? held : first;
    }
    return first;
}

static int64_t last_allowed(const struct calendars *calendars, size_t which, int64_t day)
{
    int64_t last = NEVER_BEFORE;
    if (which < calendars->count)
        return calendar_free_until(calendars->items[which], day);
    for (size_t i = 0; i < calendars->only_count; i++) {
        int64_t held = calendar_held_until(calendars->items[which + i], day);
        last = held > last ? held : last;
    }
    return last;
}

bool calendars_matter(const struct calendars *calendars)
{
    return calendars->count || calendars->only_count;
}

struct calendars calendars_alone(const struct calendars *calendars, size_t which)
{
    if (which < calendars->count)
        return (struct calendars){&calendars->items[which], 1, 0};
    return (struct calendars){&calendars->items[calendars->count], 0, calendars->only_count};
}

size_t calendars_which(const struct calendars *calendars, const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span_at(zone, at_s);
    return which_has(calendars, local_day(&span, at_s));
}

/* After a transition of the zone the date is looked up again: a clock that goes back can repeat the
 * day before. */
int64_t calendars_free_from(const struct calendars *calendars, const struct zone *zone,
                            int64_t at_s)
{
    for (int i = 0; i < JUMPS_MAX; i++) {
        struct zone_span span = zone_span_at(zone, at_s);
        int64_t day = local_day(&span, at_s);
        size_t which = which_has(calendars, day);
        if (which == CALENDARS_FREE)
            return at_s;
        int64_t free_day = next_allowed(calendars, which, day);
        if (free_day == NEVER)
            return NEVER;
        int64_t free_s = free_day * DAY_S - span.offset_s;
        at_s = free_s < span.end_s ? free_s : span.end_s;
    }
    return NEVER;
}

/* The same backward: the last instant at or before `at_s`, or NEVER_BEFORE. */
static int64_t free_until(const struct calendars *calendars, const struct zone *zone, int64_t at_s)
{
    for (int i = 0; i < JUMPS_MAX; i++) {
        struct zone_span span = zone_span_at(zone, at_s);
        int64_t day = local_day(&span, at_s);
        size_t which = which_has(calendars, day);
        if (which == CALENDARS_FREE)
            return at_s;
        int64_t free_day = last_allowed(calendars, which, day);
        if (free_day == NEVER_BEFORE)
            return NEVER_BEFORE;
        int64_t free_s = (free_day + 1) * DAY_S - span.offset_s - 1;
        at_s = free_s >= span.start_s ? free_s : span.start_s - 1;
    }
    return NEVER_BEFORE;
}

/* ---- one schedule ---- */

/* `find` is schedule_next, or schedule_next_after. */
static int64_t next_free(const struct schedule *schedule, const struct calendars *calendars,
                         int64_t after_s, int64_t (*find)(const struct schedule *, int64_t))
{
    int64_t pause_s = find == schedule_next_after ? schedule_interval(schedule) : 0;
    for (int i = 0; i < TRIES_MAX; i++) {
        int64_t tick_s = find(schedule, after_s);
        if (tick_s == NEVER || !calendars_matter(calendars))
            return tick_s;
        int64_t free_s = calendars_free_from(calendars, schedule_zone(schedule), tick_s);
        if (free_s == tick_s || free_s == NEVER)
            return free_s;
        after_s = pause_s ? tick_s + (free_s - tick_s - 1) / pause_s * pause_s : free_s - 1;
    }
    return NEVER;
}

int64_t schedule_next_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t after_s)
{
    return next_free(schedule, calendars, after_s, schedule_next);
}

int64_t schedule_prev_free(const struct schedule *schedule, const struct calendars *calendars,
                           int64_t before_s)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        int64_t tick_s = schedule_prev(schedule, before_s);
        if (tick_s == NEVER_BEFORE || !calendars_matter(calendars))
            return tick_s;
        int64_t free_s = free_until(calendars, schedule_zone(schedule), tick_s);
        if (free_s == tick_s || free_s == NEVER_BEFORE)
            return free_s;
        before_s = free_s + 1;
    }
    return NEVER_BEFORE;
}

int64_t schedule_next_after_free(const struct schedule *schedule, const struct calendars *calendars,
                                 int64_t ended_s)
{
    return next_free(schedule, calendars, ended_s, schedule_next_after);
}

/* ---- several ---- */

int64_t schedule_set_next_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t after_s)
{
    int64_t first_s = NEVER;
    for (size_t i = 0; i < set->count; i++) {
        int64_t tick_s = schedule_next_free(set->items[i], calendars, after_s);
        first_s = tick_s < first_s ? tick_s : first_s;
    }
    return first_s;
}

int64_t schedule_set_prev_free(const struct schedule_set *set, const struct calendars *calendars,
                               int64_t before_s)
{
    int64_t last_s = NEVER_BEFORE;
    for (size_t i = 0; i < set->count; i++) {
        int64_t tick_s = schedule_prev_free(set->items[i], calendars, before_s);
        last_s = tick_s > last_s ? tick_s : last_s;
    }
    return last_s;
}
