/* STORE_CLAIM, and the overlap rule in all its cases. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

static void claim_moves_the_cursor_and_makes_the_run(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_SKIP);
    claim.run.not_before_ms = 5100;
    claim.run.cause = CAUSE_CATCH_UP;
    snprintf(claim.run.detail, sizeof(claim.run.detail), "a detail");
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    assert_int_equal(claim.run.state, RUN_CLAIMED);
    assert_int_equal(see_job(world, job)->cursor_ms, 5000);
    assert_int_equal(see_job(world, job)->revision, 1);

    struct run run = see_run(world, claim.run.id)->run;
    assert_int_equal(run.state, RUN_CLAIMED);
    assert_int_equal(run.tick_ms, 5000);
    assert_int_equal(run.attempt, 1);
    assert_int_equal(run.cause, CAUSE_CATCH_UP);
    assert_true(run.nonce == claim.run.nonce);
    assert_string_equal(run.node, "node-1");
    assert_string_equal(run.job_name, "backup");
    assert_string_equal(run.detail, "a detail");
    assert_int_equal(run.not_before_ms, 5100);
    assert_int_equal(run.claimed_ms, 5003);
    assert_int_equal(run.fence, 0);
}

/* Its answer was lost. */
static void a_repeated_claim_is_answered_as_the_first(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim first = a_claim(world, job, 5000, OVERLAP_QUEUE);
    first.queue_limit = 5;
    struct store_claim again = first, after = first;
    world_do_one(world, STORE_CLAIM, &first);
    world_do_one(world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_WON);
    assert_int_equal(again.run.state, RUN_CLAIMED);
    after.run.nonce++; /* another's, or taken over since */
    world_do_one(world, STORE_CLAIM, &after);
    assert_int_equal(after.result, CLAIM_STALE);

    struct store_claim queued = a_claim(world, job, 6000, OVERLAP_QUEUE);
    queued.queue_limit = 5;
    struct store_claim queued_again = queued;
    world_do_one(world, STORE_CLAIM, &queued);
    assert_int_equal(queued.result, CLAIM_QUEUED);
    world_do_one(world, STORE_CLAIM, &queued_again);
    assert_int_equal(queued_again.result, CLAIM_QUEUED);

    begin_run(world, &first.run);
    after = first;
    after.cursor_ms = CURSOR_MS;
    world_do_one(world, STORE_CLAIM, &after);
    assert_int_equal(after.result, CLAIM_STALE);
}

static void claim_compares_revision_and_cursor(struct world *world)
{
    struct id job = make_job(world, "backup"), none = world_id(world);
    struct store_put_job put = a_put(job, "backup", 1);
    world_do_one(world, STORE_PUT_JOB, &put);
    claim_run(world, job, 5000); /* now revision 2, cursor 5000 */
    static const struct {
        int line;
        int64_t revision, cursor_ms, tick_ms;
        enum claim_result want;
    } cases[] = {
        {__LINE__, 1, 5000, 6000, CLAIM_STALE}, /* the plan was made from another definition */
        {__LINE__, 3, 5000, 6000, CLAIM_STALE},
        {__LINE__, 2, 4999, 6000, CLAIM_STALE},
        {__LINE__, 2, CURSOR_MS, 6000, CLAIM_STALE}, /* somebody else was there */
        {__LINE__, 2, 5001, 6000, CLAIM_STALE},
        {__LINE__, 2, 5000, 5000, CLAIM_STALE}, /* a cursor only grows */
        {__LINE__, 2, 5000, 4000, CLAIM_STALE},
        {__LINE__, 2, 5000, 5001, CLAIM_WON},
        {__LINE__, 2, 5000, 6000, CLAIM_STALE}, /* the one before has moved it */
        {__LINE__, 2, 5001, 6000, CLAIM_WON},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_claim claim = a_claim(world, job, cases[i].tick_ms, OVERLAP_ALLOW);
        struct ledger_entry passed = {.id = world_id(world), .job_uid = job, .count = 1};
        int64_t cursor_ms = see_job(world, job)->cursor_ms;
        size_t entries = world->picture.entry_count;
        claim.job_revision = cases[i].revision;
        claim.cursor_ms = cases[i].cursor_ms;
        claim.passed = &passed;
        claim.passed_count = 1;
        world_mark(world);
        world_do_one(world, STORE_CLAIM, &claim);
        bool stale = cases[i].want == CLAIM_STALE;
        if (claim.result != cases[i].want || !look_for_run(world, claim.run.id) != stale)
            fail_msg("line %d: result %d", cases[i].line, (int)claim.result);
        if (see_job(world, job)->cursor_ms != (stale ? cursor_ms : cases[i].tick_ms) ||
            world->picture.entry_count != entries + !stale)
            fail_msg("line %d: cursor or entries", cases[i].line);
        if (stale && world->picture.changes[STORE_CHANGE_CURSOR])
            fail_msg("line %d: something changed", cases[i].line);
    }
    struct store_claim claim = a_claim(world, job, 9000, OVERLAP_ALLOW);
    claim.job_uid = claim.run.job_uid = none;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
}

