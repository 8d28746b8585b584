#include "calendars.h"

#include "window/held.h"

enum {
    JUMPS_MAX = 10000, /* from an excluded instant to the end of its date, window or zone's span */
    TRIES_MAX = 2000,  /* ticks that turn out to be excluded */
};

static bool is_required(const struct calendars *calendars, const struct zone *zone, int64_t at_s)
{
    size_t end = calendars->count + calendars->only_count;
    for (size_t i = calendars->count; i < end; i++) {
        if (calendar_holds(calendars->items[i], zone, at_s))
            return true;
    }
    return !calendars->only_count;
}

/* A stretch of time around an instant which the calendar excludes: nothing in it is allowed. */
static struct held_stretch excluded_stretch(const struct calendars *calendars, size_t which,
                                            const struct zone *zone, int64_t at_s)
{
    if (which < calendars->count)
        return calendar_stretch(calendars->items[which], zone, at_s);
    struct held_stretch all = {INT64_MIN, INT64_MAX, false};
    for (size_t i = 0; i < calendars->only_count; i++) {
        struct held_stretch one = calendar_stretch(calendars->items[which + i], zone, at_s);
        all.from_s = one.from_s > all.from_s ? one.from_s : all.from_s;
        all.to_s = one.to_s < all.to_s ? one.to_s : all.to_s;
    }
    return all;
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
    size_t i = 0;
    while (i < calendars->count && !calendar_holds(calendars->items[i], zone, at_s))
        i++;
    return i == calendars->count && is_required(calendars, zone, at_s) ? CALENDARS_FREE : i;
}

int64_t calendars_free_from(const struct calendars *calendars, const struct zone *zone,
                            int64_t at_s)
{
    for (int i = 0; i < JUMPS_MAX && at_s != INT64_MAX; i++) {
        size_t which = calendars_which(calendars, zone, at_s);
        if (which == CALENDARS_FREE)
            return at_s;
        at_s = excluded_stretch(calendars, which, zone, at_s).to_s;
    }
    return NEVER;
}

/* The same backward: the last instant at or before `at_s`, or NEVER_BEFORE. */
static int64_t free_until(const struct calendars *calendars, const struct zone *zone, int64_t at_s)
{
    for (int i = 0; i < JUMPS_MAX; i++) {
        size_t which = calendars_which(calendars, zone, at_s);
        if (which == CALENDARS_FREE)
            return at_s;
        int64_t from_s = excluded_stretch(calendars, which, zone, at_s).from_s;
        if (from_s == INT64_MIN)
            break;
        at_s = from_s - 1;
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
