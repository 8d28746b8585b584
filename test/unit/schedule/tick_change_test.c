/* How the ticks of a span of time change with a schedule, what the clock does to them, and how many
 * fall into one second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "civil.h"
#include "forecast/clock_change.h"
#include "forecast/crowd.h"
#include "forecast/tick_change.h"
#include "random_cron.h"
#include "timestamp.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct calendars no_calendars = {NULL, 0, 0};

struct fixture {
    struct zone_db *zones;
};

static int64_t at(const char *text)
{
    int64_t seconds;
    struct parse_error error;
    assert_int_equal(timestamp_parse(text, 1, zone_utc(), &seconds, &error), OK);
    return seconds;
}

/* "0 2 * * *; 0 3 * * *" in this zone; "" has none. */
static void parse(struct zone_db *zones, const char *texts, const char *tz, enum dst_policy dst,
                  struct schedule_set *set)
{
    char copy[200], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", texts);
    schedule_set_init(set);
    for (char *text; (text = strtok_r(rest, ";", &rest));) {
        struct schedule_options options = schedule_options_default();
        struct schedule *schedule;
        struct parse_error error;
        options.default_tz = tz;
        options.dst = dst;
        if (schedule_parse(text, &options, zones, &schedule, &error) != OK)
            fail_msg("%s: %s", text, error.message);
        assert_int_equal(schedule_set_add(set, schedule), OK);
    }
}

static struct tick_change change_of(struct zone_db *zones, const char *tz, const char *before,
                                    const char *after, int64_t from_s, int64_t until_s)
{
    struct schedule_set old, new;
    struct ticks old_ticks, new_ticks;
    parse(zones, before, tz, DST_DEFAULT, &old);
    parse(zones, after, tz, DST_DEFAULT, &new);
    assert_int_equal(ticks_collect(&old, &no_calendars, from_s, until_s, 600000, &old_ticks), OK);
    assert_int_equal(ticks_collect(&new, &no_calendars, from_s, until_s, 600000, &new_ticks), OK);
    struct tick_change change = tick_change_of(&old_ticks, &new_ticks, from_s);
    ticks_release(&old_ticks);
    ticks_release(&new_ticks);
    schedule_set_release(&old);
    schedule_set_release(&new);
    return change;
}

static void ticks_move_or_come_or_go(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int line;
        const char *before, *after;
        size_t kept, moved, gained, lost;
        int64_t least_s, most_s;
    } cases[] = {
        /* 28 days, from a Thursday at noon */
        {__LINE__, "0 2 * * *", "0 2 * * *", 28, 0, 0, 0, 0, 0},
        {__LINE__, "0 2 * * *", "5 2 * * *", 0, 28, 0, 0, 300, 300},
        {__LINE__, "5 2 * * *", "0 2 * * *", 0, 28, 0, 0, -300, -300},
        {__LINE__, "59 11 * * *", "1 12 * * *", 0, 27, 1, 1, 120, 120},
        {__LINE__, "0 3 * * 1", "0 3 * * 2", 0, 4, 0, 0, 86400, 86400},
        {__LINE__, "0 1 * * 1-5", "0 23 * * 1-5", 0, 19, 1, 1, -7200, 79200},
        {__LINE__, "0,30 * * * *", "15,45 * * * *", 0, 1344, 0, 0, 900, 900},
        {__LINE__, "*/10 * * * *", "*/20 * * * *", 2016, 0, 0, 2016, 0, 0},
        {__LINE__, "*/20 * * * *", "*/10 * * * *", 2016, 0, 2016, 0, 0, 0},
        {__LINE__, "0 2 * * *", "", 0, 0, 0, 28, 0, 0},
        {__LINE__, "", "0 2 * * *", 0, 0, 28, 0, 0, 0},
        {__LINE__, "", "", 0, 0, 0, 0, 0, 0},
        {__LINE__, "0 2 * * *", "0 3 * * 1", 0, 4, 0, 24, 3600, 3600},
        {__LINE__, "0 2 * * *", "0 1 * * 1", 0, 4, 0, 24, -3600, -3600},
        {__LINE__, "0 2 * * *;0 3 * * *", "0 2 * * *;5 3 * * *", 28, 28, 0, 0, 300, 300},
    };
    int64_t from_s = at("2026-11-19T12:00:00Z");
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct tick_change change = change_of(fixture->zones, "UTC", cases[i].before,
                                              cases[i].after, from_s, from_s + 28 * DAY_S);
        if (change.kept != cases[i].kept || change.moved != cases[i].moved ||
            change.gained != cases[i].gained || change.lost != cases[i].lost ||
            change.least_s != cases[i].least_s || change.most_s != cases[i].most_s)
            fail_msg("line %d: kept %zu, moved %zu by %lld to %lld, gained %zu, lost %zu",
                     cases[i].line, change.kept, change.moved, (long long)change.least_s,
                     (long long)change.most_s, change.gained, change.lost);
    }
}

