/* Answers and the change feed: their order, requests from within `done`, large numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_world.h"

/* ---- requests whose answers are noted ---- */

struct note {
    struct world *world;
    int answers[64]; /* the numbers of the requests, in the order of their answers */
    int count;
    enum status status; /* of the last one */
    int chain;          /* so many more are submitted from within `done` */
};

struct noted {
    struct store_request request; /* first */
    struct note *note;
    int number;
};

static void on_noted(struct store_request *request, enum status st)
{
    struct noted *noted = (struct noted *)request;
    struct note *note = noted->note;
    assert_in_range(note->count, 0, 63);
    note->answers[note->count++] = noted->number;
    note->status = st;
    if (note->chain > 0) {
        note->chain--;
        noted->number++;
        store_submit(note->world->store, request);
    }
}

static void submit(struct note *note, struct noted *noted, int number, enum store_op op,
                   void *items, size_t count)
{
    *noted = (struct noted){.note = note, .number = number};
    noted->request =
        (struct store_request){.op = op, .count = count, .items.claims = items, .done = on_noted};
    store_submit(note->world->store, &noted->request);
}

static void answers_come_in_the_order_of_submission(struct world *world)
{
    struct note note = {.world = world};
    struct noted noted[50];
    struct store_set_meta meta = {"key", "value"};
    for (int i = 0; i < 50; i++)
        submit(&note, &noted[i], i, STORE_SET_META, &meta, 1);
    while (note.count < 50)
        world_wait(world);
    for (int i = 0; i < 50; i++)
        assert_int_equal(note.answers[i], i);
}

/* Whatever others had written when it was asked has been fed when it is answered. */
static void a_confirmation_is_behind_what_others_wrote(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    struct id job = make_job(other, "backup");
    for (int64_t revision = 2; revision < 20; revision++) {
        struct store_put_job put = a_put(job, "backup", revision - 1);
        world_do_one(other, STORE_PUT_JOB, &put);
        assert_int_equal(world_do(world, STORE_CONFIRM, NULL, 1), OK);
        assert_int_equal(see_job(world, job)->revision, revision);
    }
    world_free(other);
}

/* It is nobody's news. */
static void a_confirmation_changes_nothing(struct world *world)
{
    struct note note = {.world = world};
    struct noted noted[8];
    make_job(world, "backup");
    world_read_feed(world);
    world_mark(world);
    for (int i = 0; i < 8; i++)
        submit(&note, &noted[i], i, STORE_CONFIRM, NULL, 1);
    while (note.count < 8)
        world_wait(world);
    assert_int_equal(note.status, OK);
    world_read_feed(world);
    for (int kind = 0; kind < STORE_CHANGE_LOADED; kind++)
        assert_int_equal(world->picture.changes[kind], 0);
    world_reopen(world);
}

static void nothing_is_answered_before_dispatch(struct world *world)
{
    struct note note = {.world = world};
    struct noted noted;
    struct store_set_meta meta = {"key", "value"};
    struct store_change change;
    submit(&note, &noted, 0, STORE_SET_META, &meta, 1);
    assert_false(store_next_change(world->store, &change));
    assert_int_equal(note.count, 0);
    while (!note.count)
        world_wait(world);
}

static void done_may_submit(struct world *world)
{
    struct note note = {.world = world, .chain = 40};
    struct noted noted;
    struct store_set_meta meta = {"key", "value"};
    submit(&note, &noted, 0, STORE_SET_META, &meta, 1);
    while (note.count < 41)
        world_wait(world);
    assert_int_equal(note.answers[40], 40);
    assert_int_equal(note.status, OK);
}

