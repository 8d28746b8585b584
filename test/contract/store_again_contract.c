/* STORE_FINISH with another attempt: the end of one and the making of the next are one write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"
#include "store_world.h"

/* A begun run of the job, with an end that is to be retried at 9000. */
static struct store_finish a_failure(struct world *world, struct id job, enum run_state state)
{
    int64_t tick_ms = see_job(world, job)->cursor_ms + 1;
    struct store_finish finish = {.run = claim_run(world, job, tick_ms)};
    begin_run(world, &finish.run);
    finish.run.state = state;
    finish.run.finished_ms = 5000;
    finish.again = (struct store_again){.is_wanted = true,
                                        .id = world_id(world),
                                        .not_before_ms = 9000,
                                        .attempts = 3,
                                        .job_revision = see_job(world, job)->revision};
    return finish;
}

static void finish(struct world *world, struct store_finish *finish)
{
    world_do_one(world, STORE_FINISH, finish);
    assert_true(finish->accepted);
}

static bool take(struct world *world, struct id run_id, int64_t now_ms, struct run *ret)
{
    struct store_take take = {.run_id = run_id, .nonce = 4711, .now_ms = now_ms, .node = "node-2"};
    world_do_one(world, STORE_TAKE, &take);
    if (take.taken)
        *ret = take.run;
    return take.taken;
}

static void pause(struct world *world, struct id job, const char *name)
{
    struct store_put_job put = a_put(job, name, -1);
    put.paused = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
}

static void an_end_makes_the_next_attempt_due(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED), repeat;
    struct run run;
    finish(world, &first);
    assert_true(first.again.made);
    assert_true(first.run.retried);
    assert_true(see_run(world, first.run.id)->run.retried);
    assert_true(see_job(world, job)->last.retried);
    const struct run *next = &see_run(world, first.again.id)->run;
    assert_int_equal(next->state, RUN_DUE);
    assert_int_equal(next->attempt, 2);
    assert_int_equal(next->attempts, 3);
    assert_int_equal(next->tick_ms, first.run.tick_ms);
    assert_int_equal(next->cause, first.run.cause);
    assert_int_equal(next->not_before_ms, 9000);
    assert_string_equal(next->node, "");
    assert_string_equal(next->failed_on, first.run.node);

    repeat = first; /* its answer was lost */
    repeat.again.id = world_id(world);
    finish(world, &repeat);
    assert_false(repeat.again.made);
    assert_null(look_for_run(world, repeat.again.id));

    assert_false(take(world, first.again.id, 8999, &run));
    assert_true(take(world, first.again.id, 9000, &run));
    assert_int_equal(run.attempt, 2);
    assert_true(begin_run(world, &run).begun);
    end_run(world, &run, RUN_OK, 9500);
    assert_false(see_job(world, job)->last.retried);
    assert_int_equal(see_job(world, job)->last.state, RUN_OK);
    world_reopen(world);
}

/* The tick of the failed run has not ended: nothing of the same job comes between. */
static void a_tick_goes_on_with_its_attempts(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_TIMED_OUT);
    struct store_claim queued = a_claim(world, job, 2000, OVERLAP_QUEUE);
    struct run run;
    queued.queue_limit = 5;
    world_do_one(world, STORE_CLAIM, &queued);
    assert_int_equal(queued.result, CLAIM_QUEUED);
    finish(world, &first);
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_QUEUED);
    struct store_claim skipped = a_claim(world, job, 3000, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &skipped);
    assert_int_equal(skipped.result, CLAIM_SKIPPED);

    assert_true(take(world, first.again.id, 9000, &run));
    begin_run(world, &run);
    end_run(world, &run, RUN_FAILED, 9500); /* without another attempt */
    assert_int_equal(see_run(world, queued.run.id)->run.state, RUN_DUE);
}

static void a_newer_tick_replaces_the_attempt(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED);
    finish(world, &first);
    struct store_claim newer = a_claim(world, job, 2000, OVERLAP_REPLACE);
    world_do_one(world, STORE_CLAIM, &newer);
    assert_int_equal(newer.result, CLAIM_WON);
    const struct run *run = &see_run(world, first.again.id)->run;
    assert_int_equal(run->state, RUN_SKIPPED);
    assert_int_equal(run->reason, REASON_REPLACED);
}

