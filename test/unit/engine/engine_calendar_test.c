/* Ticks that the calendars of a job take out: on record as skipped, and never run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

#define JOB(schedule, more)                                                                        \
    "name: j\nschedule: \"" schedule "\"\ncommand: [\"true\"]\ncalendars: [holidays]\n" more

static void put_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

/* NULL: deletes it. */
static void put_calendar(struct world *world, const char *name, const char *json)
{
    struct store_put_doc put = {.kind = CALENDAR_DOC, .json = json, .expected_revision = -1};
    bool done = false;
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = put_done, .context = &done};
    snprintf(put.name, sizeof(put.name), "%s", name);
    store_submit(world->store, &request);
    world_pass(world, 0);
    assert_true(done);
    assert_int_equal(put.result, PUT_OK);
}

static struct catalog_job *job_of(struct world *world)
{
    return catalog_by_name(engine_catalog(world->engine), "j");
}

static int64_t skipped(const struct world *world)
{
    return world_passed(world, "j", RUN_SKIPPED, REASON_CALENDAR);
}

/* The world starts on Thursday, 2026-01-01. */
static void test_a_day_is_passed_over(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-02\"]}");
    world_add(world, JOB("0 */6 * * *", ""));
    world_pass(world, 3 * DAY + SECOND);
    assert_int_equal(world->process_count, 3 + 0 + 4 + 1);
    assert_int_equal(skipped(world), 4);
    for (size_t i = 0; i < world->entry_count; i++)
        assert_string_equal(world->entries[i].detail, "holidays");
    world_check(world);
}

/* In New York the 8th of March 2026 lasts 23 hours, from 05:00 to 04:00 UTC of the 9th. */
static void test_a_day_with_a_gap(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-03-08\"]}");
    world_sleep(world, 65 * DAY); /* 7 March */
    world_add(world, JOB("30 * * * *", "timezone: America/New_York\n"));
    world_pass(world, 3 * DAY);
    assert_int_equal(skipped(world), 23);
    assert_int_equal(world->process_count, 72 - 23);
    world_check(world);
}

/* A day of seconds is an entry per hour, and the first tick after it is on time. */
static void test_a_day_of_seconds_is_a_few_ranges(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"01-02\"]}");
    world_add(world,
              JOB("* * * * * *", "start: 2026-01-01T23:59:50Z\nend: 2026-01-03T00:00:10Z\n"));
    world_pass(world, 2 * DAY + MINUTE);
    assert_int_equal(skipped(world), 86400);
    assert_true(world->entry_count <= 26);
    assert_int_equal(world->process_count, 20);
    for (size_t i = 0; i < world->process_count; i++)
        assert_int_equal(world->processes[i].started_ms, world->processes[i].tick_ms);
    world_check(world);
}

/* A row of two calendars is two entries, each with its own. */
static void test_each_calendar_is_named(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-05\"]}");
    put_calendar(world, "weekends", "{\"weekdays\":[\"sat\",\"sun\"]}");
    world_add(world, "name: j\nschedule: '0 9 * * *'\ncommand: ['true']\n"
                     "calendars: [holidays, weekends]\n");
    world_sleep(world, 6 * DAY);
    world_pass(world, SECOND);
    assert_int_equal(skipped(world), 3);
    int weekends = 0, holidays = 0;
    for (size_t i = 0; i < world->entry_count; i++) {
        weekends += strcmp(world->entries[i].detail, "weekends") == 0;
        holidays += strcmp(world->entries[i].detail, "holidays") == 0;
    }
    assert_int_equal(weekends, 1);
    assert_int_equal(holidays, 1);
    world_check(world);
}

/* A long outage, of which every other tick is out: more than one claim can tell. */
static void test_an_outage_with_many_holes(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"weekdays\":[\"tue\",\"thu\",\"sat\"]}");
    world_add(world, JOB("0 9 * * *", "catch_up: skip\n"));
    world_sleep(world, 20 * 7 * DAY);
    world_pass(world, SECOND);
    assert_int_equal(skipped(world), 20 * 3);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 20 * 4);
    assert_int_equal(world->entry_count, 20 * 6 + 1); /* Sunday and Monday are one */
    world_check(world);
}

/* What was out when it was due stays so, also if it is not on record yet when the calendar changes;
 * from then on the new dates hold. */
static void test_a_calendar_that_changes(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-01\"]}");
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, 10 * MINUTE + 30 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world->entry_count, 0); /* gathered */
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-02\"]}");
    world_pass(world, 5 * MINUTE);
    assert_int_equal(skipped(world), 10);
    assert_int_equal(world->process_count, 5);
    put_calendar(world, "holidays", "{\"weekdays\":[\"thu\"]}");
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 5);
    put_calendar(world, "holidays", NULL);
    world_pass(world, 5 * MINUTE);
    assert_int_equal(skipped(world), 15);
    assert_int_equal(world->process_count, 10);
    world_check(world);
}

