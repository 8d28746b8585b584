/* STORE_TAKE, STORE_BEGIN, STORE_FINISH, STORE_FORGET: a run's way after it was made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_world.h"

static struct run add_due(struct world *world, struct id job, int64_t tick_ms)
{
    struct store_add_run add = an_add(world, job, tick_ms, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    return see_run(world, add.run.id)->run;
}

static struct store_take take_run(struct world *world, struct id run, uint64_t nonce,
                                  int64_t now_ms)
{
    struct store_take take = {.run_id = run, .node = "node-2", .nonce = nonce, .now_ms = now_ms};
    world_do_one(world, STORE_TAKE, &take);
    return take;
}

static void change_job(struct world *world, struct id job, bool paused, bool deleted)
{
    struct store_put_job put = a_put(job, see_job(world, job)->name, -1);
    put.paused = paused;
    put.deleted = deleted;
    put.name = strdup(put.name);
    world_do_one(world, STORE_PUT_JOB, &put);
    free((char *)put.name);
    assert_int_equal(put.result, PUT_OK);
}

static void take_owns_a_due_run(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = add_due(world, job, 5000);
    struct store_take take = take_run(world, run.id, 7, 6000);
    assert_true(take.taken);
    assert_int_equal(take.run.state, RUN_CLAIMED);
    assert_string_equal(take.run.node, "node-2");
    assert_true(take.run.nonce == 7);
    assert_int_equal(take.run.claimed_ms, 6000);
    assert_string_equal(take.run.by, "anna");
    assert_int_equal(see_run(world, run.id)->run.state, RUN_CLAIMED);

    assert_true(take_run(world, run.id, 7, 6001).taken); /* a repeat */
    assert_int_equal(see_run(world, run.id)->run.claimed_ms, 6000);
    assert_false(take_run(world, run.id, 8, 6001).taken); /* somebody else, too late */
    assert_true(see_run(world, run.id)->run.nonce == 7);
    assert_false(take_run(world, world_id(world), 9, 6001).taken);
}

static void take_waits_for_its_time(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_add_run add = an_add(world, job, 5000, OVERLAP_ALLOW);
    add.run.not_before_ms = 7000;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_false(take_run(world, add.run.id, 7, 6999).taken);
    assert_true(take_run(world, add.run.id, 7, 7000).taken);
}

static void take_is_for_due_runs_only(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run claimed = claim_run(world, job, 5000);
    struct run begun = claim_run(world, job, 6000);
    struct run ended = claim_run(world, job, 7000);
    struct store_add_run queued = an_add(world, job, 8000, OVERLAP_QUEUE);
    begin_run(world, &begun);
    end_run(world, &ended, RUN_FAILED, 7001);
    world_do_one(world, STORE_ADD_RUN, &queued);
    assert_false(take_run(world, claimed.id, 7, 9000).taken);
    assert_false(take_run(world, begun.id, 7, 9000).taken);
    assert_false(take_run(world, begun.id, begun.nonce, 9000).taken);
    assert_false(take_run(world, ended.id, 7, 9000).taken);
    assert_false(take_run(world, queued.run.id, 7, 9000).taken);
}

static void take_is_for_the_definition_of_now(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = add_due(world, job, 5000);
    change_job(world, job, false, false);
    struct store_take take = take_run(world, run.id, 7, 6000);
    assert_int_equal(take.run.job_revision, 2);
}

static void begin_gives_a_fence_that_grows(struct world *world)
{
    struct id one = make_job(world, "one"), two = make_job(world, "two");
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        struct run run = claim_run(world, i % 2 ? one : two, 2000 + i);
        struct store_begin begin = begin_run(world, &run);
        assert_true(begin.begun);
        assert_true(begin.fence > last);
        assert_int_equal(begin.job_revision, 1);
        last = begin.fence;
        struct run seen = see_run(world, run.id)->run;
        assert_int_equal(seen.state, RUN_BEGUN);
        assert_int_equal(seen.fence, begin.fence);
        end_run(world, &seen, RUN_OK, 3000 + i);
        forget_run(world, run.id);
        if (i % 5 == 4)
            world_reopen(world); /* also when no run with the last fence is there any more */
    }
}

