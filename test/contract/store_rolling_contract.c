/* Ticks whose parts go one after the other: the end of one is the turn of the next, whoever wrote
 * it, and after a failure there may be no next. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

enum { PARTS = 4 };

struct tick {
    struct id job;
    struct store_part parts[PARTS];
    struct run runs[PARTS]; /* as they were when they were taken */
};

static struct store_parts some_parts(struct world *world, struct tick *tick, struct id first,
                                     size_t at_once, bool stops)
{
    for (size_t i = 0; i < PARTS; i++) {
        tick->parts[i].id = i ? world_id(world) : first;
        snprintf(tick->parts[i].pinned, sizeof(tick->parts[i].pinned), "node-%zu", i + 1);
    }
    return (struct store_parts){
        .parts = tick->parts, .count = PARTS, .at_once = at_once, .stops = stops};
}

static struct store_claim roll(struct world *world, struct tick *tick, int64_t tick_ms,
                               size_t at_once, bool stops)
{
    struct store_claim claim = a_claim(world, tick->job, tick_ms, OVERLAP_QUEUE);
    claim.queue_limit = 1;
    claim.parts = some_parts(world, tick, claim.run.id, at_once, stops);
    world_do_one(world, STORE_CLAIM, &claim);
    return claim;
}

static struct tick a_tick(struct world *world, const char *name, size_t at_once, bool stops)
{
    struct tick tick = {.job = make_job(world, name)};
    assert_int_equal(roll(world, &tick, 2000, at_once, stops).result, CLAIM_SPREAD);
    return tick;
}

static const struct run *part(struct world *world, const struct tick *tick, size_t i)
{
    return &see_run(world, tick->parts[i].id)->run;
}

/* "d" for DUE, "q" for QUEUED ... of each part in turn; "." once it has ended. */
static const char *states(struct world *world, const struct tick *tick)
{
    static char text[PARTS + 1];
    for (size_t i = 0; i < PARTS; i++) {
        enum run_state state = part(world, tick, i)->state;
        text[i] = run_state_is_end(state) ? '.' : run_state_name(state)[0];
    }
    return text;
}

static void begin_part(struct world *world, struct tick *tick, size_t i)
{
    struct store_take take = {
        .run_id = tick->parts[i].id, .nonce = 4711 + i, .now_ms = 900000, .node = "node-1"};
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    assert_true(begin_run(world, &take.run).begun);
    tick->runs[i] = take.run;
}

static struct store_finish end_part(struct world *world, struct tick *tick, size_t i,
                                    enum run_state state)
{
    if (part(world, tick, i)->state == RUN_DUE)
        begin_part(world, tick, i);
    return end_run(world, &tick->runs[i], state, 5000 + (int64_t)i);
}

static struct store_order kill_part(struct world *world, const struct tick *tick, size_t i)
{
    struct store_order order = {.run_id = tick->parts[i].id, .reason = REASON_USER, .by = "ann"};
    world_do_one(world, STORE_ORDER, &order);
    return order;
}

static void assert_ended(struct world *world, const struct tick *tick, size_t first, size_t last,
                         enum run_reason reason)
{
    for (size_t i = first; i <= last; i++) {
        assert_int_equal(part(world, tick, i)->state, RUN_SKIPPED);
        assert_int_equal(part(world, tick, i)->reason, reason);
    }
}

static void the_others_wait_for_their_turn(struct world *world)
{
    struct tick tick = {.job = make_job(world, "restart")};
    struct store_claim claim = roll(world, &tick, 2000, 2, true), again = claim;
    assert_int_equal(claim.result, CLAIM_SPREAD);
    assert_string_equal(states(world, &tick), "ddqq");
    for (size_t i = 0; i < PARTS; i++) {
        const struct run *run = part(world, &tick, i);
        assert_int_equal(run->rolling, ROLLING_PART | ROLLING_STOPS);
        assert_int_equal(run->parts, PARTS);
        assert_string_equal(run->pinned, tick.parts[i].pinned);
        assert_int_equal(run->claimed_ms, i < 2 ? claim.run.claimed_ms : 0);
        assert_int_equal(run_waits_for_turn(run), i >= 2);
    }
    world_do_one(world, STORE_CLAIM, &again); /* its answer was lost */
    assert_int_equal(again.result, CLAIM_SPREAD);
    struct store_take early = {
        .run_id = tick.parts[2].id, .nonce = 1, .now_ms = 900000, .node = "node-3"};
    world_do_one(world, STORE_TAKE, &early);
    assert_false(early.taken);
    world_reopen(world);
    assert_string_equal(states(world, &tick), "ddqq");
}