static void first_and_last_are_told(void **state)
{
    struct fixture *fixture = *state;
    int64_t from_s = at("2026-11-19T12:00:00Z");
    struct tick_change change =
        change_of(fixture->zones, "UTC", "0 2 * * *", "5 2 * * *", from_s, from_s + 28 * DAY_S);
    assert_int_equal(change.first_s, at("2026-11-20T02:00:00Z"));
    assert_int_equal(change.last_s, at("2026-12-17T02:05:00Z"));
    assert_int_equal(change.shown_count, TICK_DIFFERENCES);
    assert_int_equal(change.shown[0].kind, TICK_SHIFTED);
    assert_int_equal(change.shown[0].after_s - change.shown[0].before_s, 300);
}

/* Whatever the schedules are, each tick of both is in one of the counts, and a change there and
 * back again exchanges gained and lost. */
static void counts_add_up(void **state)
{
    struct fixture *fixture = *state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    for (int round = 0; round < 300 * random_rounds(); round++) {
        char before[64], after[64];
        snprintf(before, sizeof(before), "%d,%d */%d * * *", random_between(&random, 0, 59),
                 random_between(&random, 0, 59), random_between(&random, 1, 12));
        snprintf(after, sizeof(after), "%d %d-23/%d * * %d", random_between(&random, 0, 59),
                 random_between(&random, 0, 9), random_between(&random, 1, 5),
                 random_between(&random, 0, 6));
        int64_t from_s = at("2026-10-01T00:00:00Z") + random_between(&random, 0, 86400);
        int64_t until_s = from_s + 60 * DAY_S;
        struct tick_change there =
            change_of(fixture->zones, "Europe/Berlin", before, after, from_s, until_s);
        struct tick_change back =
            change_of(fixture->zones, "Europe/Berlin", after, before, from_s, until_s);
        if (there.kept + there.moved + there.lost != there.before ||
            there.kept + there.moved + there.gained != there.after || there.kept != back.kept ||
            there.before != back.after)
            fail_msg("seed %llu: \"%s\" to \"%s\"", (unsigned long long)seed, before, after);
    }
}

static void clocks_are_told(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int line;
        const char *schedule;
        enum dst_policy dst;
        const char *at; /* of the first change that matters; NULL: none does */
        enum clock_effect effect;
        size_t count;
    } cases[] = {
        {__LINE__, "30 2 * * *", DST_DEFAULT, "2027-03-28T01:00:00Z", CLOCK_MOVES, 1},
        {__LINE__, "30 2 * * *", DST_SKIP, "2027-03-28T01:00:00Z", CLOCK_SKIPS, 1},
        {__LINE__, "0,20,40 2 * * *", DST_DEFAULT, "2027-03-28T01:00:00Z", CLOCK_MOVES, 3},
        {__LINE__, "30 2 * 10 *", DST_DEFAULT, "2027-10-31T01:00:00Z", CLOCK_ONCE, 1},
        {__LINE__, "30 2 * 10 *", DST_BOTH, "2027-10-31T01:00:00Z", CLOCK_TWICE, 1},
        {__LINE__, "30 4 * * *", DST_DEFAULT, NULL, CLOCK_MOVES, 0},
        {__LINE__, "*/5 * * * *", DST_DEFAULT, NULL, CLOCK_MOVES, 0}, /* goes by the clock */
        {__LINE__, "@every 1h", DST_DEFAULT, NULL, CLOCK_MOVES, 0},
    };
    int64_t from_s = at("2026-11-19T12:00:00Z");
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule_set set;
        struct clock_change change = {0};
        parse(fixture->zones, cases[i].schedule, "Europe/Berlin", cases[i].dst, &set);
        bool is_there = clock_change_next(set.items[0], from_s, from_s + 365 * DAY_S, &change);
        if (is_there != (cases[i].at != NULL) ||
            (is_there && (change.at_s != at(cases[i].at) || change.effect != cases[i].effect ||
                          change.count != cases[i].count)))
            fail_msg("line %d: %d, %lld, %s, %zu", cases[i].line, is_there, (long long)change.at_s,
                     clock_effect_name(change.effect), change.count);
        schedule_set_release(&set);
    }
}

