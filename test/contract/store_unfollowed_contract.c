/* Ticks whose last part is ended by the store, before its start: the tick is over, and followed as
 * soon as somebody tells of it, once. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

enum { PARTS = 3 };

static void make_parts(struct world *world, struct id job, int64_t tick_ms,
                       struct store_part parts[PARTS])
{
    struct store_claim claim = a_claim(world, job, tick_ms, OVERLAP_SKIP);
    memset(parts, 0, PARTS * sizeof(*parts));
    for (size_t i = 0; i < PARTS; i++)
        parts[i].id = i ? world_id(world) : claim.run.id;
    claim.parts = (struct store_parts){.parts = parts, .count = PARTS};
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_SPREAD);
}

static void end_part(struct world *world, const struct store_part *part, enum run_state state)
{
    struct store_take take = {
        .run_id = part->id, .nonce = 4711, .now_ms = 900000, .node = "node-1"};
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    assert_true(begin_run(world, &take.run).begun);
    struct store_finish end = end_run(world, &take.run, state, 5000);
    assert_false(run_ends_tick(&end.run));
}

static void call_off(struct world *world, struct id job, const struct run *last)
{
    struct store_order order = {.run_id = last->id, .reason = REASON_USER, .by = "ann"};
    (void)job;
    world_do_one(world, STORE_ORDER, &order);
    assert_true(order.known);
}

static void put_as(struct world *world, struct id job, bool deleted)
{
    struct store_put_job put = a_put(job, "sync", -1);
    put.deleted = deleted;
    put.paused = !deleted;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
}

static void delete_job(struct world *world, struct id job, const struct run *last)
{
    (void)last;
    put_as(world, job, true);
}

static void replace_tick(struct world *world, struct id job, const struct run *last)
{
    struct store_claim claim = a_claim(world, job, last->tick_ms + 1, OVERLAP_REPLACE);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
}

static void refuse_begin(struct world *world, struct id job, const struct run *last)
{
    struct store_take take = {
        .run_id = last->id, .nonce = 4720, .now_ms = 900000, .node = "node-1"};
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    put_as(world, job, false);
    assert_false(begin_run(world, &take.run).begun);
}

static void fill_nexts(struct world *world, const struct id jobs[2], struct store_next nexts[2])
{
    for (size_t n = 0; n < 2; n++)
        nexts[n] = (struct store_next){.job_uid = jobs[n],
                                       .states = n ? 1 << RUN_FAILED : 1 << RUN_OK,
                                       .run = an_add(world, jobs[n], 0, OVERLAP_ALLOW).run,
                                       .overlap = OVERLAP_ALLOW,
                                       .skip_entry_id = world_id(world)};
}

/* Part 0 has failed, part 1 is ok, and part 2 ends so: the tick has failed, which is followed
 * once. */
static void called_off_as(struct world *world,
                          void (*call_it_off)(struct world *world, struct id job,
                                              const struct run *last))
{
    struct id job = make_job(world, "sync");
    struct id others[2] = {make_job(world, "report"), make_job(world, "repair")};
    struct store_next nexts[2];
    struct store_part parts[PARTS];
    make_parts(world, job, 2000, parts);
    end_part(world, &parts[0], RUN_FAILED);
    end_part(world, &parts[1], RUN_OK);
    call_it_off(world, job, &see_run(world, parts[2].id)->run);
    struct run last = see_run(world, parts[2].id)->run;
    assert_int_equal(last.state, RUN_SKIPPED);
    assert_int_equal(last.outcome, RUN_FAILED);
    assert_true(run_is_unfollowed(&last));
    assert_true(id_is_zero(&see_job(world, job)->last.run_id));

    struct store_finish finish = {.run = last, .nexts = nexts, .next_count = 2};
    fill_nexts(world, others, nexts);
    world_do_one(world, STORE_FINISH, &finish); /* it does not say when */
    assert_true(finish.accepted);
    assert_true(run_is_unfollowed(&see_run(world, last.id)->run));
    finish.run.finished_ms = 6000;
    nexts[1].run.job_revision++;
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.is_stale);
    assert_true(run_is_unfollowed(&see_run(world, last.id)->run));
    for (int times = 0; times < 2; times++) {
        fill_nexts(world, others, nexts);
        finish.run = last;
        finish.run.finished_ms = 6000 + times;
        snprintf(finish.run.detail, sizeof(finish.run.detail), "something else");
        world_do_one(world, STORE_FINISH, &finish);
        assert_true(finish.accepted);
        assert_false(nexts[0].made);
        assert_int_equal(nexts[1].made, !times);
        assert_int_equal(finish.run.finished_ms, 6000);
        assert_string_equal(finish.run.detail, last.detail);
        assert_int_equal(finish.run.reason, last.reason);
    }
    assert_int_equal(count_runs(world, others[1], RUN_DUE), 1);
    assert_int_equal(see_run(world, last.id)->run.finished_ms, 6000);
    assert_int_equal(id_compare(&see_job(world, job)->last.run_id, &last.id), 0);
    assert_int_equal(see_job(world, job)->last.state, RUN_FAILED);
    assert_int_equal(see_job(world, job)->last.ended_ms, 6000);
    world_reopen(world);
}

static void the_last_part_is_killed_before_its_start(struct world *world)
{
    called_off_as(world, call_off);
}

static void the_last_part_goes_with_its_job(struct world *world)
{
    called_off_as(world, delete_job);
}

static void the_last_part_is_replaced(struct world *world)
{
    called_off_as(world, replace_tick);
}

static void the_last_part_is_refused(struct world *world)
{
    called_off_as(world, refuse_begin);
}

/* A run that is the only one of its tick, or not the last, is followed by nothing. */
static void only_the_end_of_a_tick_is_followed(struct world *world)
{
    struct id job = make_job(world, "sync");
    struct store_part parts[PARTS];
    make_parts(world, job, 2000, parts);
    call_off(world, job, &see_run(world, parts[0].id)->run);
    struct store_add_run add = an_add(world, job, 3000, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    call_off(world, job, &add.run);
    struct id ids[2] = {parts[0].id, add.run.id};
    for (size_t i = 0; i < 2; i++) {
        struct run run = see_run(world, ids[i])->run;
        assert_int_equal(run.state, RUN_SKIPPED);
        assert_false(run_is_unfollowed(&run));
        struct store_finish finish = {.run = run};
        finish.run.finished_ms = 6000;
        world_do_one(world, STORE_FINISH, &finish);
        assert_true(finish.accepted);
        assert_int_equal(finish.run.finished_ms, 0);
    }
    assert_true(id_is_zero(&see_job(world, job)->last.run_id));
    for (size_t i = 1; i < PARTS;
         i++) { /* what an open part knows of others, the feed leaves out */
        call_off(world, job, &see_run(world, parts[i].id)->run);
        assert_int_equal(run_is_unfollowed(&see_run(world, parts[i].id)->run), i == PARTS - 1);
    }
}

const struct contract_test unfollowed_tests[] = {
    CONTRACT_TEST(the_last_part_is_killed_before_its_start),
    CONTRACT_TEST(the_last_part_goes_with_its_job),
    CONTRACT_TEST(the_last_part_is_replaced),
    CONTRACT_TEST(the_last_part_is_refused),
    CONTRACT_TEST(only_the_end_of_a_tick_is_followed),
    {NULL, NULL},
};