/* No more than there are: then nobody waits. */
static void few_parts_do_not_wait(struct world *world)
{
    struct tick tick = a_tick(world, "restart", PARTS, true);
    assert_string_equal(states(world, &tick), "dddd");
    assert_int_equal(part(world, &tick, 0)->rolling, 0);
}

/* Any end is the turn of the next, in the order of their numbers. */
static void an_end_is_the_turn_of_the_next(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 2, false);
    end_part(world, &tick, 1, RUN_OK);
    assert_string_equal(states(world, &tick), "d.dq");
    assert_int_equal(part(world, &tick, 2)->claimed_ms, 0);
    assert_int_equal(part(world, &tick, 2)->rolling, ROLLING_PART | ROLLING_WAITED);
    world_reopen(world);
    struct store_finish again = {.run = tick.runs[1]}; /* its answer was lost */
    again.run.state = RUN_OK;
    world_do_one(world, STORE_FINISH, &again);
    assert_true(again.accepted);
    assert_string_equal(states(world, &tick), "d.dq");
    end_part(world, &tick, 2, RUN_LOST);
    assert_string_equal(states(world, &tick), "d..d");
    struct store_finish amended = {.run = tick.runs[2]}; /* it was there after all */
    amended.run.state = RUN_OK;
    amended.run.started_ms = 4000;
    amended.run.finished_ms = 5100;
    world_do_one(world, STORE_FINISH, &amended);
    assert_int_equal(end_part(world, &tick, 0, RUN_OK).run.outcome, RUN_QUEUED);
    assert_int_equal(end_part(world, &tick, 3, RUN_FAILED).run.outcome, RUN_LOST);
    assert_int_equal(see_job(world, tick.job)->last.state, RUN_LOST);
}

/* Every end but OK stops the tick. What is under way goes on, and ends it. */
static void a_failure_stops_the_tick(struct world *world)
{
    static const enum run_state ends[] = {RUN_FAILED, RUN_TIMED_OUT, RUN_KILLED, RUN_LOST,
                                          RUN_MISSED};
    for (size_t c = 0; c < sizeof(ends) / sizeof(ends[0]); c++) {
        char name[16];
        snprintf(name, sizeof(name), "restart-%zu", c);
        struct tick tick = a_tick(world, name, 2, true);
        begin_part(world, &tick, 0);
        assert_int_equal(end_part(world, &tick, 1, ends[c]).run.outcome, RUN_QUEUED);
        assert_string_equal(states(world, &tick), "b...");
        assert_ended(world, &tick, 2, 3, REASON_PART_FAILED);
        assert_non_null(strstr(part(world, &tick, 3)->detail, run_state_name(ends[c])));
        assert_false(run_ends_tick(part(world, &tick, 3)));
        assert_int_equal(end_part(world, &tick, 0, RUN_OK).run.outcome, ends[c]);
        assert_int_equal(see_job(world, tick.job)->last.state, ends[c]);
    }
}

static void the_one_that_fails_may_be_the_last(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 1, true);
    assert_int_equal(end_part(world, &tick, 0, RUN_OK).run.outcome, RUN_QUEUED);
    assert_string_equal(states(world, &tick), ".dqq");
    struct store_finish end = end_part(world, &tick, 1, RUN_FAILED);
    assert_string_equal(states(world, &tick), "....");
    assert_int_equal(end.run.outcome, RUN_FAILED);
    assert_ended(world, &tick, 2, 3, REASON_PART_FAILED);
    assert_int_equal(see_job(world, tick.job)->last.state, RUN_FAILED);
    world_reopen(world);
}

