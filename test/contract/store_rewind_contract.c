/* STORE_REWIND: the clock was set back, and what becomes of ticks that come again. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

static struct store_rewind a_rewind(struct world *world, struct id job, int64_t to_ms)
{
    const struct seen_job *seen = see_job(world, job);
    struct store_rewind rewind = {.job_uid = job,
                                  .cursor_ms = seen->cursor_ms,
                                  .rewinds = seen->rewinds.count,
                                  .to_ms = to_ms,
                                  .entry = {.id = world_id(world),
                                            .job_uid = job,
                                            .from_ms = to_ms,
                                            .to_ms = seen->cursor_ms,
                                            .state = RUN_SKIPPED,
                                            .reason = REASON_CLOCK,
                                            .recorded_ms = to_ms,
                                            .detail = "set back"}};
    snprintf(rewind.entry.job_name, sizeof(rewind.entry.job_name), "%s", seen->name);
    return rewind;
}

static bool set_back(struct world *world, struct id job, int64_t to_ms)
{
    struct store_rewind rewind = a_rewind(world, job, to_ms);
    world_do_one(world, STORE_REWIND, &rewind);
    return rewind.done;
}

/* Ticks up to tick_ms are passed over, as missed. */
static void pass_over(struct world *world, struct id job, int64_t from_ms, int64_t tick_ms,
                      enum run_reason reason)
{
    struct store_claim claim = a_claim(world, job, tick_ms, OVERLAP_ALLOW);
    struct ledger_entry passed = {.id = world_id(world),
                                  .job_uid = job,
                                  .job_name = "backup",
                                  .from_ms = from_ms,
                                  .to_ms = tick_ms,
                                  .count = 1,
                                  .state = RUN_MISSED,
                                  .reason = reason};
    claim.without_run = true;
    claim.passed = &passed;
    claim.passed_count = 1;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_PASSED);
}

static void check_gaps(struct world *world, struct id job, const char *want)
{
    char gaps[REWIND_GAPS_TEXT];
    rewinds_write_gaps(&see_job(world, job)->rewinds, gaps);
    assert_string_equal(gaps, want);
}

static void a_cursor_moves_back_with_a_note(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 60000);
    end_run(world, &run, RUN_OK, 61000);
    world_mark(world);
    assert_true(set_back(world, job, 5000));
    const struct seen_job *seen = see_job(world, job);
    assert_int_equal(seen->cursor_ms, 5000);
    assert_int_equal(seen->rewinds.count, 1);
    assert_int_equal(seen->rewinds.high_ms, 60000);
    assert_int_equal(seen->last.ended_ms, 5000);
    assert_int_equal(seen->last.state, RUN_OK);
    assert_int_equal(world->picture.changes[STORE_CHANGE_CURSOR], 1);
    assert_int_equal(world->picture.entry_count, 1);
    assert_int_equal(world->picture.entries[0].reason, REASON_CLOCK);
    assert_int_equal(world->picture.entries[0].to_ms, 60000);
    assert_string_equal(world->picture.entries[0].detail, "set back");
    assert_true(set_back(world, job, 3000)); /* further: the highest stays known */
    assert_int_equal(see_job(world, job)->rewinds.high_ms, 60000);
    assert_int_equal(see_job(world, job)->rewinds.count, 2);
}

static void a_rewind_compares_what_was_seen(struct world *world)
{
    struct id job = make_job(world, "backup");
    claim_run(world, job, 60000);
    struct store_rewind rewind = a_rewind(world, job, 60000); /* not ahead */
    world_mark(world);
    world_do_one(world, STORE_REWIND, &rewind);
    assert_false(rewind.done);
    rewind = a_rewind(world, job, 5000);
    rewind.cursor_ms--;
    world_do_one(world, STORE_REWIND, &rewind);
    assert_false(rewind.done);
    rewind = a_rewind(world, job, 5000);
    rewind.rewinds++;
    world_do_one(world, STORE_REWIND, &rewind);
    assert_false(rewind.done);
    rewind = a_rewind(world, job, 5000);
    rewind.job_uid = world_id(world);
    world_do_one(world, STORE_REWIND, &rewind);
    assert_false(rewind.done);
    assert_int_equal(world->picture.changes[STORE_CHANGE_CURSOR], 0);
    assert_int_equal(world->picture.entry_count, 0);
    rewind = a_rewind(world, job, 5000);
    world_do_one(world, STORE_REWIND, &rewind);
    assert_true(rewind.done);
    world_do_one(world, STORE_REWIND, &rewind); /* a repeat */
    assert_false(rewind.done);
}