static void begin_is_the_claimers(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000), other = run, due = add_due(world, job, 100);
    other.nonce++;
    struct store_begin begin = begin_run(world, &other);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_CLAIMED);
    begin = begin_run(world, &due);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_DUE);

    assert_true(begin_run(world, &run).begun);
    int64_t fence = see_run(world, run.id)->run.fence;
    begin = begin_run(world, &run); /* its answer may have been lost */
    assert_true(begin.begun && begin.is_repeat);
    assert_int_equal(begin.fence, fence);
    assert_int_equal(begin.job_revision, 1);
    assert_int_equal(see_run(world, run.id)->run.fence, fence);
    begin = begin_run(world, &other);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_BEGUN);

    end_run(world, &run, RUN_OK, 6000);
    begin = begin_run(world, &run);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_OK);
    forget_run(world, run.id);
    begin = begin_run(world, &run);
    assert_false(begin.begun);
    assert_int_equal(begin.refused, RUN_STATES);
}

/* A claim that may begin its run; where it does not, the begin is a request of its own. */
static void a_claim_may_begin(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run before = claim_run(world, job, 4000);
    int64_t fence = begin_run(world, &before).fence;
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    claim.begins = true;
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    bool is_begun = claim.run.state == RUN_BEGUN;
    assert_true(is_begun || claim.run.state == RUN_CLAIMED);
    assert_true(is_begun || !store_begins_claims(world->store));
    assert_int_equal(see_run(world, claim.run.id)->run.state, claim.run.state);
    assert_int_equal(see_run(world, claim.run.id)->run.fence, claim.run.fence);
    assert_int_equal(see_job(world, job)->cursor_ms, 5000);

    struct store_claim repeat = claim;
    world_do_one(world, STORE_CLAIM, &repeat);
    assert_int_equal(repeat.result, CLAIM_WON);
    assert_int_equal(repeat.run.fence, claim.run.fence);
    struct store_begin begin = begin_run(world, &claim.run);
    assert_true(begin.begun && begin.is_repeat == is_begun);
    assert_true(begin.fence > fence);
    assert_true(!is_begun || begin.fence == claim.run.fence);
    assert_int_equal(begin.job_revision, 1);
    world_reopen(world);
    assert_int_equal(see_run(world, claim.run.id)->run.state, RUN_BEGUN);
    assert_true(end_run(world, &claim.run, RUN_OK, 6000).accepted);
}

