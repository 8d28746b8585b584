/* Maintenance and pauses of the cluster or of a namespace: ticks are on record as skipped, and
 * never run. */
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
#define ID     "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static const int64_t start_ms = INT64_C(1767225600000); /* of the world */

static void put_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

/* NULL: deletes it. */
static void put_doc(struct world *world, const char *json)
{
    struct store_put_doc put = {
        .kind = MAINTENANCE_DOC, .name = ID, .json = json, .expected_revision = -1};
    bool done = false;
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = put_done, .context = &done};
    store_submit(world->store, &request);
    world_pass(world, 0);
    assert_true(done);
}

/* Times are those since the world's beginning; `to_ms` 0: a pause. */
static void put(struct world *world, const char *space, int64_t from_ms, int64_t to_ms)
{
    struct maintenance item = {.from_ms = start_ms + from_ms,
                               .to_ms = to_ms ? start_ms + to_ms : 0,
                               .is_pause = !to_ms,
                               .reason = "disks"};
    snprintf(item.space, sizeof(item.space), "%s", space);
    char *json = maintenance_encode(&item);
    assert_non_null(json);
    put_doc(world, json);
    free(json);
}

static int64_t skipped(const struct world *world, const char *job, enum run_reason reason)
{
    return world_passed(world, job, RUN_SKIPPED, reason);
}

#define EVERY_MINUTE(name, more) "name: " name "\nschedule: '* * * * *'\ncommand: ['true']\n" more

static void test_ticks_in_it_are_skipped(void **state)
{
    struct world *world = *state;
    put(world, "", 5 * MINUTE, 15 * MINUTE);
    world_add(world, EVERY_MINUTE("a", ""));
    world_pass(world, 20 * MINUTE + SECOND);
    assert_int_equal(skipped(world, "a", REASON_MAINTENANCE), 10);
    assert_int_equal(world->process_count, 10);
    assert_int_equal(world->entry_count, 1);
    assert_string_equal(world->entries[0].detail, "disks");
    for (size_t i = 0; i < world->process_count; i++)
        assert_int_equal(world->processes[i].started_ms, world->processes[i].tick_ms);
    world_check(world);
}

static void test_a_namespace(void **state)
{
    struct world *world = *state;
    put(world, "shop", 0, 10 * MINUTE);
    world_add(world, EVERY_MINUTE("shop/a", ""));
    world_add(world, EVERY_MINUTE("b", ""));
    world_pass(world, 12 * MINUTE + SECOND);
    assert_int_equal(skipped(world, "shop/a", REASON_MAINTENANCE), 9);
    assert_int_equal(skipped(world, "b", REASON_MAINTENANCE), 0);
    assert_int_equal(world->process_count, 3 + 12);
    world_check(world);
}

/* What it keeps off is gathered, as with a paused job; what its end leaves is on time. */
static void test_a_pause_and_its_end(void **state)
{
    struct world *world = *state;
    world_add(world, EVERY_MINUTE("a", ""));
    world_pass(world, 90 * SECOND);
    put(world, "", 90 * SECOND, 0);
    world_pass(world, 5 * HOUR);
    assert_int_equal(world->process_count, 1);
    assert_true(world->entry_count < 6);
    int64_t now_ms = world->now.wall.ms - start_ms;
    put(world, "", 90 * SECOND, now_ms);
    world_pass(world, 10 * MINUTE);
    assert_int_equal(skipped(world, "a", REASON_MAINTENANCE) + skipped(world, "a", REASON_PAUSED),
                     300);
    assert_int_equal(world->process_count, 11);
    world_check(world);
}

/* The start counts, not the tick. */
static void test_jitter_moves_the_start(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, EVERY_MINUTE("a", "jitter: 50s\n"));
    struct catalog_job *job = catalog_by_uid(engine_catalog(world->engine), &uid);
    int64_t jitter_ms = catalog_job_jitter_ms(job);
    put(world, "", 5 * MINUTE + jitter_ms, 6 * MINUTE + jitter_ms);
    world_pass(world, 10 * MINUTE + jitter_ms + SECOND);
    assert_int_equal(skipped(world, "a", REASON_MAINTENANCE), 1);
    assert_int_equal(world->entries[0].from_ms, start_ms + 5 * MINUTE);
    world_check(world);
}

/* What fell due before it in an outage would start in it: it does not, whatever catch_up says. */
static void test_what_is_late_does_not_start_in_it(void **state)
{
    struct world *world = *state;
    world_add(world, EVERY_MINUTE("a", "catch_up: all\n"));
    world_sleep(world, 10 * MINUTE);
    put(world, "", 9 * MINUTE, 20 * MINUTE);
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 0);
    world_pass(world, 6 * MINUTE);
    assert_int_equal(skipped(world, "a", REASON_MAINTENANCE), 19);
    assert_int_equal(world->process_count, 2);
    world_check(world);
}

/* A run that goes on in it is not killed, and those that have waited for it do not start. */
static void test_what_waited_does_not_start_in_it(void **state)
{
    struct world *world = *state;
    world_add(world, "name: a\nschedule: '@at 2026-01-01T00:01:00Z'\ncommand: ['true']\n");
    world_add(world, "name: b\nafter: [a]\ncommand: ['true']\n");
    world->duration_ms = 2 * MINUTE;
    put(world, "", 2 * MINUTE, 10 * MINUTE);
    world_pass(world, 5 * MINUTE);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world->kills, 0);
    bool is_skipped = false;
    for (size_t i = 0; i < world->run_count; i++)
        is_skipped |= strcmp(world->runs[i].job_name, "b") == 0 &&
                      world->runs[i].state == RUN_SKIPPED &&
                      world->runs[i].reason == REASON_MAINTENANCE;
    assert_true(is_skipped);
    world_check(world);
}

static void test_what_can_not_be_read_has_no_effect(void **state)
{
    struct world *world = *state;
    world_add(world, EVERY_MINUTE("a", ""));
    put(world, "", 0, 0);
    world_pass(world, 5 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 0);
    put_doc(world, "{\"wrong\":1}");
    world_pass(world, 5 * MINUTE);
    assert_true(world->process_count >= 5);
    put(world, "", 0, 0);
    put_doc(world, NULL);
    world_pass(world, 5 * MINUTE);
    assert_true(world->process_count >= 10);
    world_check(world);
}

static void test_a_restart_in_it(void **state)
{
    struct world *world = *state;
    put(world, "", 0, HOUR);
    world_add(world, EVERY_MINUTE("a", ""));
    world_pass(world, 10 * MINUTE);
    world_restart(world);
    world_pass(world, HOUR);
    assert_int_equal(skipped(world, "a", REASON_MAINTENANCE), 59);
    assert_int_equal(world->process_count, 11);
    world_check(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_ticks_in_it_are_skipped),
        WITH_WORLD(test_a_namespace),
        WITH_WORLD(test_a_pause_and_its_end),
        WITH_WORLD(test_jitter_moves_the_start),
        WITH_WORLD(test_what_is_late_does_not_start_in_it),
        WITH_WORLD(test_what_waited_does_not_start_in_it),
        WITH_WORLD(test_what_can_not_be_read_has_no_effect),
        WITH_WORLD(test_a_restart_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
