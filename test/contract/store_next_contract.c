/* STORE_FINISH with nexts: the end of a run makes other jobs due. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_world.h"

enum { WELL = 1 << RUN_OK, BADLY = 1 << RUN_FAILED | 1 << RUN_TIMED_OUT | 1 << RUN_LOST };
enum { ANYHOW = WELL | BADLY | 1 << RUN_KILLED };

static struct store_next a_next(struct world *world, struct id job, unsigned states,
                                enum overlap_policy overlap)
{
    struct store_add_run add = an_add(world, job, 0, overlap);
    struct store_next next = {.job_uid = job,
                              .states = states,
                              .run = add.run,
                              .overlap = overlap,
                              .queue_limit = 1,
                              .skip_entry_id = world_id(world)};
    next.run.cause = CAUSE_AFTER;
    next.run.claimed_ms = 77;
    snprintf(next.run.node, sizeof(next.run.node), "node-1");
    snprintf(next.run.by, sizeof(next.run.by), "the run before");
    return next;
}

/* A run of the job that has begun, and would end so. */
static struct store_finish a_finish(struct world *world, struct id job, enum run_state state,
                                    int64_t finished_ms)
{
    struct store_finish finish = {.run = claim_run(world, job, see_job(world, job)->cursor_ms + 1)};
    begin_run(world, &finish.run);
    finish.run.state = state;
    finish.run.finished_ms = finished_ms;
    return finish;
}

static void finish_with(struct world *world, struct store_finish finish, struct store_next *nexts,
                        size_t count)
{
    finish.nexts = nexts;
    finish.next_count = count;
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.accepted);
}

/* Ends a run of `job`; is the next one made? */
static bool makes(struct world *world, struct id job, enum run_state state, int64_t finished_ms,
                  struct store_next *next)
{
    finish_with(world, a_finish(world, job, state, finished_ms), next, 1);
    return next->made;
}

static void an_end_makes_the_next_one_due(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "report");
    struct store_finish finish = a_finish(world, one, RUN_OK, 5000);
    struct store_next next = a_next(world, two, WELL, OVERLAP_SKIP), again;
    finish_with(world, finish, &next, 1);
    assert_true(next.made);
    assert_int_equal(next.run.state, RUN_DUE);
    assert_int_equal(next.run.tick_ms, 5000);
    struct run run = see_run(world, next.run.id)->run;
    assert_int_equal(run.state, RUN_DUE);
    assert_int_equal(run.cause, CAUSE_AFTER);
    assert_int_equal(run.tick_ms, 5000);
    assert_int_equal(run.claimed_ms, 0);
    assert_string_equal(run.node, "");
    assert_string_equal(run.by, "the run before");
    assert_int_equal(see_job(world, two)->cursor_ms, 5000);
    assert_int_equal(see_job(world, one)->last.ended_ms, 5000);

    again = a_next(world, two, WELL, OVERLAP_ALLOW); /* a repeat */
    finish_with(world, finish, &again, 1);
    assert_false(again.made);
    assert_int_equal(count_runs(world, two, RUN_DUE), 1);
    assert_int_equal(see_job(world, two)->cursor_ms, 5000);
}

static void somebody_elses_end_makes_nothing_due(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "report");
    struct store_finish finish = a_finish(world, one, RUN_OK, 5000);
    struct store_next next = a_next(world, two, WELL, OVERLAP_ALLOW);
    finish.run.nonce++;
    finish.nexts = &next;
    finish.next_count = 1;
    world_do_one(world, STORE_FINISH, &finish);
    assert_false(finish.accepted || next.made);
    finish.run.id = world_id(world);
    world_do_one(world, STORE_FINISH, &finish);
    assert_false(finish.accepted || next.made);
    assert_int_equal(count_runs(world, two, RUN_DUE), 0);
}