/* A run that has to wait, or is not made, is not begun. */
static void a_claim_begins_what_it_would_own(struct world *world)
{
    static const struct {
        int line;
        enum overlap_policy overlap;
        enum claim_result want;
    } cases[] = {
        {__LINE__, OVERLAP_SKIP, CLAIM_SKIPPED},
        {__LINE__, OVERLAP_QUEUE, CLAIM_QUEUED},
        {__LINE__, OVERLAP_REPLACE, CLAIM_QUEUED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        struct run before = claim_run(world, job, 4000);
        begin_run(world, &before);
        struct store_claim claim = a_claim(world, job, 5000, cases[i].overlap);
        claim.cursor_ms = 4000;
        claim.begins = true;
        claim.run.fence = 0;
        world_do_one(world, STORE_CLAIM, &claim);
        if (claim.result != cases[i].want || claim.run.state == RUN_BEGUN)
            fail_msg("line %d: result %d", cases[i].line, (int)claim.result);
    }
    struct id job = make_job(world, "changed");
    struct store_claim stale = a_claim(world, job, 5000, OVERLAP_ALLOW);
    stale.begins = true;
    change_job(world, job, true, false);
    world_do_one(world, STORE_CLAIM, &stale);
    assert_int_equal(stale.result, CLAIM_STALE);
}

/* What happens to the job between claim and begin. */
static void begin_looks_at_the_job_again(struct world *world)
{
    enum { CHANGE, PAUSE, DELETE, PURGE, KILL, KILL_PAUSED };
    static const struct {
        int line, what;
        enum run_cause cause;
        bool begun;
        enum run_reason reason;
    } cases[] = {
        {__LINE__, CHANGE, CAUSE_TICK, true, REASON_NONE},
        {__LINE__, CHANGE, CAUSE_MANUAL, true, REASON_NONE},
        {__LINE__, PAUSE, CAUSE_TICK, false, REASON_PAUSED},
        {__LINE__, PAUSE, CAUSE_CATCH_UP, false, REASON_PAUSED},
        {__LINE__, PAUSE, CAUSE_REBOOT, false, REASON_PAUSED},
        {__LINE__, PAUSE, CAUSE_MANUAL, true, REASON_NONE},
        {__LINE__, PAUSE, CAUSE_BACKFILL, true, REASON_NONE},
        {__LINE__, DELETE, CAUSE_TICK, false, REASON_DELETED},
        {__LINE__, DELETE, CAUSE_MANUAL, false, REASON_DELETED},
        {__LINE__, PURGE, CAUSE_TICK, false, REASON_DELETED},
        {__LINE__, PURGE, CAUSE_MANUAL, false, REASON_DELETED},
        {__LINE__, KILL, CAUSE_TICK, false, REASON_USER},
        {__LINE__, KILL, CAUSE_MANUAL, false, REASON_USER},
        {__LINE__, KILL_PAUSED, CAUSE_TICK, false, REASON_USER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct id job = make_job(world, name);
        struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
        struct store_put_job purge = {.uid = job, .purge = true, .expected_revision = -1};
        struct store_order kill = {.run_id = claim.run.id, .reason = REASON_USER, .by = "otto"};
        claim.run.cause = cases[i].cause;
        world_do_one(world, STORE_CLAIM, &claim);
        if (cases[i].what == KILL || cases[i].what == KILL_PAUSED)
            world_do_one(world, STORE_ORDER, &kill);
        if (cases[i].what == PURGE)
            world_do_one(world, STORE_PUT_JOB, &purge);
        else if (cases[i].what != KILL)
            change_job(world, job, cases[i].what == PAUSE || cases[i].what == KILL_PAUSED,
                       cases[i].what == DELETE);
        struct store_begin begin = begin_run(world, &claim.run);
        struct run seen = see_run(world, claim.run.id)->run;
        if (begin.begun != cases[i].begun || seen.reason != cases[i].reason ||
            seen.state != (begin.begun ? RUN_BEGUN : RUN_SKIPPED))
            fail_msg("line %d: begun %d, state %d, reason %d", cases[i].line, begin.begun,
                     (int)seen.state, (int)seen.reason);
        if (begin.begun) { /* the definition to start is the new one */
            assert_int_equal(begin.job_revision, 2);
            assert_int_equal(seen.job_revision, 2);
        } else {
            assert_int_equal(begin.refused, RUN_SKIPPED);
        }
        if (seen.reason == REASON_USER)
            assert_string_equal(seen.by, "otto");
    }
}

static void finish_writes_the_whole_end(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    int64_t fence = begin_run(world, &run).fence;
    struct store_finish finish = {.run = run};
    struct run *end = &finish.run;
    end->state = RUN_FAILED;
    end->reason = REASON_EXIT_CODE;
    end->started_ms = 5010;
    end->finished_ms = 5500;
    end->exit_code = 3;
    end->term_signal = 9;
    end->user_ms = 11;
    end->system_ms = 12;
    end->max_rss_kb = 13;
    end->output_bytes = 1LL << 40;
    end->output_truncated = true;
    snprintf(end->detail, sizeof(end->detail), "exit code 3");
    end->tick_ms = 1; /* what a run is does not change by its end */
    end->attempt = 9;
    end->cause = CAUSE_REBOOT;
    end->fence = 77;
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.accepted);

    struct run seen = see_run(world, run.id)->run;
    assert_int_equal(seen.state, RUN_FAILED);
    assert_int_equal(seen.reason, REASON_EXIT_CODE);
    assert_int_equal(seen.started_ms, 5010);
    assert_int_equal(seen.finished_ms, 5500);
    assert_int_equal(seen.exit_code, 3);
    assert_int_equal(seen.term_signal, 9);
    assert_int_equal(seen.user_ms, 11);
    assert_int_equal(seen.system_ms, 12);
    assert_int_equal(seen.max_rss_kb, 13);
    assert_int_equal(seen.output_bytes, 1LL << 40);
    assert_true(seen.output_truncated);
    assert_string_equal(seen.detail, "exit code 3");
    assert_int_equal(seen.tick_ms, 5000);
    assert_int_equal(seen.attempt, 1);
    assert_int_equal(seen.cause, CAUSE_TICK);
    assert_int_equal(seen.fence, fence);
}

static void finish_is_the_owners(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000), other = run, none = run;
    other.nonce++;
    none.id = world_id(world);
    begin_run(world, &run);
    assert_false(end_run(world, &other, RUN_OK, 6000).accepted);
    assert_false(end_run(world, &none, RUN_OK, 6000).accepted);
    assert_int_equal(see_run(world, run.id)->run.state, RUN_BEGUN);
    assert_int_equal(see_job(world, job)->last.ended_ms, 0);
}

