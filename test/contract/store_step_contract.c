/* Workflows: an instance is opened, its steps wait for each other, and it ends with the last of
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"
#include "step_world.h"

/* ---- opened ---- */

static void check_first_step(struct flow_world *flow)
{
    const struct run *step = find_step(flow, "a"), *instance = the_instance(flow);
    assert_non_null(step);
    assert_true(run_is_step(step));
    assert_int_equal(step->state, RUN_DUE);
    assert_int_equal(step->cause, CAUSE_STEP);
    assert_int_equal(step->part, 1);
    assert_int_equal(step->parts, 0);
    assert_int_equal(step->attempt, 1);
    assert_int_equal(step->attempts, 1);
    assert_int_equal(step->tick_ms, instance->tick_ms);
    assert_int_equal(step->job_revision, instance->job_revision);
    assert_int_equal(id_compare(&step->input, &instance->input), 0);
    assert_string_equal(step->job_name, instance->job_name);
    assert_string_equal(step->by, instance->by);
    assert_int_equal(step->nonce, 0);
    assert_null(find_step(flow, "b"));
}

static void a_tick_becomes_an_instance(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    claim_instance(flow, 2000);
    check_instance(flow, 2003);
    check_first_step(flow);
    assert_int_equal(see_job(world, flow->job)->cursor_ms, 2000);
    flow_world_free(flow);
}

/* What was handed over is in the plan; its own document goes. */
static void a_run_that_waited_becomes_an_instance(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    struct store_add_run add = an_add(world, flow->job, 2000, OVERLAP_SKIP);
    char input[ID_TEXT + 1];
    add.run.input = world_id(world);
    add.input = "{\"params\":{}}";
    id_format(&add.run.input, input);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    assert_false(run_is_instance(&see_run(world, add.run.id)->run));
    struct store_take take = take_instance(flow, &add.run);
    assert_true(take.taken);
    assert_int_equal(take.run.state, RUN_RUNNING);
    check_instance(flow, 900000);
    check_first_step(flow);
    assert_null(look_for_doc(world, INPUT_DOC, input));
    assert_int_equal(the_instance(flow)->cause, CAUSE_MANUAL);
    world_reopen(world);
    check_instance(flow, 900000);
    flow_world_free(flow);
}

/* The plan was made of another definition; or the run must not begin. */
static void a_run_is_opened_only_by_the_definition_of_its_plan(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    struct store_add_run add = an_add(world, flow->job, 2000, OVERLAP_SKIP);
    world_do_one(world, STORE_ADD_RUN, &add);
    see_job(world, flow->job)->revision++;
    assert_false(take_instance(flow, &add.run).taken);
    assert_int_equal(see_run(world, add.run.id)->run.state, RUN_DUE);
    assert_null(find_step(flow, "a"));
    see_job(world, flow->job)->revision--;
    flow_world_free(flow);
}

static void a_paused_workflow_opens_nothing(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    struct store_claim claim = a_claim(world, flow->job, 2000, OVERLAP_ALLOW);
    struct store_claim second = a_claim(world, flow->job, 3000, OVERLAP_QUEUE);
    world_do_one(world, STORE_CLAIM, &claim);
    second.cursor_ms = 2000;
    world_do_one(world, STORE_CLAIM, &second);
    assert_int_equal(second.result, CLAIM_QUEUED);
    put_again(world, flow->job, "etl", true, false, false);
    end_run(world, &see_run(world, claim.run.id)->run, RUN_OK, 4000);
    struct store_take take = take_instance(flow, &see_run(world, second.run.id)->run);
    assert_false(take.taken);
    assert_int_equal(take.run.state, RUN_SKIPPED);
    assert_int_equal(see_run(world, second.run.id)->run.reason, REASON_PAUSED);
    assert_false(run_is_unfollowed(&see_run(world, second.run.id)->run));
    flow_world_free(flow);
}

/* ---- followed ---- */

