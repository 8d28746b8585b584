#include "gates/only_if.h"

enum { DAY_S = 86400 };

static int64_t floor_div(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

/* The first instant of the local day. A midnight that the clock skips is the end of the gap; of two
 * it is the one before the instant. */
static int64_t midnight_s(const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span_at(zone, at_s);
    int64_t local_s = floor_div(at_s + span.offset_s, DAY_S) * DAY_S;
    int64_t found_s = local_s - span.offset_s;
    if (found_s >= span.start_s)
        return found_s;
    struct zone_span before = zone_span_at(zone, span.start_s - 1);
    found_s = local_s - before.offset_s;
    return found_s < span.start_s ? found_s : span.start_s;
}

int64_t only_if_since_ms(int64_t within_ms, const struct zone *zone, int64_t tick_ms)
{
    return within_ms ? tick_ms - within_ms : midnight_s(zone, floor_div(tick_ms, 1000)) * 1000;
}

int64_t only_if_met_ms(unsigned states, const struct last_run *last, int64_t since_ms)
{
    bool is_end = !id_is_zero(&last->run_id) && !last->retried &&
                  run_state_is_in(states, last->state) && last->ended_ms >= since_ms;
    bool is_success = run_state_is_in(states, RUN_OK) && last->succeeded_ms >= since_ms;
    int64_t met_ms = is_success ? last->succeeded_ms : 0;
    return is_end && last->ended_ms > met_ms ? last->ended_ms : met_ms;
}

bool only_if_is_met(unsigned states, const struct last_run *last, int64_t since_ms)
{
    return only_if_met_ms(states, last, since_ms) > 0;
}