static void drop_calendars(struct job *job)
{
    for (size_t i = 0; i < job->calendar_count; i++)
        free(job->calendars[i]);
    job->calendar_count = 0;
}

static void test_a_job_that_drops_its_calendar(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-01\"]}");
    struct id uid = world_add(world, JOB("* * * * *", "catch_up: all\n"));
    world_pass(world, 10 * MINUTE + 30 * SECOND);
    world_change(world, &uid, drop_calendars);
    world_pass(world, 5 * MINUTE);
    assert_int_equal(skipped(world), 10);
    assert_int_equal(world->process_count, 5);
    world_check(world);
}

/* Of an outage over a holiday, the ticks of the other days are made good, and it is those that
 * count. */
static void test_catching_up_over_a_holiday(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        size_t started;
        int64_t missed;
    } cases[] = {
        {"catch_up: {policy: last, window: 3d}", 1, 2},
        {"catch_up: {policy: all, window: 3d}", 3, 0},
        {"catch_up: {policy: all, window: 3d, limit: 2}", 2, 1},
        {"catch_up: skip", 0, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[300];
        put_calendar(world, "holidays", "{\"dates\":[\"2026-01-02\"]}");
        snprintf(yaml, sizeof(yaml), JOB("0 */6 * * *", "%s\n"), cases[i].policy);
        world_add(world, yaml);
        world_sleep(world, DAY + 20 * HOUR); /* 06, 12, 18, then the day itself */
        world_pass(world, MINUTE);
        if (world->process_count != cases[i].started || skipped(world) != 4)
            fail_msg("%s: %zu started, %d skipped", cases[i].policy, world->process_count,
                     (int)skipped(world));
        int64_t missed = world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP) +
                         world_passed(world, "j", RUN_MISSED, REASON_TOO_MANY);
        if (missed != cases[i].missed)
            fail_msg("%s: %d missed", cases[i].policy, (int)missed);
        world_check(world);
        world_free(world);
    }
}

/* A fixed delay goes on from tick to tick while it is out. */
static void test_fixed_delay(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-02\"]}");
    world_add(world, JOB("@after 5h", ""));
    world->duration_ms = HOUR;
    world_pass(world, 3 * DAY);
    /* 5, 11, 17, 23 (until 24), then 29, 34, 39, 44 are out, 49 runs until 50, then 55, 61, 67 */
    assert_int_equal(skipped(world), 4);
    assert_int_equal(world->process_count, 8);
    assert_int_equal(world->processes[4].tick_ms - world->processes[0].tick_ms, 44 * HOUR);
    world_check(world);
}

/* A job that names one that is not there goes without it, until it comes. */
static void test_a_missing_calendar(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, 5 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 5);
    assert_string_equal(catalog_job_missing_calendar(job_of(world)), "holidays");
    put_calendar(world, "holidays", "{\"weekdays\":[\"thu\"]}");
    assert_null(catalog_job_missing_calendar(job_of(world)));
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 5);
    put_calendar(world, "holidays", "{\"wrong\":1}"); /* of a later version, perhaps */
    assert_string_equal(catalog_job_missing_calendar(job_of(world)), "holidays");
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 10);
    assert_int_equal(skipped(world), 5);
    world_check(world);
}

/* A restart finds it all in the store. */
static void test_a_restart_on_the_day(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-01\"]}");
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, 10 * MINUTE + SECOND);
    world_restart(world);
    world_pass(world, 2 * HOUR);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(job_of(world)->calendars->next_run_ms, INT64_C(1767225600000) + DAY);
    world_pass(world, 23 * HOUR);
    assert_int_equal(skipped(world), 24 * 60 - 1);
    world_check(world);
}

/* Only the dates of some calendars, and not even those that another one takes out. */
static void test_required_days(void **state)
{
    struct world *world = *state;
    put_calendar(world, "trading", "{\"weekdays\":[\"fri\",\"mon\",\"tue\"]}");
    put_calendar(world, "more", "{\"dates\":[\"2026-01-03\"]}");
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-05\"]}");
    world_add(world, JOB("0 9 * * *", "only_on: [trading, more]\n"));
    world_pass(world, 7 * DAY); /* Thursday to Wednesday: Friday, Saturday, Tuesday */
    assert_int_equal(world->process_count, 3);
    assert_int_equal(skipped(world), 4);
    int not_on = 0, holidays = 0;
    for (size_t i = 0; i < world->entry_count; i++) {
        not_on += strcmp(world->entries[i].detail, "not on trading, more") == 0;
        holidays += strcmp(world->entries[i].detail, "holidays") == 0;
    }
    assert_int_equal(not_on, 3);
    assert_int_equal(holidays, 1);
    world_check(world);
}