static void steps_go_one_after_the_other(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    const struct run *b = find_step(flow, "b");
    assert_int_equal(b->state, RUN_DUE);
    assert_int_equal(b->joins.met, 1);
    assert_int_equal(b->claimed_ms, find_step(flow, "a")->finished_ms);
    assert_int_equal(step_state(flow, "c"), RUN_STATES);
    assert_true(id_is_zero(&see_job(world, flow->job)->last.run_id));
    end_step(flow, "b", RUN_OK);
    world_reopen(world);
    end_step(flow, "c", RUN_OK);
    assert_true(id_is_zero(&see_job(world, flow->job)->last.run_id));
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

static void the_end_of_an_instance_is_followed_once(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    struct id other = make_job(world, "report");
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    end_step(flow, "c", RUN_OK);
    for (int times = 0; times < 2; times++) {
        struct store_next next = {.job_uid = other,
                                  .states = ON_OK,
                                  .run = an_add(world, other, 0, OVERLAP_ALLOW).run,
                                  .skip_entry_id = world_id(world)};
        struct store_finish finish = {.run = *the_instance(flow), .nexts = &next, .next_count = 1};
        finish.run.finished_ms = 6000 + times;
        world_do_one(world, STORE_FINISH, &finish);
        assert_int_equal(next.made, !times);
        assert_int_equal(finish.run.finished_ms, 6000);
    }
    assert_int_equal(count_runs(world, other, RUN_DUE), 1);
    flow_world_free(flow);
}

static void a_step_waits_for_all_of_its_inputs(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    assert_int_equal(step_state(flow, "d"), RUN_QUEUED);
    assert_int_equal(find_step(flow, "d")->joins.met, 1);
    world_reopen(world);
    end_step(flow, "c", RUN_OK);
    assert_int_equal(step_state(flow, "d"), RUN_DUE);
    assert_int_equal(find_step(flow, "d")->joins.met, 2);
    end_step(flow, "d", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

/* How a step with three inputs is made DUE: by which end, and with how many met. */
static void joins_of_some(struct world *world)
{
    static const struct {
        int line;
        int join;
        const char *ends; /* of x, y, z: o: OK, f: failed */
        int due_after, met;
    } cases[] = {
        {__LINE__, 0, "ooo", 3, 3}, {__LINE__, 0, "ofo", 3, 2}, {__LINE__, 0, "foo", 3, 2},
        {__LINE__, 1, "ooo", 1, 1}, {__LINE__, 1, "foo", 2, 1}, {__LINE__, 1, "fff", 3, 0},
        {__LINE__, 2, "foo", 3, 2}, {__LINE__, 2, "oof", 2, 2}, {__LINE__, 2, "ffo", 3, 1},
    };
    static const char *const names[] = {"x", "y", "z"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct planned plan[] = {{.name = "x", .after = ""},
                                       {.name = "y", .after = ""},
                                       {.name = "z", .after = ""},
                                       {.name = "j", .after = "x y z", .join = cases[i].join}};
        char name[16];
        snprintf(name, sizeof(name), "etl-%zu", i);
        struct flow_world *flow = FLOW(world, name, plan);
        claim_instance(flow, 2000);
        for (int end = 0; end < 3; end++) {
            end_step(flow, names[end], cases[i].ends[end] == 'o' ? RUN_OK : RUN_FAILED);
            enum run_state want = end + 1 >= cases[i].due_after ? RUN_DUE : RUN_QUEUED;
            if (step_state(flow, "j") != want)
                fail_msg("line %d: after %d: %s", cases[i].line, end + 1,
                         run_state_name(step_state(flow, "j")));
        }
        if (find_step(flow, "j")->joins.met != cases[i].met)
            fail_msg("line %d: met %d", cases[i].line, find_step(flow, "j")->joins.met);
        flow_world_free(flow);
    }
}

/* It begins before the others have ended, and they come too late for it. */
static void an_early_step_is_left_alone(struct world *world)
{
    static const struct planned plan[] = {{.name = "x", .after = ""},
                                          {.name = "y", .after = "", .is_tail = true},
                                          {.name = "j", .after = "x y", .join = 1}};
    struct flow_world *flow = FLOW(world, "etl", plan);
    claim_instance(flow, 2000);
    end_step(flow, "x", RUN_OK);
    assert_true(begin_step(flow, "j").begun);
    end_step(flow, "y", RUN_OK);
    assert_int_equal(step_state(flow, "j"), RUN_BEGUN);
    assert_int_equal(the_instance(flow)->state, RUN_RUNNING);
    assert_int_equal(the_instance(flow)->joins.met, 1);
    end_step(flow, "j", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

/* ---- failures ---- */

static void a_failure_fails_the_instance_through_what_is_skipped(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_FAILED);
    assert_int_equal(find_step(flow, "b")->joins.unmet, 1);
    skip_step(flow, "b", REASON_UPSTREAM);
    skip_step(flow, "c", REASON_UPSTREAM);
    assert_string_equal(the_instance(flow)->detail, "a: failed");
    assert_int_equal(the_instance(flow)->outcome, RUN_FAILED);
    ends_as(flow, RUN_FAILED, REASON_STEP_FAILED);
    flow_world_free(flow);
}

/* Who runs on failure does not heal it; a step that was skipped by its condition does no harm. */
static void handlers_and_conditions(struct world *world)
{
    static const struct planned plan[] = {{.name = "a", .after = ""},
                                          {.name = "fix", .after = "a", .states = ON_FAILURE}};
    for (int fails = 0; fails < 2; fails++) {
        struct flow_world *flow = FLOW(world, fails ? "fails" : "works", plan);
        claim_instance(flow, 2000);
        end_step(flow, "a", fails ? RUN_FAILED : RUN_OK);
        assert_int_equal(find_step(flow, "fix")->joins.met, fails);
        if (fails)
            end_step(flow, "fix", RUN_OK);
        else
            skip_step(flow, "fix", REASON_UPSTREAM);
        ends_as(flow, fails ? RUN_FAILED : RUN_OK, fails ? REASON_STEP_FAILED : REASON_NONE);
        flow_world_free(flow);
    }
}

static void a_step_is_retried(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    flow->attempts = 3;
    claim_instance(flow, 2000);
    put_again(world, flow->job, "etl", false, false, false); /* the plan stays */
    struct store_finish first = fail_and_retry(flow, "a", RUN_FAILED);
    const struct run *again = find_step(flow, "a");
    assert_int_equal(again->attempt, 2);
    assert_int_equal(again->state, RUN_DUE);
    assert_int_equal(again->claimed_ms, first.run.finished_ms);
    assert_int_equal(again->part, 1);
    assert_int_equal(again->job_revision, 1);
    assert_int_equal(again->cause, CAUSE_STEP);
    assert_int_equal(step_state(flow, "b"), RUN_STATES);
    end_step(flow, "a", RUN_OK);
    assert_int_equal(find_step(flow, "a")->job_revision, 1);
    assert_int_equal(step_state(flow, "b"), RUN_DUE);
    assert_true(id_is_zero(&see_job(world, flow->job)->last.run_id));
    end_step(flow, "b", RUN_OK);
    end_step(flow, "c", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
}

static void amend(struct flow_world *flow, struct run run)
{
    struct store_finish finish = finish_of(flow, &run, RUN_OK);
    finish.run.reason = REASON_NONE;
    finish.run.started_ms = 4000;
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_int_equal(finish.run.state, RUN_OK);
}

static void a_lost_step_that_is_amended_is_followed_once(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    claim_instance(flow, 2000);
    begin_step(flow, "a");
    struct store_finish finish = finish_of(flow, find_step(flow, "a"), RUN_LOST);
    finish.run.reason = REASON_NODE_DIED;
    do_twice(world, STORE_FINISH, &finish, sizeof(finish));
    assert_int_equal(find_step(flow, "b")->joins.unmet, 1);
    amend(flow, finish.run);
    assert_int_equal(step_state(flow, "b"), RUN_DUE);
    assert_int_equal(find_step(flow, "b")->joins.met, 0);
    skip_step(flow, "b", REASON_UPSTREAM);
    skip_step(flow, "c", REASON_UPSTREAM);
    assert_string_equal(the_instance(flow)->detail, "a: lost");
    ends_as(flow, RUN_FAILED, REASON_STEP_FAILED);
    flow_world_free(flow);
}

/* Its next attempt is waited for; if that is not needed, the amended end is followed. */
static void a_lost_step_that_is_amended_in_time_is_followed_itself(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    flow->attempts = 3;
    claim_instance(flow, 2000);
    struct store_finish lost = fail_and_retry(flow, "a", RUN_LOST);
    amend(flow, lost.run);
    const struct run *again = find_step(flow, "a");
    assert_int_equal(again->attempt, 2);
    assert_int_equal(again->reason, REASON_NOT_NEEDED);
    assert_false(run_is_unfollowed(again));
    assert_int_equal(step_state(flow, "b"), RUN_DUE);
    assert_int_equal(find_step(flow, "b")->joins.met, 1);
    flow_world_free(flow);
}

/* ---- forgotten ---- */

static void outputs_and_runs_stay_until_the_instance_has_ended(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    char id[ID_TEXT + 1], output[DOC_NAME_SIZE], input[ID_TEXT + 1];
    claim_instance(flow, 2000);
    begin_step(flow, "a");
    struct store_finish finish = finish_of(flow, find_step(flow, "a"), RUN_OK);
    finish.output = "{\"rows\":\"3\"}";
    do_twice(world, STORE_FINISH, &finish, sizeof(finish));
    id_format(&flow->instance, id);
    snprintf(output, sizeof(output), "%s.1", id);
    id_format(&the_instance(flow)->input, input);
    assert_string_equal(look_for_doc(world, OUTPUT_DOC, output)->json, "{\"rows\":\"3\"}");
    struct id a = find_step(flow, "a")->id;
    forget_run(world, a);
    assert_non_null(look_for_run(world, a));
    assert_non_null(look_for_doc(world, OUTPUT_DOC, output));
    end_step(flow, "b", RUN_OK);
    end_step(flow, "c", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    forget_run(world, a);
    assert_null(look_for_run(world, a));
    assert_null(look_for_doc(world, OUTPUT_DOC, output));
    forget_run(world, find_step(flow, "b")->id);
    assert_non_null(look_for_doc(world, INPUT_DOC, input));
    forget_run(world, flow->instance);
    assert_null(look_for_doc(world, INPUT_DOC, input));
    forget_run(world, find_step(flow, "c")->id);
    assert_int_equal(world->picture.run_count, 0);
    flow_world_free(flow);
}

/* What a lost attempt has written comes too late: the next one has decided. */
static void the_output_is_that_of_the_end_that_is_followed(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    char id[ID_TEXT + 1], name[DOC_NAME_SIZE];
    flow->attempts = 2;
    claim_instance(flow, 2000);
    id_format(&flow->instance, id);
    snprintf(name, sizeof(name), "%s.1", id);
    struct store_finish lost = fail_and_retry(flow, "a", RUN_LOST);
    begin_step(flow, "a");
    struct store_finish finish = finish_of(flow, find_step(flow, "a"), RUN_OK);
    finish.output = "{\"try\":\"2\"}";
    do_twice(world, STORE_FINISH, &finish, sizeof(finish));
    finish = finish_of(flow, &lost.run, RUN_OK);
    finish.run.started_ms = 4000;
    finish.output = "{\"try\":\"1\"}";
    do_twice(world, STORE_FINISH, &finish, sizeof(finish));
    assert_int_equal(finish.run.state, RUN_OK);
    assert_string_equal(look_for_doc(world, OUTPUT_DOC, name)->json, "{\"try\":\"2\"}");
    forget_run(world, lost.run.id);
    assert_non_null(look_for_doc(world, OUTPUT_DOC, name));
    flow_world_free(flow);
}

/* ---- many ---- */

/* Two nodes end two inputs of the same steps at the same time. */
static void two_nodes_end_steps_together(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        skip();
    struct flow_world *flow = FLOW(world, "etl", diamond);
    struct store_link links[2];
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    assert_true(begin_step(flow, "b").begun);
    assert_true(begin_step(flow, "c").begun);
    struct store_finish ends[2];
    ends[0] = finish_of(flow, find_step(flow, "b"), RUN_OK);
    memcpy(links, flow->links, sizeof(links[0]));
    ends[0].links = links;
    ends[1] = finish_of(flow, find_step(flow, "c"), RUN_OK);
    for (int64_t until_ms = soon_ms(); !look_for_run(other, ends[1].run.id) ||
                                       look_for_run(other, ends[1].run.id)->run.state != RUN_BEGUN;)
        world_pass(other, until_ms);
    world_do_two(world, other, STORE_FINISH, &ends[0], &ends[1]);
    assert_true(ends[0].accepted && ends[1].accepted);
    for (int64_t until_ms = soon_ms(); step_state(flow, "d") != RUN_DUE;)
        world_pass(world, until_ms);
    assert_int_equal(find_step(flow, "d")->joins.met, 2);
    size_t count = 0;
    for (size_t i = 0; i < world->picture.run_count; i++)
        count += strcmp(world->picture.runs[i].run.step, "d") == 0;
    assert_int_equal(count, 1);
    world_free(other);
    flow_world_free(flow);
}

/* One step, then `count` that wait for it, then one that waits for all of those. */
static struct planned *wide(size_t count, char (*names)[24], char *all)
{
    struct planned *plan = calloc(count + 2, sizeof(*plan));
    char *at = all;
    assert_non_null(plan);
    plan[0] = (struct planned){.name = "first", .after = ""};
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "s%zu", i);
        plan[1 + i] = (struct planned){.name = names[i], .after = "first"};
        at += sprintf(at, "%s%s", i ? " " : "", names[i]);
    }
    plan[1 + count] = (struct planned){.name = "end", .after = all};
    return plan;
}

static void a_step_with_as_many_links_as_there_may_be(struct world *world)
{
    enum { COUNT = STORE_LINKS_MAX };
    static char names[COUNT][24], all[COUNT * 8];
    struct planned *plan = wide(COUNT, names, all);
    struct flow_world *flow = flow_world_new(world, "etl", plan, COUNT + 2);
    claim_instance(flow, 2000);
    end_step(flow, "first", RUN_OK);
    assert_int_equal(count_runs(world, flow->job, RUN_DUE), COUNT);
    for (int i = 0; i < 3; i++)
        end_step(flow, names[i], RUN_OK);
    assert_int_equal(find_step(flow, "end")->joins.met, 3);
    order_kill(flow, the_instance(flow), REASON_USER);
    assert_int_equal(count_runs(world, flow->job, RUN_SKIPPED), COUNT - 3);
    flow_world_free(flow);
    free(plan);
}

static void an_instance_of_200_steps(struct world *world)
{
    enum { COUNT = 198 };
    static char names[COUNT][24], all[COUNT * 8];
    struct planned *plan = wide(COUNT, names, all);
    struct flow_world *flow = flow_world_new(world, "etl", plan, COUNT + 2);
    claim_instance(flow, 2000);
    end_step(flow, "first", RUN_OK);
    for (int i = 0; i < COUNT; i++)
        end_step(flow, names[i], RUN_OK);
    end_step(flow, "end", RUN_OK);
    ends_as(flow, RUN_OK, REASON_NONE);
    flow_world_free(flow);
    free(plan);
}

const struct contract_test step_tests[] = {
    CONTRACT_TEST(a_tick_becomes_an_instance),
    CONTRACT_TEST(a_run_that_waited_becomes_an_instance),
    CONTRACT_TEST(a_run_is_opened_only_by_the_definition_of_its_plan),
    CONTRACT_TEST(a_paused_workflow_opens_nothing),
    CONTRACT_TEST(steps_go_one_after_the_other),
    CONTRACT_TEST(the_end_of_an_instance_is_followed_once),
    CONTRACT_TEST(a_step_waits_for_all_of_its_inputs),
    CONTRACT_TEST(joins_of_some),
    CONTRACT_TEST(an_early_step_is_left_alone),
    CONTRACT_TEST(a_failure_fails_the_instance_through_what_is_skipped),
    CONTRACT_TEST(handlers_and_conditions),
    CONTRACT_TEST(a_step_is_retried),
    CONTRACT_TEST(a_lost_step_that_is_amended_is_followed_once),
    CONTRACT_TEST(a_lost_step_that_is_amended_in_time_is_followed_itself),
    CONTRACT_TEST(outputs_and_runs_stay_until_the_instance_has_ended),
    CONTRACT_TEST(the_output_is_that_of_the_end_that_is_followed),
    CONTRACT_TEST(two_nodes_end_steps_together),
    CONTRACT_TEST(a_step_with_as_many_links_as_there_may_be),
    CONTRACT_TEST(an_instance_of_200_steps),
    {NULL, NULL},
};