static void nexts_want_their_states(struct world *world)
{
    static const struct {
        enum run_state state;
        bool well, badly, anyhow;
    } cases[] = {
        {RUN_OK, true, false, true},        {RUN_FAILED, false, true, true},
        {RUN_TIMED_OUT, false, true, true}, {RUN_LOST, false, true, true},
        {RUN_KILLED, false, false, true},   {RUN_MISSED, false, false, false},
        {RUN_SKIPPED, false, false, false},
    };
    struct id job = make_job(world, "extract");
    struct id jobs[] = {make_job(world, "well"), make_job(world, "badly"),
                        make_job(world, "anyhow")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_next nexts[] = {a_next(world, jobs[0], WELL, OVERLAP_ALLOW),
                                     a_next(world, jobs[1], BADLY, OVERLAP_ALLOW),
                                     a_next(world, jobs[2], ANYHOW, OVERLAP_ALLOW)};
        finish_with(world, a_finish(world, job, cases[i].state, 5000 + (int64_t)i), nexts, 3);
        if (nexts[0].made != cases[i].well || nexts[1].made != cases[i].badly ||
            nexts[2].made != cases[i].anyhow)
            fail_msg("%s", run_state_name(cases[i].state));
    }
    assert_int_equal(count_runs(world, jobs[0], RUN_DUE), 1);
    assert_int_equal(count_runs(world, jobs[1], RUN_DUE), 3);
    assert_int_equal(count_runs(world, jobs[2], RUN_DUE), 5);
}

static void an_amended_end_makes_what_the_loss_did_not(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct id jobs[] = {make_job(world, "well"), make_job(world, "badly"),
                        make_job(world, "anyhow")};
    struct store_finish finish = a_finish(world, job, RUN_LOST, 5000);
    for (int i = 0; i < 3; i++) { /* lost, amended, repeated */
        struct store_next nexts[] = {a_next(world, jobs[0], WELL, OVERLAP_ALLOW),
                                     a_next(world, jobs[1], BADLY, OVERLAP_ALLOW),
                                     a_next(world, jobs[2], ANYHOW, OVERLAP_ALLOW)};
        finish_with(world, finish, nexts, 3);
        assert_int_equal(nexts[0].made, i == 1);
        assert_int_equal(nexts[1].made, i == 0);
        assert_int_equal(nexts[2].made, i == 0);
        finish.run.state = RUN_OK;
        finish.run.finished_ms = 4000;
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(count_runs(world, jobs[i], RUN_DUE), 1);
    assert_int_equal(see_job(world, jobs[0])->cursor_ms, 4000);
}

static void a_next_waits_for_the_others(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "load");
    struct id both = make_job(world, "report"), gone = make_job(world, "gone");
    struct store_need need_one = {one, WELL}, need_two = {two, ANYHOW};
    static const struct {
        int line;
        enum run_state state;
        int64_t finished_ms;
        bool of_two; /* a run of the second job ends, or of the first */
        bool made;
    } cases[] = {
        {__LINE__, RUN_OK, 2000, false, false},
        {__LINE__, RUN_OK, 2001, true, true},
        {__LINE__, RUN_FAILED, 2002, true, false}, /* the first one has not ended since */
        {__LINE__, RUN_OK, 2003, true, false},
        {__LINE__, RUN_FAILED, 2004, false, false},
        {__LINE__, RUN_OK, 2005, false, true},
        {__LINE__, RUN_OK, 3000, false, false},
        {__LINE__, RUN_FAILED, 3001, false, false}, /* its last run is not as wanted */
        {__LINE__, RUN_OK, 3002, true, false},
        {__LINE__, RUN_OK, 3003, false, true},
        {__LINE__, RUN_MISSED, 4000, true, false}, /* no run */
        {__LINE__, RUN_OK, 4001, false, false},
        {__LINE__, RUN_KILLED, 4001, true, true}, /* in the same millisecond */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool of_two = cases[i].of_two;
        struct store_next next = a_next(world, both, of_two ? ANYHOW : WELL, OVERLAP_ALLOW);
        next.needs = of_two ? &need_one : &need_two;
        next.need_count = 1;
        bool made = makes(world, of_two ? two : one, cases[i].state, cases[i].finished_ms, &next);
        if (made != cases[i].made)
            fail_msg("line %d: made %d", cases[i].line, made);
        if (made)
            assert_int_equal(see_job(world, both)->cursor_ms, cases[i].finished_ms);
    }
    struct store_put_job purge = {.uid = gone, .purge = true, .expected_revision = -1};
    world_do_one(world, STORE_PUT_JOB, &purge);
    struct store_next next = a_next(world, both, WELL, OVERLAP_ALLOW);
    next.needs = &(struct store_need){gone, ANYHOW};
    next.need_count = 1;
    assert_false(makes(world, one, RUN_OK, 9000, &next));
}

