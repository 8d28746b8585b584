/* Locks, elections and selections in Redis. */
#include <signal.h>

#include "coord_contract.h"
#include "coord_kv.h"
#include "redis_lab.h"

enum { PATIENT_MS = 20000 };

static char prefix[32];

static void make_place(void)
{
    static int places;
    snprintf(prefix, sizeof(prefix), "/coord-%d", ++places);
}

static struct coord *open_coord(struct loop *loop)
{
    struct coord *coord = NULL;
    assert_int_equal(coord_kv_open(loop, redis_lab_client(loop, &redis_lab, "", PATIENT_MS), prefix,
                                   PATIENT_MS, &coord),
                     OK);
    return coord;
}

static void a_server_that_restarts_loses_nothing(void **state)
{
    struct party holder, waiter;
    struct coord_want want = a_lock("restarts", "x");
    (void)state;
    want.ttl_s = 60;
    party_claim(&holder, coord_world.coord, &want);
    wait_until(holder.held);
    party_claim(&waiter, coord_world.other, &want);
    wait_until(waiter.waiting);
    redis_server_kill(&redis_lab);
    for (int i = 0; i < 20; i++)
        turn();
    redis_server_restart(&redis_lab);
    int64_t until_ms = coord_held_until_boot_ms(holder.claim);
    wait_until(coord_held_until_boot_ms(holder.claim) > until_ms); /* renewed */
    party_end(&holder);
    wait_until(waiter.held);
    assert_int_equal(holder.lost + waiter.failed, 0);
    party_end(&waiter);
}

int main(void)
{
    static const struct coord_backend backend = {
        .name = "coord in Redis", .make_place = make_place, .open = open_coord};
    const struct CMUnitTest more[] = {
        cmocka_unit_test_setup_teardown(a_server_that_restarts_loses_nothing, coord_world_setup,
                                        coord_world_teardown),
    };
    redis_lab_start();
    int failed = coord_contract_run(&backend);
    failed += cmocka_run_group_tests_name("Redis alone", more, NULL, NULL);
    redis_lab_stop();
    return failed;
}
