/* Workflows: an instance is opened, its steps wait for each other, and it ends with the last of
 * them; cancelled, deleted, paused, replaced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"
#include "step_world.h"

#define FLOW(world, name, plan) flow_world_new(world, name, plan, sizeof(plan) / sizeof((plan)[0]))

static const struct planned chain[] = {
    {.name = "a", .after = ""}, {.name = "b", .after = "a"}, {.name = "c", .after = "b"}};

static const struct planned diamond[] = {{.name = "a", .after = ""},
                                         {.name = "b", .after = "a"},
                                         {.name = "c", .after = "a"},
                                         {.name = "d", .after = "b c"}};

static const struct planned with_final[] = {
    {.name = "a", .after = ""},
    {.name = "b", .after = "a"},
    {.name = "clean",
     .after = "b",
     .states = ON_OK | ON_FAILURE | 1 << RUN_KILLED | 1 << RUN_SKIPPED,
     .is_final = true}};

static void ends_as(struct flow_world *flow, enum run_state state, enum run_reason reason)
{
    const struct run *instance = the_instance(flow);
    assert_int_equal(instance->state, state);
    assert_int_equal(instance->reason, reason);
    assert_true(run_is_unfollowed(instance));
    follow_run(flow, instance);
    instance = the_instance(flow);
    const struct last_run *last = &see_job(flow->world, flow->job)->last;
    assert_int_equal(id_compare(&last->run_id, &instance->id), 0);
    assert_int_equal(last->state, state);
    assert_int_equal(last->ended_ms, instance->finished_ms);
    assert_int_equal(last->started_ms, instance->started_ms);
}

/* ---- opened ---- */

static void check_instance(struct flow_world *flow, int64_t started_ms)
{
    const struct run *run = the_instance(flow);
    char input[ID_TEXT + 1];
    assert_int_equal(run->state, RUN_RUNNING);
    assert_true(run_is_instance(run));
    assert_int_equal(id_compare(&run->instance, &run->id), 0);
    assert_string_equal(run->node, "");
    assert_true(id_is_zero(&run->owner.instance));
    assert_int_equal(run->started_ms, started_ms);
    assert_int_equal(run->joins.expected, 1);
    id_format(&run->input, input);
    assert_string_equal(look_for_doc(flow->world, INPUT_DOC, input)->json, "{\"plan\":1}");
}

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

static void put_again(struct world *world, struct id job, const char *name, bool paused,
                      bool deleted, bool purge)
{
    struct store_put_job put = a_put(job, name, -1);
    put.paused = paused;
    put.deleted = deleted;
    put.purge = purge;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
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
        {__LINE__, 0, "ooo", 3, 3}, {__LINE__, 0, "ofo", 2, 1}, {__LINE__, 0, "foo", 1, 0},
        {__LINE__, 1, "ooo", 1, 1}, {__LINE__, 1, "foo", 2, 1}, {__LINE__, 1, "fff", 3, 0},
        {__LINE__, 2, "foo", 3, 2}, {__LINE__, 2, "oof", 2, 2}, {__LINE__, 2, "ffo", 2, 0},
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

static struct store_finish fail_and_retry(struct flow_world *flow, const char *name,
                                          enum run_state state)
{
    assert_true(begin_step(flow, name).begun);
    struct store_finish finish = finish_of(flow, find_step(flow, name), state);
    finish.run.reason = state == RUN_LOST ? REASON_NODE_DIED : REASON_EXIT_CODE;
    finish.again = (struct store_again){.is_wanted = true,
                                        .id = world_id(flow->world),
                                        .not_before_ms = 6000,
                                        .attempts = 3,
                                        .job_revision = 77}; /* which does not matter */
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.accepted);
    assert_true(finish.again.made);
    return finish;
}

static void a_step_is_retried(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", chain);
    flow->attempts = 3;
    claim_instance(flow, 2000);
    put_again(world, flow->job, "etl", false, false, false); /* the plan stays */
    fail_and_retry(flow, "a", RUN_FAILED);
    const struct run *again = find_step(flow, "a");
    assert_int_equal(again->attempt, 2);
    assert_int_equal(again->state, RUN_DUE);
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

/* ---- cancelled ---- */

static void drain(struct flow_world *flow)
{
    const struct run *left = NULL;
    do {
        left = NULL;
        for (size_t i = 0; !left && i < flow->world->picture.run_count; i++) {
            const struct run *run = &flow->world->picture.runs[i].run;
            if (run_is_step(run) && run_is_unfollowed(run))
                left = run;
        }
        if (left)
            follow_run(flow, left);
    } while (left);
}

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

/* One that waits for others ends at once; what follows from that is up to who records it. */
static void a_single_step_is_called_off(struct world *world)
{
    struct flow_world *flow = FLOW(world, "etl", diamond);
    claim_instance(flow, 2000);
    end_step(flow, "a", RUN_OK);
    end_step(flow, "b", RUN_OK);
    order_kill(flow, find_step(flow, "d"), REASON_USER);
    assert_int_equal(step_state(flow, "d"), RUN_SKIPPED);
    end_step(flow, "c", RUN_OK);
    assert_int_equal(the_instance(flow)->state, RUN_RUNNING);
    drain(flow);
    ends_as(flow, RUN_OK, REASON_NONE);
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
    CONTRACT_TEST(a_cancelled_instance_drains),
    CONTRACT_TEST(an_instance_times_out),
    CONTRACT_TEST(a_claimed_step_is_refused_after_the_order),
    CONTRACT_TEST(a_single_step_is_called_off),
    CONTRACT_TEST(a_pause_is_not_for_what_has_begun),
    CONTRACT_TEST(steps_of_a_deleted_workflow_do_not_begin),
    CONTRACT_TEST(a_purge_ends_the_instance),
    CONTRACT_TEST(an_instance_blocks_the_next),
    CONTRACT_TEST(a_queue_waits_for_the_instance),
    CONTRACT_TEST(an_instance_is_replaced),
    CONTRACT_TEST(outputs_and_runs_stay_until_the_instance_has_ended),
    CONTRACT_TEST(two_nodes_end_steps_together),
    CONTRACT_TEST(a_step_with_as_many_links_as_there_may_be),
    CONTRACT_TEST(an_instance_of_200_steps),
    {NULL, NULL},
};