static void claim_of_a_deleted_job_is_stale(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_put_job put = a_put(job, "backup", 1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    assert_int_equal(claim.job_revision, 2);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
}

static void passed_ticks_are_written_with_the_put(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_SKIP);
    claim.without_run = true;
    struct store_put_job put = a_put(job, "backup", 1);
    struct ledger_entry passed = {.id = world_id(world),
                                  .job_uid = job,
                                  .job_name = "backup",
                                  .from_ms = 6000,
                                  .to_ms = 8000,
                                  .count = 3,
                                  .state = RUN_SKIPPED,
                                  .reason = REASON_EDITED,
                                  .recorded_ms = 9000};
    put.cursor_ms = 9000;
    put.seen_cursor_ms = see_job(world, job)->cursor_ms;
    put.passed = &passed;
    put.passed_count = 1;
    world_do_one(world, STORE_CLAIM, &claim);
    world_do_one(world, STORE_PUT_JOB, &put); /* counted from a cursor that has moved */
    assert_int_equal(put.result, PUT_CONFLICT);
    assert_int_equal(put.revision, put.expected_revision);
    assert_int_equal(see_job(world, job)->cursor_ms, 5000);
    assert_int_equal(world->picture.entry_count, 0);

    put.seen_cursor_ms = 5000;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
    assert_int_equal(see_job(world, job)->cursor_ms, 9000);
    assert_int_equal(world->picture.entry_count, 1);
    const struct ledger_entry *entry = &world->picture.entries[0];
    assert_int_equal(id_compare(&entry->id, &passed.id), 0);
    assert_int_equal(entry->from_ms, 6000);
    assert_int_equal(entry->to_ms, 8000);
    assert_int_equal(entry->count, 3);
    assert_int_equal(entry->reason, REASON_EDITED);
}

static void passed_ticks_are_written_with_the_claim(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 9000, OVERLAP_SKIP);
    struct ledger_entry passed[2] = {
        {.id = world_id(world),
         .job_uid = job,
         .job_name = "backup",
         .from_ms = 2000,
         .to_ms = 7000,
         .count = 6,
         .state = RUN_MISSED,
         .reason = REASON_CATCH_UP,
         .detail = "nobody was there",
         .recorded_ms = 9003},
        {.id = world_id(world),
         .job_uid = job,
         .job_name = "backup",
         .from_ms = 8000,
         .to_ms = 8000,
         .count = 1,
         .state = RUN_SKIPPED,
         .reason = REASON_SKIP_NEXT,
         .recorded_ms = 9003},
    };
    claim.without_run = true;
    claim.passed = passed;
    claim.passed_count = 2;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_PASSED);
    assert_int_equal(see_job(world, job)->cursor_ms, 9000);
    assert_int_equal(world->picture.run_count, 0);
    assert_int_equal(world->picture.entry_count, 2);
    const struct ledger_entry *entry = &world->picture.entries[0];
    assert_int_equal(id_compare(&entry->id, &passed[0].id), 0);
    assert_int_equal(entry->from_ms, 2000);
    assert_int_equal(entry->to_ms, 7000);
    assert_int_equal(entry->count, 6);
    assert_int_equal(entry->state, RUN_MISSED);
    assert_int_equal(entry->reason, REASON_CATCH_UP);
    assert_string_equal(entry->detail, "nobody was there");
    assert_int_equal(world->picture.entries[1].reason, REASON_SKIP_NEXT);

    forget_entry(world, passed[0].id);
    forget_entry(world, passed[0].id); /* gone already */
    assert_int_equal(world->picture.entry_count, 1);
}

static void a_tick_that_was_added_before_is_not_made_again(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_add_run add = an_add(world, job, 5000, OVERLAP_ALLOW);
    add.run.cause = CAUSE_BACKFILL;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_PASSED);
    assert_int_equal(see_job(world, job)->cursor_ms, 5000);
    assert_null(look_for_run(world, claim.run.id));
}

