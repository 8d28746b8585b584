/* Conditions on other jobs (`only_if`): looked at when a tick is due, by the store in the end. */
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

static const int64_t start_ms = INT64_C(1767225600000); /* of the world: 2026-01-01 */

#define LOAD(schedule) "name: load\nschedule: '" schedule "'\ncommand: ['true']\n"
#define REPORT(more)   "name: report\nschedule: '30 8 * * *'\ncommand: ['true']\n" more

static size_t starts(const struct world *world, const char *job)
{
    size_t count = 0;
    for (size_t i = 0; i < world->process_count; i++)
        count += strcmp(world->processes[i].job_name, job) == 0;
    return count;
}

static int64_t skipped(const struct world *world)
{
    return world_passed(world, "report", RUN_SKIPPED, REASON_ONLY_IF);
}

static void test_only_after_a_success_today(void **state)
{
    struct world *world = *state;
    world_add(world, LOAD("0 8 * * *"));
    world_add(world, REPORT("only_if: load\n"));
    world_pass(world, 9 * HOUR);
    assert_int_equal(starts(world, "report"), 1);
    world->exit_code = 1;
    world_pass(world, DAY);
    assert_int_equal(starts(world, "report"), 1);
    assert_int_equal(skipped(world), 1);
    assert_string_equal(world->entries[0].detail, "load: no success since 2026-01-02T00:00:00Z");
    world->exit_code = 0;
    world_pass(world, DAY);
    assert_int_equal(starts(world, "report"), 2);
    world_check(world);
}

static void test_ends_and_spans(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *load, *only_if;
        int exit_code;
        size_t want;
    } cases[] = {
        {__LINE__, "0 8 * * *", "{jobs: load, on: failure}", 1, 1},
        {__LINE__, "0 8 * * *", "{jobs: load, on: failure}", 0, 0},
        {__LINE__, "0 8 * * *", "{jobs: load, on: always}", 1, 1},
        {__LINE__, "0 8 * * *", "{jobs: load, within: 30m}", 0, 1},
        {__LINE__, "0 8 * * *", "{jobs: load, within: 29m}", 0, 0},
        {__LINE__, "0 9 * * *", "load", 0, 0},
        {__LINE__, "0 8 * * *", "nobody", 0, 0},
        {__LINE__, "0 8 * * *", "[load, nobody]", 0, 0},
        {__LINE__, "30 8 * * *", "{jobs: load, wait: 1h}", 0, 1},
        {__LINE__, "0 9 * * *", "{jobs: load, wait: 1h}", 0, 1},
        {__LINE__, "0 9 * * *", "{jobs: load, wait: 29m}", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[200];
        snprintf(yaml, sizeof(yaml), LOAD("%s"), cases[i].load);
        world_add(world, yaml);
        snprintf(yaml, sizeof(yaml), REPORT("only_if: %s\n"), cases[i].only_if);
        world_add(world, yaml);
        world->exit_code = cases[i].exit_code;
        world_pass(world, 12 * HOUR);
        if (starts(world, "report") != cases[i].want || skipped(world) != !cases[i].want)
            fail_msg("line %d: %zu starts, %d skipped", cases[i].line, starts(world, "report"),
                     (int)skipped(world));
        world_check(world);
        world_free(world);
    }
}

/* It starts with the end that it waits for, whatever catch_up says. */
static void test_a_tick_waits(void **state)
{
    struct world *world = *state;
    world_add(world, LOAD("0 8 * * *"));
    world_add(world, REPORT("only_if: {jobs: load, wait: 2h}\ncatch_up: skip\n"));
    world->duration_ms = HOUR;
    world_pass(world, 8 * HOUR + 45 * MINUTE);
    assert_int_equal(starts(world, "report"), 0);
    assert_int_equal(world->entry_count, 0);
    world_pass(world, HOUR);
    assert_int_equal(starts(world, "report"), 1);
    const struct world_process *last = &world->processes[world->process_count - 1];
    assert_int_equal(last->tick_ms, start_ms + 8 * HOUR + 30 * MINUTE);
    assert_in_range(last->started_ms - start_ms, 9 * HOUR, 9 * HOUR + SECOND);
    world_check(world);
}

