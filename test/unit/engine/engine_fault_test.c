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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
