/* The engine when things go wrong on the way: requests that fail, wait or lose their answer,
 * changes that come in between, executors that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define START_MS            INT64_C(1767225600000)
#define JOB(schedule, more) "name: j\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

/* However long a run waited in its job's queue: nobody was away, so it is not too late. */
static void test_queued_run_is_not_late(void **state)
{
    struct world *world = *state;
    world->duration_ms = 150 * SECOND;
    world_add(world, JOB("* * * * *", "overlap: queue\nend: 2026-01-01T00:04:30Z\n"));
    world_pass(world, 20 * MINUTE);
    assert_int_equal(world->process_count, 4);
    assert_int_equal(world_count(world, "j", RUN_OK), 4);
    world_check(world);
}

static void delete_job(struct job *job)
{
    job->deleted_ms = 1;
}

/* The agent dies before the history has what the store ended by itself. */
static void test_skipped_by_the_store_is_recorded(void **state)
{
    struct world *world = *state;
    world->duration_ms = 3 * MINUTE + 30 * SECOND;
    struct id uid = world_add(world, JOB("* * * * *", "overlap: queue\n"));
    world_pass(world, 3 * MINUTE + SECOND);
    world->history_away = true;
    world_change(world, &uid, delete_job);
    world_restart(world);
    world->history_away = false;
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world_count(world, "j", RUN_SKIPPED), 2);
    assert_int_equal(world_count(world, "j", RUN_OK), 1);
    assert_true(engine_is_idle(world->engine));
}

static int set_up(void **state)
{
    *state = world_new();
    return 0;
}

static int tear_down(void **state)
{
    *state = world_free(*state);
    return 0;
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_queued_run_is_not_late),
        WITH_WORLD(test_skipped_by_the_store_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