static void a_next_has_a_tick_of_its_own(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "report");
    struct store_next next = a_next(world, two, WELL, OVERLAP_ALLOW);
    assert_true(makes(world, one, RUN_OK, CURSOR_MS - 5, &next)); /* a clock that is behind */
    assert_int_equal(next.run.tick_ms, CURSOR_MS + 1);
    struct store_add_run add = an_add(world, two, 5000, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    next = a_next(world, two, WELL, OVERLAP_ALLOW);
    assert_true(makes(world, one, RUN_OK, 5000, &next));
    assert_int_equal(next.run.tick_ms, 5001);
    assert_int_equal(see_job(world, two)->cursor_ms, 5001);
    assert_int_equal(count_runs(world, two, RUN_DUE), 3);
}

static void nexts_keep_to_the_overlap_rule(struct world *world)
{
    static const struct {
        enum overlap_policy overlap;
        enum run_state first, second;
        enum run_reason reason; /* of the second's entry; NONE: it is a run */
    } cases[] = {
        {OVERLAP_ALLOW, RUN_DUE, RUN_DUE, REASON_NONE},
        {OVERLAP_SKIP, RUN_SKIPPED, RUN_SKIPPED, REASON_OVERLAP},
        {OVERLAP_QUEUE, RUN_QUEUED, RUN_SKIPPED, REASON_QUEUE_FULL},
        {OVERLAP_REPLACE, RUN_QUEUED, RUN_QUEUED, REASON_NONE},
    };
    struct id job = make_job(world, "extract");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "report-%d", (int)i);
        struct id after = make_job(world, name);
        struct run open = claim_run(world, after, 2000);
        begin_run(world, &open);
        struct store_next first = a_next(world, after, WELL, cases[i].overlap);
        struct store_next second = a_next(world, after, WELL, cases[i].overlap);
        assert_true(makes(world, job, RUN_OK, 3000 + (int64_t)i, &first));
        assert_true(makes(world, job, RUN_OK, 4000 + (int64_t)i, &second));
        assert_int_equal(see_job(world, after)->cursor_ms, 4000 + (int64_t)i);
        const struct seen_run *seen = look_for_run(world, first.run.id);
        if (cases[i].overlap == OVERLAP_REPLACE) {
            assert_int_equal(seen->run.state, RUN_SKIPPED);
            assert_int_equal(seen->run.reason, REASON_REPLACED);
            assert_int_equal(see_run(world, open.id)->kill_reason, REASON_REPLACED);
        } else if (cases[i].first != RUN_SKIPPED) {
            assert_int_equal(seen->run.state, cases[i].first);
        } else {
            assert_null(seen);
        }
        seen = look_for_run(world, second.run.id);
        assert_int_equal(seen ? seen->run.state : RUN_SKIPPED, cases[i].second);
        if (cases[i].reason == REASON_NONE)
            continue;
        const struct picture *picture = &world->picture;
        const struct ledger_entry *entry = &picture->entries[picture->entry_count - 1];
        assert_int_equal(id_compare(&entry->id, &second.skip_entry_id), 0);
        assert_int_equal(entry->reason, cases[i].reason);
        assert_int_equal(entry->from_ms, 4000 + (int64_t)i);
        assert_int_equal(entry->recorded_ms, 77);
        assert_string_equal(entry->node, "node-1");
    }
}

static void a_queued_next_is_let_go(struct world *world)
{
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    struct run open = claim_run(world, after, 2000);
    struct store_next next = a_next(world, after, WELL, OVERLAP_QUEUE);
    assert_true(makes(world, job, RUN_OK, 3000, &next));
    assert_int_equal(see_run(world, next.run.id)->run.state, RUN_QUEUED);
    end_run(world, &open, RUN_OK, 4000);
    assert_int_equal(see_run(world, next.run.id)->run.state, RUN_DUE);
}

static void a_deleted_job_is_never_next(struct world *world)
{
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    struct store_next next = a_next(world, after, WELL, OVERLAP_ALLOW);
    struct store_put_job put = a_put(after, "report", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_false(makes(world, job, RUN_OK, 3000, &next));
    put.purge = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_false(makes(world, job, RUN_OK, 4000, &next));
}

static void a_paused_next_is_skipped_when_it_begins(struct world *world)
{
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    struct store_put_job put = a_put(after, "report", -1);
    put.paused = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    struct store_next next = a_next(world, after, WELL, OVERLAP_ALLOW);
    assert_true(makes(world, job, RUN_OK, 3000, &next));
    struct store_take take = {.run_id = next.run.id, .node = "node-2", .nonce = 7, .now_ms = 3000};
    world_do_one(world, STORE_TAKE, &take);
    struct store_begin begin = begin_run(world, &take.run);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_SKIPPED);
    assert_int_equal(see_run(world, next.run.id)->run.reason, REASON_PAUSED);
}

