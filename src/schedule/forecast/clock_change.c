#include "forecast/clock_change.h"

static size_t times_in(const struct cron_expr *cron, int64_t from_s, int64_t until_s,
                       int64_t *ret_first_s)
{
    size_t count = 0;
    int64_t at_s = from_s - 1;
    while (count < CLOCK_TIMES_MAX && (at_s = cron_expr_next(cron, at_s)) < until_s) {
        if (count++ == 0)
            *ret_first_s = at_s;
    }
    return count;
}

/* Local times in [start + previous offset, start + offset) do not exist. */
static bool gap_at(const struct schedule *schedule, const struct zone_span *span,
                   struct clock_change *ret)
{
    ret->count = times_in(schedule_cron(schedule), span->start_s + span->previous_offset_s,
                          span->start_s + span->offset_s, &ret->wanted_local_s);
    bool moves = schedule_tick_note(schedule, span->start_s).kind == TICK_MOVED &&
                 schedule_next(schedule, span->start_s - 1) == span->start_s;
    ret->effect = moves ? CLOCK_MOVES : CLOCK_SKIPS;
    return ret->count > 0;
}

/* Local times in [start + offset, start + previous offset) come twice. */
static bool fold_at(const struct schedule *schedule, const struct zone_span *span,
                    struct clock_change *ret)
{
    ret->count = times_in(schedule_cron(schedule), span->start_s + span->offset_s,
                          span->start_s + span->previous_offset_s, &ret->wanted_local_s);
    if (!ret->count)
        return false;
    int64_t second_s = ret->wanted_local_s - span->offset_s;
    bool is_due = schedule_next(schedule, second_s - 1) == second_s;
    ret->effect = is_due ? CLOCK_TWICE : CLOCK_ONCE;
    return true;
}

/* A job with a star among its times goes by what the clock shows, and nobody takes it for lost. */
bool clock_change_next(const struct schedule *schedule, int64_t after_s, int64_t until_s,
                       struct clock_change *ret)
{
    if (schedule_kind(schedule) != SCHEDULE_CRON || !cron_expr_is_fixed(schedule_cron(schedule)))
        return false;
    const struct zone *zone = schedule_zone(schedule);
    struct zone_span span = zone_span_at(zone, after_s);
    while (span.end_s <= until_s) {
        struct clock_change change = {0};
        span = zone_span_at(zone, span.end_s);
        change.at_s = span.start_s;
        bool is_hit = span.offset_s > span.previous_offset_s ? gap_at(schedule, &span, &change)
                                                             : fold_at(schedule, &span, &change);
        if (is_hit) {
            *ret = change;
            return true;
        }
    }
    return false;
}

const char *clock_effect_name(enum clock_effect effect)
{
    static const char *const names[] = {
        [CLOCK_MOVES] = "moves",
        [CLOCK_SKIPS] = "skips",
        [CLOCK_ONCE] = "once",
        [CLOCK_TWICE] = "twice",
    };
    return names[effect];
}