/* Gives the job runs in these states: C claimed, B begun, D due, Q queued, E ended. */
static void make_runs(struct world *world, struct id job, const char *states)
{
    for (int64_t tick_ms = 2000; *states; states++, tick_ms++) {
        struct store_add_run add = an_add(world, job, tick_ms, OVERLAP_ALLOW);
        if (*states == 'D' || *states == 'Q') {
            add.overlap = *states == 'D' ? OVERLAP_ALLOW : OVERLAP_QUEUE;
            world_do_one(world, STORE_ADD_RUN, &add);
            assert_true(add.added);
            assert_int_equal(add.run.state, *states == 'D' ? RUN_DUE : RUN_QUEUED);
            continue;
        }
        struct run run = claim_run(world, job, tick_ms);
        if (*states == 'B')
            assert_true(begin_run(world, &run).begun);
        if (*states == 'E')
            assert_true(end_run(world, &run, RUN_OK, tick_ms + 1).accepted);
    }
}

static const struct {
    int line;
    enum overlap_policy overlap;
    int queue_limit;
    const char *open;
    enum claim_result want;
    enum run_reason reason; /* of the entry, when it is skipped */
    size_t replaced, kills;
} overlaps[] = {
    {__LINE__, OVERLAP_ALLOW, 0, "", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_ALLOW, 0, "B", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_ALLOW, 0, "CBDQ", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "EE", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "C", CLAIM_SKIPPED, REASON_OVERLAP, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "B", CLAIM_SKIPPED, REASON_OVERLAP, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "D", CLAIM_SKIPPED, REASON_OVERLAP, 0, 0},
    {__LINE__, OVERLAP_SKIP, 0, "EBQ", CLAIM_SKIPPED, REASON_OVERLAP, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "E", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "C", CLAIM_QUEUED, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "D", CLAIM_QUEUED, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "BB", CLAIM_QUEUED, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 1, "BQ", CLAIM_SKIPPED, REASON_QUEUE_FULL, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 2, "BQ", CLAIM_QUEUED, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 2, "BQQ", CLAIM_SKIPPED, REASON_QUEUE_FULL, 0, 0},
    {__LINE__, OVERLAP_QUEUE, 0, "B", CLAIM_SKIPPED, REASON_QUEUE_FULL, 0, 0},
    {__LINE__, OVERLAP_REPLACE, 0, "", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_REPLACE, 0, "E", CLAIM_WON, REASON_NONE, 0, 0},
    {__LINE__, OVERLAP_REPLACE, 0, "B", CLAIM_QUEUED, REASON_NONE, 0, 1},
    {__LINE__, OVERLAP_REPLACE, 0, "C", CLAIM_QUEUED, REASON_NONE, 0, 1},
    {__LINE__, OVERLAP_REPLACE, 0, "CB", CLAIM_QUEUED, REASON_NONE, 0, 2},
    {__LINE__, OVERLAP_REPLACE, 0, "BQ", CLAIM_QUEUED, REASON_NONE, 1, 1},
    {__LINE__, OVERLAP_REPLACE, 0, "BDQQ", CLAIM_QUEUED, REASON_NONE, 3, 1},
    {__LINE__, OVERLAP_REPLACE, 0, "D", CLAIM_WON, REASON_NONE, 1, 0}, /* nobody to wait for */
};

static void check_others(struct world *world, size_t i, struct id job)
{
    size_t replaced = 0;
    for (size_t r = 0; r < world->picture.run_count; r++) {
        const struct run *run = &world->picture.runs[r].run;
        if (id_compare(&run->job_uid, &job) == 0 && run->state == RUN_SKIPPED) {
            assert_int_equal(run->reason, REASON_REPLACED);
            assert_int_equal(run->finished_ms, 0);
            replaced++;
        }
    }
    if (replaced != overlaps[i].replaced ||
        world->picture.changes[STORE_CHANGE_KILL] != overlaps[i].kills)
        fail_msg("line %d: %zu replaced, %zu kills", overlaps[i].line, replaced,
                 world->picture.changes[STORE_CHANGE_KILL]);
}

