/* What is due, and what becomes of the ticks that are passed over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shelf.h"
#include "stages/planner.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static struct now at(int64_t ms)
{
    return (struct now){{SHELF_MS + ms}, {ms}};
}

static void init(struct planner *planner)
{
    planner_init(planner);
    static const struct attendance always;
    static const struct hindrances none;
    static const struct table no_maintenance;
    planner->rules.on_time_ms = 30 * SECOND;
    planner->rules.attendance = &always;
    planner->rules.hindrances = &none;
    planner->rules.maintenance = &no_maintenance;
    planner->rules.lead_ms = 5;
}

/* "missed catch_up 60-120 x2; tick 180": what is passed over, and what runs; in seconds. */
static void print_plan(const struct plan *plan, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < plan->passed_count; i++) {
        const struct ledger_entry *entry = &plan->passed[i];
        used += (size_t)snprintf(
            text + used, room - used, "%s %s %lld-%lld x%lld; ", run_state_name(entry->state),
            run_reason_name(entry->reason), (long long)(entry->from_ms - SHELF_MS) / SECOND,
            (long long)(entry->to_ms - SHELF_MS) / SECOND, (long long)entry->count);
    }
    if (plan->with_run)
        snprintf(text + used, room - used, "%s %lld", run_cause_name(plan->cause),
                 (long long)(plan->tick_ms - SHELF_MS) / SECOND);
}