static void free_answers_what_waits(struct world *world)
{
    struct note note = {.world = world, .chain = 3};
    struct noted noted[2];
    struct store_set_meta meta = {"key", "value"};
    struct store_put_job put = a_put(world_id(world), "backup", 0);
    submit(&note, &noted[0], 100, STORE_PUT_JOB, &put, 1);
    submit(&note, &noted[1], 200, STORE_SET_META, &meta, 1);
    world->store = store_free(world->store);
    assert_int_equal(note.count, 5);
    assert_int_equal(note.answers[0], 100);
    assert_int_equal(note.answers[1], 200);
    assert_int_equal(put.result, PUT_OK);
    assert_int_equal(note.status, E_UNREACHABLE); /* what was submitted during the free */
    if (world->backend->durable) {
        memset(&world->picture, 0, sizeof(world->picture));
        world_open(world);
        assert_string_equal(see_job(world, put.uid)->name, "backup");
    }
}

static void an_empty_request_is_answered(struct world *world)
{
    assert_int_equal(world_do(world, STORE_CLAIM, NULL, 0), OK);
    assert_int_equal(world_do(world, STORE_FORGET, NULL, 0), OK);
}

/* ---- the feed ---- */

static void feed_is_in_the_order_of_the_store(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run old = claim_run(world, job, 3000);
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_REPLACE);
    struct ledger_entry passed = {.id = world_id(world), .job_uid = job, .count = 1};
    struct store_put_job put = a_put(job, "renamed", 1);
    struct note note = {.world = world};
    struct noted noted[3];
    struct store_change change;
    static const enum store_change_kind want[] = {STORE_CHANGE_CURSOR, STORE_CHANGE_ENTRY,
                                                  STORE_CHANGE_KILL,   STORE_CHANGE_RUN,
                                                  STORE_CHANGE_JOB,    STORE_CHANGE_RUN};
    struct store_begin begin = {.run_id = old.id, .nonce = old.nonce};
    claim.passed = &passed;
    claim.passed_count = 1;
    submit(&note, &noted[0], 0, STORE_CLAIM, &claim, 1);
    submit(&note, &noted[1], 1, STORE_PUT_JOB, &put, 1);
    submit(&note, &noted[2], 2, STORE_BEGIN, &begin, 1);
    while (note.count < 3)
        world_wait(world);
    size_t i = 0;
    for (; store_next_change(world->store, &change); i++) {
        assert_in_range(i, 0, 6);
        if (i < 6)
            assert_int_equal(change.kind, want[i]);
        if (i == 3)
            assert_int_equal(change.run->state, RUN_QUEUED);
        if (i == 4)
            assert_string_equal(change.job_name, "renamed");
        if (i == 5) { /* it was ordered to be killed, and so it did not begin */
            assert_int_equal(change.run->state, RUN_SKIPPED);
            assert_int_equal(change.run->reason, REASON_REPLACED);
        }
        if (i == 6) /* and the one that replaced it goes */
            assert_int_equal(change.run->state, RUN_DUE);
    }
    assert_int_equal(i, 7);
    world->without_picture = true; /* its changes were read here */
}

static void health_is_ok(struct world *world)
{
    struct strbuf why;
    strbuf_init(&why);
    assert_int_equal(store_health(world->store, &why), OK);
    assert_string_equal(why.text, "");
    strbuf_release(&why);
}

/* ---- large numbers ---- */