static void dependents_wait_for_the_last_attempt(struct world *world)
{
    struct id job = make_job(world, "extract"), other = make_job(world, "report");
    struct store_finish first = a_failure(world, job, RUN_FAILED);
    struct store_add_run add = an_add(world, other, 0, OVERLAP_ALLOW);
    struct store_next next = {.job_uid = other,
                              .states = 1 << RUN_FAILED,
                              .run = add.run,
                              .overlap = OVERLAP_ALLOW,
                              .skip_entry_id = world_id(world)};
    first.nexts = &next;
    first.next_count = 1;
    finish(world, &first);
    assert_true(first.again.made);
    assert_false(next.made);

    struct store_finish last = {.nexts = &next, .next_count = 1};
    assert_true(take(world, first.again.id, 9000, &last.run));
    begin_run(world, &last.run);
    last.run.state = RUN_FAILED;
    last.run.finished_ms = 9500;
    finish(world, &last);
    assert_true(next.made);
}

/* A run that has to wait for two ends does not take a retried one for an end. */
static void a_retried_end_meets_no_need(struct world *world)
{
    struct id one = make_job(world, "extract"), two = make_job(world, "load");
    struct id both = make_job(world, "report");
    struct store_finish first = a_failure(world, one, RUN_FAILED);
    struct store_finish second = a_failure(world, two, RUN_FAILED);
    struct store_need need = {one, 1 << RUN_FAILED};
    struct store_add_run add = an_add(world, both, 0, OVERLAP_ALLOW);
    struct store_next next = {.job_uid = both,
                              .needs = &need,
                              .need_count = 1,
                              .states = 1 << RUN_FAILED,
                              .run = add.run,
                              .overlap = OVERLAP_ALLOW,
                              .skip_entry_id = world_id(world)};
    finish(world, &first);
    second.again.is_wanted = false;
    second.nexts = &next;
    second.next_count = 1;
    finish(world, &second);
    assert_false(next.made);
}

static void a_job_that_is_paused_or_deleted_is_not_tried_again(struct world *world)
{
    struct id paused = make_job(world, "paused"), deleted = make_job(world, "deleted");
    struct store_finish ends[2] = {a_failure(world, paused, RUN_FAILED),
                                   a_failure(world, deleted, RUN_FAILED)};
    pause(world, paused, "paused");
    struct store_put_job put = a_put(deleted, "deleted", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    ends[0].again.job_revision = see_job(world, paused)->revision;
    for (int i = 0; i < 2; i++) {
        finish(world, &ends[i]);
        assert_false(ends[i].again.made || ends[i].run.retried);
        assert_null(look_for_run(world, ends[i].again.id));
    }
}

static void a_pause_ends_attempts_that_wait(struct world *world)
{
    struct id job = make_job(world, "extract"), asked = make_job(world, "asked");
    struct store_finish first = a_failure(world, job, RUN_FAILED);
    struct store_add_run add = an_add(world, asked, 1500, OVERLAP_ALLOW);
    struct store_finish manual = {.again = {.is_wanted = true,
                                            .id = world_id(world),
                                            .not_before_ms = 9000,
                                            .attempts = 2,
                                            .job_revision = see_job(world, asked)->revision}};
    finish(world, &first);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(take(world, add.run.id, 2000, &manual.run));
    begin_run(world, &manual.run);
    manual.run.state = RUN_FAILED;
    manual.run.finished_ms = 5000;
    finish(world, &manual);
    assert_true(manual.again.made);
    pause(world, job, "extract");
    pause(world, asked, "asked");
    const struct run *run = &see_run(world, first.again.id)->run;
    assert_int_equal(run->state, RUN_SKIPPED);
    assert_int_equal(run->reason, REASON_PAUSED);
    assert_int_equal(see_run(world, manual.again.id)->run.state, RUN_DUE);
}

static void a_deletion_ends_attempts_that_wait(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED);
    finish(world, &first);
    struct store_put_job put = a_put(job, "extract", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    const struct run *run = &see_run(world, first.again.id)->run;
    assert_int_equal(run->state, RUN_SKIPPED);
    assert_int_equal(run->reason, REASON_DELETED);
}

static void the_definition_decides_that_is_there(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED);
    struct store_put_job put = a_put(job, "extract", -1);
    world_do_one(world, STORE_PUT_JOB, &put);
    world_do_one(world, STORE_FINISH, &first);
    assert_true(first.is_stale);
    assert_false(first.accepted || first.again.made);
    assert_int_equal(see_run(world, first.run.id)->run.state, RUN_BEGUN);
}