/* A job of every minute, looked at for the first time `now_ms` after it was made. */
static void plans_of_a_minutely_job(void **state)
{
    static const struct {
        int line;
        const char *more;
        int64_t now_ms;
        const char *want; /* NULL: nothing is due */
    } cases[] = {
        {__LINE__, "", MINUTE - 6, NULL},
        {__LINE__, "", MINUTE - 5, "tick 60"}, /* the lead */
        {__LINE__, "", MINUTE + 30 * SECOND, "tick 60"},
        {__LINE__, "", MINUTE + 30 * SECOND + 1, "catch_up 60"},
        {__LINE__, "", 3 * MINUTE, "missed catch_up 60-120 x2; tick 180"},
        {__LINE__, "", 3 * MINUTE + 40 * SECOND, "missed catch_up 60-120 x2; catch_up 180"},
        {__LINE__, "catch_up: skip\n", 3 * MINUTE + 40 * SECOND, "missed catch_up 60-180 x3; "},
        {__LINE__, "catch_up: all\n", 3 * MINUTE + 40 * SECOND, "catch_up 60"},
        {__LINE__, "catch_up: {policy: all, limit: 2}\n", 3 * MINUTE + 40 * SECOND,
         "missed too_many 60-60 x1; catch_up 120"},
        {__LINE__, "catch_up: {policy: all, window: 2m}\n", 4 * MINUTE,
         "missed too_old 60-60 x1; catch_up 120"},
        {__LINE__, "deadline: 10s\n", 3 * MINUTE + 11 * SECOND, "missed deadline 60-180 x3; "},
        {__LINE__, "deadline: 10s\n", 3 * MINUTE + 10 * SECOND,
         "missed deadline 60-120 x2; tick 180"},
        {__LINE__, "paused: true\n", MINUTE + HOUR - 1, NULL}, /* gathered for an hour */
        {__LINE__, "paused: true\n", MINUTE + HOUR, "skipped paused 60-3660 x61; "},
        {__LINE__, "jitter: 1s\nend: 2026-01-01T00:01:01Z\n", 2 * MINUTE, "catch_up 60"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shelf *shelf = *state;
        struct planner planner;
        struct plan plan;
        char text[256];
        init(&planner);
        struct catalog_job *job = shelf_put(shelf, 1, "a", "'* * * * *'", cases[i].more);
        assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
        enum status st = planner_next_due(&planner, at(cases[i].now_ms), &plan);
        if ((st == OK) != (cases[i].want != NULL))
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (st == OK) {
            print_plan(&plan, text, sizeof(text));
            if (strcmp(text, cases[i].want) != 0)
                fail_msg("line %d: %s", cases[i].line, text);
            assert_true(job->claiming);
            plan_release(&plan);
        }
        planner_release(&planner);
        job->claiming = false;
        job->heap_place = HEAP_NONE;
    }
}

/* Farther ahead, if no run of its own may still be in the way at its tick. */
static void a_free_job_is_planned_early(void **state)
{
    static const struct {
        int line;
        uint32_t open_runs;
        int64_t now_ms;
        enum status want;
    } cases[] = {
        {__LINE__, 0, MINUTE - 201, E_NOT_FOUND},
        {__LINE__, 0, MINUTE - 200, OK},
        {__LINE__, 1, MINUTE - 200, E_NOT_FOUND},
        {__LINE__, 1, MINUTE - 6, E_NOT_FOUND},
        {__LINE__, 1, MINUTE - 5, OK},
    };
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'* * * * *'", "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct planner planner;
        struct plan plan;
        init(&planner);
        planner.rules.free_lead_ms = 200;
        assert_int_equal(planner_put(&planner, job, INT64_MIN), OK); /* free when it is planned */
        job->open_runs = cases[i].open_runs;
        enum status st = planner_next_due(&planner, at(cases[i].now_ms), &plan);
        if (st != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (st == OK)
            plan_release(&plan);
        planner_release(&planner);
        job->claiming = false;
        job->open_runs = 0;
        job->heap_place = HEAP_NONE;
    }
}

/* It gets other times: what is due until then, and not decided, is passed over. */
static void a_change_passes_what_is_due(void **state)
{
    static const struct {
        int line;
        const char *schedule, *more;
        int64_t until_ms;
        const char *want;
    } cases[] = {
        {__LINE__, "'* * * * *'", "", MINUTE - 1, ""},
        {__LINE__, "'* * * * *'", "", MINUTE, "skipped edited 60-60 x1; "},
        {__LINE__, "'* * * * *'", "catch_up: all\n", HOUR, "skipped edited 60-3600 x60; "},
        {__LINE__, "'* * * * *'", "jitter: 1h\n", 2 * MINUTE, "skipped edited 60-120 x2; "},
        {__LINE__, "'* * * * *'", "paused: true\n", 10 * MINUTE, "skipped paused 60-600 x10; "},
        {__LINE__, "'@every 1s'", "", 100000 * SECOND, "skipped edited 1-100000 x100000; "},
        {__LINE__, "'@every 1s'", "", 100004 * SECOND,
         "skipped edited 1-100000 x100000; skipped edited 100001-100004 x0; "}, /* not counted */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shelf *shelf = *state;
        struct planner planner;
        struct plan plan;
        char text[256];
        init(&planner);
        struct catalog_job *job = shelf_put(shelf, 1, "a", cases[i].schedule, cases[i].more);
        assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
        assert_int_equal(
            plan_pass(&planner.rules, job, SHELF_MS + cases[i].until_ms, REASON_EDITED, &plan), OK);
        print_plan(&plan, text, sizeof(text));
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
        plan_release(&plan);
        planner_release(&planner);
        job->heap_place = HEAP_NONE;
    }
}

static void the_most_urgent_comes_first(void **state)
{
    struct shelf *shelf = *state;
    struct planner planner;
    struct plan plan;
    static const char *const schedules[] = {"'30 * * * * *'", "'10 * * * * *'", "'20 * * * * *'"};
    static const char *const want[] = {"b", "c", "a"};
    init(&planner);
    for (uint8_t i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        struct catalog_job *job = shelf_put(shelf, i + 1, name, schedules[i], "");
        assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
    }
    assert_int_equal(planner_wake_at(&planner), SHELF_MS + 10 * SECOND - 5);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(planner_next_due(&planner, at(31 * SECOND), &plan), OK);
        assert_string_equal(plan.job->name, want[i]);
        plan_release(&plan);
    }
    assert_int_equal(planner_next_due(&planner, at(31 * SECOND), &plan), E_NOT_FOUND);
    assert_true(planner_wake_at(&planner) == NEVER_MS);
    planner_release(&planner);
}

