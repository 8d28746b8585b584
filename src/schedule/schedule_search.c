/* next() and previous() through the jumps of local time.
 *
 * Local time is a list of spans of constant offset. Inside a span the expression is searched on
 * the local clock; the rules of docs/SCHEDULES.md decide what happens where two spans meet:
 *   gap   the clock jumps forward; local times in between are never shown
 *   fold  the clock jumps back; local times in between are shown twice */
#include "civil.h"
#include "schedule_internal.h"

enum {
    MAX_SHIFT_S = 3 * 3600, /* a larger shift is a correction: no rule applies to it */
    FAR_S = 48 * 3600,      /* more than any two offsets differ */
};

/* A zone's yearly rule repeats with the calendar: a schedule that is not due within one cycle, and
 * one more for the transitions that are listed before the rule, never is. A fixed time can fall
 * into a gap whenever it matches: 0 0 26 3 +SUN is always the day on which Beirut has no
 * midnight. */
#define SEARCH_SPAN_S (2 * CYCLE_S)

/* A gap at the start of the span whose skipped times are due at its end. */
static bool gap_moves(const struct schedule *schedule, const struct zone_span *span)
{
    int32_t shift = span->offset_s - span->previous_offset_s;
    return shift > 0 && shift <= MAX_SHIFT_S && cron_expr_is_fixed(&schedule->cron) &&
           schedule->dst != DST_SKIP;
}

/* A fold at the start of the span whose second pass is not due. */
static bool fold_mutes(const struct schedule *schedule, const struct zone_span *span)
{
    int32_t shift = span->previous_offset_s - span->offset_s;
    return shift > 0 && shift <= MAX_SHIFT_S && cron_expr_is_fixed(&schedule->cron) &&
           schedule->dst != DST_BOTH;
}

/* First local second of the span in which something can be due. */
static int64_t local_start(const struct schedule *schedule, const struct zone_span *span)
{
    if (span->start_s == INT64_MIN)
        return INT64_MIN;
    return span->start_s + (fold_mutes(schedule, span) ? span->previous_offset_s : span->offset_s);
}

static int64_t cron_next(const struct schedule *schedule, int64_t after_s)
{
    const struct cron_expr *expr = &schedule->cron;
    struct zone_span span = zone_span_at(schedule->zone, after_s);
    int64_t local = after_s + span.offset_s;
    int64_t start = local_start(schedule, &span);
    if (start != INT64_MIN && local < start - 1)
        local = start - 1;
    int64_t match = cron_expr_next(expr, local);
    /* `match` is the first match after `local`. It stays valid, and spans are only compared with
     * it, until a fold goes back before `local` or a gap swallows `match`. */
    while (match != NEVER && match - span.offset_s >= span.end_s) {
        bool far = match - local > FAR_S && span.end_s - (local - span.offset_s) > FAR_S;
        int64_t next_start = span.end_s;
        if (far && match - FAR_S > span.end_s)
            next_start = match - FAR_S;
        span = zone_span_at(schedule->zone, next_start);
        if (span.start_s != INT64_MIN && next_start != span.start_s)
            continue; /* jumped into the middle of a span: nothing met its start on the way */
        start = local_start(schedule, &span);
        if (match < span.start_s + span.offset_s) {
            if (gap_moves(schedule, &span))
                return span.start_s;
            if (span.start_s - after_s > SEARCH_SPAN_S)
                return NEVER;
            local = start - 1;
            match = cron_expr_next(expr, local);
        } else if (start <= local) {
            local = start - 1;
            match = cron_expr_next(expr, local);
        }
    }
    return match == NEVER ? NEVER : match - span.offset_s;
}

static int64_t cron_prev(const struct schedule *schedule, int64_t before_s)
{
    const struct cron_expr *expr = &schedule->cron;
    struct zone_span span = zone_span_at(schedule->zone, before_s - 1);
    int64_t local = before_s + span.offset_s;
    int64_t match = cron_expr_prev(expr, local);
    while (match != NEVER_BEFORE && match < local_start(schedule, &span)) {
        int64_t start = span.start_s;
        if (gap_moves(schedule, &span) && match >= start + span.previous_offset_s)
            return start;
        bool far = local - match > FAR_S && local - span.offset_s - start > FAR_S;
        if (far && match + FAR_S < start) {
            struct zone_span earlier = zone_span_at(schedule->zone, match + FAR_S);
            if (earlier.end_s < start) {
                span = earlier;
                continue;
            }
        }
        span = zone_span_at(schedule->zone, start - 1);
        int64_t end = start + span.offset_s;
        if (end > local || match >= end) {
            local = end;
            match = cron_expr_prev(expr, local);
        }
    }
    return match == NEVER_BEFORE ? NEVER_BEFORE : match - span.offset_s;
}

