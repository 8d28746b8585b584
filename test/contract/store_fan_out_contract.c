/* Fan-outs of workflows: a step that becomes one run for each item, some of them at once; the end
 * of one makes the next. */
#include <stdio.h>
#include <string.h>

#include "step_world.h"
#include "workflow/flow.h"

enum { ITEMS = 5, AT_ONCE = 2 };

static const struct planned plan[] = {
    {.name = "list", .after = ""},
    {.name = "load", .after = "list", .items = ITEMS, .at_once = AT_ONCE},
    {.name = "report", .after = "load"}};

static struct flow_world *open_flow(struct world *world, const struct planned *steps,
                                    const char *name)
{
    struct flow_world *flow = flow_world_new(world, name, steps, 3);
    claim_instance(flow, 2000);
    end_step(flow, "list", RUN_OK);
    open_fan_out(flow, "load");
    return flow;
}

static const char *item(int number)
{
    static char names[4][16];
    static int last;
    last = (last + 1) % 4;
    snprintf(names[last], sizeof(names[last]), "load[%d]", number);
    return names[last];
}

static void check_items(struct flow_world *flow, int made)
{
    const struct run *group = find_step(flow, "load");
    assert_int_equal(group->joins.made, made);
    assert_int_equal(group->joins.expected, ITEMS);
    assert_int_equal(step_state(flow, item(made)), RUN_STATES);
    const struct run *last = find_step(flow, item(made - 1));
    assert_non_null(last);
    assert_int_equal(last->part, FLOW_ITEMS * group->part + made - 1);
    assert_int_equal(last->cause, CAUSE_STEP);
    assert_int_equal(id_compare(&last->instance, &flow->instance), 0);
}

static void items_are_made_one_by_one(struct world *world)
{
    struct flow_world *flow = open_flow(world, plan, "etl");
    assert_int_equal(step_state(flow, "load"), RUN_RUNNING);
    assert_string_equal(find_step(flow, "load")->node, "");
    assert_int_equal(find_step(flow, "load")->started_ms, 900000);
    check_items(flow, AT_ONCE);
    end_step(flow, item(1), RUN_OK); /* in any order */
    check_items(flow, 3);
    assert_int_equal(step_state(flow, item(2)), RUN_DUE);
    end_step(flow, item(0), RUN_OK);
    world_reopen(world);
    end_step(flow, item(3), RUN_OK);
    check_items(flow, ITEMS);
    end_step(flow, item(4), RUN_OK);
    assert_int_equal(step_state(flow, "load"), RUN_RUNNING);
    end_step(flow, item(2), RUN_OK);
    assert_int_equal(step_state(flow, "load"), RUN_OK);
    assert_int_equal(step_state(flow, "report"), RUN_STATES);
    follow_run(flow, find_step(flow, "load"));
    end_step(flow, "report", RUN_OK);
    assert_int_equal(the_instance(flow)->state, RUN_OK);
    flow_world_free(flow);
}

static void an_item_that_fails_fails_the_step(struct world *world)
{
    struct flow_world *flow = open_flow(world, plan, "etl");
    end_step(flow, item(0), RUN_OK);
    end_step(flow, item(1), RUN_FAILED);
    end_step(flow, item(2), RUN_TIMED_OUT);
    assert_int_equal(the_instance(flow)->outcome, RUN_QUEUED);
    end_step(flow, item(3), RUN_OK);
    end_step(flow, item(4), RUN_SKIPPED);
    const struct run *group = find_step(flow, "load");
    assert_int_equal(group->state, RUN_FAILED);
    assert_int_equal(group->reason, REASON_STEP_FAILED);
    assert_int_equal(group->joins.met, 3);
    assert_int_equal(group->joins.unmet, 2);
    assert_string_equal(group->detail, "load[1]: failed");
    follow_run(flow, group);
    skip_step(flow, "report", REASON_UPSTREAM);
    assert_int_equal(the_instance(flow)->state, RUN_FAILED);
    assert_string_equal(the_instance(flow)->detail, "load: failed");
    flow_world_free(flow);
}

static void a_fan_out_of_nothing_is_ok(struct world *world)
{
    static const struct planned none[] = {{.name = "list", .after = ""},
                                          {.name = "load", .after = "list", .at_once = AT_ONCE},
                                          {.name = "report", .after = "load"}};
    struct flow_world *flow = open_flow(world, none, "etl");
    assert_int_equal(step_state(flow, "load"), RUN_OK);
    follow_run(flow, find_step(flow, "load"));
    end_step(flow, "report", RUN_OK);
    assert_int_equal(the_instance(flow)->state, RUN_OK);
    flow_world_free(flow);
}

static void an_item_is_retried(struct world *world)
{
    struct flow_world *flow = open_flow(world, plan, "etl");
    begin_step(flow, item(0));
    struct store_finish finish = finish_of(flow, find_step(flow, item(0)), RUN_FAILED);
    finish.again = (struct store_again){.is_wanted = true, .id = world_id(world), .attempts = 2};
    do_twice(world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.again.made);
    check_items(flow, AT_ONCE); /* its turn is not over */
    assert_int_equal(find_step(flow, item(0))->attempt, 2);
    end_step(flow, item(0), RUN_OK);
    check_items(flow, AT_ONCE + 1);
    flow_world_free(flow);
}