/* The last attempt of a part decides. */
static void a_retry_keeps_the_turn(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 1, true);
    begin_part(world, &tick, 0);
    struct store_finish first = {.run = tick.runs[0],
                                 .again = {.is_wanted = true,
                                           .id = world_id(world),
                                           .attempts = 2,
                                           .job_revision = see_job(world, tick.job)->revision}};
    first.run.state = RUN_LOST;
    first.run.reason = REASON_NODE_DIED;
    first.run.finished_ms = 5000;
    world_do_one(world, STORE_FINISH, &first);
    assert_true(first.again.made);
    assert_string_equal(states(world, &tick), ".qqq");
    assert_int_equal(see_run(world, first.again.id)->run.rolling, ROLLING_PART | ROLLING_STOPS);
    struct store_finish amended = {.run = tick.runs[0]}; /* and has succeeded after all */
    amended.run.state = RUN_OK;
    amended.run.started_ms = 4000;
    amended.run.finished_ms = 5100;
    world_do_one(world, STORE_FINISH, &amended);
    assert_int_equal(see_run(world, first.again.id)->run.reason, REASON_NOT_NEEDED);
    assert_string_equal(states(world, &tick), ".dqq");
}

/* A part that is called off in its turn is one that did not succeed; one that waits makes room for
 * nobody. */
static void parts_are_called_off(struct world *world)
{
    struct tick tick = a_tick(world, "goes-on", 1, false);
    assert_true(kill_part(world, &tick, 2).known);
    assert_string_equal(states(world, &tick), "dq.q");
    assert_int_equal(part(world, &tick, 2)->reason, REASON_USER);
    kill_part(world, &tick, 0);
    assert_string_equal(states(world, &tick), ".d.q");
    end_part(world, &tick, 1, RUN_OK);
    assert_string_equal(states(world, &tick), "...d");
    assert_int_equal(end_part(world, &tick, 3, RUN_OK).run.outcome, RUN_SKIPPED);

    tick = a_tick(world, "stops", 1, true);
    kill_part(world, &tick, 0);
    assert_int_equal(part(world, &tick, 0)->reason, REASON_USER);
    assert_ended(world, &tick, 1, 3, REASON_PART_FAILED);
    assert_int_equal(part(world, &tick, 0)->outcome, RUN_SKIPPED);
}

static void a_job_is_paused_or_deleted(struct world *world)
{
    for (int deleted = 0; deleted < 2; deleted++) {
        struct tick tick = a_tick(world, deleted ? "gone" : "paused", 1, true);
        enum run_reason reason = deleted ? REASON_DELETED : REASON_PAUSED;
        begin_part(world, &tick, 0);
        struct store_put_job put = a_put(tick.job, deleted ? "gone" : "paused", -1);
        put.deleted = deleted;
        put.paused = !deleted;
        world_do_one(world, STORE_PUT_JOB, &put);
        assert_string_equal(states(world, &tick), "b...");
        assert_ended(world, &tick, 1, 3, reason);
        assert_int_equal(end_part(world, &tick, 0, RUN_OK).run.outcome, RUN_SKIPPED);
    }
    world_reopen(world);
}

/* The whole tick is refused with the part that is not begun. */
static void a_refused_begin_ends_the_tick(struct world *world)
{
    struct tick tick = {.job = make_job(world, "restart")};
    struct store_put_job put = a_put(tick.job, "restart", -1);
    put.paused = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    struct store_claim claim = a_claim(world, tick.job, 2000, OVERLAP_SKIP);
    claim.job_revision = see_job(world, tick.job)->revision;
    claim.parts = some_parts(world, &tick, claim.run.id, 1, false);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_SPREAD);
    struct store_take take = {
        .run_id = tick.parts[0].id, .nonce = 4711, .now_ms = 900000, .node = "node-1"};
    world_do_one(world, STORE_TAKE, &take);
    assert_int_equal(begin_run(world, &take.run).refused, RUN_SKIPPED);
    assert_ended(world, &tick, 0, 3, REASON_PAUSED);
}

