/* Clocks that are wrong, are set, or jump: what starts, what does not, and what is on record. */
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

/* ---- the tick of a boot ---- */

static void delete (struct job *job)
{
    job->deleted_ms = 1;
}

/* Somebody deletes the job who has not heard of the boot, and moves the cursor past it. */
static void test_boot_of_a_deleted_job(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-2");
    world->door = DOOR_BROKEN;
    world->door_op = STORE_CLAIM;
    world->door_status = E_UNREACHABLE;
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->entry_count, 0);
    world->cursor_with_change = true;
    world_change(world, &uid, delete);
    world_pass(world, MINUTE);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_DELETED), 1);
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
        WITH_WORLD(test_boot_of_a_deleted_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
