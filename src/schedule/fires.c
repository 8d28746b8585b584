#include "fires.h"

#include <inttypes.h>

#include "civil.h"
#include "timestamp.h"

/* An `@after` has only its first fire: the later ones depend on when runs end. */
static int64_t next_of(const struct schedule *schedule, const struct calendars *calendars,
                       int64_t created_s, int64_t after_s)
{
    if (schedule_kind(schedule) != SCHEDULE_AFTER)
        return schedule_next_free(schedule, calendars, after_s);
    if (created_s == NEVER_BEFORE)
        return NEVER;
    int64_t first_s = schedule_next_after_free(schedule, calendars, created_s);
    return first_s > after_s ? first_s : NEVER;
}

bool fires_next(const struct schedule_set *set, const struct calendars *calendars,
                int64_t created_s, int64_t after_s, struct fire *ret)
{
    size_t index = 0;
    int64_t at_s = NEVER;
    for (size_t i = 0; i < set->count; i++) {
        int64_t tick_s = next_of(set->items[i], calendars, created_s, after_s);
        if (tick_s < at_s) {
            at_s = tick_s;
            index = i;
        }
    }
    if (at_s == NEVER)
        return false;
    *ret = (struct fire){.at_s = at_s, .schedule = set->items[index], .index = index};
    return true;
}

static struct civil local_time(const struct fire *fire)
{
    struct zone_span span = zone_span_at(schedule_zone(fire->schedule), fire->at_s);
    return civil_from_seconds(fire->at_s + span.offset_s);
}

static void print_clock(struct civil time, struct strbuf *out)
{
    strbuf_addf(out, "%02d:%02d", time.hour, time.minute);
    if (time.second)
        strbuf_addf(out, ":%02d", time.second);
}

void fire_note(const struct fire *fire, struct strbuf *out)
{
    struct tick_note note = schedule_tick_note(fire->schedule, fire->at_s);
    switch (note.kind) {
    case TICK_PLAIN:
        return;
    case TICK_MOVED:
        strbuf_adds(out, "moved: ");
        print_clock(civil_from_seconds(note.wanted_local_s), out);
        strbuf_adds(out, " does not exist on this day");
        return;
    case TICK_FIRST_PASS:
    case TICK_SECOND_PASS:
        strbuf_adds(out, note.kind == TICK_FIRST_PASS ? "first of two: " : "second of two: ");
        print_clock(local_time(fire), out);
        strbuf_adds(out, " happens twice on this day");
        return;
    }
}

void fire_start(const struct fire *fire, struct strbuf *out)
{
    int64_t jitter_ms = schedule_jitter_ms(fire->schedule);
    timestamp_print_utc(fire->at_s + jitter_ms / 1000, out);
    if (out->length > 0 && out->text[out->length - 1] == 'Z')
        strbuf_truncate(out, out->length - 1);
    strbuf_addf(out, ".%03dZ", (int)(jitter_ms % 1000));
}

void fire_local(const struct fire *fire, struct strbuf *out)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    strbuf_addf(out, "%s ", days[local_time(fire).weekday]);
    timestamp_print_local(fire->at_s, schedule_zone(fire->schedule), out);
}

void span_print(int64_t seconds, struct strbuf *out)
{
    static const struct {
        int64_t length_s;
        char name;
    } units[] = {{DAY_S, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t largest = 0;
    while (largest < 3 && seconds < units[largest].length_s)
        largest++;
    strbuf_addf(out, "%" PRId64 "%c", seconds / units[largest].length_s, units[largest].name);
    if (largest == 3)
        return;
    int64_t rest = seconds % units[largest].length_s / units[largest + 1].length_s;
    if (rest)
        strbuf_addf(out, " %" PRId64 "%c", rest, units[largest + 1].name);
}