static struct id numbered_id(int kind, int number)
{
    return (struct id){{(uint8_t)kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (uint8_t)(number >> 24),
                        (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}};
}

static void put_many(struct world *world, int first, int count)
{
    struct store_put_job *puts = calloc((size_t)count, sizeof(*puts));
    char(*names)[32] = calloc((size_t)count, sizeof(*names));
    assert_non_null(puts);
    assert_non_null(names);
    for (int i = 0; i < count; i++) {
        snprintf(names[i], sizeof(names[i]), "job-%d", first + i);
        puts[i] = a_put(numbered_id(1, first + i), names[i], 0);
        puts[i].cursor_ms = CURSOR_MS;
    }
    assert_int_equal(world_do(world, STORE_PUT_JOB, puts, (size_t)count), OK);
    for (int i = 0; i < count; i++)
        assert_int_equal(puts[i].result, PUT_OK);
    free(names);
    free(puts);
}

/* One tick of `count` jobs, claimed, begun, ended and forgotten in batches of that size. */
static void run_many(struct world *world, int first, int count, int64_t cursor_ms)
{
    struct store_claim *claims = calloc((size_t)count, sizeof(*claims));
    struct store_begin *begins = calloc((size_t)count, sizeof(*begins));
    struct store_finish *finishes = calloc((size_t)count, sizeof(*finishes));
    struct store_forget *forgets = calloc((size_t)count, sizeof(*forgets));
    assert_true(claims && begins && finishes && forgets);
    for (int i = 0; i < count; i++) {
        struct id job = numbered_id(1, first + i), run = numbered_id(2, first + i);
        claims[i] = (struct store_claim){
            .job_uid = job,
            .job_revision = 1,
            .cursor_ms = cursor_ms,
            .tick_ms = cursor_ms + 1,
            .run = {.id = run, .job_uid = job, .tick_ms = cursor_ms + 1, .attempt = 1, .nonce = 5}};
        begins[i] = (struct store_begin){.run_id = run, .nonce = 5};
        finishes[i].run = claims[i].run;
        finishes[i].run.state = RUN_OK;
        forgets[i].id = run;
    }
    assert_int_equal(world_do(world, STORE_CLAIM, claims, (size_t)count), OK);
    assert_int_equal(world_do(world, STORE_BEGIN, begins, (size_t)count), OK);
    assert_int_equal(world_do(world, STORE_FINISH, finishes, (size_t)count), OK);
    assert_int_equal(world_do(world, STORE_FORGET, forgets, (size_t)count), OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(claims[i].result, CLAIM_WON);
        assert_true(begins[i].begun);
        assert_true(finishes[i].accepted);
    }
    free(claims);
    free(begins);
    free(finishes);
    free(forgets);
}

/* A tick of all jobs, in batches of each size. */
static void batches_of_any_size(struct world *world)
{
    enum { JOBS = 1000 };
    static const int sizes[] = {1, 2, 7, 99, 100, 101, 1000};
    int64_t cursor_ms = CURSOR_MS;
    world->without_picture = true;
    put_many(world, 0, JOBS);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, cursor_ms++) {
        int jobs = sizes[i] < 10 ? 50 * sizes[i] : JOBS; /* small batches take long */
        for (int first = 0, count; first < JOBS; first += count) {
            count = first < jobs ? sizes[i] : JOBS;
            if (count > JOBS - first)
                count = JOBS - first;
            run_many(world, first, count, cursor_ms);
        }
    }
}

static void a_hundred_thousand_jobs(struct world *world)
{
    enum { JOBS = 100000, BATCH = 5000 };
    world->without_picture = true;
    for (int first = 0; first < JOBS; first += BATCH)
        put_many(world, first, BATCH);
    run_many(world, 50000, 1000, CURSOR_MS);
    if (!world->backend->durable)
        return;
    world->store = store_free(world->store);
    assert_int_equal(world->backend->open(world->place, world_wake(world), &world->store), OK);
    struct store_change change;
    int jobs = 0, moved = 0;
    while (store_next_change(world->store, &change) && change.kind != STORE_CHANGE_LOADED) {
        assert_int_equal(change.kind, STORE_CHANGE_JOB);
        jobs++;
        moved += change.cursor_ms == CURSOR_MS + 1;
    }
    assert_int_equal(change.kind, STORE_CHANGE_LOADED);
    assert_int_equal(jobs, JOBS);
    assert_int_equal(moved, 1000);
}

const struct contract_test feed_tests[] = {
    CONTRACT_TEST(answers_come_in_the_order_of_submission),
    CONTRACT_TEST(a_confirmation_is_behind_what_others_wrote),
    CONTRACT_TEST(a_confirmation_changes_nothing),
    CONTRACT_TEST(nothing_is_answered_before_dispatch),
    CONTRACT_TEST(done_may_submit),
    CONTRACT_TEST(free_answers_what_waits),
    CONTRACT_TEST(an_empty_request_is_answered),
    CONTRACT_TEST(feed_is_in_the_order_of_the_store),
    CONTRACT_TEST(health_is_ok),
    CONTRACT_TEST(batches_of_any_size),
    CONTRACT_TEST(a_hundred_thousand_jobs),
    {NULL, NULL},
};