/* Floor of a / b for b > 0. */
static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t every_next(const struct schedule *schedule, int64_t after_s)
{
    int64_t anchor = schedule->start_s == TIME_UNSET ? 0 : schedule->start_s;
    return anchor + (divide_down(after_s - anchor, schedule->value_s) + 1) * schedule->value_s;
}

static int64_t every_prev(const struct schedule *schedule, int64_t before_s)
{
    int64_t anchor = schedule->start_s == TIME_UNSET ? 0 : schedule->start_s;
    return anchor + divide_down(before_s - 1 - anchor, schedule->value_s) * schedule->value_s;
}

int64_t schedule_next(const struct schedule *schedule, int64_t after_s)
{
    int64_t start_s = schedule->start_s == TIME_UNSET ? TIME_FIRST_S : schedule->start_s;
    int64_t end_s = schedule->end_s == TIME_UNSET ? TIME_END_S : schedule->end_s;
    int64_t tick = NEVER;
    if (after_s >= end_s - 1)
        return NEVER;
    if (after_s < start_s)
        after_s = start_s - 1;
    switch (schedule->kind) {
    case SCHEDULE_CRON:
        tick = cron_next(schedule, after_s);
        break;
    case SCHEDULE_EVERY:
        tick = every_next(schedule, after_s);
        break;
    case SCHEDULE_AT:
        tick = schedule->value_s > after_s ? schedule->value_s : NEVER;
        break;
    case SCHEDULE_AFTER:
    case SCHEDULE_REBOOT:
    case SCHEDULE_MANUAL:
        return NEVER;
    }
    return tick >= end_s ? NEVER : tick;
}

int64_t schedule_prev(const struct schedule *schedule, int64_t before_s)
{
    int64_t start_s = schedule->start_s == TIME_UNSET ? TIME_FIRST_S : schedule->start_s;
    int64_t end_s = schedule->end_s == TIME_UNSET ? TIME_END_S : schedule->end_s;
    int64_t tick = NEVER_BEFORE;
    if (before_s <= start_s)
        return NEVER_BEFORE;
    if (before_s > end_s)
        before_s = end_s;
    switch (schedule->kind) {
    case SCHEDULE_CRON:
        tick = cron_prev(schedule, before_s);
        break;
    case SCHEDULE_EVERY:
        tick = every_prev(schedule, before_s);
        break;
    case SCHEDULE_AT:
        tick = schedule->value_s < before_s ? schedule->value_s : NEVER_BEFORE;
        break;
    case SCHEDULE_AFTER:
    case SCHEDULE_REBOOT:
    case SCHEDULE_MANUAL:
        return NEVER_BEFORE;
    }
    return tick < start_s ? NEVER_BEFORE : tick;
}

int64_t schedule_next_after(const struct schedule *schedule, int64_t ended_s)
{
    if (schedule->kind != SCHEDULE_AFTER)
        return NEVER;
    if (schedule->start_s != TIME_UNSET && ended_s < schedule->start_s)
        ended_s = schedule->start_s;
    int64_t end_s = schedule->end_s == TIME_UNSET ? TIME_END_S : schedule->end_s;
    return ended_s >= end_s - schedule->value_s ? NEVER : ended_s + schedule->value_s;
}

struct tick_note schedule_tick_note(const struct schedule *schedule, int64_t tick_s)
{
    struct tick_note note = {TICK_PLAIN, 0};
    if (schedule->kind != SCHEDULE_CRON)
        return note;
    struct zone_span span = zone_span_at(schedule->zone, tick_s);
    int64_t local = tick_s + span.offset_s;
    if (tick_s == span.start_s && gap_moves(schedule, &span)) {
        int64_t skipped = cron_expr_next(&schedule->cron, tick_s + span.previous_offset_s - 1);
        if (skipped < local)
            return (struct tick_note){TICK_MOVED, skipped};
    }
    int32_t back = span.previous_offset_s - span.offset_s;
    if (span.start_s != INT64_MIN && back > 0 && back <= MAX_SHIFT_S &&
        local < span.start_s + span.previous_offset_s)
        note.kind = TICK_SECOND_PASS;
    if (span.end_s != INT64_MAX) {
        int32_t next_offset = zone_span_at(schedule->zone, span.end_s).offset_s;
        int32_t shift = span.offset_s - next_offset;
        if (shift > 0 && shift <= MAX_SHIFT_S && local >= span.end_s + next_offset)
            note.kind = TICK_FIRST_PASS;
    }
    return note;
}
