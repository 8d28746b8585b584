/* What is kept of webhooks' deliveries, and for how long. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "hooks/hooks.h"
#include "hooks/webhook.h"
#include "params/run_input.h"
#include "server.h"

#define UID "01KA7ZZZZZZZZZZZZZZZZZZZZZ"

enum { OLD = 450, HOUR_MS = 3600 * 1000 };

static void put_delivery(struct world *world, const char *id, int64_t ago_ms)
{
    char name[DELIVERY_NAME_SIZE], json[200];
    struct id run_id = {{1}};
    delivery_name(UID, id, name);
    delivery_print(&run_id, clock_now().wall.ms - ago_ms, json, sizeof(json));
    world_put_doc(world, DELIVERY_DOC, name, json);
}

static bool is_known(const struct world *world, const char *id)
{
    char name[DELIVERY_NAME_SIZE];
    delivery_name(UID, id, name);
    return webhooks_delivery(&world->api->webhooks, name) != NULL;
}

struct expected {
    struct world *world;
    size_t count;
};

static bool is_down_to(void *context)
{
    const struct expected *expected = context;
    return webhooks_count(&expected->world->api->webhooks, UID) == expected->count;
}

/* For a day; a sweep takes 200 of them at most, and the next one the rest. */
static void a_delivery_is_known_for_a_day(void **state)
{
    struct world *world = *state;
    struct expected expected = {world, OLD + 2};
    char id[16];
    for (int i = 0; i < OLD; i++) {
        snprintf(id, sizeof(id), "old-%d", i);
        put_delivery(world, id, 25 * (int64_t)HOUR_MS);
    }
    put_delivery(world, "young", 23 * (int64_t)HOUR_MS);
    put_delivery(world, "ahead", -(int64_t)HOUR_MS);
    world_until(world, is_down_to, &expected);
    assert_true(world->api->is_hooks_timer_set);
    static const size_t left[] = {OLD + 2 - 200, OLD + 2 - 400, 2, 2};
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        hooks_sweep(world->api);
        expected.count = left[i];
        world_until(world, is_down_to, &expected);
    }
    assert_true(is_known(world, "young") && is_known(world, "ahead"));
    assert_false(is_known(world, "old-0"));
}

/* What could not be forgotten is forgotten with the next sweep. */
static void a_sweep_that_failed_is_made_good(void **state)
{
    struct world *world = *state;
    struct expected expected = {world, 1};
    put_delivery(world, "old", 25 * (int64_t)HOUR_MS);
    world_until(world, is_down_to, &expected);
    world->api_store.fails = true;
    hooks_sweep(world->api);
    world->api_store.fails = false;
    assert_true(is_known(world, "old"));
    hooks_sweep(world->api);
    expected.count = 0;
    world_until(world, is_down_to, &expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_delivery_is_known_for_a_day, world_set_up,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(a_sweep_that_failed_is_made_good, world_set_up,
                                        world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
