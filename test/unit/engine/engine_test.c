/* The engine through its stages: ticks, overlap, catch-up, pauses, kills, clocks and restarts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define JOB(schedule, more) "name: j\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

static void test_every_tick_once(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, HOUR + SECOND);
    assert_int_equal(world->process_count, 60);
    assert_int_equal(world_count(world, "j", RUN_OK), 60);
    assert_int_equal(world->entry_count, 0);
    for (size_t i = 0; i < world->process_count; i++)
        assert_int_equal(world->processes[i].started_ms, world->processes[i].tick_ms);
    world_check(world);
}

static void test_failure_is_on_record(void **state)
{
    struct world *world = *state;
    world->exit_code = 3;
    world_add(world, JOB("0 * * * *", ""));
    world_pass(world, HOUR + SECOND);
    assert_int_equal(world_count(world, "j", RUN_FAILED), 1);
    assert_int_equal(world->runs[0].exit_code, 3);
    assert_int_equal(world->runs[0].reason, REASON_EXIT_CODE);
}

/* Runs of 150 s on a job of every minute, for ten minutes. */
static void test_overlap(void **state)
{
    static const struct {
        const char *policy;
        size_t started;
        int64_t skipped;
        size_t killed;
    } cases[] = {
        {"overlap: skip", 4, 6, 0},   /* at 1, 4, 7 and 10 */
        {"overlap: allow", 10, 0, 0}, /* side by side */
        {"overlap: queue", 4, 0, 0},  /* one after the other: 1:00, 3:30, 6:00, 8:30 */
        {"overlap: replace", 10, 0, 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[200];
        snprintf(yaml, sizeof(yaml), JOB("* * * * *", "%s\n"), cases[i].policy);
        world->duration_ms = 150 * SECOND;
        world_add(world, yaml);
        world_pass(world, 10 * MINUTE + SECOND);
        if (world->process_count != cases[i].started)
            fail_msg("%s: %zu started", cases[i].policy, world->process_count);
        assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_OVERLAP), cases[i].skipped);
        assert_int_equal(world_count(world, "j", RUN_KILLED), cases[i].killed);
        world_check(world);
        world_free(world);
    }
}

static void test_queue_is_bounded(void **state)
{
    struct world *world = *state;
    world->duration_ms = HOUR;
    world_add(world, JOB("* * * * *", "overlap: {policy: queue, queue: 3}\n"));
    world_pass(world, 10 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_QUEUE_FULL), 6);
}

/* The agent is away for ten minutes of a job of every minute. */
static void test_catch_up(void **state)
{
    static const struct {
        const char *policy;
        size_t started; /* after it is back, within the next 30 s */
        enum run_reason reason;
        int64_t missed;
    } cases[] = {
        {"catch_up: last", 1, REASON_CATCH_UP, 9},
        {"catch_up: skip", 0, REASON_CATCH_UP, 10},
        {"catch_up: all", 10, REASON_CATCH_UP, 0},
        {"catch_up: {policy: all, limit: 4}", 4, REASON_TOO_MANY, 6},
        {"catch_up: {policy: all, window: 5m}", 5, REASON_TOO_OLD, 5},
        {"deadline: 2m", 1, REASON_DEADLINE, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[200];
        snprintf(yaml, sizeof(yaml), JOB("* * * * *", "%s\n"), cases[i].policy);
        world_add(world, yaml);
        world_sleep(world, 10 * MINUTE + 40 * SECOND);
        world_pass(world, 15 * SECOND);
        if (world->process_count != cases[i].started)
            fail_msg("%s: %zu started", cases[i].policy, world->process_count);
        if (world_passed(world, "j", RUN_MISSED, cases[i].reason) != cases[i].missed)
            fail_msg("%s: %d missed", cases[i].policy,
                     (int)world_passed(world, "j", RUN_MISSED, cases[i].reason));
        world_check(world);
        world_free(world);
    }
}

/* The tick that is just due when the agent is back waits behind those that are made good. */
static void test_catch_up_all_up_to_now(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("*/10 * * * *", "catch_up: all\n"));
    world->duration_ms = 2 * SECOND;
    world_sleep(world, HOUR + 5 * SECOND);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 6);
    assert_int_equal(world_count(world, "j", RUN_OK), 6);
    world_check(world);
}