/* A lost run comes back with its end while its next attempt waits. */
static void a_success_after_all_ends_the_attempt_that_waits(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_LOST);
    first.run.reason = REASON_NODE_DIED;
    finish(world, &first);
    first.run.state = RUN_OK;
    first.run.reason = REASON_NONE;
    first.run.finished_ms = 6000;
    struct id again = first.again.id;
    first.again = (struct store_again){.is_wanted = false};
    finish(world, &first);
    const struct run *run = &see_run(world, again)->run;
    assert_int_equal(run->state, RUN_SKIPPED);
    assert_int_equal(run->reason, REASON_NOT_NEEDED);
    assert_int_equal(see_job(world, job)->last.state, RUN_OK);
}

/* The same when the next attempt has ended, is recorded and forgotten: the tick has its end, and no
 * attempt is made twice. */
static void a_late_end_starts_nothing_again(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_LOST);
    struct run run;
    first.run.reason = REASON_NODE_DIED;
    finish(world, &first);
    assert_true(take(world, first.again.id, 9000, &run));
    begin_run(world, &run);
    end_run(world, &run, RUN_OK, 9500);
    forget_run(world, run.id);
    for (int i = 0; i < 2; i++) {
        first.run.state = RUN_FAILED;
        first.run.reason = REASON_EXIT_CODE;
        first.run.finished_ms = 10000;
        first.again.id = world_id(world);
        first.again.is_wanted = true;
        finish(world, &first);
        assert_false(first.again.made);
        assert_null(look_for_run(world, first.again.id));
        assert_int_equal(see_job(world, job)->last.state, RUN_OK);
        assert_true(see_run(world, first.run.id)->run.retried);
    }
}

/* The first run of a tick is forgotten while its second attempt waits, and a person asks for the
 * tick once more: the attempts of both have the same names. */
static void attempts_of_a_backfill_do_not_meet_others(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED), second = {.again.attempts = 3};
    finish(world, &first);
    forget_run(world, first.run.id);
    struct store_add_run add = an_add(world, job, first.run.tick_ms, OVERLAP_ALLOW);
    add.run.cause = CAUSE_BACKFILL;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    assert_true(take(world, add.run.id, 9000, &second.run));
    begin_run(world, &second.run);
    second.run.state = RUN_FAILED;
    second.run.finished_ms = 9500;
    second.again = first.again;
    second.again.id = world_id(world);
    finish(world, &second);
    assert_false(second.again.made || second.run.retried);
    assert_int_equal(see_run(world, first.again.id)->run.state, RUN_DUE);
}

static void nodes_that_were_tried_are_known(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct store_finish first = a_failure(world, job, RUN_FAILED), second = {.again.attempts = 3};
    finish(world, &first);
    assert_true(take(world, first.again.id, 9000, &second.run));
    begin_run(world, &second.run);
    second.run.state = RUN_FAILED;
    second.run.finished_ms = 9500;
    second.again = first.again;
    second.again.id = world_id(world);
    finish(world, &second);
    assert_true(second.again.made);
    const struct run *run = &see_run(world, second.again.id)->run;
    char both[160];
    snprintf(both, sizeof(both), "%s node-2", first.run.node);
    assert_string_equal(run->failed_on, both);
    assert_int_equal(run->attempt, 3);
    world_reopen(world);
}

/* ---- what a request hands over ---- */

static const char *input_of(struct world *world, const struct id *id)
{
    char name[ID_TEXT + 1];
    id_format(id, name);
    const struct seen_doc *doc = look_for_doc(world, INPUT_DOC, name);
    return doc ? doc->json : NULL;
}

static struct run add_with_input(struct world *world, struct id job, const char *input)
{
    struct store_add_run add = an_add(world, job, 7000, OVERLAP_ALLOW);
    add.run.input = add.run.id;
    add.input = input;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    return add.run;
}

static void an_input_comes_and_goes_with_its_run(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct run run = add_with_input(world, job, "{\"params\":{\"a\":\"1\"}}"), taken;
    assert_string_equal(input_of(world, &run.id), "{\"params\":{\"a\":\"1\"}}");
    world_reopen(world);
    assert_memory_equal(&see_run(world, run.id)->run.input, &run.id, sizeof(run.id));
    forget_run(world, run.id); /* it is open: it stays, with its input */
    assert_non_null(input_of(world, &run.id));
    assert_true(take(world, run.id, 9000, &taken));
    begin_run(world, &taken);
    end_run(world, &taken, RUN_OK, 9500);
    assert_non_null(input_of(world, &run.id));
    forget_run(world, run.id);
    assert_null(look_for_run(world, run.id));
    assert_null(input_of(world, &run.id));
    world_reopen(world);
}

