/* Ticks with several runs: made together, by a claim or by the take of a run that waited; each ends
 * by itself, and the last of them ends the tick. */
#include <stdio.h>
#include <string.h>

#include "params/run_input.h"
#include "store_world.h"

enum { PARTS = 3 };

struct tick {
    struct store_part parts[PARTS];
    struct run runs[PARTS]; /* as they were when they were taken */
};

static struct store_parts some_parts(struct world *world, struct tick *tick, struct id first)
{
    memset(tick, 0, sizeof(*tick));
    for (size_t i = 0; i < PARTS; i++) {
        tick->parts[i].id = i ? world_id(world) : first;
        snprintf(tick->parts[i].pinned, sizeof(tick->parts[i].pinned), "node-%zu", i + 1);
    }
    return (struct store_parts){.parts = tick->parts, .count = PARTS};
}

static struct store_claim spread_claim(struct world *world, struct id job, int64_t tick_ms,
                                       enum overlap_policy overlap, struct tick *tick)
{
    struct store_claim claim = a_claim(world, job, tick_ms, overlap);
    claim.queue_limit = 5;
    claim.parts = some_parts(world, tick, claim.run.id);
    world_do_one(world, STORE_CLAIM, &claim);
    return claim;
}

static const struct run *part(struct world *world, const struct tick *tick, size_t i)
{
    return &see_run(world, tick->parts[i].id)->run;
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

static void begin_all(struct world *world, struct tick *tick)
{
    for (size_t i = 0; i < PARTS; i++)
        begin_part(world, tick, i);
}

static struct store_finish end_part(struct world *world, const struct tick *tick, size_t i,
                                    enum run_state state)
{
    return end_run(world, &tick->runs[i], state, 5000 + (int64_t)i);
}

static void a_claim_makes_all_parts(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    struct store_claim claim = spread_claim(world, job, 2000, OVERLAP_SKIP, &tick), again = claim;
    assert_int_equal(claim.result, CLAIM_SPREAD);
    assert_int_equal(see_job(world, job)->cursor_ms, 2000);
    for (size_t i = 0; i < PARTS; i++) {
        const struct run *run = part(world, &tick, i);
        assert_int_equal(run->state, RUN_DUE);
        assert_int_equal(run->tick_ms, 2000);
        assert_int_equal(run->part, (int)i);
        assert_int_equal(run->parts, PARTS);
        assert_string_equal(run->pinned, tick.parts[i].pinned);
        assert_string_equal(run->node, "");
        assert_int_equal(run->nonce, 0);
        assert_int_equal(run->claimed_ms, claim.run.claimed_ms);
    }
    world_do_one(world, STORE_CLAIM, &again); /* its answer was lost */
    assert_int_equal(again.result, CLAIM_SPREAD);
    assert_int_equal(count_runs(world, job, RUN_DUE), PARTS);
    world_reopen(world);
}

/* The overlap rule sees the tick, with all its parts. */
static void a_tick_blocks_until_its_last_part_has_ended(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    struct store_claim queued = a_claim(world, job, 3000, OVERLAP_QUEUE);
    queued.queue_limit = 1;
    world_do_one(world, STORE_CLAIM, &queued);
    assert_int_equal(queued.result, CLAIM_QUEUED);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_QUEUED);
        end_part(world, &tick, i, RUN_OK);
        forget_run(world, tick.parts[i].id);
    }
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_DUE);
}

/* The tick is over with the last of its parts, as the worst of them, also when those are
 * forgotten. */
static void the_last_part_has_the_outcome(struct world *world)
{
    static const struct {
        enum run_state ends[PARTS], outcome;
    } cases[] = {
        {{RUN_OK, RUN_OK, RUN_OK}, RUN_OK},
        {{RUN_FAILED, RUN_OK, RUN_OK}, RUN_FAILED},
        {{RUN_OK, RUN_TIMED_OUT, RUN_OK}, RUN_TIMED_OUT},
        {{RUN_OK, RUN_OK, RUN_KILLED}, RUN_KILLED},
        {{RUN_LOST, RUN_FAILED, RUN_OK}, RUN_LOST},
        {{RUN_OK, RUN_MISSED, RUN_FAILED}, RUN_MISSED},
    };
    struct id job = make_job(world, "sync");
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct tick tick;
        spread_claim(world, job, 2000 + (int64_t)c, OVERLAP_SKIP, &tick);
        begin_all(world, &tick);
        for (size_t i = 0; i < PARTS; i++) {
            bool is_last = i == PARTS - 1;
            struct store_finish end = end_part(world, &tick, i, cases[c].ends[i]);
            assert_int_equal(end.run.outcome, is_last ? cases[c].outcome : RUN_QUEUED);
            assert_int_equal(run_ends_tick(&end.run), is_last);
            forget_run(world, tick.parts[i].id);
            const struct last_run *last = &see_job(world, job)->last;
            assert_int_equal(id_compare(&last->run_id, &tick.parts[i].id) == 0, is_last);
        }
        assert_int_equal(see_job(world, job)->last.state, cases[c].outcome);
    }
    world_reopen(world);
}