/* One that is not there has no dates. */
static void test_a_required_calendar_that_is_missing(void **state)
{
    struct world *world = *state;
    world_add(world, "name: j\nschedule: '* * * * *'\ncommand: ['true']\nonly_on: trading\n");
    world_pass(world, 5 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 0);
    assert_string_equal(catalog_job_missing_calendar(job_of(world)), "trading");
    put_calendar(world, "trading", "{\"weekdays\":[\"thu\"]}");
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 5);
    assert_int_equal(skipped(world), 5);
    world_check(world);
}

/* Thursday: ticks of 09:00 to 11:59 are out, and the entries name the window. */
static void test_a_window_is_named(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays",
                 "{\"windows\":[\"mon-fri 09:00-12:00\",\"2026-01-01 18:00-24:00\"]}");
    world_add(world, JOB("0 * * * *", ""));
    world_pass(world, DAY - SECOND);
    assert_int_equal(skipped(world), 3 + 6);
    assert_int_equal(world->process_count, 23 - 9);
    int mornings = 0, evenings = 0;
    for (size_t i = 0; i < world->entry_count; i++) {
        const struct ledger_entry *entry = &world->entries[i];
        mornings += strcmp(entry->detail, "holidays: mon-fri 09:00-12:00") == 0;
        evenings += strcmp(entry->detail, "holidays: 2026-01-01 18:00-24:00") == 0;
    }
    assert_true(mornings > 0 && evenings > 0);
    assert_int_equal(world->entry_count, mornings + evenings);
    world_check(world);
}

/* The calendar's clock, not the job's: 09:00 to 17:00 in Shanghai is 01:00 to 09:00 UTC. */
static void test_a_window_of_another_zone(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays",
                 "{\"windows\":[\"09:00-17:00\"],\"timezone\":\"Asia/Shanghai\"}");
    world_add(world, JOB("0 * * * *", "timezone: America/New_York\n"));
    world_pass(world, DAY - SECOND);
    assert_int_equal(skipped(world), 8);
    assert_int_equal(world->process_count, 23 - 8);
    world_check(world);
}

/* Ticks after an outage that was longer than a window: those in it are out, not missed. */
static void test_an_outage_over_a_window(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"windows\":[\"22:00-06:00\"]}");
    world_add(world, JOB("30 * * * *", "catch_up: skip\n"));
    world_sleep(world, 2 * DAY);
    world_pass(world, SECOND);
    assert_int_equal(skipped(world), 6 + 2 + 6 + 2);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 2 * 16);
    world_check(world);
}

static void test_required_windows(void **state)
{
    struct world *world = *state;
    put_calendar(world, "trading", "{\"windows\":[\"mon-fri 09:00-11:00\"]}");
    world_add(world, "name: j\nschedule: '*/30 * * * *'\ncommand: ['true']\nonly_on: trading\n");
    world_pass(world, 2 * DAY - SECOND); /* Thursday and Friday */
    assert_int_equal(world->process_count, 2 * 4);
    for (size_t i = 0; i < world->entry_count; i++)
        assert_string_equal(world->entries[i].detail, "not on trading");
    world_check(world);
}

/* What was out while the old window held stays so. */
static void test_a_window_that_changes(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"windows\":[\"00:00-08:00\"]}");
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, 10 * MINUTE + 30 * SECOND);
    put_calendar(world, "holidays", "{\"windows\":[\"00:15-08:00\"]}");
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 4); /* 00:11 to 00:14 */
    world_check(world);
}

static void test_manual_runs_run(void **state)
{
    struct world *world = *state;
    put_calendar(world, "holidays", "{\"dates\":[\"2026-01-01\"]}");
    struct id uid = world_add(world, JOB("0 * * * *", ""));
    world_pass(world, 30 * MINUTE);
    assert_true(world_trigger(world, &uid));
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_a_day_is_passed_over),
        WITH_WORLD(test_a_day_with_a_gap),
        WITH_WORLD(test_a_day_of_seconds_is_a_few_ranges),
        WITH_WORLD(test_each_calendar_is_named),
        WITH_WORLD(test_an_outage_with_many_holes),
        WITH_WORLD(test_a_calendar_that_changes),
        WITH_WORLD(test_a_job_that_drops_its_calendar),
        cmocka_unit_test(test_catching_up_over_a_holiday),
        WITH_WORLD(test_fixed_delay),
        WITH_WORLD(test_a_missing_calendar),
        WITH_WORLD(test_a_restart_on_the_day),
        WITH_WORLD(test_required_days),
        WITH_WORLD(test_a_required_calendar_that_is_missing),
        WITH_WORLD(test_a_window_is_named),
        WITH_WORLD(test_a_window_of_another_zone),
        WITH_WORLD(test_an_outage_over_a_window),
        WITH_WORLD(test_required_windows),
        WITH_WORLD(test_a_window_that_changes),
        WITH_WORLD(test_manual_runs_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