static void a_next_goes_by_the_definition_that_is_there(struct world *world)
{
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    struct store_next next = a_next(world, after, WELL, OVERLAP_ALLOW);
    struct store_finish finish = a_finish(world, job, RUN_OK, 3000);
    struct store_put_job put = a_put(after, "report", -1);
    world_do_one(world, STORE_PUT_JOB, &put);
    finish.nexts = &next;
    finish.next_count = 1;
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.is_stale);
    assert_false(finish.accepted || next.made);
    assert_int_equal(see_run(world, finish.run.id)->run.state, RUN_BEGUN);
    assert_int_equal(count_runs(world, after, RUN_DUE), 0);

    next = a_next(world, after, WELL, OVERLAP_ALLOW);
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.accepted && next.made);
    assert_false(finish.is_stale);
}

/* ---- many at once ---- */

enum { MANY = 40 };

/* All are of one job, or each of another; all make the same job due. */
static void ends_make_the_same_one_due(struct world *world, bool of_one_job)
{
    static struct store_finish finishes[MANY];
    static struct store_next nexts[MANY];
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "extract-%d", i);
        if (!of_one_job)
            job = make_job(world, name);
        finishes[i] = a_finish(world, job, RUN_OK, 5000);
        nexts[i] = a_next(world, after, WELL, OVERLAP_QUEUE);
        nexts[i].queue_limit = MANY - 2; /* one is DUE, one too many */
        finishes[i].nexts = &nexts[i];
        finishes[i].next_count = 1;
    }
    assert_int_equal(world_do(world, STORE_FINISH, finishes, MANY), OK);
    for (int i = 0; i < MANY; i++) {
        assert_true(finishes[i].accepted && nexts[i].made);
        assert_int_equal(nexts[i].run.tick_ms, 5000 + i);
    }
    assert_int_equal(count_runs(world, after, RUN_DUE), 1);
    assert_int_equal(count_runs(world, after, RUN_QUEUED), MANY - 2);
    assert_int_equal(world->picture.entry_count, 1);
    assert_int_equal(see_job(world, after)->cursor_ms, 5000 + MANY - 1);
}

static void ends_of_one_job_make_the_same_one_due(struct world *world)
{
    ends_make_the_same_one_due(world, true);
}

static void ends_of_many_jobs_make_the_same_one_due(struct world *world)
{
    ends_make_the_same_one_due(world, false);
}

/* Each of them replaces the one before, which the same request has made. */
static void ends_replace_what_others_have_made(struct world *world)
{
    static struct store_finish finishes[MANY];
    static struct store_next nexts[MANY];
    struct id job = make_job(world, "extract"), after = make_job(world, "report");
    for (int i = 0; i < MANY; i++) {
        finishes[i] = a_finish(world, job, RUN_OK, 5000);
        nexts[i] = a_next(world, after, WELL, OVERLAP_REPLACE);
        finishes[i].nexts = &nexts[i];
        finishes[i].next_count = 1;
    }
    assert_int_equal(world_do(world, STORE_FINISH, finishes, MANY), OK);
    assert_int_equal(count_runs(world, after, RUN_SKIPPED), MANY - 1);
    assert_int_equal(count_runs(world, after, RUN_DUE), 1);
    assert_int_equal(see_run(world, nexts[MANY - 1].run.id)->run.state, RUN_DUE);
}

