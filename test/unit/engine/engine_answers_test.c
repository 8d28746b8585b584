/* Answers that come late, or never, when the feed has told more meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

#define ON_DEMAND(name) "name: " name "\nschedule: '0 0 1 1 *'\ncommand: [/bin/true]\n"
#define MINUTELY(name)  "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n"

enum { SECOND = 1000, HOUR = 3600 * SECOND };

static void hold(struct world *world, enum store_op op)
{
    world->door = DOOR_HELD;
    world->door_op = op;
}

static void limit_to_one(struct world *world)
{
    world->config.max_running = 1;
    world_restart(world);
    world->duration_ms = 5 * SECOND;
}

static size_t running_on(const struct world *world)
{
    size_t running = 0;
    for (size_t i = 0; i < world->process_count; i++)
        running += !world->processes[i].ended;
    return running;
}

/* What may have been taken takes room until the feed has told, however long that is held up. */
static void check_unknown_take(int64_t held_up_ms)
{
    struct world *world = world_new();
    limit_to_one(world);
    struct id one = world_add(world, ON_DEMAND("one")), two = world_add(world, ON_DEMAND("two"));
    hold(world, STORE_TAKE);
    assert_true(world_trigger(world, &one));
    assert_true(world_trigger(world, &two));
    world->silent = true;
    world->door = DOOR_ONE_WAY;
    world_pass(world, held_up_ms);
    world->silent = false;
    world->door = DOOR_OPEN;
    world_pass(world, 1 * SECOND);
    assert_int_equal(running_on(world), 1);
    world_pass(world, 30 * SECOND);
    assert_int_equal(world_count(world, "one", RUN_OK), 1);
    assert_int_equal(world_count(world, "two", RUN_OK), 1);
    world_check(world);
    world_free(world);
}

static void a_take_of_unknown_outcome_keeps_its_room(void **state)
{
    (void)state;
    check_unknown_take(2 * SECOND);
    check_unknown_take(100 * SECOND);
}

/* A take is late, another node is faster and goes away, and the run is taken once more. What is
 * answered to the first take says nothing of the second, which may be done. */
static void an_answer_is_for_its_own_take(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *node = cluster->nodes[0], *other = cluster->nodes[1];
    limit_to_one(node);
    cluster_pass(cluster, 5 * SECOND);
    struct id one = world_add(node, ON_DEMAND("one")), two = world_add(node, ON_DEMAND("two"));
    hold(node, STORE_TAKE);
    hold(other, STORE_BEGIN);
    assert_true(world_trigger(node, &one));
    cluster_pass(cluster, SECOND); /* the other has taken it */
    cluster_freeze(other);
    cluster_pass(cluster, SECOND); /* and does not begin it */
    assert_int_equal(node->submitted_count, 2);
    assert_true(world_trigger(node, &two));
    node->silent = true;
    node->door = DOOR_SLOW;
    cluster_pass(cluster, SECOND);
    node->silent = false;
    node->door = other->door = DOOR_OPEN;
    cluster_pass(cluster, SECOND);
    assert_int_equal(running_on(node), 1);
    cluster_thaw(cluster, other);
    cluster_pass(cluster, 30 * SECOND);
    assert_int_equal(cluster_count(cluster, "one", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "two", RUN_OK), 1);
    cluster_free(cluster);
}

/* A run that no node may run is taken so that it can be ended, and the answer is lost. That it
 * can't be taken once more does not mean that it is to be begun when the feed tells of the first
 * take. */
static void what_is_taken_to_be_ended_is_not_begun(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *leader = cluster->nodes[0];
    struct id uid = world_add(leader, ON_DEMAND("one") "where: gpu\n");
    assert_true(world_trigger(leader, &uid));
    cluster_pass(cluster, 29 * SECOND);
    leader->silent = true;
    leader->door_op = STORE_TAKE;
    leader->door = DOOR_ONE_WAY;
    cluster_pass(cluster, 2 * SECOND);
    leader->door = DOOR_OPEN;
    cluster_pass(cluster, 2 * SECOND);
    leader->silent = false;
    cluster_pass(cluster, SECOND);
    assert_int_equal(cluster_starts(cluster, "one"), 0);
    assert_int_equal(world_count(leader, "one", RUN_MISSED), 1);
    cluster_free(cluster);
}

/* The same with a begin: that the first is refused does not mean that the second is. */
static void an_answer_is_for_its_own_begin(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *node = cluster_first_for(cluster, &uid);
    struct world *other = cluster->nodes[node == cluster->nodes[0]];
    hold(node, STORE_BEGIN);
    hold(other, STORE_BEGIN);
    cluster_pass_to(cluster, 60000 - 50);
    cluster_pass(cluster, 50 + STEP_IN_MS + 50); /* the other has taken it over */
    cluster_freeze(other);
    cluster_pass(cluster, SECOND); /* and does not begin it */
    world_apply(node, 1);          /* so that this one has it again */
    cluster_pass(cluster, 10);
    assert_int_equal(node->submitted_count, 3);
    node->door = DOOR_SLOW;
    cluster_pass(cluster, 5 * SECOND);
    node->door = other->door = DOOR_OPEN;
    cluster_thaw(cluster, other);
    cluster_pass(cluster, 20 * SECOND);
    assert_int_equal(world_count(node, "job", RUN_OK), 1);
    assert_true(engine_is_idle(node->engine));
    cluster_free(cluster);
}