static void claim_keeps_the_overlap_rule(struct world *world)
{
    for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        make_runs(world, job, overlaps[i].open);
        struct store_claim claim = a_claim(world, job, 9000, overlaps[i].overlap);
        claim.queue_limit = overlaps[i].queue_limit;
        world_mark(world);
        world_do_one(world, STORE_CLAIM, &claim);
        if (claim.result != overlaps[i].want)
            fail_msg("line %d: result %d", overlaps[i].line, (int)claim.result);
        check_others(world, i, job);
        assert_int_equal(see_job(world, job)->cursor_ms, 9000); /* whatever came of it */
        struct seen_run *seen = look_for_run(world, claim.run.id);
        if (claim.result == CLAIM_SKIPPED) {
            assert_null(seen);
            struct ledger_entry *entry = &world->picture.entries[world->picture.entry_count - 1];
            assert_int_equal(id_compare(&entry->id, &claim.skip_entry_id), 0);
            if (entry->reason != overlaps[i].reason || entry->state != RUN_SKIPPED)
                fail_msg("line %d: reason %d", overlaps[i].line, (int)entry->reason);
            assert_int_equal(entry->from_ms, 9000);
            assert_int_equal(entry->to_ms, 9000);
            assert_int_equal(entry->count, 1);
            assert_int_equal(entry->recorded_ms, 9003);
            assert_string_equal(entry->job_name, name);
            continue;
        }
        assert_int_equal(world->picture.changes[STORE_CHANGE_ENTRY], 0);
        assert_int_equal(seen->run.state, claim.run.state);
        assert_int_equal(seen->run.state,
                         overlaps[i].want == CLAIM_QUEUED ? RUN_QUEUED : RUN_CLAIMED);
        if (claim.result == CLAIM_QUEUED) { /* nobody's yet */
            assert_string_equal(seen->run.node, "");
            assert_true(seen->run.nonce == 0);
            assert_int_equal(seen->run.claimed_ms, 0);
        }
    }
}