static void a_job_under_claim_is_left_alone(void **state)
{
    struct shelf *shelf = *state;
    struct planner planner;
    struct plan plan;
    init(&planner);
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'* * * * *'", "");
    assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
    assert_int_equal(planner_next_due(&planner, at(MINUTE), &plan), OK);
    plan_release(&plan);
    assert_int_equal(planner_put(&planner, job, INT64_MIN), OK); /* the feed tells of it */
    assert_int_equal(planner_next_due(&planner, at(MINUTE), &plan), E_NOT_FOUND);
    job->claiming = false; /* answered: stale */
    assert_int_equal(planner_put(&planner, job, SHELF_MS + MINUTE + SECOND), OK);
    assert_int_equal(planner_next_due(&planner, at(MINUTE), &plan), E_NOT_FOUND);
    assert_int_equal(planner_wake_at(&planner), SHELF_MS + MINUTE + SECOND);
    assert_int_equal(planner_next_due(&planner, at(MINUTE + SECOND), &plan), OK);
    plan_release(&plan);
    planner_release(&planner);
}

/* Those of one instant: whatever the order in which they were put; and one that is due earlier
 * before all of them. */
static void jobs_of_an_instant_come_in_groups(void **state)
{
    enum { COUNT = 12, EACH = 4 };
    struct shelf *shelf = *state;
    struct planner planner;
    struct plan plan;
    struct catalog_job *jobs[COUNT + 1];
    char name[16];
    init(&planner);
    for (int i = 0; i <= COUNT; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        shelf->catalog.added = (uint32_t)(CATALOG_GROUP * (i / EACH) + i % EACH);
        jobs[i] =
            shelf_put(shelf, (uint8_t)(i + 1), name, i < COUNT ? "'0 * * * *'" : "'* * * * *'", "");
        assert_int_equal(jobs[i]->group, i / EACH);
    }
    for (int i = 0; i <= COUNT; i++)
        assert_int_equal(planner_put(&planner, jobs[i * 7 % (COUNT + 1)], INT64_MIN), OK);
    assert_int_equal(planner_wake_at(&planner), SHELF_MS + MINUTE - 5);
    assert_int_equal(planner_next_due(&planner, at(HOUR), &plan), OK);
    assert_ptr_equal(plan.job, jobs[COUNT]);
    plan_release(&plan);
    assert_int_equal(planner_wake_at(&planner), SHELF_MS + HOUR - 5);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(planner_next_due(&planner, at(HOUR), &plan), OK);
        assert_int_equal(plan.job->group, i / EACH);
        plan_release(&plan);
    }
    assert_int_equal(planner_next_due(&planner, at(HOUR), &plan), E_NOT_FOUND);
    planner_release(&planner);
}

static void nothing_to_plan(void **state)
{
    struct shelf *shelf = *state;
    struct planner planner;
    init(&planner);
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'* * * * *'", "");
    assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
    shelf_delete(shelf, 1);
    assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
    assert_int_equal(job->heap_place, HEAP_NONE);
    job->deleted = false;
    job->broken = true;
    assert_int_equal(planner_put(&planner, job, INT64_MIN), OK);
    assert_true(planner_wake_at(&planner) == NEVER_MS);
    planner_release(&planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHELF(plans_of_a_minutely_job),
        WITH_SHELF(a_free_job_is_planned_early),
        WITH_SHELF(a_change_passes_what_is_due),
        WITH_SHELF(the_most_urgent_comes_first),
        WITH_SHELF(a_job_under_claim_is_left_alone),
        WITH_SHELF(jobs_of_an_instant_come_in_groups),
        WITH_SHELF(nothing_to_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
