/* Workflows that are called off: cancelled, timed out, deleted, replaced; or paused, which is not
 * for what has begun. */
#include "step_world.h"

static const struct planned with_final[] = {
    {.name = "a", .after = ""},
    {.name = "b", .after = "a"},
    {.name = "clean",
     .after = "b",
     .states = ON_OK | ON_FAILURE | 1 << RUN_KILLED | 1 << RUN_SKIPPED,
     .is_final = true}};

/* ---- cancelled ---- */

static void a_cancelled_instance_drains(struct world *world)
{
    for (int running = 0; running < 2; running++) {
        struct flow_world *flow = FLOW(world, running ? "running" : "due", with_final);
        claim_instance(flow, 2000);
        if (running)
            assert_true(begin_step(flow, "a").begun);
        order_kill(flow, the_instance(flow), REASON_USER);
        assert_int_equal(see_run(world, flow->instance)->kill_reason, REASON_USER);
        assert_int_equal(the_instance(flow)->state, RUN_RUNNING);
        if (running) {
            assert_int_equal(step_state(flow, "a"), RUN_BEGUN);
            end_step(flow, "a", RUN_KILLED);
        } else {
            assert_int_equal(step_state(flow, "a"), RUN_SKIPPED);
            assert_int_equal(find_step(flow, "a")->reason, REASON_USER);
            assert_string_equal(find_step(flow, "a")->by, "anna");
        }
        drain(flow);
        assert_int_equal(step_state(flow, "b"), RUN_DUE);
        struct store_begin begin = begin_step(flow, "b");
        assert_false(begin.begun);
        assert_int_equal(begin.refused, RUN_SKIPPED);
        assert_int_equal(find_step(flow, "b")->reason, REASON_USER);
        world_reopen(world);
        drain(flow);
        end_step(flow, "clean", RUN_OK); /* it runs */
        assert_string_equal(the_instance(flow)->by, "anna");
        ends_as(flow, RUN_KILLED, REASON_USER);
        flow_world_free(flow);
    }
}

static void an_instance_times_out(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    assert_true(begin_step(flow, "b").begun);
    order_kill(flow, the_instance(flow), REASON_TIMEOUT);
    end_step(flow, "b", RUN_TIMED_OUT);
    assert_false(begin_step(flow, "c").begun);
    drain(flow);
    ends_as(flow, RUN_TIMED_OUT, REASON_TIMEOUT);
    flow_world_free(flow);
}

/* It was claimed before the order; a retry comes after it. */
static void a_claimed_step_is_refused_after_the_order(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    flow->attempts = 3;
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    struct run claimed = take_step(flow, "b");
    assert_true(begin_step(flow, "c").begun);
    order_kill(flow, the_instance(flow), REASON_USER);
    assert_false(begin_run(world, &claimed).begun);
    assert_int_equal(find_step(flow, "b")->reason, REASON_USER);
    struct store_finish finish = finish_of(flow, find_step(flow, "c"), RUN_FAILED);
    finish.again = (struct store_again){.is_wanted = true, .id = world_id(world), .attempts = 3};
    world_do_one(world, STORE_FINISH, &finish);
    assert_false(finish.again.made);
    drain(flow);
    assert_false(begin_step(flow, "d").begun);
    drain(flow);
    ends_as(flow, RUN_KILLED, REASON_USER);
    flow_world_free(flow);
}