static void add_keeps_the_overlap_rule(struct world *world)
{
    for (size_t i = 0; i < sizeof(overlaps) / sizeof(overlaps[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        make_runs(world, job, overlaps[i].open);
        struct store_add_run add = an_add(world, job, 9000, overlaps[i].overlap);
        int64_t cursor_ms = see_job(world, job)->cursor_ms;
        add.queue_limit = overlaps[i].queue_limit;
        world_mark(world);
        world_do_one(world, STORE_ADD_RUN, &add);
        if (add.added != (overlaps[i].want != CLAIM_SKIPPED))
            fail_msg("line %d: added %d", overlaps[i].line, add.added);
        check_others(world, i, job);
        assert_int_equal(see_job(world, job)->cursor_ms, cursor_ms);
        assert_int_equal(world->picture.changes[STORE_CHANGE_ENTRY], 0);
        if (!add.added) {
            assert_null(look_for_run(world, add.run.id));
            assert_true(see_run(world, add.open_run)->run.state < RUN_OK);
            continue;
        }
        struct seen_run *seen = see_run(world, add.run.id);
        enum run_state want = overlaps[i].want == CLAIM_QUEUED ? RUN_QUEUED : RUN_DUE;
        if (seen->run.state != want || add.run.state != want)
            fail_msg("line %d: state %d", overlaps[i].line, (int)seen->run.state);
        assert_string_equal(seen->run.by, "anna");
    }
}

static void each_claim_of_a_batch_is_for_itself(struct world *world)
{
    enum { COUNT = 200 };
    struct store_claim claims[COUNT];
    struct id jobs[COUNT];
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    for (int i = 0; i < COUNT; i++) {
        claims[i] = a_claim(world, jobs[i], 5000, OVERLAP_SKIP);
        if (i % 3 == 1)
            claims[i].cursor_ms++;
        claims[i].without_run = i % 3 == 2;
    }
    assert_int_equal(world_do(world, STORE_CLAIM, claims, COUNT), OK);
    for (int i = 0; i < COUNT; i++) {
        const enum claim_result want[] = {CLAIM_WON, CLAIM_STALE, CLAIM_PASSED};
        assert_int_equal(claims[i].result, want[i % 3]);
        assert_int_equal(see_job(world, jobs[i])->cursor_ms, i % 3 == 1 ? CURSOR_MS : 5000);
    }
    assert_int_equal(world->picture.run_count, (COUNT + 2) / 3);
}

/* Whoever has not heard of the last ends of other jobs plans again. */
static void a_condition_is_looked_at_with_the_claim(struct world *world)
{
    enum { OK_BIT = 1 << RUN_OK, BAD = 1 << RUN_FAILED, ANY = OK_BIT | BAD };
    struct id job = make_job(world, "report"), load = make_job(world, "load"),
              never = make_job(world, "never"), gone = make_job(world, "gone"), none = {{0}};
    struct run run = claim_run(world, load, 2000);
    begin_run(world, &run);
    end_run(world, &run, RUN_OK, 3000);
    run = claim_run(world, load, 4000);
    begin_run(world, &run);
    end_run(world, &run, RUN_FAILED, 5000);
    struct store_put_job put = a_put(gone, "gone", 1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    const struct {
        int line;
        struct store_condition conditions[2];
        size_t count;
        bool expects_unmet;
        enum claim_result want;
    } cases[] = {
        {__LINE__, {{load, OK_BIT, 3000}}, 1, false, CLAIM_WON}, /* a success before a failure */
        {__LINE__, {{load, OK_BIT, 3001}}, 1, false, CLAIM_STALE},
        {__LINE__, {{load, OK_BIT, 3001}}, 1, true, CLAIM_PASSED},
        {__LINE__, {{load, OK_BIT, 3000}}, 1, true, CLAIM_STALE},
        {__LINE__, {{load, BAD, 5000}}, 1, false, CLAIM_WON},
        {__LINE__, {{load, BAD, 5001}}, 1, false, CLAIM_STALE},
        {__LINE__, {{load, ANY, 5000}}, 1, false, CLAIM_WON},
        {__LINE__, {{never, ANY, 1}}, 1, false, CLAIM_STALE},
        {__LINE__, {{none, ANY, 1}}, 1, false, CLAIM_STALE},
        {__LINE__, {{none, ANY, 1}}, 1, true, CLAIM_PASSED},
        {__LINE__, {{gone, ANY, 1}}, 1, false, CLAIM_STALE},
        {__LINE__, {{load, OK_BIT, 3000}, {never, OK_BIT, 1}}, 2, false, CLAIM_STALE},
        {__LINE__, {{load, OK_BIT, 3000}, {never, OK_BIT, 1}}, 2, true, CLAIM_PASSED},
        {__LINE__, {{load, OK_BIT, 3000}, {load, BAD, 1}}, 2, false, CLAIM_WON},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t cursor_ms = see_job(world, job)->cursor_ms, tick_ms = 6000 + (int64_t)i * 1000;
        struct store_claim claim = a_claim(world, job, tick_ms, OVERLAP_ALLOW);
        struct store_condition conditions[2];
        memcpy(conditions, cases[i].conditions, sizeof(conditions));
        claim.conditions = conditions;
        claim.condition_count = cases[i].count;
        claim.expects_unmet = claim.without_run = cases[i].expects_unmet;
        world_do_one(world, STORE_CLAIM, &claim);
        bool stale = cases[i].want == CLAIM_STALE;
        if (claim.result != cases[i].want)
            fail_msg("line %d: result %d", cases[i].line, (int)claim.result);
        if (see_job(world, job)->cursor_ms != (stale ? cursor_ms : tick_ms) ||
            !look_for_run(world, claim.run.id) != (cases[i].want != CLAIM_WON))
            fail_msg("line %d: cursor or run", cases[i].line);
    }
}

/* A tick of several runs is one. */
static void allow_has_a_maximum(struct world *world)
{
    struct id job = make_job(world, "job");
    struct store_part parts[2] = {{.id = world_id(world)}, {.id = world_id(world)}};
    struct store_claim claims[4];
    for (int i = 0; i < 4; i++) {
        claims[i] = a_claim(world, job, 2000 + i, OVERLAP_ALLOW);
        claims[i].cursor_ms = i ? 1999 + i : CURSOR_MS;
        claims[i].at_once = 2;
        if (i == 0) {
            claims[i].run.id = parts[0].id;
            claims[i].parts = (struct store_parts){.parts = parts, .count = 2};
        }
        world_do_one(world, STORE_CLAIM, &claims[i]);
    }
    assert_int_equal(claims[0].result, CLAIM_SPREAD);
    assert_int_equal(claims[1].result, CLAIM_WON);
    assert_int_equal(claims[2].result, CLAIM_SKIPPED);
    struct store_add_run add = an_add(world, job, 5000, OVERLAP_ALLOW);
    add.at_once = 2;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_false(add.added);
    assert_false(id_is_zero(&add.open_run));
    end_run(world, &claims[1].run, RUN_OK, 5000);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
}

const struct contract_test claim_tests[] = {
    CONTRACT_TEST(claim_moves_the_cursor_and_makes_the_run),
    CONTRACT_TEST(a_repeated_claim_is_answered_as_the_first),
    CONTRACT_TEST(claim_compares_revision_and_cursor),
    CONTRACT_TEST(claim_of_a_deleted_job_is_stale),
    CONTRACT_TEST(passed_ticks_are_written_with_the_claim),
    CONTRACT_TEST(passed_ticks_are_written_with_the_put),
    CONTRACT_TEST(a_tick_that_was_added_before_is_not_made_again),
    CONTRACT_TEST(claim_keeps_the_overlap_rule),
    CONTRACT_TEST(add_keeps_the_overlap_rule),
    CONTRACT_TEST(allow_has_a_maximum),
    CONTRACT_TEST(each_claim_of_a_batch_is_for_itself),
    CONTRACT_TEST(a_condition_is_looked_at_with_the_claim),
    {NULL, NULL},
};
