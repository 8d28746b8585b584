/* Random schedules around the jumps of local time, in zones with every kind of jump: all ticks of
 * a few days, against an oracle that goes through the days minute by minute and applies the rules
 * of docs/SCHEDULES.md literally. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "random_cron.h"
#include "schedule.h"

enum {
    DAYS_AROUND = 2,
    MINUTE_S = 60,
    HOUR_S = 3600,
    MAX_TICKS = 2 * (DAYS_AROUND + 1) * 24 * HOUR_S,
};

static const char *const zones[] = {
    "America/New_York",  "Europe/Berlin",    "Australia/Lord_Howe", "Antarctica/Troll",
    "America/Santiago",  "Asia/Beirut",      "Africa/Cairo",        "Africa/Casablanca",
    "Europe/Dublin",     "Pacific/Apia",     "Asia/Kathmandu",      "UTC",
    "Asia/Pyongyang",    "America/Caracas",  "Asia/Gaza",           "Pacific/Norfolk",
    "America/Sao_Paulo", "Antarctica/Casey",
};
enum { ZONES = sizeof(zones) / sizeof(zones[0]) };

struct sample {
    struct random_cron cron;
    const char *zone_name;
    const struct zone *zone;
    enum dst_policy dst;
    int64_t from_s, to_s;
};

static bool local_matches(const struct random_cron *cron, int64_t local_s)
{
    time_t time = (time_t)local_s;
    struct tm tm;
    gmtime_r(&time, &tm);
    return random_cron_time_matches(cron, tm.tm_hour, tm.tm_min, tm.tm_sec) &&
           random_cron_date_matches(cron, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* No second of this local minute can match. */
static bool minute_is_empty(const struct random_cron *cron, int64_t local_s)
{
    time_t time = (time_t)local_s;
    struct tm tm;
    gmtime_r(&time, &tm);
    return !random_cron_minute_matches(cron, tm.tm_hour, tm.tm_min);
}

static bool any_match(const struct random_cron *cron, int64_t from_s, int64_t to_s)
{
    for (int64_t local = from_s; local < to_s; local++) {
        if (local % MINUTE_S == 0 && minute_is_empty(cron, local))
            local += MINUTE_S - 1;
        else if (local_matches(cron, local))
            return true;
    }
    return false;
}

/* Section 2 of the specification, for one instant. */
static bool oracle_is_due(const struct sample *s, bool fixed, int64_t utc_s)
{
    struct zone_span span = zone_span_at(s->zone, utc_s);
    int64_t local = utc_s + span.offset_s;
    int32_t shift = span.offset_s - span.previous_offset_s;
    if (span.start_s == utc_s && fixed && s->dst != DST_SKIP && shift > 0 && shift <= 3 * HOUR_S &&
        any_match(&s->cron, utc_s + span.previous_offset_s, local))
        return true;
    bool repeated = span.start_s != INT64_MIN && shift < 0 && shift >= -3 * HOUR_S &&
                    local < span.start_s + span.previous_offset_s;
    if (repeated && fixed && s->dst != DST_BOTH)
        return false;
    return local_matches(&s->cron, local);
}

static size_t oracle_ticks(const struct sample *s, int64_t *ticks)
{
    size_t count = 0;
    bool fixed = random_cron_is_fixed(&s->cron);
    for (int64_t utc = s->from_s; utc < s->to_s; utc++) {
        struct zone_span span = zone_span_at(s->zone, utc);
        bool skippable = utc % MINUTE_S == 0 && span.offset_s % MINUTE_S == 0 &&
                         utc != span.start_s && span.end_s - utc >= MINUTE_S;
        if (skippable && minute_is_empty(&s->cron, utc + span.offset_s)) {
            utc += MINUTE_S - 1;
            continue;
        }
        if (oracle_is_due(s, fixed, utc))
            ticks[count++] = utc;
        if (skippable && s->cron.fields[FIELD_SECOND].count == 0)
            utc += MINUTE_S - 1;
    }
    return count;
}

/* The start of some span of the zone from 2000 on; any instant where the zone has none. */
static int64_t random_transition(struct random *random, const struct zone *zone)
{
    int64_t near = 946684800 + (int64_t)random_between(random, 0, INT32_MAX);
    if (random_chance(random, 10))
        near += INT32_MAX; /* up to 2106 */
    struct zone_span span = zone_span_at(zone, near);
    return span.start_s > 0 ? span.start_s : near;
}

static void fail_at(const struct sample *s, uint64_t seed, const char *what, int64_t got,
                    int64_t want)
{
    fail_msg("PEAL_SEED=%llu: \"%s\" in %s, dst %d, %lld to %lld: %s gives %lld, want %lld",
             (unsigned long long)seed, s->cron.text, s->zone_name, s->dst, (long long)s->from_s,
             (long long)s->to_s, what, (long long)got, (long long)want);
}