/* A plan from before the rewind whose cursor happens to be the same one. */
static void a_claim_from_before_a_rewind_is_stale(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim old = a_claim(world, job, 2000, OVERLAP_ALLOW);
    claim_run(world, job, 60000);
    assert_true(set_back(world, job, CURSOR_MS));
    assert_int_equal(old.cursor_ms, see_job(world, job)->cursor_ms);
    world_do_one(world, STORE_CLAIM, &old);
    assert_int_equal(old.result, CLAIM_STALE);
    struct store_claim claim = a_claim(world, job, 2000, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
}

/* The last run ended by a clock that was ahead; the cursor is not. */
static void only_the_last_end_is_ahead(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 2000);
    end_run(world, &run, RUN_OK, 90000);
    assert_true(set_back(world, job, 5000));
    assert_int_equal(see_job(world, job)->cursor_ms, 2000);
    assert_int_equal(see_job(world, job)->rewinds.count, 0);
    assert_int_equal(see_job(world, job)->last.ended_ms, 5000);
    assert_int_equal(see_job(world, job)->last.succeeded_ms, 5000);
    assert_int_equal(world->picture.entry_count, 0);
}

static void what_did_not_start_is_known(struct world *world)
{
    struct id job = make_job(world, "backup");
    check_gaps(world, job, "1-1000"); /* when it was made */
    claim_run(world, job, 2000);
    check_gaps(world, job, "1-1000"); /* started */
    pass_over(world, job, 3000, 5000, REASON_CATCH_UP);
    check_gaps(world, job, "1-1000,2001-5000");
    pass_over(world, job, 6000, 8000, REASON_PAUSED);
    check_gaps(world, job, "1-1000,2001-8000");
    struct store_claim claim = a_claim(world, job, 9000, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &claim); /* the run of 2000 is open */
    assert_int_equal(claim.result, CLAIM_SKIPPED);
    check_gaps(world, job, "1-1000,2001-9000");
    pass_over(world, job, 10000, 12000, REASON_RESTORED); /* may have run */
    check_gaps(world, job, "1-1000,2001-9000");
    struct store_put_job put = a_put(job, "backup", 1);
    put.cursor_ms = 20000;
    world_do_one(world, STORE_PUT_JOB, &put);
    check_gaps(world, job, "1-1000,2001-9000,12001-20000");
    struct store_add_run add = an_add(world, job, 4000, OVERLAP_ALLOW);
    add.run.cause = CAUSE_BACKFILL;
    world_do_one(world, STORE_ADD_RUN, &add);
    check_gaps(world, job, "1-1000,2001-3999,4001-9000,12001-20000");
    struct store_put_job moved = a_put(world_id(world), "moved", 0);
    moved.cursor_ms = 5000;
    moved.from_elsewhere = true;
    world_do_one(world, STORE_PUT_JOB, &moved);
    check_gaps(world, moved.uid, "");
}

static void what_comes_again_is_decided_again(struct world *world)
{
    struct id job = make_job(world, "backup");
    claim_run(world, job, 2000);
    pass_over(world, job, 3000, 5000, REASON_CATCH_UP);
    claim_run(world, job, 6000);
    pass_over(world, job, 7000, 9000, REASON_CATCH_UP);
    claim_run(world, job, 10000);
    assert_true(set_back(world, job, 1500));
    claim_run(world, job, 4000);
    check_gaps(world, job, "1-1000,4001-5000,6001-9000");
    pass_over(world, job, 5000, 8000, REASON_CATCH_UP); /* 6000 has started */
    check_gaps(world, job, "1-1000,4001-5000,6001-9000");
    assert_int_equal(see_job(world, job)->rewinds.high_ms, 10000);
    claim_run(world, job, 11000);
    check_gaps(world, job, "1-1000,4001-5000,6001-8000");
    assert_int_equal(see_job(world, job)->rewinds.high_ms, 0);
}

/* Its instant was one of the job's before. The tick that it gets instead leaves those free which a
 * rhythm has when it comes by there: see RUN_NAMES_MS. */
static void what_follows_has_a_name_of_its_own(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "report");
    claim_run(world, two, 60000);
    assert_true(set_back(world, two, 30000));
    struct store_finish finish = {.run = claim_run(world, one, 2000)};
    begin_run(world, &finish.run);
    finish.run.state = RUN_OK;
    finish.run.finished_ms = 31000;
    struct store_next next = {.job_uid = two,
                              .states = 1 << RUN_OK,
                              .run = an_add(world, two, 0, OVERLAP_ALLOW).run,
                              .overlap = OVERLAP_ALLOW,
                              .queue_limit = 1,
                              .skip_entry_id = world_id(world)};
    next.run.cause = CAUSE_AFTER;
    finish.nexts = &next;
    finish.next_count = 1;
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(next.made);
    assert_int_equal(next.run.tick_ms, 60000 + RUN_NAMES_MS);
    assert_int_equal(see_job(world, two)->cursor_ms, 31000);
    assert_int_equal(see_job(world, two)->rewinds.high_ms, 60000 + RUN_NAMES_MS);
}

const struct contract_test rewind_tests[] = {
    CONTRACT_TEST(a_cursor_moves_back_with_a_note),
    CONTRACT_TEST(a_rewind_compares_what_was_seen),
    CONTRACT_TEST(a_claim_from_before_a_rewind_is_stale),
    CONTRACT_TEST(only_the_last_end_is_ahead),
    CONTRACT_TEST(what_did_not_start_is_known),
    CONTRACT_TEST(what_comes_again_is_decided_again),
    CONTRACT_TEST(what_follows_has_a_name_of_its_own),
    {NULL, NULL},
};