static void dependents_follow_the_outcome_once(struct world *world)
{
    static const enum run_state ends[PARTS] = {RUN_OK, RUN_FAILED, RUN_OK};
    struct id job = make_job(world, "sync"), other = make_job(world, "report"),
              third = make_job(world, "repair");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    for (size_t i = 0; i < PARTS; i++) {
        struct store_next nexts[2];
        for (size_t n = 0; n < 2; n++) {
            struct id uid = n ? third : other;
            nexts[n] = (struct store_next){.job_uid = uid,
                                           .states = n ? 1 << RUN_FAILED : 1 << RUN_OK,
                                           .run = an_add(world, uid, 0, OVERLAP_ALLOW).run,
                                           .overlap = OVERLAP_ALLOW,
                                           .skip_entry_id = world_id(world)};
        }
        struct store_finish finish = {.run = tick.runs[i], .nexts = nexts, .next_count = 2};
        finish.run.state = ends[i];
        finish.run.finished_ms = 5000;
        world_do_one(world, STORE_FINISH, &finish);
        assert_false(nexts[0].made);
        assert_int_equal(nexts[1].made, i == PARTS - 1);
    }
}

/* A part has attempts of its own; the tick goes on with them. */
static void a_part_is_retried_by_itself(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    end_part(world, &tick, 0, RUN_KILLED); /* known to part 1 now */
    struct store_finish first = {.run = tick.runs[1],
                                 .again = {.is_wanted = true,
                                           .id = world_id(world),
                                           .attempts = 2,
                                           .job_revision = see_job(world, job)->revision}};
    first.run.state = RUN_FAILED;
    first.run.finished_ms = 5000;
    world_do_one(world, STORE_FINISH, &first);
    assert_true(first.again.made);
    assert_false(run_ends_tick(&first.run));
    const struct run *next = &see_run(world, first.again.id)->run;
    assert_int_equal(next->part, 1);
    assert_int_equal(next->parts, PARTS);
    assert_int_equal(next->attempt, 2);
    assert_string_equal(next->pinned, tick.parts[1].pinned);
    assert_int_equal(next->claimed_ms, 0);
    assert_int_equal(end_part(world, &tick, 2, RUN_OK).run.outcome, RUN_QUEUED);
    tick.parts[1].id = first.again.id;
    begin_part(world, &tick, 1);
    assert_int_equal(end_part(world, &tick, 1, RUN_OK).run.outcome, RUN_KILLED);
}

/* What is called off counts as not done; what follows the last end is not known yet. */
static void parts_are_called_off(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_part(world, &tick, 0);
    begin_part(world, &tick, 2);
    struct store_order order = {.run_id = tick.parts[1].id, .reason = REASON_USER, .by = "ann"};
    world_do_one(world, STORE_ORDER, &order);
    assert_int_equal(part(world, &tick, 1)->state, RUN_SKIPPED);
    assert_false(run_ends_tick(part(world, &tick, 1)));
    assert_int_equal(end_part(world, &tick, 0, RUN_OK).run.outcome, RUN_QUEUED);
    assert_int_equal(end_part(world, &tick, 2, RUN_OK).run.outcome, RUN_SKIPPED);

    spread_claim(world, job, 3000, OVERLAP_SKIP, &tick);
    begin_part(world, &tick, 0);
    end_part(world, &tick, 0, RUN_FAILED);
    struct id last = see_job(world, job)->last.run_id;
    struct store_put_job put = a_put(job, "sync", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(part(world, &tick, 1)->state, RUN_SKIPPED);
    assert_false(run_ends_tick(part(world, &tick, 1)));
    assert_int_equal(part(world, &tick, 2)->outcome, RUN_FAILED);
    assert_int_equal(id_compare(&see_job(world, job)->last.run_id, &last), 0);
    world_reopen(world);
}

static void a_newer_tick_replaces_all_parts(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick, newer;
    spread_claim(world, job, 2000, OVERLAP_REPLACE, &tick);
    begin_part(world, &tick, 0);
    end_part(world, &tick, 0, RUN_FAILED); /* known to part 1, which is replaced */
    begin_part(world, &tick, 2);
    struct store_claim claim = spread_claim(world, job, 3000, OVERLAP_REPLACE, &newer);
    assert_int_equal(claim.result, CLAIM_QUEUED);
    assert_int_equal(part(world, &tick, 1)->reason, REASON_REPLACED);
    assert_int_equal(see_run(world, tick.parts[2].id)->kill_reason, REASON_REPLACED);
    assert_int_equal(end_part(world, &tick, 2, RUN_KILLED).run.outcome, RUN_FAILED);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_DUE);
    assert_int_equal(see_run(world, claim.run.id)->run.parts, 0);
}