/* A begin was refused, and its answer lost: whoever ends the run then learns how it has ended. */
static void finish_tells_the_end_on_record(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    change_job(world, job, true, false);
    assert_false(begin_run(world, &run).begun);
    struct store_finish finish = end_run(world, &run, RUN_KILLED, 6000);
    assert_true(finish.accepted);
    assert_int_equal(finish.run.state, RUN_SKIPPED);
    assert_int_equal(finish.run.reason, REASON_PAUSED);
    assert_int_equal(finish.run.finished_ms, 0);
}

static void a_claim_has_its_owner(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_QUEUE),
                       queued = a_claim(world, job, 6000, OVERLAP_QUEUE);
    world_do_one(world, STORE_CLAIM, &claim);
    queued.cursor_ms = 5000;
    world_do_one(world, STORE_CLAIM, &queued);
    assert_int_equal(queued.result, CLAIM_QUEUED);
    const struct run *seen = &see_run(world, claim.run.id)->run;
    assert_true(id_compare(&seen->owner.instance, &claim.run.owner.instance) == 0);
    assert_true(seen->owner.home == claim.run.owner.home);
    seen = &see_run(world, queued.run.id)->run; /* it is nobody's */
    assert_true(id_is_zero(&seen->owner.instance) && seen->owner.home == 0);
}

static void finish_again_changes_nothing(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    begin_run(world, &run);
    assert_true(end_run(world, &run, RUN_OK, 6000).accepted);
    world_mark(world);
    assert_true(end_run(world, &run, RUN_OK, 6000).accepted);
    assert_true(end_run(world, &run, RUN_LOST, 7000).accepted); /* a sweeper that was late */
    assert_int_equal(world->picture.changes[STORE_CHANGE_RUN], 0);
    assert_int_equal(see_run(world, run.id)->run.state, RUN_OK);
    assert_int_equal(see_job(world, job)->last.ended_ms, 6000);
}

static void a_lost_run_is_amended(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    struct store_add_run queued = an_add(world, job, 5500, OVERLAP_QUEUE);
    struct store_add_run later = an_add(world, job, 5600, OVERLAP_QUEUE);
    world_do_one(world, STORE_ADD_RUN, &queued);
    world_do_one(world, STORE_ADD_RUN, &later);
    begin_run(world, &run);
    assert_true(end_run(world, &run, RUN_LOST, 7000).accepted);
    assert_int_equal(see_job(world, job)->last.state, RUN_LOST);
    assert_true(end_run(world, &run, RUN_LOST, 7500).accepted);
    assert_int_equal(see_run(world, run.id)->run.finished_ms, 7000);
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_DUE);

    assert_true(end_run(world, &run, RUN_FAILED, 6500).accepted);
    assert_int_equal(see_run(world, run.id)->run.state, RUN_FAILED);
    assert_int_equal(see_job(world, job)->last.state, RUN_FAILED);
    assert_int_equal(see_job(world, job)->last.ended_ms, 6500);
    assert_true(end_run(world, &run, RUN_OK, 6600).accepted); /* amended once */
    assert_int_equal(see_run(world, run.id)->run.state, RUN_FAILED);
    assert_int_equal(see_run(world, later.run.id)->run.state, RUN_QUEUED);
    forget_run(world, run.id);
    assert_false(end_run(world, &run, RUN_OK, 6700).accepted);
}

/* The home of a run is back, and knows that it was started and died with the spawner. */
static void a_loss_is_amended_by_its_home(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    begin_run(world, &run);
    static const enum run_reason reasons[] = {REASON_NODE_DIED, REASON_SPAWNER_DIED,
                                              REASON_NODE_DIED};
    for (size_t i = 0; i < 3; i++) {
        struct store_finish finish = {.run = run};
        finish.run.state = RUN_LOST;
        finish.run.reason = reasons[i];
        world_do_one(world, STORE_FINISH, &finish);
        assert_true(finish.accepted);
        assert_int_equal(finish.run.reason, i ? REASON_SPAWNER_DIED : REASON_NODE_DIED);
        assert_int_equal(see_run(world, run.id)->run.reason, finish.run.reason);
    }
}