static void compare_ticks(const struct sample *s, uint64_t seed, const struct schedule *schedule,
                          const int64_t *ticks, size_t count)
{
    int64_t now = s->from_s - 1;
    for (size_t i = 0; i <= count; i++) {
        int64_t next = schedule_next(schedule, now);
        int64_t want = i < count ? ticks[i] : NEVER;
        if (i < count ? next != want : next < s->to_s)
            fail_at(s, seed, "next", next, want);
        /* From anywhere between two ticks the answer is the same. */
        if (i < count && next - now > 1) {
            int64_t between = schedule_next(schedule, now + (next - now) / 2);
            if (between != next)
                fail_at(s, seed, "next from between", between, next);
        }
        now = next;
    }
    now = s->to_s;
    for (size_t i = count; i-- > 0;) {
        int64_t prev = schedule_prev(schedule, now);
        if (prev != ticks[i])
            fail_at(s, seed, "prev", prev, ticks[i]);
        if (now - prev > 1 && schedule_prev(schedule, prev + (now - prev + 1) / 2) != prev)
            fail_at(s, seed, "prev from between", 0, prev);
        now = prev;
    }
    int64_t prev = schedule_prev(schedule, now);
    if (prev != NEVER_BEFORE && prev >= s->from_s)
        fail_at(s, seed, "prev before the first", prev, NEVER_BEFORE);
    if (prev != NEVER_BEFORE && count && schedule_next(schedule, prev) != ticks[0])
        fail_at(s, seed, "next(prev)", schedule_next(schedule, prev), ticks[0]);
}

static void all_ticks_agree_with_the_rules(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    struct zone_db *db = NULL;
    int64_t *ticks = malloc(MAX_TICKS * sizeof(*ticks));
    assert_non_null(ticks);
    assert_int_equal(zone_db_new(NULL, &db), OK);
    for (int i = 0; i < 600 * random_rounds(); i++) {
        struct sample s = {.zone_name = zones[random_between(&random, 0, ZONES - 1)]};
        struct schedule_options options = schedule_options_default();
        struct schedule *schedule = NULL;
        struct parse_error err;
        random_cron_make(&random, RANDOM_CRON_DENSE | (i % 4 ? RANDOM_CRON_MINUTE : 0), &s.cron);
        s.dst = (enum dst_policy)random_between(&random, DST_DEFAULT, DST_BOTH);
        options.tz = s.zone_name;
        options.dst = s.dst;
        if (schedule_parse(s.cron.text, &options, db, &schedule, &err) != OK)
            fail_msg("PEAL_SEED=%llu: \"%s\": %s", (unsigned long long)seed, s.cron.text,
                     err.message);
        s.zone = schedule_zone(schedule);
        int64_t jump = random_transition(&random, s.zone);
        int half = random_between(&random, 1, DAYS_AROUND * 24 * HOUR_S);
        s.from_s = jump - half;
        s.to_s = jump + random_between(&random, 1, DAYS_AROUND * 24 * HOUR_S);
        compare_ticks(&s, seed, schedule, ticks, oracle_ticks(&s, ticks));
        schedule_free(schedule);
    }
    zone_db_free(db);
    free(ticks);
}

/* Sparse schedules leap over many spans at once: the leap must land where small steps do. */
static void sparse_schedules_agree_with_single_steps(void **state)
{
    (void)state;
    uint64_t seed = random_seed() + 1;
    struct random random = random_new(seed);
    struct zone_db *db = NULL;
    assert_int_equal(zone_db_new(NULL, &db), OK);
    for (int i = 0; i < 600 * random_rounds(); i++) {
        struct sample s = {.zone_name = zones[random_between(&random, 0, ZONES - 1)]};
        struct schedule_options options = schedule_options_default();
        struct schedule *schedule = NULL;
        random_cron_make(&random, RANDOM_CRON_MINUTE, &s.cron);
        s.dst = options.dst = (enum dst_policy)random_between(&random, DST_DEFAULT, DST_BOTH);
        options.tz = s.zone_name;
        assert_int_equal(schedule_parse(s.cron.text, &options, db, &schedule, NULL), OK);
        s.zone = schedule_zone(schedule);
        int64_t now = random_between(&random, 0, INT32_MAX);
        int64_t next = schedule_next(schedule, now);
        bool fixed = random_cron_is_fixed(&s.cron);
        s.from_s = now;
        if (next != NEVER) {
            s.to_s = next;
            if (!oracle_is_due(&s, fixed, next))
                fail_at(&s, seed, "next, which is not due,", next, 0);
            if (schedule_next(schedule, next - 1) != next)
                fail_at(&s, seed, "next from just before", schedule_next(schedule, next - 1), next);
            int64_t prev = schedule_prev(schedule, next);
            if (prev > now || (prev != NEVER_BEFORE && schedule_next(schedule, prev) != next))
                fail_at(&s, seed, "prev(next)", prev, now);
            if (prev != NEVER_BEFORE && !oracle_is_due(&s, fixed, prev))
                fail_at(&s, seed, "prev, which is not due,", prev, 0);
        }
        /* Moments on the way there are not due. */
        int64_t end = next == NEVER ? now + INT64_C(3000) * 24 * HOUR_S : next;
        for (int k = 0; k < 200 && end > now + 1; k++) {
            int64_t moment = now + 1 + (int64_t)(random_next(&random) % (uint64_t)(end - now - 1));
            moment -= moment % MINUTE_S;
            if (moment > now && oracle_is_due(&s, fixed, moment))
                fail_at(&s, seed, "next passes over a tick and", next, moment);
        }
        schedule_free(schedule);
    }
    zone_db_free(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ticks_agree_with_the_rules),
        cmocka_unit_test(sparse_schedules_agree_with_single_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