/* One that waited becomes the parts when it is taken, by the definition of that moment. */
static void a_run_that_waited_is_spread_when_it_is_taken(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    struct store_add_run add = an_add(world, job, 2000, OVERLAP_SKIP);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    struct store_take take = {.run_id = add.run.id,
                              .job_revision = see_job(world, job)->revision + 1,
                              .parts = some_parts(world, &tick, add.run.id),
                              .nonce = 4711,
                              .now_ms = 900000,
                              .node = "node-2"};
    world_do_one(world, STORE_TAKE, &take);
    assert_false(take.taken);
    assert_int_equal(see_run(world, add.run.id)->run.parts, 0);
    take.job_revision--;
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    assert_int_equal(take.run.state, RUN_DUE);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(part(world, &tick, i)->state, RUN_DUE);
        assert_int_equal(part(world, &tick, i)->part, (int)i);
        assert_int_equal(part(world, &tick, i)->parts, PARTS);
        assert_int_equal(part(world, &tick, i)->cause, CAUSE_MANUAL);
        assert_int_equal(part(world, &tick, i)->claimed_ms, 900000);
        assert_string_equal(part(world, &tick, i)->pinned, tick.parts[i].pinned);
    }
    struct store_take again = take; /* another node was slower */
    again.nonce = 4712;
    world_do_one(world, STORE_TAKE, &again);
    assert_false(again.taken);
    again.parts = (struct store_parts){.count = 0}; /* as by an older definition, without spread */
    world_do_one(world, STORE_TAKE, &again);
    assert_false(again.taken);
    assert_int_equal(count_runs(world, job, RUN_DUE), PARTS);
    begin_all(world, &tick);
    end_part(world, &tick, 0, RUN_OK);
    end_part(world, &tick, 1, RUN_OK);
    assert_int_equal(end_part(world, &tick, 2, RUN_OK).run.outcome, RUN_OK);
    world_reopen(world);
}

/* As it is amended: the tick has counted it as lost, and may be over. */
static void an_amended_part_is_so_by_itself(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    tick.runs[1].reason = REASON_NODE_DIED;
    end_part(world, &tick, 1, RUN_LOST);
    end_part(world, &tick, 0, RUN_OK);
    struct store_finish amended = {.run = tick.runs[1],
                                   .again = {.is_wanted = true,
                                             .id = world_id(world),
                                             .attempts = 2,
                                             .job_revision = see_job(world, job)->revision}};
    amended.run.state = RUN_FAILED;
    amended.run.started_ms = 4000;
    amended.run.finished_ms = 5100;
    world_do_one(world, STORE_FINISH, &amended);
    assert_true(amended.accepted);
    assert_false(amended.again.made);
    assert_int_equal(part(world, &tick, 1)->state, RUN_FAILED);
    assert_int_equal(end_part(world, &tick, 2, RUN_OK).run.outcome, RUN_LOST);
}

/* A part that was lost and tried again, and has succeeded after all: that is its end. */
static void an_attempt_that_is_not_needed_leaves_what_it_knew(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    end_part(world, &tick, 0, RUN_FAILED); /* known to part 1, and then to its next attempt */
    struct store_finish lost = {.run = tick.runs[1],
                                .again = {.is_wanted = true,
                                          .id = world_id(world),
                                          .not_before_ms = 9000,
                                          .attempts = 2,
                                          .job_revision = see_job(world, job)->revision}};
    lost.run.state = RUN_LOST;
    lost.run.reason = REASON_NODE_DIED;
    lost.run.finished_ms = 5000;
    world_do_one(world, STORE_FINISH, &lost);
    assert_true(lost.again.made);
    end_part(world, &tick, 2, RUN_OK);
    struct store_finish amended = {.run = tick.runs[1]};
    amended.run.state = RUN_OK;
    amended.run.started_ms = 4000;
    amended.run.finished_ms = 5100;
    world_do_one(world, STORE_FINISH, &amended);
    assert_int_equal(see_run(world, lost.again.id)->run.reason, REASON_NOT_NEEDED);
    assert_int_equal(amended.run.outcome, RUN_FAILED);
    assert_int_equal(see_job(world, job)->last.state, RUN_FAILED);
}