/* Its node may have ended it since the backup, and its spawner has forgotten it. */
static void a_loss_by_a_restore_is_amended_by_who_started_it(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    begin_run(world, &run);
    static const struct {
        enum run_state state;
        enum run_reason reason;
        int64_t started_ms;
        enum run_state state_then;
        enum run_reason reason_then;
    } ends[] = {
        {RUN_LOST, REASON_NODE_DIED, 0, RUN_LOST, REASON_NODE_DIED},
        {RUN_LOST, REASON_RESTORED, 0, RUN_LOST, REASON_RESTORED},
        {RUN_LOST, REASON_NODE_DIED, 0, RUN_LOST, REASON_RESTORED},
        {RUN_MISSED, REASON_START_WINDOW, 0, RUN_LOST, REASON_RESTORED},
        {RUN_FAILED, REASON_EXIT_CODE, 5001, RUN_FAILED, REASON_EXIT_CODE},
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct store_finish finish = {.run = run};
        finish.run.state = ends[i].state;
        finish.run.reason = ends[i].reason;
        finish.run.started_ms = ends[i].started_ms;
        world_do_one(world, STORE_FINISH, &finish);
        assert_true(finish.accepted);
        const struct run *seen = &see_run(world, run.id)->run;
        assert_int_equal(seen->state, ends[i].state_then);
        assert_int_equal(seen->reason, ends[i].reason_then);
        assert_int_equal(finish.run.state, seen->state);
    }
}

static void a_begin_that_the_store_does_not_know_gave_the_fence(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000); /* it was begun after the backup was made */
    run.fence = 77;
    run.started_ms = 5010;
    struct store_finish finish = end_run(world, &run, RUN_OK, 6000);
    assert_true(finish.accepted);
    assert_int_equal(finish.run.fence, 77);
    assert_int_equal(see_run(world, run.id)->run.fence, 77);
}

static void finish_becomes_the_last_run(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run first = claim_run(world, job, 5000), second = claim_run(world, job, 6000);
    assert_true(id_is_zero(&see_job(world, job)->last.run_id));
    second.started_ms = 6001;
    end_run(world, &second, RUN_OK, 9000);
    struct last_run last = see_job(world, job)->last;
    assert_int_equal(id_compare(&last.run_id, &second.id), 0);
    assert_int_equal(last.started_ms, 6001);
    assert_int_equal(last.ended_ms, 9000);
    assert_int_equal(last.state, RUN_OK);
    assert_int_equal(see_job(world, job)->cursor_ms, 6000);
    world_mark(world);
    end_run(world, &first, RUN_FAILED, 8000); /* told late: it is not the last */
    assert_int_equal(see_job(world, job)->last.ended_ms, 9000);
    assert_int_equal(world->picture.changes[STORE_CHANGE_CURSOR], 0);
}

/* The node of the newest run, for a store of several nodes: told by its claim, or by its end if
 * another node has taken it. */
static void the_node_of_the_newest_run_is_known(struct world *world)
{
    struct id job = make_job(world, "backup");
    if (!world->backend->open_other)
        return;
    assert_int_equal(see_job(world, job)->last_node, 0);
    struct run first = claim_run(world, job, 5000);
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-1"));
    snprintf(first.node, sizeof(first.node), "node-2"); /* taken over */
    first.started_ms = 5001;
    struct run second = claim_run(world, job, 6000);
    snprintf(second.node, sizeof(second.node), "node-3");
    second.started_ms = 6001;
    end_run(world, &second, RUN_OK, 7000);
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-3"));
    end_run(world, &first, RUN_OK, 8000); /* it is older */
    assert_int_equal(id_compare(&see_job(world, job)->last.run_id, &first.id), 0);
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-3"));

    struct run lost = claim_run(world, job, 9000);
    snprintf(lost.node, sizeof(lost.node), "node-4");
    lost.started_ms = 9001;
    end_run(world, &lost, RUN_LOST, 9500);
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-1"));

    struct store_add_run add = an_add(world, job, 10000, OVERLAP_ALLOW);
    snprintf(add.run.pinned, sizeof(add.run.pinned), "node-5");
    world_do_one(world, STORE_ADD_RUN, &add);
    struct store_take take = {.run_id = add.run.id, .nonce = 77, .now_ms = 10000};
    snprintf(take.node, sizeof(take.node), "node-5");
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    take.run.started_ms = 10001;
    end_run(world, &take.run, RUN_OK, 11000); /* asked for on that node */
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-1"));

    struct store_claim claim = a_claim(world, job, 12000, OVERLAP_SKIP);
    snprintf(claim.run.node, sizeof(claim.run.node), "node-6");
    claim.without_run = true;
    world_do_one(world, STORE_CLAIM, &claim); /* passed over */
    assert_int_equal(see_job(world, job)->last_node, node_mark("node-1"));
    if (world->backend->durable) {
        world_reopen(world);
        assert_int_equal(see_job(world, job)->last_node, node_mark("node-1"));
    }
}

