/* Claims that begin their runs, on a store that no other node could take them over in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

#define MINUTELY(name) "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

static int set_up(void **state)
{
    if (world_set_up(state) != 0)
        return -1;
    ((struct world *)*state)->front_ops.begins_claims = true;
    return 0;
}

static void a_lone_node_sends_no_begins(void **state)
{
    struct world *world = *state;
    world_add(world, MINUTELY("one"));
    world_add(world, MINUTELY("other"));
    world_pass(world, 3 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 6);
    assert_int_equal(world->sent[STORE_CLAIM].items, 6);
    assert_int_equal(world->sent[STORE_BEGIN].items, 0);
    assert_int_equal(world_count(world, "one", RUN_OK), 3);
    for (size_t i = 0; i < world->process_count; i++) {
        assert_true(world->processes[i].started_ms >= world->processes[i].tick_ms);
        assert_true(world->processes[i].fence > 0);
    }
    assert_true(engine_is_idle(world->engine));
    world_check(world);
}

/* Others could take over what is claimed and not begun: the begin waits for the tick. */
static void with_other_nodes_the_begin_is_apart(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    for (size_t i = 0; i < 2; i++)
        cluster->nodes[i]->front_ops.begins_claims = true;
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *node = cluster_first_for(cluster, &uid);
    cluster_pass(cluster, MINUTE + SECOND);
    assert_int_equal(cluster_starts(cluster, "job"), 1);
    assert_int_equal(node->sent[STORE_BEGIN].items, 1);
    cluster_free(cluster);
}

/* The start window counts from the begin: nothing is begun that can't be started now. */
static void without_its_executor_nothing_is_begun(void **state)
{
    struct world *world = *state;
    world_add(world, MINUTELY("job"));
    world->executor_away = world->tell_gone = true;
    world_pass(world, MINUTE + 20 * SECOND);
    world_attach(world);
    world_pass(world, 10 * SECOND);
    assert_int_equal(world_count(world, "job", RUN_OK), 1);
    assert_int_equal(world_count(world, "job", RUN_MISSED), 0);
    assert_true(engine_is_idle(world->engine));
}

/* Of a burst so many are begun as may be under way; the others are begun when those have started.
 */
static void a_burst_keeps_to_what_may_be_under_way(void **state)
{
    enum { JOBS = 600, UNDER_WAY = 256 };
    struct world *world = *state;
    for (int i = 0; i < JOBS; i++) {
        char yaml[128];
        snprintf(yaml, sizeof(yaml), MINUTELY("job-%d"), i);
        world_add(world, yaml);
    }
    world_pass(world, MINUTE + 10 * SECOND);
    assert_int_equal(world->process_count, JOBS);
    assert_int_equal(world->sent[STORE_BEGIN].items, JOBS - UNDER_WAY);
    assert_true(engine_is_idle(world->engine));
    world_check(world);
}

/* The agent is killed while its claim is under way. The run was begun, and nobody knows of a start:
 * it must not start now. */
static void what_a_dead_agent_has_begun_does_not_start(void **state)
{
    struct world *world = *state;
    world_add(world, MINUTELY("job"));
    world->door = DOOR_HELD;
    world->door_op = STORE_CLAIM;
    world_pass(world, MINUTE + SECOND);
    world->door = DOOR_SLOW;
    world_pass(world, 10);
    world_restart(world);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "job", RUN_MISSED), 1);
    assert_int_equal(world->runs[0].reason, REASON_START_WINDOW);
    assert_true(engine_is_idle(world->engine));
}

/* By its contract such a store has no claims whose outcome is unknown. If there is one all the
 * same, its run does not start, and does not stay. */
static void a_lost_answer_does_not_start_it(void **state)
{
    struct world *world = *state;
    world_add(world, MINUTELY("job"));
    world->door = DOOR_ONE_WAY;
    world->door_op = STORE_CLAIM;
    world_pass(world, MINUTE + SECOND);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "job", RUN_MISSED), 1);
    assert_true(engine_is_idle(world->engine));
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "job", RUN_OK), 1);
    world_check(world);
}

/* An answer that comes after the window has closed is no start. */
static void the_window_counts_from_the_claim(void **state)
{
    struct world *world = *state;
    world_add(world, MINUTELY("job"));
    world->door = DOOR_HELD;
    world->door_op = STORE_CLAIM;
    world_pass(world, MINUTE + 6 * SECOND);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "job", RUN_MISSED), 1);
    assert_int_equal(world->runs[0].reason, REASON_START_WINDOW);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_lone_node_sends_no_begins),
        cmocka_unit_test(with_other_nodes_the_begin_is_apart),
        TEST(without_its_executor_nothing_is_begun),
        TEST(a_burst_keeps_to_what_may_be_under_way),
        TEST(what_a_dead_agent_has_begun_does_not_start),
        TEST(a_lost_answer_does_not_start_it),
        TEST(the_window_counts_from_the_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