/* What is made good waits for a run that began before the outage and is not over. */
static void test_catch_up_behind_a_run(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("*/10 * * * *", "overlap: skip\n"));
    world->duration_ms = HOUR + 15 * MINUTE;
    world_pass(world, 10 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 1);
    world_sleep(world, HOUR + 5 * MINUTE); /* the last of them is that of 1:10, and is made good */
    world_pass(world, SECOND);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 5);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_OVERLAP), 0);
    assert_int_equal(world->process_count, 1);
    world_pass(world, 12 * MINUTE); /* the first has ended; that of 1:20 came while it ran */
    assert_int_equal(world->process_count, 2);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_OVERLAP), 1);
    world_check(world);
}

/* A year of seconds is a handful of ranges, not 31 million entries. */
static void test_long_outage_is_a_range(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * * *", "catch_up: skip\n"));
    world_sleep(world, INT64_C(30) * 24 * HOUR + 500);
    world_pass(world, 0);
    world_pass(world, SECOND);
    int64_t missed = world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP);
    assert_true(missed >= INT64_C(30) * 86400 - 31 && missed <= INT64_C(30) * 86400);
    assert_true(world->entry_count < 40);
    world_check(world);
}

static void pause(struct job *job)
{
    job->paused = true;
    job->paused_ms = 1767225600000 + 5 * MINUTE + 30 * SECOND;
}

static void resume(struct job *job)
{
    job->paused = false;
    job->resumed_ms = 1767225600000 + 15 * MINUTE + 30 * SECOND;
}

static void test_pause(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", "catch_up: all\n"));
    world_pass(world, 5 * MINUTE + 30 * SECOND);
    world_change(world, &uid, pause);
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 5);
    world_change(world, &uid, resume);
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 10);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_PAUSED), 10);
    world_check(world);
}

static void skip_two(struct job *job)
{
    job->skip_until_ms = 1767225600000 + 2 * MINUTE;
}

static void test_skip_next(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world_change(world, &uid, skip_two);
    world_pass(world, 5 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 3);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_SKIP_NEXT), 2);
}

static void delete (struct job *job)
{
    job->deleted_ms = 1;
}

static void test_deleted_job_rests(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world_pass(world, 2 * MINUTE + SECOND);
    world_change(world, &uid, delete);
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, 2);
}

/* Fixed delay: the pause between runs is what was asked for, however long they take. */
static void test_after(void **state)
{
    struct world *world = *state;
    world->duration_ms = 20 * SECOND;
    world_add(world, JOB("@after 40s", ""));
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 10);
    assert_int_equal(world->processes[1].started_ms - world->processes[0].started_ms, MINUTE);
    world_check(world);
}

/* Fixed rate: by the anchor, whatever the runs take. */
static void test_every(void **state)
{
    struct world *world = *state;
    world->duration_ms = 20 * SECOND;
    world_add(world, JOB("@every 90s", ""));
    world_pass(world, 9 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 6);
    assert_int_equal(world->processes[0].tick_ms % 90000, 0);
}

static void test_jitter_delays_the_start(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", "jitter: 30s\n"));
    world_pass(world, 5 * MINUTE + 30 * SECOND);
    assert_int_equal(world->process_count, 5);
    int64_t delay = world->processes[0].started_ms - world->processes[0].tick_ms;
    assert_true(delay > 0 && delay < 30 * SECOND);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(world->processes[i].started_ms - world->processes[i].tick_ms, delay);
}