static void the_last_success_stays_known(struct world *world)
{
    static const struct {
        int line;
        enum run_state state;
        int64_t finished_ms, want_ended_ms, want_succeeded_ms;
    } cases[] = {
        {__LINE__, RUN_FAILED, 9000, 9000, 0},       {__LINE__, RUN_OK, 8000, 9000, 8000},
        {__LINE__, RUN_OK, 7000, 9000, 8000}, /* told late */
        {__LINE__, RUN_OK, 10000, 10000, 10000},     {__LINE__, RUN_TIMED_OUT, 11000, 11000, 10000},
        {__LINE__, RUN_FAILED, 10500, 11000, 10000}, {__LINE__, RUN_LOST, 12000, 12000, 10000},
    };
    struct id job = make_job(world, "backup");
    struct run run;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run = claim_run(world, job, 2000 + (int64_t)i);
        end_run(world, &run, cases[i].state, cases[i].finished_ms);
        struct last_run last = see_job(world, job)->last;
        if (last.ended_ms != cases[i].want_ended_ms ||
            last.succeeded_ms != cases[i].want_succeeded_ms)
            fail_msg("line %d: ended %lld, succeeded %lld", cases[i].line, (long long)last.ended_ms,
                     (long long)last.succeeded_ms);
    }
    end_run(world, &run, RUN_OK, 11500); /* it was not lost */
    assert_int_equal(see_job(world, job)->last.succeeded_ms, 11500);
    struct store_put_job put = a_put(job, "backup", 1);
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(see_job(world, job)->last.succeeded_ms, 11500);
}

static void queued_runs_go_one_by_one_in_order(struct world *world)
{
    enum { COUNT = 5 };
    struct id job = make_job(world, "backup"), ids[COUNT];
    struct run open = claim_run(world, job, 2000);
    for (int i = 0; i < COUNT; i++) {
        if (i % 2) { /* one added by hand goes behind the ticks before it, whatever its tick */
            struct store_add_run add = an_add(world, job, 10 - i, OVERLAP_QUEUE);
            world_do_one(world, STORE_ADD_RUN, &add);
            ids[i] = add.run.id;
        } else {
            struct store_claim claim = a_claim(world, job, 3000 + i, OVERLAP_QUEUE);
            world_do_one(world, STORE_CLAIM, &claim);
            ids[i] = claim.run.id;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(count_runs(world, job, RUN_QUEUED), COUNT - i);
        begin_run(world, &open);
        assert_int_equal(count_runs(world, job, RUN_DUE), 0);
        end_run(world, &open, RUN_OK, 4000 + i);
        assert_int_equal(see_run(world, ids[i])->run.state, RUN_DUE);
        assert_int_equal(count_runs(world, job, RUN_DUE), 1);
        open = take_run(world, ids[i], 7, 5000).run;
    }
}

static void a_queue_waits_for_all_that_is_open(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run one = claim_run(world, job, 2000), two = claim_run(world, job, 3000);
    struct run due = add_due(world, job, 100);
    struct store_claim queued = a_claim(world, job, 4000, OVERLAP_QUEUE);
    world_do_one(world, STORE_CLAIM, &queued);
    end_run(world, &one, RUN_OK, 5000);
    end_run(world, &two, RUN_OK, 5000);
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_QUEUED);
    end_run(world, &due, RUN_MISSED, 5000); /* nobody's: its nonce is 0 */
    assert_int_equal(see_run(world, due.id)->run.state, RUN_MISSED);
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_DUE);
}

static void a_refused_begin_frees_the_queue(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 2000);
    struct store_add_run queued = an_add(world, job, 3000, OVERLAP_QUEUE);
    world_do_one(world, STORE_ADD_RUN, &queued);
    change_job(world, job, true, false);
    assert_false(begin_run(world, &run).begun);
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_DUE);
}