/* Half of them need the other half, which have not ended yet but for one. */
static void an_end_makes_as_many_due_as_it_may(struct world *world)
{
    static struct store_next nexts[STORE_NEXT_JOBS_MAX];
    struct store_need needs[2];
    struct id job = make_job(world, "extract");
    for (int i = 0; i < STORE_NEXT_JOBS_MAX; i++) {
        char name[32];
        snprintf(name, sizeof(name), "report-%d", i);
        nexts[i] = a_next(world, make_job(world, name), WELL, OVERLAP_REPLACE);
    }
    struct run old[MANY]; /* which are to be killed, at more than one go */
    for (int i = 0; i < MANY; i++) {
        old[i] = claim_run(world, nexts[STORE_NEXT_JOBS_MAX - 1].job_uid, 2000 + i);
        begin_run(world, &old[i]);
    }
    struct run ended = claim_run(world, nexts[0].job_uid, 2000);
    end_run(world, &ended, RUN_OK, 4000);
    needs[0] = (struct store_need){nexts[0].job_uid, WELL};
    needs[1] = (struct store_need){nexts[2].job_uid, WELL};
    nexts[4].needs = &needs[0];
    nexts[6].needs = &needs[1];
    nexts[4].need_count = nexts[6].need_count = 1;
    finish_with(world, a_finish(world, job, RUN_OK, 5000), nexts, STORE_NEXT_JOBS_MAX);
    for (int i = 0; i < STORE_NEXT_JOBS_MAX; i++) {
        assert_int_equal(nexts[i].made, i != 6);
        if (nexts[i].made)
            assert_int_equal(see_run(world, nexts[i].run.id)->run.state,
                             i < STORE_NEXT_JOBS_MAX - 1 ? RUN_DUE : RUN_QUEUED);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(see_run(world, old[i].id)->kill_reason, REASON_REPLACED);
}

/* ---- two nodes ---- */

struct answer {
    bool done;
    enum status status;
};

static void on_done(struct store_request *request, enum status st)
{
    *(struct answer *)request->context = (struct answer){true, st};
}

/* What the other node has done may be heard of later than what this one has done after it. */
static bool is_over(struct world *world, const struct store_finish finishes[2])
{
    return see_run(world, finishes[0].run.id)->run.state == RUN_OK &&
           see_run(world, finishes[1].run.id)->run.state == RUN_OK;
}

/* Whichever of the two comes later sees the end of the other. */
static void nodes_that_end_runs_together_make_it_due_once(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    struct id one = make_job(world, "extract"), two = make_job(world, "load");
    struct id both = make_job(world, "report");
    for (int round = 0; round < 30; round++) {
        struct store_need needs[] = {{two, WELL}, {one, WELL}};
        struct store_next nexts[2];
        struct store_finish finishes[2];
        struct answer answers[2] = {{false, OK}, {false, OK}};
        struct store_request requests[2];
        struct world *worlds[2] = {world, other};
        for (int i = 0; i < 2; i++) {
            finishes[i] = a_finish(world, i ? two : one, RUN_OK, 5000 + 10 * round + i);
            nexts[i] = a_next(world, both, WELL, OVERLAP_ALLOW);
            nexts[i].needs = &needs[i];
            nexts[i].need_count = 1;
            finishes[i].nexts = &nexts[i];
            finishes[i].next_count = 1;
            requests[i] = (struct store_request){.op = STORE_FINISH,
                                                 .count = 1,
                                                 .items.finishes = &finishes[i],
                                                 .done = on_done,
                                                 .context = &answers[i]};
        }
        for (int i = 0; i < 2; i++)
            store_submit(worlds[i]->store, &requests[i]);
        for (int64_t until_ms = soon_ms(); !answers[0].done || !answers[1].done;) {
            world_pass(world, until_ms);
            world_pass(other, until_ms);
        }
        assert_true(answers[0].status == OK && answers[1].status == OK);
        if (nexts[0].made == nexts[1].made)
            fail_msg("round %d: made by %s", round, nexts[0].made ? "both" : "none");
        for (int64_t until_ms = soon_ms();
             count_runs(world, both, RUN_DUE) < (size_t)round + 1 || !is_over(world, finishes);)
            world_pass(world, until_ms);
    }
    world_free(other);
}

const struct contract_test next_tests[] = {
    CONTRACT_TEST(an_end_makes_the_next_one_due),
    CONTRACT_TEST(somebody_elses_end_makes_nothing_due),
    CONTRACT_TEST(nexts_want_their_states),
    CONTRACT_TEST(an_amended_end_makes_what_the_loss_did_not),
    CONTRACT_TEST(a_next_waits_for_the_others),
    CONTRACT_TEST(a_next_has_a_tick_of_its_own),
    CONTRACT_TEST(nexts_keep_to_the_overlap_rule),
    CONTRACT_TEST(a_queued_next_is_let_go),
    CONTRACT_TEST(a_deleted_job_is_never_next),
    CONTRACT_TEST(a_paused_next_is_skipped_when_it_begins),
    CONTRACT_TEST(a_next_goes_by_the_definition_that_is_there),
    CONTRACT_TEST(ends_of_one_job_make_the_same_one_due),
    CONTRACT_TEST(ends_of_many_jobs_make_the_same_one_due),
    CONTRACT_TEST(ends_replace_what_others_have_made),
    CONTRACT_TEST(an_end_makes_as_many_due_as_it_may),
    CONTRACT_TEST(nodes_that_end_runs_together_make_it_due_once),
    {NULL, NULL},
};
