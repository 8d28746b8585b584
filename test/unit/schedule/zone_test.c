#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "civil.h"
#include "hash.h"
#include "tzif_build.h"
#include "zone/zone.h"
#include "zone/zone_db.h"

struct jump {
    int line;
    const char *zone; /* a name, or a rule */
    struct civil utc;
    int32_t before_s, after_s;
};

static struct zone *zone_of(const struct tzif_build *build)
{
    unsigned char bytes[TZIF_BUILD_SIZE];
    struct parse_error error;
    struct zone *zone = NULL;
    if (zone_from_tzif("Test/Zone", bytes, tzif_build(build, bytes), &zone, &error) != OK)
        fail_msg("%s", error.message);
    return zone;
}

static struct zone *zone_of_rule(const char *footer)
{
    return zone_of(&(struct tzif_build){.footer = footer});
}

static const struct zone *system_zone(struct zone_db *db, const char *name)
{
    struct parse_error error;
    const struct zone *zone;
    if (zone_db_get(db, name, &zone, &error) != OK)
        fail_msg("%s", error.message);
    return zone;
}

static void check_jump(const struct jump *jump, const struct zone *zone)
{
    int64_t at_s = civil_to_seconds(&jump->utc);
    struct zone_span before = zone_span_at(zone, at_s - 1), after = zone_span_at(zone, at_s);
    if (before.end_s != at_s || before.offset_s != jump->before_s || after.start_s != at_s ||
        after.offset_s != jump->after_s || after.previous_offset_s != jump->before_s)
        fail_msg("line %d: %s: %d until %lld, then %d from %lld", jump->line, jump->zone,
                 before.offset_s, (long long)before.end_s, after.offset_s,
                 (long long)after.start_s);
}