/* The world is told of a job that still has its first cursor. */
static void hear(struct world *world, const struct id *uid, struct last_run last, bool is_restored)
{
    struct store_change change = {.kind = STORE_CHANGE_CURSOR,
                                  .job_uid = *uid,
                                  .job_revision = 1,
                                  .cursor_ms = start_ms,
                                  .last = last,
                                  .is_restored = is_restored};
    world->changed = &change;
    world_pass(world, SECOND);
    assert_null(world->changed);
}

/* A store that was restored from a backup has forgotten the end that the node has heard of. Going
 * by that, the node would have each claim of the tick refused, and the tick would stay due. */
static void test_a_restored_store_has_forgotten_the_end(void **state)
{
    (void)state;
    static const struct {
        int line;
        enum run_state state;
        const char *only_if;
    } cases[] = {
        {__LINE__, RUN_OK, "load"},
        {__LINE__, RUN_FAILED, "{jobs: load, on: failure}"},
        {__LINE__, RUN_LOST, "{jobs: load, on: always, within: 1h}"},
        {__LINE__, RUN_OK, "{jobs: load, wait: 10m}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        struct id load = world_add(world, LOAD("0 0 1 7 *"));
        char yaml[200];
        snprintf(yaml, sizeof(yaml), REPORT("only_if: %s\n"), cases[i].only_if);
        world_add(world, yaml);
        world_pass(world, 8 * HOUR);
        struct last_run none = {.ended_ms = 0}, last = {.run_id = {{1}}, .state = cases[i].state};
        last.ended_ms = start_ms + 8 * HOUR;
        last.succeeded_ms = last.state == RUN_OK ? last.ended_ms : 0;
        hear(world, &load, last, false);
        world->health = E_ROLLED_BACK;
        hear(world, &load, none, true);
        world->health = OK;
        world_pass(world, HOUR);
        if (skipped(world) != 1)
            fail_msg("line %d: %d skipped", cases[i].line, (int)skipped(world));
        world_check(world);
        world_free(world);
    }
}

static void ignore(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

/* Not by the engine. */
static void submit(struct world *world, enum store_op op, void *item)
{
    struct store_request request = {
        .op = op, .count = 1, .items.finishes = item, .done = ignore, .context = world};
    store_submit(world->store, &request);
    store_dispatch(world->store);
}

/* The run has ended well, and the store, which took it for lost and has removed it, does not accept
 * that: so it counts for no condition. */
static void test_an_end_that_is_not_accepted(void **state)
{
    struct world *world = *state;
    world_add(world, LOAD("0 8 * * *"));
    world_add(world, REPORT("only_if: load\n"));
    world->door = DOOR_HELD;
    world->door_op = STORE_FINISH;
    world_pass(world, 8 * HOUR + MINUTE);
    assert_int_equal(world->submitted_count, 1);
    struct store_finish lost = world->submitted[0]->items.finishes[0];
    struct store_forget forget = {.id = lost.run.id};
    lost.run.state = RUN_LOST;
    lost.run.reason = REASON_RESTORED;
    submit(world, STORE_FINISH, &lost);
    submit(world, STORE_FORGET, &forget);
    world->door = DOOR_OPEN;
    world_pass(world, HOUR);
    assert_int_equal(skipped(world), 1);
}

static void test_manual_runs_run(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, REPORT("only_if: load\n"));
    world_pass(world, MINUTE);
    assert_true(world_trigger(world, &uid));
    world_pass(world, MINUTE);
    assert_int_equal(starts(world, "report"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_only_after_a_success_today),
        cmocka_unit_test(test_ends_and_spans),
        WITH_WORLD(test_a_tick_waits),
        cmocka_unit_test(test_a_restored_store_has_forgotten_the_end),
        WITH_WORLD(test_an_end_that_is_not_accepted),
        WITH_WORLD(test_manual_runs_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