static void test_manual_and_kill(void **state)
{
    struct world *world = *state;
    world->duration_ms = HOUR;
    struct id uid = world_add(world, JOB("@manual", ""));
    assert_true(world_trigger(world, &uid));
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
    assert_false(world_trigger(world, &uid)); /* overlap: skip */
    world_kill(world, &world->processes[0].run_id);
    world_pass(world, SECOND);
    assert_int_equal(world_count(world, "j", RUN_KILLED), 1);
    assert_int_equal(world->runs[0].reason, REASON_USER);
    assert_string_equal(world->runs[0].by, "tester");
}

static void test_restart_reattaches(void **state)
{
    struct world *world = *state;
    world->duration_ms = 10 * MINUTE;
    world_add(world, JOB("0 * * * *", ""));
    world_pass(world, HOUR + MINUTE);
    assert_int_equal(world->process_count, 1);
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->run_count, 0);
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world_count(world, "j", RUN_OK), 1);
    assert_int_equal(world->process_count, 1);
}

/* Killed at any moment around a tick: the tick runs once, or is on record as missed. */
static void test_restart_at_every_step(void **state)
{
    (void)state;
    for (int steps = 0; steps < 140; steps++) {
        struct world *world = world_new();
        world_add(world, JOB("* * * * *", ""));
        world_pass(world, MINUTE - 120);
        for (int i = 0; i < steps; i++) {
            world->now.wall.ms++;
            world->now.boot.ms++;
            engine_step(world->engine, world->now);
        }
        world_restart(world);
        world_pass(world, 30 * SECOND);
        size_t ends = world_count(world, "j", RUN_OK) + world_count(world, "j", RUN_MISSED);
        if (ends != 1)
            fail_msg("after %d steps: %zu ends", steps, ends);
        assert_true(world->process_count <= 1);
        world_check(world);
        world_free(world);
    }
}

static void test_executor_away(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world->executor_away = true;
    world_pass(world, MINUTE + 30 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "j", RUN_MISSED), 1);
    assert_int_equal(world->runs[0].reason, REASON_START_WINDOW);
    world->executor_away = false;
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
}

/* The history holds back nothing but itself. */
static void test_history_away(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world->history_away = true;
    world_pass(world, 30 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 30);
    assert_int_equal(world->run_count, 0);
    world->history_away = false;
    world_pass(world, 5 * SECOND);
    assert_int_equal(world_count(world, "j", RUN_OK), 30);
}

static void test_limit_of_running(void **state)
{
    struct world *world = *state;
    world_free(world);
    world = *state = world_new();
    world->config.max_running = 2;
    world_restart(world);
    world->duration_ms = 5 * SECOND;
    for (int i = 0; i < 5; i++) {
        char yaml[120];
        snprintf(yaml, sizeof(yaml), "name: j%d\nschedule: '* * * * *'\ncommand: [/bin/true]\n", i);
        world_add(world, yaml);
    }
    world_pass(world, MINUTE + 20 * SECOND);
    assert_int_equal(world->process_count, 5);
    world_check(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_every_tick_once),
        WITH_WORLD(test_failure_is_on_record),
        cmocka_unit_test(test_overlap),
        WITH_WORLD(test_queue_is_bounded),
        cmocka_unit_test(test_catch_up),
        WITH_WORLD(test_catch_up_all_up_to_now),
        WITH_WORLD(test_catch_up_behind_a_run),
        WITH_WORLD(test_long_outage_is_a_range),
        WITH_WORLD(test_pause),
        WITH_WORLD(test_skip_next),
        WITH_WORLD(test_deleted_job_rests),
        WITH_WORLD(test_after),
        WITH_WORLD(test_every),
        WITH_WORLD(test_jitter_delays_the_start),
        WITH_WORLD(test_manual_and_kill),
        WITH_WORLD(test_restart_reattaches),
        cmocka_unit_test(test_restart_at_every_step),
        WITH_WORLD(test_executor_away),
        WITH_WORLD(test_history_away),
        WITH_WORLD(test_limit_of_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