static void forget_removes_what_has_ended(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run open = claim_run(world, job, 5000), ended = claim_run(world, job, 6000);
    end_run(world, &ended, RUN_OK, 7000);
    forget_run(world, open.id); /* stays */
    forget_run(world, ended.id);
    forget_run(world, ended.id);
    forget_run(world, world_id(world));
    assert_true(begin_run(world, &open).begun);
    assert_false(end_run(world, &ended, RUN_OK, 7000).accepted);
}

/* A request that fails, and takes nothing with it. */
static void fail_a_request(struct world *world)
{
    char *json = malloc(DOC_JSON_MAX + 2);
    assert_non_null(json);
    memset(json, ' ', DOC_JSON_MAX + 1);
    json[DOC_JSON_MAX + 1] = '\0';
    struct store_put_doc put = {.kind = "kind", .name = "large", .json = json};
    assert_int_equal(world_do(world, STORE_PUT_DOC, &put, 1), E_TOO_LARGE);
    free(json);
}

/* However many they are, whatever fails between them, and after a new start of the agent. */
static void many_runs_of_a_job_go_by_the_same_rules(struct world *world)
{
    enum { MANY = 100 };
    struct id job = make_job(world, "backup");
    struct run runs[MANY];
    int64_t fence = 0, tick_ms = 5000;
    for (int i = 0; i < MANY; i++)
        runs[i] = claim_run(world, job, tick_ms++ * 10);
    for (int i = 0; i < MANY; i++) {
        if (i % 40 == 20)
            fail_a_request(world);
        struct store_begin begin = begin_run(world, &runs[i]);
        assert_true(begin.begun && begin.fence > fence);
        fence = begin.fence;
    }
    world_reopen(world);
    for (int i = 0; i < MANY; i++) {
        struct store_claim claim = a_claim(world, job, tick_ms++ * 10, OVERLAP_SKIP);
        if (i % 20 == 0) {
            world_do_one(world, STORE_CLAIM, &claim);
            assert_int_equal(claim.result, CLAIM_SKIPPED);
        }
        assert_true(end_run(world, &runs[i], RUN_OK, 7000 + i).accepted);
        forget_run(world, runs[i].id);
    }
    struct store_claim claim = a_claim(world, job, tick_ms * 10, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_WON);
    assert_true(begin_run(world, &claim.run).fence > fence);
}

const struct contract_test run_tests[] = {
    CONTRACT_TEST(take_owns_a_due_run),
    CONTRACT_TEST(take_waits_for_its_time),
    CONTRACT_TEST(take_is_for_due_runs_only),
    CONTRACT_TEST(take_is_for_the_definition_of_now),
    CONTRACT_TEST(begin_gives_a_fence_that_grows),
    CONTRACT_TEST(begin_is_the_claimers),
    CONTRACT_TEST(a_claim_may_begin),
    CONTRACT_TEST(a_claim_begins_what_it_would_own),
    CONTRACT_TEST(begin_looks_at_the_job_again),
    CONTRACT_TEST(finish_writes_the_whole_end),
    CONTRACT_TEST(finish_is_the_owners),
    CONTRACT_TEST(a_claim_has_its_owner),
    CONTRACT_TEST(finish_tells_the_end_on_record),
    CONTRACT_TEST(finish_again_changes_nothing),
    CONTRACT_TEST(a_lost_run_is_amended),
    CONTRACT_TEST(a_loss_is_amended_by_its_home),
    CONTRACT_TEST(a_loss_by_a_restore_is_amended_by_who_started_it),
    CONTRACT_TEST(a_begin_that_the_store_does_not_know_gave_the_fence),
    CONTRACT_TEST(finish_becomes_the_last_run),
    CONTRACT_TEST(the_node_of_the_newest_run_is_known),
    CONTRACT_TEST(the_last_success_stays_known),
    CONTRACT_TEST(queued_runs_go_one_by_one_in_order),
    CONTRACT_TEST(a_queue_waits_for_all_that_is_open),
    CONTRACT_TEST(a_refused_begin_frees_the_queue),
    CONTRACT_TEST(forget_removes_what_has_ended),
    CONTRACT_TEST(many_runs_of_a_job_go_by_the_same_rules),
    {NULL, NULL},
};