/* Parts that wait are in the way of other ticks, and not themselves in the queue. */
static void the_queue_waits_for_the_whole_tick(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 1, false), next = tick, full = tick;
    assert_int_equal(roll(world, &next, 3000, 1, false).result, CLAIM_QUEUED);
    struct store_claim claim = a_claim(world, tick.job, 4000, OVERLAP_QUEUE);
    claim.queue_limit = 1;
    claim.cursor_ms = 3000;
    claim.parts = some_parts(world, &full, claim.run.id, 1, false);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_SKIPPED);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(see_run(world, next.parts[0].id)->run.state, RUN_QUEUED);
        end_part(world, &tick, i, RUN_OK);
    }
    assert_int_equal(see_run(world, next.parts[0].id)->run.state, RUN_DUE);
    struct store_take take = {.run_id = next.parts[0].id,
                              .job_revision = see_job(world, tick.job)->revision,
                              .nonce = 4711,
                              .now_ms = 900000,
                              .node = "node-2"};
    take.parts = some_parts(world, &next, next.parts[0].id, 3, true);
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    assert_string_equal(states(world, &next), "dddq");
    end_part(world, &next, 1, RUN_KILLED);
    assert_string_equal(states(world, &next), "d.d.");
    end_part(world, &next, 0, RUN_OK);
    assert_int_equal(end_part(world, &next, 2, RUN_OK).run.outcome, RUN_KILLED);
}

static void a_newer_tick_replaces_the_rest(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 1, false);
    end_part(world, &tick, 0, RUN_OK);
    begin_part(world, &tick, 1);
    struct store_claim claim = a_claim(world, tick.job, 3000, OVERLAP_REPLACE);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_QUEUED);
    assert_ended(world, &tick, 2, 3, REASON_REPLACED);
    assert_int_equal(see_run(world, tick.parts[1].id)->kill_reason, REASON_REPLACED);
    end_part(world, &tick, 1, RUN_KILLED);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_DUE);
}

/* Two parts end in one request: each passes its turn on. */
static void ends_of_one_batch_pass_on_their_turns(struct world *world)
{
    struct tick tick = a_tick(world, "restart", 2, false);
    begin_part(world, &tick, 0);
    begin_part(world, &tick, 1);
    struct store_finish ends[2] = {{.run = tick.runs[0]}, {.run = tick.runs[1]}};
    for (size_t i = 0; i < 2; i++) {
        ends[i].run.state = RUN_OK;
        ends[i].run.finished_ms = 5000;
    }
    assert_int_equal(world_do(world, STORE_FINISH, ends, 2), OK);
    assert_string_equal(states(world, &tick), "..dd");
}

/* As many as a tick may have: the stop of all is one transaction. */
static void a_stop_ends_many(struct world *world)
{
    static struct store_part many[RUN_PARTS_MAX];
    struct id job = make_job(world, "restart");
    struct store_claim claim = a_claim(world, job, 2000, OVERLAP_SKIP);
    memset(many, 0, sizeof(many));
    for (size_t i = 0; i < RUN_PARTS_MAX; i++) {
        many[i].id = i ? world_id(world) : claim.run.id;
        snprintf(many[i].pinned, sizeof(many[i].pinned), "a-node-with-a-rather-long-name-%zu", i);
    }
    claim.parts =
        (struct store_parts){.parts = many, .count = RUN_PARTS_MAX, .at_once = 1, .stops = true};
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(count_runs(world, job, RUN_QUEUED), RUN_PARTS_MAX - 1);
    struct store_take take = {
        .run_id = claim.run.id, .nonce = 4711, .now_ms = 900000, .node = "node-1"};
    world_do_one(world, STORE_TAKE, &take);
    assert_true(begin_run(world, &take.run).begun);
    assert_int_equal(end_run(world, &take.run, RUN_FAILED, 5000).run.outcome, RUN_FAILED);
    assert_int_equal(count_runs(world, job, RUN_SKIPPED), RUN_PARTS_MAX - 1);
}

const struct contract_test rolling_tests[] = {
    CONTRACT_TEST(the_others_wait_for_their_turn),
    CONTRACT_TEST(few_parts_do_not_wait),
    CONTRACT_TEST(an_end_is_the_turn_of_the_next),
    CONTRACT_TEST(a_failure_stops_the_tick),
    CONTRACT_TEST(the_one_that_fails_may_be_the_last),
    CONTRACT_TEST(a_retry_keeps_the_turn),
    CONTRACT_TEST(parts_are_called_off),
    CONTRACT_TEST(a_job_is_paused_or_deleted),
    CONTRACT_TEST(a_refused_begin_ends_the_tick),
    CONTRACT_TEST(the_queue_waits_for_the_whole_tick),
    CONTRACT_TEST(a_newer_tick_replaces_the_rest),
    CONTRACT_TEST(ends_of_one_batch_pass_on_their_turns),
    CONTRACT_TEST(a_stop_ends_many),
    {NULL, NULL},
};
