/* Who hears of an end, and when: once it is on record, before the store forgets it; of one that was
 * lost, at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster.h"

#define EVERY_MINUTE "name: job\nschedule: '* * * * *'\ncommand: [/bin/true]\n"

/* A run with this end; what was told of it. */
static struct world_told run_once(struct world *world, int exit_code)
{
    size_t before = world->told_count;
    world->exit_code = exit_code;
    world_pass(world, 60000);
    assert_int_equal(world->told_count, before + 1);
    return world->told[before];
}

static void an_end_knows_how_the_one_before_was(void **state)
{
    (void)state;
    static const struct {
        int line, exit_code;
        bool was_bad;
    } steps[] = {
        {__LINE__, 0, false}, {__LINE__, 1, false}, {__LINE__, 1, true},
        {__LINE__, 0, true},  {__LINE__, 0, false}, {__LINE__, 2, false},
    };
    struct world *world = world_new();
    world_add(world, EVERY_MINUTE);
    world_pass(world, 30000);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct world_told told = run_once(world, steps[i].exit_code);
        if (told.was_bad != steps[i].was_bad ||
            told.state != (steps[i].exit_code ? RUN_FAILED : RUN_OK))
            fail_msg("line %d: state %d, was bad %d", steps[i].line, (int)told.state, told.was_bad);
    }
    world_free(world);
}

/* The agent is killed between the record and the message: the next one tells it. */
static void the_store_does_not_forget_what_nobody_was_told(void **state)
{
    (void)state;
    struct world *world = world_new();
    world_add(world, EVERY_MINUTE);
    world->is_telling_held = true;
    world->exit_code = 1;
    world_pass(world, 65000);
    assert_int_equal(world->told_count, 1);
    assert_int_equal(world_count(world, "job", RUN_FAILED), 1);
    assert_non_null(engine_find_run(world->engine, &world->told[0].id));
    assert_false(engine_is_idle(world->engine));
    struct engine *killed = world->engine;
    world->is_telling_held = false;
    world_restart(world);
    world_pass(world, 2000);
    assert_ptr_not_equal(world->engine, killed);
    assert_int_equal(world->told_count, 2);
    assert_int_equal(id_compare(&world->told[0].id, &world->told[1].id), 0);
    assert_null(engine_find_run(world->engine, &world->told[0].id));
    world_free(world);
}

/* While messages wait for a slow disk, ticks start on time. */
static void nothing_waits_for_what_is_told(void **state)
{
    (void)state;
    struct world *world = world_new();
    world_add(world, EVERY_MINUTE);
    world->is_telling_held = true;
    world_pass(world, 10 * 60000);
    assert_int_equal(world->process_count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_true(world->processes[i].started_ms <= world->processes[i].tick_ms + 1);
    assert_int_equal(world->told_count, 1);
    world_release_told(world);
    world_pass(world, 1000);
    assert_int_equal(world->told_count, 10);
    world_free(world);
}

static void missed_ticks_are_told(void **state)
{
    (void)state;
    struct world *world = world_new();
    world_add(world, EVERY_MINUTE "catch_up: skip\n");
    world_sleep(world, 10 * 60000);
    world_pass(world, 1000);
    assert_true(world->told_count >= 1);
    assert_true(world->told[0].is_entry);
    assert_int_equal(world->told[0].state, RUN_MISSED);
    world_free(world);
}

/* The leader tells it when it finds it, which is long before it has it on record; and once. */
static void a_lost_run_is_told_at_once(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *leader = cluster->nodes[0];
    struct world *runs = cluster_join(cluster, "there", 0);
    cluster_pass(cluster, 5000);
    runs->duration_ms = 900000;
    world_add(leader, "name: job\nschedule: '@at 2026-01-01T00:01:00Z'\n"
                      "command: [/bin/true]\nwhere: there\n");
    cluster_pass_to(cluster, 2000);
    cluster_freeze(runs);
    cluster_expire(runs);
    cluster_pass(cluster, 2000);
    assert_int_equal(leader->told_count, 1);
    assert_int_equal(leader->told[0].state, RUN_LOST);
    cluster_pass(cluster, 605000);
    assert_int_equal(world_count(leader, "job", RUN_LOST), 1);
    assert_int_equal(leader->told_count, 1);
    cluster_thaw(cluster, runs); /* with the process, which ends well after all */
    cluster_pass(cluster, 600000);
    assert_int_equal(world_count(runs, "job", RUN_OK), 1);
    assert_int_equal(runs->told_count, 1);
    assert_int_equal(runs->told[0].state, RUN_OK);
    assert_true(runs->told[0].was_bad);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_end_knows_how_the_one_before_was),
        cmocka_unit_test(the_store_does_not_forget_what_nobody_was_told),
        cmocka_unit_test(nothing_waits_for_what_is_told),
        cmocka_unit_test(missed_ticks_are_told),
        cmocka_unit_test(a_lost_run_is_told_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