/* One that waits for others ends when they have. */
static void a_single_step_is_called_off(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    order_kill(flow, find_step(flow, "d"), REASON_USER);
    assert_int_equal(step_state(flow, "d"), RUN_QUEUED);
    assert_int_equal(see_run(world, find_step(flow, "d")->id)->kill_reason, REASON_USER);
    world_reopen(world);
    end_step(flow, "c", RUN_OK);
    assert_int_equal(step_state(flow, "d"), RUN_DUE);
    assert_false(begin_step(flow, "d").begun);
    assert_string_equal(find_step(flow, "d")->by, "anna");
    assert_int_equal(the_instance(flow)->state, RUN_RUNNING);
    drain(flow);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

/* As a step is not begun, a fan-out is not opened. */
static void a_fan_out_is_not_opened_after_the_order(struct world *world)
{
    static const struct planned plan[] = {{.name = "a", .after = ""},
                                          {.name = "load", .after = "a", .at_once = 2}};
    struct flow_world *flow = FLOW(world, "etl", plan);
    struct store_step items[2] = {{.part = 200000, .step = "load[0]"}};
    claim_instance(flow, 2000);
    assert_true(begin_step(flow, "a").begun);
    order_kill(flow, the_instance(flow), REASON_USER);
    end_step(flow, "a", RUN_OK);
    struct store_take take = {.run_id = find_step(flow, "load")->id,
                              .nonce = 12345,
                              .now_ms = 900000,
                              .node = "node-1",
                              .opening = {.steps = items, .count = 1, .expected = 1}};
    take.opening.is_wanted = true;
    items[0].id = world_id(world);
    do_twice(world, STORE_TAKE, &take, sizeof(take));
    assert_false(take.taken);
    assert_int_equal(take.run.state, RUN_SKIPPED);
    assert_string_equal(find_step(flow, "load")->by, "anna");
    assert_null(find_step(flow, "load[0]"));
    drain(flow);
    ends_as(flow, RUN_KILLED, REASON_USER);
    flow_world_free(flow);
}

/* ---- the job ---- */

static void a_pause_is_not_for_what_has_begun(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    flow->attempts = 3;
    claim_instance(flow, 2000);
    fail_and_retry(flow, "a", RUN_FAILED);
    put_again(world, flow->job, "etl", true, false, false);
    end_step(flow, "a", RUN_OK);
    fail_and_retry(flow, "b", RUN_FAILED);
    end_step(flow, "b", RUN_OK);
    end_step(flow, "c", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

static void steps_of_a_deleted_workflow_do_not_begin(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    assert_true(begin_step(flow, "b").begun);
    put_again(world, flow->job, "etl", false, true, false);
    assert_int_equal(step_state(flow, "b"), RUN_BEGUN);
    assert_int_equal(step_state(flow, "c"), RUN_SKIPPED);
    assert_int_equal(find_step(flow, "c")->reason, REASON_DELETED);
    drain(flow);
    end_step(flow, "b", RUN_OK);
    assert_false(begin_step(flow, "d").begun);
    assert_int_equal(find_step(flow, "d")->reason, REASON_DELETED);
    drain(flow);
    assert_int_equal(the_instance(flow)->state, RUN_OK);
    flow_world_free(flow);
}

/* A retry of theirs may be far ahead. */
static void so_do_those_of_finally(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", with_final);
    flow->attempts = 2;
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    fail_and_retry(flow, "clean", RUN_FAILED);
    put_again(world, flow->job, "etl", false, true, false);
    assert_int_equal(step_state(flow, "clean"), RUN_SKIPPED);
    assert_int_equal(find_step(flow, "clean")->reason, REASON_DELETED);
    drain(flow);
    assert_int_equal(the_instance(flow)->state, RUN_OK);
    flow_world_free(flow);
}

static void a_purge_ends_the_instance(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    assert_true(begin_step(flow, "c").begun);
    put_again(world, flow->job, "etl", false, false, true);
    assert_int_equal(step_state(flow, "d"), RUN_SKIPPED);
    assert_int_equal(the_instance(flow)->state, RUN_KILLED);
    assert_int_equal(the_instance(flow)->reason, REASON_DELETED);
    end_step(flow, "c", RUN_OK);
    follow_run(flow, find_step(flow, "d"));
    flow_world_free(flow);
}

/* ---- overlap ---- */

static struct store_claim next_tick(struct flow_world *flow, enum overlap_policy overlap,
                                    struct store_step *steps)
{
    struct store_claim claim = opening_claim(flow, 3000, overlap, steps);
    world_do_one(flow->world, STORE_CLAIM, &claim);
    return claim;
}

static void an_instance_blocks_the_next(struct world *world)
{
    struct store_step steps[STORE_STEPS_MAX];
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    assert_int_equal(next_tick(flow, OVERLAP_SKIP, steps).result, CLAIM_SKIPPED);
    flow_world_free(flow);
}

/* Steps that wait for others are not in the queue of the job, which is released by the end of the
 * instance, not before. */
static void a_queue_waits_for_the_instance(struct world *world)
{
    struct store_step steps[STORE_STEPS_MAX];
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    struct store_claim claim = opening_claim(flow, 3000, OVERLAP_QUEUE, steps);
    claim.queue_limit = 1;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_QUEUED);
    struct id queued = claim.run.id;
    assert_true(id_is_zero(&see_run(world, queued)->run.instance));
    end_step(flow, "c", RUN_OK);
    assert_int_equal(see_run(world, queued)->run.state, RUN_QUEUED);
    end_step(flow, "d", RUN_OK);
    assert_int_equal(the_instance(flow)->state, RUN_OK);
    assert_int_equal(see_run(world, queued)->run.state, RUN_DUE);
    take_instance(flow, &see_run(world, queued)->run);
    check_instance(flow, 900000);
    flow_world_free(flow);
}

static void an_instance_is_replaced(struct world *world)
{
    struct store_step steps[STORE_STEPS_MAX];
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    assert_true(begin_step(flow, "b").begun);
    struct store_claim claim = next_tick(flow, OVERLAP_REPLACE, steps);
    assert_int_equal(claim.result, CLAIM_QUEUED);
    assert_int_equal(see_run(world, flow->instance)->kill_reason, REASON_REPLACED);
    assert_int_equal(see_run(world, find_step(flow, "b")->id)->kill_reason, REASON_NONE);
    assert_int_equal(step_state(flow, "c"), RUN_SKIPPED);
    end_step(flow, "b", RUN_KILLED);
    drain(flow);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_QUEUED);
    assert_false(begin_step(flow, "d").begun);
    drain(flow);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_DUE);
    ends_as(flow, RUN_KILLED, REASON_REPLACED);
    flow_world_free(flow);
}

const struct contract_test cancel_tests[] = {
    CONTRACT_TEST(a_cancelled_instance_drains),
    CONTRACT_TEST(an_instance_times_out),
    CONTRACT_TEST(a_claimed_step_is_refused_after_the_order),
    CONTRACT_TEST(a_single_step_is_called_off),
    CONTRACT_TEST(a_fan_out_is_not_opened_after_the_order),
    CONTRACT_TEST(a_pause_is_not_for_what_has_begun),
    CONTRACT_TEST(steps_of_a_deleted_workflow_do_not_begin),
    CONTRACT_TEST(so_do_those_of_finally),
    CONTRACT_TEST(a_purge_ends_the_instance),
    CONTRACT_TEST(an_instance_blocks_the_next),
    CONTRACT_TEST(a_queue_waits_for_the_instance),
    CONTRACT_TEST(an_instance_is_replaced),
    {NULL, NULL},
};
