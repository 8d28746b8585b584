/* Clocks that are wrong, are set, or jump: what starts, what does not, and what is on record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define JOB(schedule, more) "name: j\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

static size_t count_clock(const struct world *world)
{
    size_t count = 0;
    for (size_t i = 0; i < world->entry_count; i++)
        count += world->entries[i].reason == REASON_CLOCK;
    return count;
}

static bool is_doubted(const struct world *world)
{
    return engine_clock(world->engine).doubt != DOUBT_NONE;
}

/* ---- set back ---- */

/* What has started does not start again; what has not, does at its time. */
static void test_set_back(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", "catch_up: skip\n"));
    world_pass(world, 10 * MINUTE + SECOND); /* 00:01 to 00:10 */
    assert_int_equal(world->process_count, 10);
    world_set_clock(world, -(int64_t)HOUR);
    world_pass(world, HOUR); /* 23:11 to 00:00, which were not there before the job was */
    assert_int_equal(world->process_count, 60);
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 70);
    assert_int_equal(count_clock(world), 1);
    assert_non_null(strstr(world->entries[0].detail, "set back from 2026-01-01T00:10:00Z to "));
    assert_int_equal(engine_clock(world->engine).steps, 1);
    assert_int_equal(engine_clock(world->engine).step_ms, -(int64_t)HOUR);
    assert_int_equal(engine_clock(world->engine).jobs_ahead, 0);
    world_check(world);
}

/* Ticks that a wrong clock has passed over start at their time. */
static void test_missed_by_a_wrong_clock(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", "catch_up: skip\n"));
    world_pass(world, 10 * MINUTE + 30 * SECOND);
    world_set_clock(world, HOUR);
    world_pass(world,
               11 * MINUTE); /* it is believed after ten, in which nothing was started: 01:21 */
    assert_int_equal(world->process_count, 11);
    assert_true(world_passed(world, "j", RUN_MISSED, REASON_CLOCK_DOUBTED) > 60);
    world_set_clock(world, -(int64_t)HOUR); /* 00:21:30 */
    world_pass(world, HOUR - 2 * MINUTE);
    assert_int_equal(world->process_count, 11 + 58);
    world_pass(world, 2 * MINUTE); /* 01:21 is over */
    assert_int_equal(world->process_count, 11 + 59);
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 11 + 69);
    assert_int_equal(count_clock(world), 1);
    world_check(world);
}

/* Rhythms go on at once. */
static void test_rhythms_go_on(void **state)
{
    static const char *const rhythms[] = {"@every 60s", "@after 60s"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_new();
        char yaml[200];
        snprintf(yaml, sizeof(yaml), JOB("%s", ""), rhythms[i]);
        world_add(world, yaml);
        world_pass(world, 20 * MINUTE + 30 * SECOND);
        size_t before = world->process_count;
        assert_true(before >= 19);
        world_set_clock(world, -10 * (int64_t)MINUTE);
        world_pass(world, 5 * MINUTE);
        assert_in_range(world->process_count, before + 4, before + 5);
        world_set_clock(world, -30 * (int64_t)MINUTE);
        world_pass(world, 5 * MINUTE);
        assert_in_range(world->process_count, before + 8, before + 10);
        world_set_clock(world, 35 * (int64_t)MINUTE); /* as if nothing had been */
        world_pass(world, 11 * MINUTE);
        before = world->process_count;
        world_pass(world, HOUR);
        assert_in_range(world->process_count, before + 59, before + 60);
        assert_int_equal(count_clock(world), 2);
        world_check(world);
        world_free(world);
    }
}

/* A backfill of a tick that was missed is its start. */
static void test_backfill_of_a_missed_tick(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("0 * * * *", "catch_up: skip\n"));
    world_pass(world, MINUTE);
    world_set_clock(world, 5 * (int64_t)HOUR); /* 05:01 */
    world_pass(world, 11 * MINUTE);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CLOCK_DOUBTED), 5);
    assert_true(
        world_backfill(world, &uid, world->now.wall.ms / HOUR * HOUR - 2 * HOUR)); /* 03:00 */
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
    world_set_clock(world, -5 * (int64_t)HOUR); /* 00:13 */
    world_pass(world, 6 * (int64_t)HOUR);
    assert_int_equal(world->process_count, 6); /* 01:00, 02:00, 04:00, 05:00, 06:00 */
    world_check(world);
}

/* A job that was made, and one that was resumed, by a clock that was ahead. */
static void pause(struct job *job)
{
    job->paused = true;
    job->paused_ms = 1;
}

static int64_t resumed_ms;

static void resume(struct job *job)
{
    job->paused = false;
    job->resumed_ms = resumed_ms;
}

static void test_changed_by_a_wrong_clock(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world_change(world, &uid, pause);
    world_pass(world, MINUTE);
    world_set_clock(world, 20 * (int64_t)HOUR);
    resumed_ms = world->now.wall.ms;
    world_change(world, &uid, resume);
    world_add(world, "name: k\nschedule: '* * * * *'\ncommand: [/bin/true]\n");
    world_pass(world, 5 * SECOND);
    world_set_clock(world, -20 * (int64_t)HOUR);
    world_pass(world, 10 * MINUTE);
    assert_in_range(world_count(world, "j", RUN_OK), 10, 11); /* with one of the pause, perhaps */
    assert_int_equal(world_count(world, "k", RUN_OK), 10);
    world_check(world);
}

/* A node hears of an end by a clock that is ahead, and then of nothing for a while: that end is
 * moved back, and other runs end. */