/* What has happened will not change in tzdata any more. */
static void knows_the_past(void **state)
{
    static const struct jump jumps[] = {
        {__LINE__, "America/New_York", {1883, 11, 18, 17, 0, 0, 0}, -17762, -18000},
        {__LINE__, "America/New_York", {1918, 3, 31, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "America/New_York", {1918, 10, 27, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "America/New_York", {2007, 3, 11, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "America/New_York", {2007, 11, 4, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "America/New_York", {2024, 3, 10, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "America/New_York", {2024, 11, 3, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "Europe/Berlin", {1945, 4, 2, 1, 0, 0, 0}, 3600, 7200},
        {__LINE__, "Europe/Berlin", {1945, 5, 24, 0, 0, 0, 0}, 7200, 10800},
        {__LINE__, "Europe/Berlin", {1945, 9, 24, 0, 0, 0, 0}, 10800, 7200},
        {__LINE__, "Europe/Berlin", {1945, 11, 18, 1, 0, 0, 0}, 7200, 3600},
        {__LINE__, "Europe/Berlin", {2024, 3, 31, 1, 0, 0, 0}, 3600, 7200},
        {__LINE__, "Europe/Berlin", {2024, 10, 27, 1, 0, 0, 0}, 7200, 3600},
        {__LINE__, "Australia/Lord_Howe", {1981, 2, 28, 14, 0, 0, 0}, 36000, 37800},
        {__LINE__, "Australia/Lord_Howe", {1981, 10, 24, 15, 30, 0, 0}, 37800, 41400},
        {__LINE__, "Australia/Lord_Howe", {2024, 4, 6, 15, 0, 0, 0}, 39600, 37800},
        {__LINE__, "Australia/Lord_Howe", {2024, 10, 5, 15, 30, 0, 0}, 37800, 39600},
        {__LINE__, "Antarctica/Troll", {2005, 3, 27, 1, 0, 0, 0}, 0, 7200},
        {__LINE__, "Antarctica/Troll", {2005, 10, 30, 1, 0, 0, 0}, 7200, 0},
        {__LINE__, "Antarctica/Troll", {2024, 3, 31, 1, 0, 0, 0}, 0, 7200},
        {__LINE__, "Antarctica/Troll", {2024, 10, 27, 1, 0, 0, 0}, 7200, 0},
        {__LINE__, "America/Santiago", {2024, 4, 7, 3, 0, 0, 0}, -10800, -14400},
        {__LINE__, "America/Santiago", {2024, 9, 8, 4, 0, 0, 0}, -14400, -10800},
        {__LINE__, "Asia/Beirut", {2023, 3, 25, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "Asia/Beirut", {2023, 10, 28, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "Africa/Cairo", {2014, 5, 15, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "Africa/Cairo", {2014, 6, 26, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "Africa/Cairo", {2014, 7, 31, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "Africa/Cairo", {2014, 9, 25, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "Africa/Cairo", {2024, 4, 25, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "Africa/Cairo", {2024, 10, 31, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "Africa/Casablanca", {2024, 3, 10, 2, 0, 0, 0}, 3600, 0},
        {__LINE__, "Africa/Casablanca", {2024, 4, 14, 2, 0, 0, 0}, 0, 3600},
        {__LINE__, "Europe/Dublin", {1971, 10, 31, 2, 0, 0, 0}, 3600, 0},
        {__LINE__, "Europe/Dublin", {2024, 3, 31, 1, 0, 0, 0}, 0, 3600},
        {__LINE__, "Europe/Dublin", {2024, 10, 27, 1, 0, 0, 0}, 3600, 0},
        {__LINE__, "Pacific/Apia", {2011, 4, 2, 14, 0, 0, 0}, -36000, -39600},
        {__LINE__, "Pacific/Apia", {2011, 9, 24, 14, 0, 0, 0}, -39600, -36000},
        {__LINE__, "Pacific/Apia", {2011, 12, 30, 10, 0, 0, 0}, -36000, 50400},
        {__LINE__, "Asia/Tehran", {2022, 3, 21, 20, 30, 0, 0}, 12600, 16200},
        {__LINE__, "Asia/Tehran", {2022, 9, 21, 19, 30, 0, 0}, 16200, 12600},
        {__LINE__, "America/Nuuk", {2023, 3, 26, 1, 0, 0, 0}, -10800, -7200},
        {__LINE__, "America/Nuuk", {2024, 3, 31, 1, 0, 0, 0}, -7200, -3600},
        {__LINE__, "America/Nuuk", {2024, 10, 27, 1, 0, 0, 0}, -3600, -7200},
        {__LINE__, "America/Godthab", {2024, 3, 31, 1, 0, 0, 0}, -7200, -3600},
        {__LINE__, "America/Godthab", {2024, 10, 27, 1, 0, 0, 0}, -3600, -7200},
    };
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++)
        check_jump(&jumps[i], system_zone(*state, jumps[i].zone));
}

/* What is to come may change: the rules of 2025, written here. */
static void follows_rules_into_the_future(void **state)
{
    (void)state;
    static const struct jump jumps[] = {
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2038, 3, 14, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2038, 11, 7, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2099, 3, 8, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2099, 11, 1, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2500, 3, 14, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {2500, 11, 7, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {9999, 3, 14, 7, 0, 0, 0}, -18000, -14400},
        {__LINE__, "EST5EDT,M3.2.0,M11.1.0", {9999, 11, 7, 6, 0, 0, 0}, -14400, -18000},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {2038, 3, 28, 1, 0, 0, 0}, 3600, 7200},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {2038, 10, 31, 1, 0, 0, 0}, 7200, 3600},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {2500, 3, 28, 1, 0, 0, 0}, 3600, 7200},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {2500, 10, 31, 1, 0, 0, 0}, 7200, 3600},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {9999, 3, 28, 1, 0, 0, 0}, 3600, 7200},
        {__LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", {9999, 10, 31, 1, 0, 0, 0}, 7200, 3600},
        {__LINE__, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", {2099, 4, 4, 15, 0, 0, 0}, 39600, 37800},
        {__LINE__,
         "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
         {2099, 10, 3, 15, 30, 0, 0},
         37800,
         39600},
        {__LINE__, "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", {2500, 3, 28, 1, 0, 0, 0}, 0, 7200},
        {__LINE__, "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", {2500, 10, 31, 1, 0, 0, 0}, 7200, 0},
        {__LINE__, "<-04>4<-03>,M9.1.6/24,M4.1.6/24", {2500, 4, 4, 3, 0, 0, 0}, -10800, -14400},
        {__LINE__, "<-04>4<-03>,M9.1.6/24,M4.1.6/24", {2500, 9, 5, 4, 0, 0, 0}, -14400, -10800},
        {__LINE__, "EET-2EEST,M3.5.0/0,M10.5.0/0", {2500, 3, 27, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "EET-2EEST,M3.5.0/0,M10.5.0/0", {2500, 10, 30, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "EET-2EEST,M4.5.5/0,M10.5.4/24", {2500, 4, 29, 22, 0, 0, 0}, 7200, 10800},
        {__LINE__, "EET-2EEST,M4.5.5/0,M10.5.4/24", {2500, 10, 28, 21, 0, 0, 0}, 10800, 7200},
        {__LINE__, "IST-1GMT0,M10.5.0,M3.5.0/1", {2500, 3, 28, 1, 0, 0, 0}, 0, 3600},
        {__LINE__, "IST-1GMT0,M10.5.0,M3.5.0/1", {2500, 10, 31, 1, 0, 0, 0}, 3600, 0},
        {__LINE__, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", {2500, 3, 28, 1, 0, 0, 0}, -7200, -3600},
        {__LINE__, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", {2500, 10, 31, 1, 0, 0, 0}, -3600, -7200},
    };
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        struct zone *zone = zone_of_rule(jumps[i].zone);
        check_jump(&jumps[i], zone);
        zone_free(zone);
    }
}

static void check_constant(const struct zone *zone, int32_t offset_s)
{
    static const int64_t instants[] = {INT64_MIN, -2208988800, 0, 253402300799, INT64_MAX};
    for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
        struct zone_span span = zone_span_at(zone, instants[i]);
        assert_int_equal(span.start_s, INT64_MIN);
        assert_int_equal(span.end_s, INT64_MAX);
        assert_int_equal(span.offset_s, offset_s);
        assert_int_equal(span.previous_offset_s, offset_s);
    }
}

static void constant_zones_are_one_span(void **state)
{
    static const int32_t an_hour = 3600;
    static const struct tzif_build no_footer = {.offsets = &an_hour, .types = 1};
    static const char *const rules[] = {"AAA-1", "AAA0BBB,0/0,J365/25", "AAA-1BBB-1,10,20"};
    struct zone *zone = zone_of(&no_footer);
    check_constant(zone, 3600);
    zone_free(zone);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        zone = zone_of_rule(rules[i]);
        check_constant(zone, 3600);
        zone_free(zone);
    }
    check_constant(zone_utc(), 0);
    assert_string_equal(zone_name(zone_utc()), "UTC");
    check_constant(system_zone(*state, "Etc/GMT+5"), -18000);
}

static void fail_tiling(const struct zone *zone, int64_t at_s, const struct zone_span *span,
                        const struct zone_span *next)
{
    fail_msg("%s at %lld: [%lld, %lld) %d after %d, then [%lld, %lld) %d after %d", zone_name(zone),
             (long long)at_s, (long long)span->start_s, (long long)span->end_s, span->offset_s,
             span->previous_offset_s, (long long)next->start_s, (long long)next->end_s,
             next->offset_s, next->previous_offset_s);
}

/* The span holds the instant, and meets its neighbours without hole or overlap. */
static struct zone_span check_tiling(const struct zone *zone, int64_t at_s)
{
    struct zone_span span = zone_span_at(zone, at_s);
    bool holds = span.start_s <= at_s && (at_s < span.end_s || span.end_s == INT64_MAX);
    if (!holds || span.start_s >= span.end_s)
        fail_tiling(zone, at_s, &span, &span);
    if (span.start_s == INT64_MIN && span.previous_offset_s != span.offset_s)
        fail_tiling(zone, at_s, &span, &span);
    if (span.start_s != INT64_MIN) {
        struct zone_span before = zone_span_at(zone, span.start_s - 1);
        if (before.end_s != span.start_s || before.offset_s != span.previous_offset_s ||
            before.offset_s == span.offset_s)
            fail_tiling(zone, at_s, &before, &span);
    }
    if (span.end_s != INT64_MAX) {
        struct zone_span next = zone_span_at(zone, span.end_s);
        if (next.start_s != span.end_s || next.previous_offset_s != span.offset_s)
            fail_tiling(zone, at_s, &span, &next);
    }
    return span;
}

static void check_tiling_everywhere(const struct zone *zone)
{
    /* Every span from 1800 to 3300: two seams of a cycle. */
    for (int64_t at_s = -5364662400; at_s < 41970700800;)
        at_s = check_tiling(zone, at_s).end_s;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t random = hash_bytes(0, &i, sizeof(i));
        check_tiling(zone, (int64_t)random >> random % 40);
    }
    check_tiling(zone, INT64_MIN);
    check_tiling(zone, INT64_MIN + 1);
    check_tiling(zone, INT64_MAX - 1);
    check_tiling(zone, INT64_MAX);
}

#define FAR_S    (INT64_C(1) << 59)
#define NEW_YORK "EST5EDT,M3.2.0,M11.1.0"

static void spans_tile_the_axis(void **state)
{
    (void)state;
    static const int32_t offsets[] = {-17762, -18000, -14400};
    static const struct {
        int line;
        const char *footer;
        uint32_t transitions;
        int64_t times[4];
        unsigned char type_indices[4];
    } cases[] = {
        /* a rule alone */
        {__LINE__, NEW_YORK, 0, {0}, {0}},
        {__LINE__, "<-04>4<-03>,M9.1.6/24,M4.1.6/24", 0, {0}, {0}},
        {__LINE__, "AAA0BBB,0/0,364/25", 0, {0}, {0}},
        {__LINE__, "AAA0BBB,J10/-167,J20/167", 0, {0}, {0}},
        {__LINE__, "AAA24BBB-24,J1/0,J365/24", 0, {0}, {0}},
        /* no rule */
        {__LINE__, "", 2, {-2717650800, 0}, {1, 2}},
        /* the Big Bang, alone and with others */
        {__LINE__, NEW_YORK, 1, {-FAR_S}, {1}},
        {__LINE__, NEW_YORK, 4, {INT64_MIN, -FAR_S, -2717650800, 1699164000}, {2, 0, 1, 1}},
        /* the ends of what is allowed */
        {__LINE__, NEW_YORK, 2, {1 - FAR_S, 2 - FAR_S}, {1, 2}},
        {__LINE__, NEW_YORK, 2, {0, FAR_S}, {1, 2}},
        /* the rule contradicts the last transition */
        {__LINE__, NEW_YORK, 1, {1699164000}, {2}},
        {__LINE__, NEW_YORK, 2, {1678604400, 1699164000}, {1, 0}},
        {__LINE__, "EST5", 1, {1699164000}, {2}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct zone *zone = zone_of(&(struct tzif_build){
            .footer = cases[i].footer,
            .times = cases[i].times,
            .type_indices = cases[i].type_indices,
            .transitions = cases[i].transitions,
            .offsets = offsets,
            .types = 3,
        });
        print_message("row of line %d\n", cases[i].line);
        check_tiling_everywhere(zone);
        zone_free(zone);
    }
}

static void the_big_bang_is_no_transition(void **state)
{
    (void)state;
    struct zone *zone = zone_of(&(struct tzif_build){
        .times = (int64_t[]){-(INT64_C(1) << 59), 0},
        .type_indices = (unsigned char[]){1, 0},
        .transitions = 2,
        .offsets = (int32_t[]){3600, 7200},
        .types = 2,
    });
    struct zone_span first = zone_span_at(zone, -1), second = zone_span_at(zone, 0);
    assert_int_equal(first.start_s, INT64_MIN);
    assert_int_equal(first.offset_s, 7200);
    assert_int_equal(second.start_s, 0);
    assert_int_equal(second.end_s, INT64_MAX);
    assert_int_equal(second.previous_offset_s, 7200);
    zone_free(zone);
}

/* Ojinaga in the slim format of glibc 2.36's zic: back to -6 on 2022-10-30, when by the rule it
 * would be summer for another week. */
static void the_last_transition_holds_until_the_rule_makes_a_change(void **state)
{
    (void)state;
    struct zone *zone = zone_of(&(struct tzif_build){
        .times = (int64_t[]){1649577600, 1667116800},
        .type_indices = (unsigned char[]){1, 0},
        .transitions = 2,
        .offsets = (int32_t[]){-21600, -18000},
        .types = 2,
        .footer = "CST6CDT,M3.2.0,M11.1.0",
    });
    struct zone_span span = zone_span_at(zone, 1667116800);
    assert_int_equal(span.start_s, 1667116800);
    assert_int_equal(span.end_s, 1678608000); /* 2023-03-12T08:00Z */
    assert_int_equal(span.offset_s, -21600);
    zone_free(zone);
}

/* "Fat" files list what "slim" ones leave to the rule. */
static void swapping_sees_what_differs(void **state)
{
    (void)state;
    static const int32_t offsets[] = {-18000, -14400};
    struct tzif_build build = {
        .times = (int64_t[]){1173596400, 1194156000, 1205046000, 1225605600},
        .type_indices = (unsigned char[]){1, 0, 1, 0},
        .transitions = 4,
        .offsets = offsets,
        .types = 2,
        .footer = "EST5EDT,M3.2.0,M11.1.0",
    };
    struct zone *fat = zone_of(&build);
    build.transitions = 1;
    struct zone *slim = zone_of(&build);
    build.footer = "EST5EDT,M3.2.0,M11.2.0";
    struct zone *other = zone_of(&build);
    struct zone *rule = zone_of_rule("EST5EDT,M3.2.0,M11.1.0");
    struct zone *same_rule = zone_of_rule("QST+5QDT4,M3.2.0/2,M11.1.0/2:00:00");
    struct zone *other_rule = zone_of_rule("EST5EDT,M3.2.0,M11.2.0");
    assert_false(zone_swap_rules(fat, slim));
    assert_false(zone_swap_rules(rule, same_rule));
    /* the same in our days, but not in the past; there and back */
    assert_true(zone_swap_rules(same_rule, slim));
    assert_true(zone_swap_rules(same_rule, slim));
    assert_true(zone_swap_rules(rule, other_rule));
    assert_true(zone_swap_rules(rule, fat));
    assert_true(zone_swap_rules(fat, rule));
    assert_true(zone_swap_rules(slim, other));
    assert_int_equal(zone_span_at(slim, 1194156000).offset_s, -14400);
    assert_int_equal(zone_span_at(other, 1194156000).offset_s, -18000);
    struct zone *const all[] = {fat, slim, other, rule, same_rule, other_rule};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        zone_free(all[i]);
}

static int open_database(void **state)
{
    struct zone_db *db;
    if (zone_db_new(NULL, &db) != OK)
        return -1;
    *state = db;
    return 0;
}

static int close_database(void **state)
{
    zone_db_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_past),
        cmocka_unit_test(follows_rules_into_the_future),
        cmocka_unit_test(constant_zones_are_one_span),
        cmocka_unit_test(spans_tile_the_axis),
        cmocka_unit_test(the_big_bang_is_no_transition),
        cmocka_unit_test(the_last_transition_holds_until_the_rule_makes_a_change),
        cmocka_unit_test(swapping_sees_what_differs),
    };
    return cmocka_run_group_tests(tests, open_database, close_database);
}
