/* Any bytes are either refused or make a zone whose spans tile the axis. */
#include <stdint.h>
#include <stdlib.h>

#include "civil.h"
#include "zone/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_instant(const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span_at(zone, at_s);
    require(span.start_s < span.end_s && span.start_s <= at_s);
    require(at_s < span.end_s || span.end_s == INT64_MAX);
    if (span.start_s == INT64_MIN) {
        require(span.previous_offset_s == span.offset_s);
    } else {
        struct zone_span before = zone_span_at(zone, span.start_s - 1);
        require(before.end_s == span.start_s && before.offset_s == span.previous_offset_s);
        require(before.offset_s != span.offset_s);
    }
    if (span.end_s != INT64_MAX) {
        struct zone_span next = zone_span_at(zone, span.end_s);
        require(next.start_s == span.end_s && next.previous_offset_s == span.offset_s);
    }
}

/* The first spans, and those around where the first cycle ends, wherever in time they are. */
static void walk(const struct zone *zone, int64_t at_s)
{
    for (int i = 0; i < 50 && at_s != INT64_MAX; i++) {
        check_instant(zone, at_s);
        at_s = zone_span_at(zone, at_s).end_s;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const int64_t instants[] = {
        INT64_MIN,     INT64_MIN + 1,    -(INT64_C(1) << 59),
        -CYCLE_S,      -2208988800,      0,
        1700000000,    4102444800,       CYCLE_S,
        2 * CYCLE_S,   INT64_C(1) << 59, 1000000 * CYCLE_S,
        INT64_MAX - 1, INT64_MAX,
    };
    struct parse_error error;
    struct zone *zone;
    if (zone_from_tzif("Fuzz/Zone", bytes, length, &zone, &error) != OK)
        return 0;
    for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
        check_instant(zone, instants[i]);
    walk(zone, INT64_MIN);
    walk(zone, CYCLE_S - 5 * INT64_C(31556952));
    walk(zone, CYCLE_S + 30 * INT64_C(31556952));
    walk(zone, INT64_MAX - CYCLE_S);
    zone_free(zone);
    return 0;
}
