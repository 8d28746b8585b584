#include "window/held.h"

#include "civil.h"
#include "cron/cron_expr.h"

enum { JUMP_S = 2 * DAY_S };

/* ---- spans ---- */

/* The first one that ends after the second; count: none. */
static size_t span_place(const struct calendar_spans *spans, int64_t at_s)
{
    size_t from = 0, to = spans->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (spans->items[middle].to_s <= at_s)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_in_spans(const struct calendar_spans *spans, int64_t at_s)
{
    size_t place = span_place(spans, at_s);
    return place < spans->count && spans->items[place].from_s <= at_s;
}

static void narrow(struct held_stretch *stretch, int64_t from_s, int64_t to_s)
{
    stretch->from_s = from_s > stretch->from_s ? from_s : stretch->from_s;
    stretch->to_s = to_s < stretch->to_s ? to_s : stretch->to_s;
}

/* `stretch` is free: it becomes the span that holds the second, or ends where spans begin. */
static void apply_spans(struct held_stretch *stretch, const struct calendar_spans *spans,
                        int64_t at_s)
{
    size_t place = span_place(spans, at_s);
    const struct calendar_span *next = place < spans->count ? &spans->items[place] : NULL;
    if (next && next->from_s <= at_s) {
        *stretch = (struct held_stretch){next->from_s, next->to_s, true};
        return;
    }
    narrow(stretch, place ? spans->items[place - 1].to_s : INT64_MIN,
           next ? next->from_s : INT64_MAX);
}

/* ---- as the clock shows it ---- */

static int64_t day_of(int64_t local_s)
{
    return local_s / DAY_S - (local_s % DAY_S < 0);
}

/* The part of the window that starts on that day. */
static bool part_on(const struct window *window, int64_t day, struct calendar_span *ret)
{
    int64_t from_s;
    if (!window_start_on(window, day, &from_s))
        return false;
    *ret = (struct calendar_span){from_s, from_s + window->to_s - window->from_s};
    return true;
}

static bool repeats_to(const struct window *window, int64_t local_s)
{
    int64_t day = day_of(local_s);
    struct calendar_span part;
    return (part_on(window, day, &part) && local_s >= part.from_s && local_s < part.to_s) ||
           (part_on(window, day - 1, &part) && local_s < part.to_s);
}

static bool holds_local(const struct calendar *calendar, int64_t local_s)
{
    bool is_held =
        calendar_has(calendar, day_of(local_s)) || is_in_spans(&calendar->local, local_s);
    for (size_t i = 0; !is_held && i < calendar->repeat_count; i++)
        is_held = repeats_to(&calendar->windows[i], local_s);
    return is_held;
}

static int64_t midnight(int64_t day)
{
    return day == NEVER ? INT64_MAX : day == NEVER_BEFORE ? INT64_MIN : day * DAY_S;
}

static int64_t day_after(int64_t day)
{
    return day == NEVER_BEFORE ? day : day + 1;
}

/* `stretch` is free, and within a day. */
static void apply_part(struct held_stretch *stretch, const struct calendar_span *part,
                       int64_t local_s)
{
    if (part->from_s > local_s)
        narrow(stretch, INT64_MIN, part->from_s);
    else if (part->to_s <= local_s)
        narrow(stretch, part->to_s, INT64_MAX);
    else
        *stretch = (struct held_stretch){part->from_s, part->to_s, true};
}

/* Windows that come again are looked at a day at a time. */
static void apply_repeats(struct held_stretch *stretch, const struct calendar *calendar,
                          int64_t local_s)
{
    int64_t day = day_of(local_s);
    struct calendar_span part;
    if (!calendar->repeat_count)
        return;
    narrow(stretch, day * DAY_S, (day + 1) * DAY_S);
    for (size_t i = 0; i < calendar->repeat_count; i++) {
        for (int64_t start = day - 1; start <= day && !stretch->is_held; start++) {
            if (part_on(&calendar->windows[i], start, &part))
                apply_part(stretch, &part, local_s);
        }
    }
}

static struct held_stretch local_stretch(const struct calendar *calendar, int64_t local_s)
{
    int64_t day = day_of(local_s);
    if (calendar_has(calendar, day))
        return (struct held_stretch){midnight(day_after(calendar_free_until(calendar, day))),
                                     midnight(calendar_free_from(calendar, day)), true};
    struct held_stretch stretch = {midnight(day_after(calendar_held_until(calendar, day))),
                                   midnight(calendar_held_from(calendar, day)), false};
    apply_spans(&stretch, &calendar->local, local_s);
    if (!stretch.is_held)
        apply_repeats(&stretch, calendar, local_s);
    return stretch;
}

/* ---- instants ---- */

static const struct zone *zone_of(const struct calendar *calendar, const struct zone *zone)
{
    return calendar->zone ? calendar->zone : zone;
}

bool calendar_holds(const struct calendar *calendar, const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span_at(zone_of(calendar, zone), at_s);
    return holds_local(calendar, at_s + span.offset_s) || is_in_spans(&calendar->instants, at_s);
}

/* Behind a transition of the zone the clock is looked at again, except when the stretch goes on for
 * ever: no jump of a clock is longer than JUMP_S. */
static struct held_stretch in_utc(struct held_stretch local, const struct zone_span *span)
{
    int64_t offset_s = span->offset_s;
    struct held_stretch stretch = {INT64_MIN, INT64_MAX, local.is_held};
    if (local.to_s != INT64_MAX)
        narrow(&stretch, INT64_MIN, local.to_s - offset_s);
    if (local.from_s != INT64_MIN)
        narrow(&stretch, local.from_s - offset_s, INT64_MAX);
    bool is_first =
        stretch.from_s == INT64_MIN && (span->start_s == INT64_MIN || stretch.to_s == INT64_MAX ||
                                        stretch.to_s - JUMP_S > span->start_s);
    bool is_last =
        stretch.to_s == INT64_MAX && (span->end_s == INT64_MAX || stretch.from_s == INT64_MIN ||
                                      stretch.from_s + JUMP_S < span->end_s);
    narrow(&stretch, is_first ? INT64_MIN : span->start_s, is_last ? INT64_MAX : span->end_s);
    return stretch;
}

struct held_stretch calendar_stretch(const struct calendar *calendar, const struct zone *zone,
                                     int64_t at_s)
{
    struct zone_span span = zone_span_at(zone_of(calendar, zone), at_s);
    struct held_stretch stretch = in_utc(local_stretch(calendar, at_s + span.offset_s), &span);
    if (!stretch.is_held)
        apply_spans(&stretch, &calendar->instants, at_s);
    return stretch;
}

static bool window_holds(const struct window *window, int64_t at_s, int64_t local_s)
{
    if (window->kind == WINDOW_INSTANTS)
        return at_s >= window->from_s && at_s < window->to_s;
    if (window->kind == WINDOW_LOCAL)
        return local_s >= window->from_s && local_s < window->to_s;
    return repeats_to(window, local_s);
}

const struct window *calendar_window_at(const struct calendar *calendar, const struct zone *zone,
                                        int64_t at_s)
{
    struct zone_span span = zone_span_at(zone_of(calendar, zone), at_s);
    int64_t local_s = at_s + span.offset_s;
    if (calendar_has(calendar, day_of(local_s)))
        return NULL;
    for (size_t i = 0; i < calendar->window_count; i++) {
        if (window_holds(&calendar->windows[i], at_s, local_s))
            return &calendar->windows[i];
    }
    return NULL;
}