/* The feed shows a begin whose answer is not here: a start. But not if the store was restored from
 * a backup since: another node may have taken the run over before that, and run it. */
static void the_feed_of_a_restored_store_is_no_answer(void **state)
{
    (void)state;
    for (int is_restored = 0; is_restored < 2; is_restored++) {
        struct world *world = world_new();
        world_add(world, MINUTELY("job"));
        hold(world, STORE_BEGIN);
        world_pass(world, 60 * SECOND + 100);
        assert_int_equal(world->submitted_count, 1);
        world->health = is_restored ? E_ROLLED_BACK : OK;
        world_apply(world, 0);
        world_pass(world, SECOND);
        assert_int_equal(world->process_count, !is_restored);
        world->door = DOOR_ONE_WAY;
        world_pass(world, SECOND);
        world->door = DOOR_OPEN;
        world->health = OK;
        world_pass(world, 10 * SECOND);
        assert_int_equal(world->process_count, !is_restored);
        assert_int_equal(world_count(world, "job", is_restored ? RUN_LOST : RUN_OK), 1);
        assert_true(engine_is_idle(world->engine));
        world_free(world);
    }
}

/* A node has claimed a run, and its spawner is away; another one takes the run over and ends it.
 * The first one hears no more of it than that it is gone: so does a node that reads everything
 * again, or whose store is restored. It must not wait for more. */
static void what_is_gone_is_not_waited_for(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *node = cluster_first_for(cluster, &uid);
    hold(node, STORE_BEGIN);
    cluster_pass_to(cluster, 60000 - 10);
    assert_int_equal(node->submitted_count, 1); /* the begin; it fails, and is not sent again */
    struct id run_id = node->submitted[0]->items.begins[0].run_id;
    node->executor_away = node->tell_gone = true;
    node->silent = true;
    node->door_status = E_UNREACHABLE;
    node->door = DOOR_BROKEN;
    cluster_pass(cluster, 35 * SECOND);
    assert_int_equal(cluster_count(cluster, "job", RUN_OK), 1);
    node->gone = run_id;
    node->door = DOOR_OPEN;
    node->executor_away = false;
    world_attach(node);
    cluster_pass(cluster, 5 * SECOND);
    assert_true(node->sent[STORE_FINISH].items > 0);
    assert_int_equal(catalog_by_uid(engine_catalog(node->engine), &uid)->open_runs, 0);
    node->silent = false;
    cluster_pass(cluster, 60 * SECOND);
    assert_int_equal(cluster_count(cluster, "job", RUN_OK), 2);
    cluster_free(cluster);
}

/* ---- an end by a clock that is set back since ---- */

/* On the first node a run ends while its clock is ahead. Then the clock is set back, and with it
 * that end in the store, which tells both; no request is answered. */
static struct id end_ahead(struct cluster *cluster)
{
    struct world *node = cluster->nodes[0];
    struct id uid = world_add(node, "name: job\nschedule: '@after 1m'\ncommand: [/bin/true]\n");
    node->duration_ms = 10 * SECOND;
    assert_true(world_trigger(node, &uid));
    cluster_pass(cluster, SECOND);
    hold(node, STORE_FINISH);
    world_set_clock(node, HOUR);
    cluster_pass(cluster, 10 * SECOND);
    world_apply(node, 0);
    cluster_pass(cluster, SECOND);
    world_set_clock(node, -HOUR);
    assert_int_equal(node->submitted_count, 2);
    assert_int_equal(node->submitted[1]->op, STORE_REWIND);
    world_apply(node, 1);
    cluster_pass(cluster, 0);
    return uid;
}

/* What counts from the end goes on from where the store has moved it to. */
static void an_answer_does_not_undo_a_clock_set_back(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *node = cluster->nodes[0];
    end_ahead(cluster);
    int64_t set_back_ms = node->now.wall.ms;
    cluster_pass(cluster, 30 * SECOND);
    node->door = DOOR_OPEN;
    cluster_pass(cluster, 31 * SECOND);
    assert_int_equal(node->process_count, 2);
    assert_in_range(node->processes[1].started_ms, set_back_ms + 60 * SECOND,
                    set_back_ms + 61 * SECOND);
    cluster_free(cluster);
}

/* Nor does it hide the end of another run since, on another node. */
static void an_answer_does_not_hide_a_later_end(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *node = cluster->nodes[0], *other = cluster->nodes[1];
    cluster_drain(cluster, other, true);
    struct id uid = end_ahead(cluster);
    cluster_drain(cluster, other, false);
    assert_true(world_trigger(other, &uid));
    cluster_pass(cluster, 2 * SECOND);
    assert_int_equal(world_count(other, "job", RUN_OK), 1);
    node->door = DOOR_OPEN;
    cluster_freeze(other);
    cluster_expire(other);
    cluster_pass(cluster, 63 * SECOND);
    assert_int_equal(node->process_count, 2);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_take_of_unknown_outcome_keeps_its_room),
        cmocka_unit_test(an_answer_is_for_its_own_take),
        cmocka_unit_test(an_answer_is_for_its_own_begin),
        cmocka_unit_test(what_is_taken_to_be_ended_is_not_begun),
        cmocka_unit_test(the_feed_of_a_restored_store_is_no_answer),
        cmocka_unit_test(what_is_gone_is_not_waited_for),
        cmocka_unit_test(an_answer_does_not_undo_a_clock_set_back),
        cmocka_unit_test(an_answer_does_not_hide_a_later_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