/* The overlap rule refuses the run: nothing is left of the request. */
static void a_refused_run_leaves_no_input(struct world *world)
{
    struct id job = make_job(world, "extract");
    claim_run(world, job, 2000);
    struct store_add_run add = an_add(world, job, 7000, OVERLAP_SKIP);
    add.run.input = add.run.id;
    add.input = "{}";
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_false(add.added);
    assert_null(input_of(world, &add.run.id));
}

static void attempts_share_an_input(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct run run = add_with_input(world, job, "{}"), second;
    struct store_finish first;
    assert_true(take(world, run.id, 9000, &run));
    begin_run(world, &run);
    first = (struct store_finish){.run = run};
    first.run.state = RUN_FAILED;
    first.run.finished_ms = 9100;
    first.again = (struct store_again){.is_wanted = true,
                                       .id = world_id(world),
                                       .not_before_ms = 9200,
                                       .attempts = 2,
                                       .job_revision = see_job(world, job)->revision};
    finish(world, &first);
    forget_run(world, run.id);
    assert_non_null(input_of(world, &run.id));
    assert_true(take(world, first.again.id, 9300, &second));
    assert_memory_equal(&second.input, &run.id, sizeof(run.id));
    begin_run(world, &second);
    end_run(world, &second, RUN_OK, 9500);
    forget_run(world, second.id);
    assert_null(input_of(world, &run.id));

    /* and in one batch */
    struct run other = add_with_input(world, job, "{}");
    assert_true(take(world, other.id, 9000, &other));
    begin_run(world, &other);
    first.run = other;
    first.run.state = RUN_FAILED;
    first.run.finished_ms = 9900;
    first.again.id = world_id(world);
    first.again.job_revision = see_job(world, job)->revision;
    finish(world, &first);
    assert_true(take(world, first.again.id, 9999, &second));
    begin_run(world, &second);
    end_run(world, &second, RUN_OK, 9999);
    struct store_forget both[] = {{.id = second.id}, {.id = other.id}};
    assert_int_equal(world_do(world, STORE_FORGET, both, 2), OK);
    assert_null(look_for_run(world, second.id));
    assert_null(input_of(world, &other.id));
    world_reopen(world);
}

/* ---- webhooks ---- */

static struct store_add_run a_delivery(struct world *world, struct id job, const char *name)
{
    struct store_add_run add = an_add(world, job, 7000, OVERLAP_ALLOW);
    add.run.input = add.run.id;
    add.run.cause = CAUSE_WEBHOOK;
    add.is_for_now = true;
    add.input = "{}";
    add.delivery = name;
    add.delivery_json = "{\"run_id\":\"x\"}";
    return add;
}

static void a_delivery_makes_one_run(struct world *world)
{
    struct id job = make_job(world, "extract"), other = make_job(world, "load");
    struct store_add_run first = a_delivery(world, job, "uid.one"), again = first;
    world_do_one(world, STORE_ADD_RUN, &first);
    assert_true(first.added && !first.is_delivered);
    assert_string_equal(look_for_doc(world, DELIVERY_DOC, "uid.one")->json, "{\"run_id\":\"x\"}");
    /* the same request once more, another one of the same delivery, and one of its own */
    struct store_add_run repeats[] = {again, a_delivery(world, job, "uid.one"),
                                      a_delivery(world, other, "uid.one"),
                                      a_delivery(world, job, "uid.two")};
    assert_int_equal(world_do(world, STORE_ADD_RUN, repeats, 4), OK);
    for (size_t i = 0; i < 3; i++) {
        assert_true(repeats[i].is_delivered && !repeats[i].added);
        if (i)
            assert_null(look_for_run(world, repeats[i].run.id));
        if (i)
            assert_null(input_of(world, &repeats[i].run.id));
    }
    assert_true(repeats[3].added && !repeats[3].is_delivered);
    world_reopen(world);
    repeats[0] = a_delivery(world, job, "uid.two");
    world_do_one(world, STORE_ADD_RUN, &repeats[0]);
    assert_true(repeats[0].is_delivered);
    /* both of a pair that comes at once */
    struct store_add_run pair[] = {a_delivery(world, job, "uid.both"),
                                   a_delivery(world, job, "uid.both")};
    assert_int_equal(world_do(world, STORE_ADD_RUN, pair, 2), OK);
    assert_true(pair[0].added && !pair[1].added && pair[1].is_delivered);
}