/* An order for the fan-out, or for its instance: those that are made end, and no more are made. */
static void a_cancelled_fan_out_makes_no_more_items(struct world *world)
{
    for (int whole = 0; whole < 2; whole++) {
        struct flow_world *flow = open_flow(world, plan, whole ? "whole" : "step");
        assert_true(begin_step(flow, item(0)).begun);
        order_kill(flow, whole ? the_instance(flow) : find_step(flow, "load"), REASON_USER);
        assert_int_equal(step_state(flow, item(1)), RUN_SKIPPED);
        follow_run(flow, find_step(flow, item(1)));
        assert_int_equal(step_state(flow, item(2)), RUN_STATES);
        end_step(flow, item(0), RUN_KILLED);
        const struct run *group = find_step(flow, "load");
        assert_int_equal(group->state, RUN_KILLED);
        assert_int_equal(group->reason, REASON_USER);
        assert_string_equal(group->by, "anna");
        assert_int_equal(group->joins.expected, AT_ONCE);
        follow_run(flow, group);
        assert_int_equal(find_step(flow, "report")->joins.unmet, 1);
        if (whole) {
            assert_false(begin_step(flow, "report").begun);
            follow_run(flow, find_step(flow, "report"));
        } else {
            skip_step(flow, "report", REASON_UPSTREAM);
        }
        assert_int_equal(the_instance(flow)->state, whole ? RUN_KILLED : RUN_FAILED);
        flow_world_free(flow);
    }
}

/* A fan-out of `finally` goes on. */
static void a_final_fan_out_survives_a_cancel(struct world *world)
{
    static const struct planned final[] = {
        {.name = "list", .after = "", .is_final = true},
        {.name = "load", .after = "list", .items = 3, .at_once = 1, .is_final = true},
        {.name = "report", .after = "load", .is_final = true}};
    struct flow_world *flow = open_flow(world, final, "etl");
    order_kill(flow, the_instance(flow), REASON_USER);
    for (int i = 0; i < 3; i++)
        end_step(flow, item(i), RUN_OK);
    assert_int_equal(step_state(flow, "load"), RUN_OK);
    follow_run(flow, find_step(flow, "load"));
    end_step(flow, "report", RUN_OK);
    assert_int_equal(the_instance(flow)->state, RUN_KILLED);
    flow_world_free(flow);
}

/* Ends of several items in one batch, as of a node that reports many. */
static void items_end_together(struct world *world)
{
    struct flow_world *flow = open_flow(world, plan, "etl");
    struct store_finish ends[AT_ONCE];
    struct store_link links[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        assert_true(begin_step(flow, item(i)).begun);
    for (int i = 0; i < AT_ONCE; i++) {
        ends[i] = finish_of(flow, find_step(flow, item(i)), RUN_OK);
        links[i] = flow->links[0];
        ends[i].links = &links[i];
    }
    assert_int_equal(world_do(world, STORE_FINISH, ends, AT_ONCE), OK);
    check_items(flow, 2 * AT_ONCE);
    assert_int_equal(find_step(flow, "load")->joins.met, AT_ONCE);
    assert_int_equal(step_state(flow, item(2)), RUN_DUE);
    flow_world_free(flow);
}

/* Two nodes each end an item at the same time: two more are made, with numbers of their own. */
static void two_nodes_end_items_together(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        skip();
    struct flow_world *flow = open_flow(world, plan, "etl");
    struct store_finish ends[AT_ONCE];
    struct store_link links[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++)
        assert_true(begin_step(flow, item(i)).begun);
    for (int i = 0; i < AT_ONCE; i++) {
        ends[i] = finish_of(flow, find_step(flow, item(i)), RUN_OK);
        links[i] = flow->links[0];
        ends[i].links = &links[i];
    }
    for (int64_t until_ms = soon_ms(); !look_for_run(other, ends[1].run.id) ||
                                       look_for_run(other, ends[1].run.id)->run.state != RUN_BEGUN;)
        world_pass(other, until_ms);
    world_do_two(world, other, STORE_FINISH, &ends[0], &ends[1]);
    for (int64_t until_ms = soon_ms(); find_step(flow, "load")->joins.met < AT_ONCE;)
        world_pass(world, until_ms);
    check_items(flow, 2 * AT_ONCE);
    assert_int_equal(step_state(flow, item(2)), RUN_DUE);
    world_free(other);
    flow_world_free(flow);
}

const struct contract_test fan_out_tests[] = {
    CONTRACT_TEST(items_are_made_one_by_one),
    CONTRACT_TEST(an_item_that_fails_fails_the_step),
    CONTRACT_TEST(a_fan_out_of_nothing_is_ok),
    CONTRACT_TEST(an_item_is_retried),
    CONTRACT_TEST(a_cancelled_fan_out_makes_no_more_items),
    CONTRACT_TEST(a_final_fan_out_survives_a_cancel),
    CONTRACT_TEST(items_end_together),
    CONTRACT_TEST(two_nodes_end_items_together),
    {NULL, NULL},
};