/* A part of the tick is as much a run of it as a single one. */
static void a_tick_is_not_made_beside_its_parts(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct tick tick;
    spread_claim(world, job, 2000, OVERLAP_SKIP, &tick);
    begin_all(world, &tick);
    end_part(world, &tick, 0, RUN_OK);
    forget_run(world, tick.parts[0].id);
    struct store_add_run add = an_add(world, job, 2000, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_false(add.added);
    assert_int_equal(id_compare(&add.open_run, &tick.parts[1].id), 0);
}

/* As many as a tick may have, in one transaction; and all of them called off in one. */
static void a_tick_has_many_parts(struct world *world)
{
    static struct store_part many[RUN_PARTS_MAX];
    struct id job = make_job(world, "sync");
    struct store_claim claim = a_claim(world, job, 2000, OVERLAP_SKIP);
    memset(many, 0, sizeof(many));
    for (size_t i = 0; i < RUN_PARTS_MAX; i++) {
        many[i].id = i ? world_id(world) : claim.run.id;
        snprintf(many[i].pinned, sizeof(many[i].pinned), "a-node-with-a-rather-long-name-%zu", i);
    }
    claim.parts = (struct store_parts){.parts = many, .count = RUN_PARTS_MAX};
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_SPREAD);
    assert_int_equal(count_runs(world, job, RUN_DUE), RUN_PARTS_MAX);
    struct store_put_job put = a_put(job, "sync", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(count_runs(world, job, RUN_SKIPPED), RUN_PARTS_MAX);
    size_t outcomes = 0;
    for (size_t i = 0; i < RUN_PARTS_MAX; i++)
        outcomes += run_ends_tick(&see_run(world, many[i].id)->run);
    assert_int_equal(outcomes, 1);
}

/* What was handed over for a run that is spread is there until its last part is forgotten. */
static void parts_share_an_input(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct store_add_run add = an_add(world, job, 7000, OVERLAP_ALLOW);
    struct tick tick;
    char name[ID_TEXT + 1];
    add.run.input = add.run.id;
    add.input = "{}";
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    id_format(&add.run.id, name);
    struct store_take take = {.run_id = add.run.id, .nonce = 4710, .now_ms = 900000};
    take.parts = some_parts(world, &tick, add.run.id);
    snprintf(take.node, sizeof(take.node), "node-1");
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    begin_all(world, &tick);
    for (size_t i = 0; i < PARTS; i++) {
        assert_memory_equal(&tick.runs[i].input, &add.run.id, sizeof(add.run.id));
        end_part(world, &tick, i, RUN_OK);
    }
    for (size_t i = 0; i < PARTS; i++) {
        assert_non_null(look_for_doc(world, INPUT_DOC, name));
        forget_run(world, tick.parts[i].id);
    }
    assert_null(look_for_doc(world, INPUT_DOC, name));
    world_reopen(world);
}

const struct contract_test part_tests[] = {
    CONTRACT_TEST(parts_share_an_input),
    CONTRACT_TEST(a_claim_makes_all_parts),
    CONTRACT_TEST(a_tick_blocks_until_its_last_part_has_ended),
    CONTRACT_TEST(the_last_part_has_the_outcome),
    CONTRACT_TEST(dependents_follow_the_outcome_once),
    CONTRACT_TEST(a_part_is_retried_by_itself),
    CONTRACT_TEST(parts_are_called_off),
    CONTRACT_TEST(a_newer_tick_replaces_all_parts),
    CONTRACT_TEST(a_run_that_waited_is_spread_when_it_is_taken),
    CONTRACT_TEST(an_amended_part_is_so_by_itself),
    CONTRACT_TEST(an_attempt_that_is_not_needed_leaves_what_it_knew),
    CONTRACT_TEST(a_tick_is_not_made_beside_its_parts),
    CONTRACT_TEST(a_tick_has_many_parts),
    {NULL, NULL},
};