/* What the overlap rule refuses can be delivered again. */
static void a_refused_run_is_not_delivered(struct world *world)
{
    struct id job = make_job(world, "extract");
    struct run open = claim_run(world, job, 2000);
    struct store_add_run add = a_delivery(world, job, "uid.one");
    add.overlap = OVERLAP_SKIP;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_false(add.added || add.is_delivered);
    assert_null(look_for_doc(world, DELIVERY_DOC, "uid.one"));
    begin_run(world, &open);
    end_run(world, &open, RUN_OK, 3000);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
}

/* Base 64 of the largest body and what is beside it: larger than any other document. */
static void a_large_input_is_kept_whole(struct world *world)
{
    struct id job = make_job(world, "extract");
    char *input = malloc(INPUT_DOC_MAX + 2);
    assert_non_null(input);
    memset(input, 'x', INPUT_DOC_MAX + 1);
    input[INPUT_DOC_MAX] = '\0';
    struct run run = add_with_input(world, job, input), taken;
    assert_string_equal(input_of(world, &run.id), input);
    world_reopen(world);
    assert_string_equal(input_of(world, &run.id), input);
    assert_true(take(world, run.id, 9000, &taken));
    begin_run(world, &taken);
    end_run(world, &taken, RUN_OK, 9500);
    forget_run(world, run.id);
    assert_null(input_of(world, &run.id));
    input[INPUT_DOC_MAX] = 'x';
    input[INPUT_DOC_MAX + 1] = '\0';
    struct store_add_run add = an_add(world, job, 8000, OVERLAP_ALLOW);
    add.run.input = add.run.id;
    add.input = input;
    assert_int_equal(world_do(world, STORE_ADD_RUN, &add, 1), E_TOO_LARGE);
    assert_null(look_for_run(world, add.run.id));
    free(input);
}

static void a_purge_takes_the_webhook(struct world *world)
{
    struct id jobs[] = {make_job(world, "extract"), make_job(world, "load")};
    char names[2][ID_TEXT + 1];
    for (size_t i = 0; i < 2; i++) {
        id_format(&jobs[i], names[i]);
        struct store_put_doc put = {.kind = WEBHOOK_DOC, .json = "{}"};
        snprintf(put.name, sizeof(put.name), "%s", names[i]);
        world_do_one(world, STORE_PUT_DOC, &put);
    }
    struct store_put_job purge = {.uid = jobs[0], .purge = true, .expected_revision = -1};
    world_do_one(world, STORE_PUT_JOB, &purge);
    assert_int_equal(purge.result, PUT_OK);
    assert_null(look_for_doc(world, WEBHOOK_DOC, names[0]));
    assert_non_null(look_for_doc(world, WEBHOOK_DOC, names[1]));
    world_reopen(world);
}

const struct contract_test again_tests[] = {
    CONTRACT_TEST(a_delivery_makes_one_run),
    CONTRACT_TEST(a_refused_run_is_not_delivered),
    CONTRACT_TEST(a_large_input_is_kept_whole),
    CONTRACT_TEST(a_purge_takes_the_webhook),
    CONTRACT_TEST(an_input_comes_and_goes_with_its_run),
    CONTRACT_TEST(a_refused_run_leaves_no_input),
    CONTRACT_TEST(attempts_share_an_input),
    CONTRACT_TEST(an_end_makes_the_next_attempt_due),
    CONTRACT_TEST(a_tick_goes_on_with_its_attempts),
    CONTRACT_TEST(a_newer_tick_replaces_the_attempt),
    CONTRACT_TEST(dependents_wait_for_the_last_attempt),
    CONTRACT_TEST(a_retried_end_meets_no_need),
    CONTRACT_TEST(a_job_that_is_paused_or_deleted_is_not_tried_again),
    CONTRACT_TEST(a_pause_ends_attempts_that_wait),
    CONTRACT_TEST(a_deletion_ends_attempts_that_wait),
    CONTRACT_TEST(the_definition_decides_that_is_there),
    CONTRACT_TEST(a_success_after_all_ends_the_attempt_that_waits),
    CONTRACT_TEST(a_late_end_starts_nothing_again),
    CONTRACT_TEST(attempts_of_a_backfill_do_not_meet_others),
    CONTRACT_TEST(nodes_that_were_tried_are_known),
    {NULL, NULL},
};