static void test_told_of_the_wrong_end_only(void **state)
{
    struct cluster *cluster = cluster_new(2);
    struct world *leader = cluster->nodes[0], *node = cluster->nodes[1];
    (void)state;
    cluster_drain(cluster, node, true);
    struct id uid = world_add(leader, JOB("@after 10m", ""));
    leader->duration_ms = 10 * SECOND;
    assert_true(world_trigger(leader, &uid));
    cluster_pass(cluster, 5 * SECOND);
    world_set_clock(leader, HOUR);
    cluster_pass(cluster, 6 * SECOND);
    assert_int_equal(leader->run_count, 1);
    const struct last_run *last = &catalog_by_uid(engine_catalog(node->engine), &uid)->last;
    assert_true(last->ended_ms > node->now.wall.ms + HOUR / 2);
    node->deaf = true;
    world_set_clock(leader, -(int64_t)HOUR);
    cluster_pass(cluster, 2 * SECOND);
    assert_true(world_trigger(leader, &uid));
    cluster_pass(cluster, 5 * SECOND);
    node->deaf = false;
    cluster_pass(cluster, 10 * SECOND);
    assert_int_equal(leader->run_count, 2);
    assert_true(last->ended_ms < node->now.wall.ms);
    assert_int_equal(engine_clock(node->engine).jobs_ahead, 0);
    cluster_free(cluster);
}

/* ---- doubt ---- */

/* Ten years ahead for three seconds, and back: nothing has happened. */
static void test_glitch(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("*/5 * * * *", ""));
    world_pass(world, 9 * MINUTE + 58 * SECOND);
    assert_int_equal(world->process_count, 1);
    world_set_clock(world, 3650 * 24 * (int64_t)HOUR);
    assert_true(is_doubted(world));
    assert_int_equal(engine_clock(world->engine).doubt, DOUBT_AHEAD);
    world_pass(world, 3 * SECOND);
    assert_int_equal(world->process_count, 1);
    world_set_clock(world, -3650 * 24 * (int64_t)HOUR);
    assert_false(is_doubted(world));
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 2); /* of 00:10, a second late */
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, 14);
    assert_int_equal(world->entry_count, 0);
    assert_int_equal(engine_clock(world->engine).steps, 2);
    world_check(world);
}

/* What stays so is believed after ten minutes, also 300 days; and so is the way back. */
static void test_believed_in_the_end(void **state)
{
    static const int64_t far_ms = 300 * 24 * (int64_t)HOUR;
    struct world *world = *state;
    world_add(world, JOB("*/5 * * * *", ""));
    world_pass(world, MINUTE);
    world_set_clock(world, far_ms);
    world_pass(world, 9 * MINUTE + 50 * SECOND);
    assert_true(is_doubted(world));
    assert_int_equal(world->process_count, 0);
    world_pass(world, 20 * MINUTE);
    assert_false(is_doubted(world));
    size_t ahead = world->process_count;
    assert_in_range(ahead, 4, 6);
    world_set_clock(world, -far_ms);
    assert_false(is_doubted(world)); /* it was there before */
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, ahead + 12);
    world_set_clock(world, -far_ms); /* it was never there */
    assert_int_equal(engine_clock(world->engine).doubt, DOUBT_BACK);
    world_pass(world, 9 * MINUTE);
    assert_int_equal(world->process_count, ahead + 12);
    world_set_clock(world, far_ms);
    assert_false(is_doubted(world));
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, ahead + 24 + 1); /* with the last that was missed */
    world_check(world);
}

/* A machine sleeps: its boot clock goes on, so the wall clock is right. */
static void test_sleep_is_no_step(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("*/5 * * * *", "catch_up: skip\n"));
    world_pass(world, MINUTE);
    world_sleep(world, 10 * (int64_t)HOUR);
    world_pass(world, 5 * MINUTE);
    assert_false(is_doubted(world));
    assert_int_equal(engine_clock(world->engine).steps, 0);
    assert_int_equal(world->process_count, 1);
}

/* An agent starts by a clock that is behind what the store has. */
static void test_behind_at_the_start(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("*/5 * * * *", ""));
    world_pass(world, HOUR + MINUTE);
    assert_int_equal(world->process_count, 12);
    world->now.wall.ms -= 20 * (int64_t)MINUTE;
    world_restart(world);
    world_pass(world, SECOND);
    assert_int_equal(engine_clock(world->engine).doubt, DOUBT_START);
    world->now.wall.ms += 20 * (int64_t)MINUTE; /* a time server is reached */
    world_pass(world, SECOND);
    assert_false(is_doubted(world));
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 14);
    assert_int_equal(world->entry_count, 0);

    world->now.wall.ms -= 20 * (int64_t)MINUTE; /* it was right */
    world_restart(world);
    world_pass(world, 9 * MINUTE);
    assert_int_equal(world->entry_count, 0);
    assert_int_equal(world->process_count, 14);
    world_pass(world, 2 * MINUTE);
    assert_int_equal(count_clock(world), 1);
    world_pass(world, 2 * (int64_t)HOUR);
    assert_int_equal(world->process_count, 14 + 22);
    world_check(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_set_back),
        WITH_WORLD(test_missed_by_a_wrong_clock),
        cmocka_unit_test(test_rhythms_go_on),
        WITH_WORLD(test_backfill_of_a_missed_tick),
        WITH_WORLD(test_changed_by_a_wrong_clock),
        cmocka_unit_test(test_told_of_the_wrong_end_only),
        WITH_WORLD(test_glitch),
        WITH_WORLD(test_believed_in_the_end),
        WITH_WORLD(test_sleep_is_no_step),
        WITH_WORLD(test_behind_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