static void calendars_and_limits_count(void **state)
{
    struct fixture *fixture = *state;
    struct calendar calendar;
    struct schedule_set set;
    struct ticks ticks;
    struct parse_error error;
    int64_t from_s = at("2026-11-19T12:00:00Z");
    calendar_init(&calendar);
    assert_int_equal(calendar_add_weekday(&calendar, "sat", &error), OK);
    assert_int_equal(calendar_settle(&calendar), OK);
    const struct calendar *items[] = {&calendar};
    const struct calendars calendars = {items, 1, 0};
    parse(fixture->zones, "0 2 * * *", "UTC", DST_DEFAULT, &set);
    assert_int_equal(ticks_collect(&set, &calendars, from_s, from_s + 28 * DAY_S, 100, &ticks), OK);
    assert_int_equal(ticks.count, 24);
    assert_int_equal(ticks.excluded, 4);
    assert_int_equal(ticks.until_s, from_s + 28 * DAY_S);
    ticks_cut(&ticks, at("2026-11-23T02:00:00Z"));
    assert_int_equal(ticks.count, 2);
    ticks_release(&ticks);
    assert_int_equal(ticks_collect(&set, &no_calendars, from_s, from_s + 28 * DAY_S, 3, &ticks),
                     OK);
    assert_int_equal(ticks.count, 3);
    assert_int_equal(ticks.until_s, at("2026-11-23T02:00:00Z")); /* the first that is not there */
    ticks_release(&ticks);
    schedule_set_release(&set);
    calendar_release(&calendar);
}

static void crowds_are_counted(void **state)
{
    (void)state;
    int64_t first[] = {100, 110, 120}, second[] = {110, 130, 5000};
    const struct ticks a = {.at_s = first, .count = 3}, b = {.at_s = second, .count = 3};
    struct crowd crowd;
    struct crowd_second worst[4];
    assert_int_equal(crowd_init(&crowd, 100, 200), OK);
    assert_int_equal(crowd_worst(&crowd).starts, 0);
    crowd_add(&crowd, &a, 0, 3);
    crowd_add(&crowd, &b, 0, 1);
    assert_int_equal(crowd_at(&crowd, 110), 4);
    assert_int_equal(crowd_at(&crowd, 5000), 0);
    assert_int_equal(crowd_worst(&crowd).at_s, 110);
    assert_int_equal(crowd_worst_many(&crowd, 2, 4, worst), 3);
    assert_int_equal(worst[1].at_s, 100);
    assert_int_equal(worst[2].at_s, 120);
    assert_int_equal(crowd_worst_many(&crowd, 1, 2, worst), 2);
    assert_int_equal(worst[1].at_s, 100);
    struct crowd_classes classes = crowd_classes_of(&crowd);
    assert_int_equal(classes.starts, 11);
    assert_int_equal(classes.seconds[0], 1);
    assert_int_equal(classes.seconds[1], 2);
    assert_int_equal(classes.seconds[2], 1);
    crowd_add(&crowd, &a, 0, -3);
    crowd_add(&crowd, &b, 10, -1);
    assert_int_equal(crowd_at(&crowd, 100), 0);
    crowd_release(&crowd);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    *state = &fixture;
    return zone_db_new(NULL, &fixture.zones) == OK ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    zone_db_free(fixture->zones);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_move_or_come_or_go),
        cmocka_unit_test(first_and_last_are_told),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(clocks_are_told),
        cmocka_unit_test(calendars_and_limits_count),
        cmocka_unit_test(crowds_are_counted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
