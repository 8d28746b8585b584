/* STORE_PUT_JOB, STORE_ADD_RUN, STORE_ORDER, STORE_SET_META: what people ask for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_world.h"

static void check_put(struct world *world, struct store_put_job put, enum put_result want,
                      int64_t revision)
{
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, want);
    assert_int_equal(put.revision, revision);
}

static struct store_put_job a_delete(struct id uid, const char *name)
{
    struct store_put_job put = a_put(uid, name, -1);
    put.deleted = true;
    return put;
}

static void put_creates(struct world *world)
{
    struct store_put_job put = a_put(world_id(world), "backup", 0);
    put.cursor_ms = 1234;
    put.json = "{\"notes\": \"caf\u00e9 \\\" '\"}";
    check_put(world, put, PUT_OK, 1);
    struct seen_job *job = see_job(world, put.uid);
    assert_string_equal(job->name, "backup");
    assert_string_equal(job->json, put.json);
    assert_int_equal(job->revision, 1);
    assert_int_equal(job->cursor_ms, 1234);
    assert_true(id_is_zero(&job->last.run_id));
    check_put(world, a_put(world_id(world), "backup", 0), PUT_EXISTS, 0);
    check_put(world, a_put(put.uid, "other", 0), PUT_CONFLICT, 1); /* a uid is never made twice */
    check_put(world, a_put(world_id(world), "Backup", 0), PUT_OK, 1);
    world_reopen(world); /* those that were refused have left nothing */
    assert_string_equal(see_job(world, put.uid)->name, "backup");
    assert_string_equal(see_job(world, put.uid)->json, put.json);
}

/* Of one request each name is made once, also where a deleted job has had it. */
static void put_creates_many(struct world *world)
{
    struct id old = make_job(world, "old");
    check_put(world, a_delete(old, "old"), PUT_OK, 2);
    struct id one = world_id(world);
    struct store_put_job puts[] = {
        a_put(one, "one", 0),
        a_put(world_id(world), "one", 0),
        a_put(one, "two", 0),
        a_put(world_id(world), "old", 0),
        a_put(world_id(world), "two", 0),
    };
    enum put_result wants[] = {PUT_OK, PUT_EXISTS, PUT_CONFLICT, PUT_OK, PUT_OK};
    world_do(world, STORE_PUT_JOB, puts, sizeof(puts) / sizeof(puts[0]));
    for (size_t i = 0; i < sizeof(puts) / sizeof(puts[0]); i++)
        assert_int_equal(puts[i].result, wants[i]);
    world_reopen(world);
    assert_string_equal(see_job(world, one)->name, "one");
    assert_string_equal(see_job(world, puts[3].uid)->name, "old");
    assert_string_equal(see_job(world, puts[4].uid)->name, "two");
}

static void put_compares_the_revision(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_put_job put = a_put(job, "backup", 1);
    put.json = "{\"v\": 2}";
    check_put(world, put, PUT_OK, 2);
    check_put(world, a_put(job, "backup", 1), PUT_CONFLICT, 2);
    check_put(world, a_put(job, "backup", 3), PUT_CONFLICT, 2);
    assert_string_equal(see_job(world, job)->json, "{\"v\": 2}");
    check_put(world, a_put(job, "backup", -1), PUT_OK, 3);
    check_put(world, a_put(world_id(world), "none", 1), PUT_MISSING, 0);
    check_put(world, a_put(world_id(world), "none", -1), PUT_MISSING, 0);
}

static void put_renames(struct world *world)
{
    struct id one = make_job(world, "one"), two = make_job(world, "two");
    check_put(world, a_put(one, "two", 1), PUT_EXISTS, 0);
    check_put(world, a_put(one, "three", 1), PUT_OK, 2);
    check_put(world, a_put(two, "one", 1), PUT_OK, 2); /* the old name is free */
    assert_string_equal(see_job(world, one)->name, "three");
    assert_string_equal(see_job(world, two)->name, "one");
}

/* Cursor, last run, open runs and what follows them stay with the uid. */
static void a_rename_keeps_what_the_job_has(struct world *world)
{
    struct id one = make_job(world, "one");
    struct run run = claim_run(world, one, 5000);
    begin_run(world, &run);
    world_mark(world);
    check_put(world, a_put(one, "two", 1), PUT_OK, 2);
    assert_int_equal(world->picture.changes[STORE_CHANGE_JOB], 1);
    assert_int_equal(world->picture.changes[STORE_CHANGE_DELETE], 0);
    assert_int_equal(see_job(world, one)->cursor_ms, 5000);
    check_put(world, a_put(world_id(world), "two", 0), PUT_EXISTS, 0);
    end_run(world, &run, RUN_OK, 6000);
    assert_int_equal(see_job(world, one)->last.state, RUN_OK);
    check_put(world, a_put(one, "one", 2), PUT_OK, 3); /* and back */
    check_put(world, a_put(world_id(world), "two", 0), PUT_OK, 1);
    check_put(world, a_delete(one, "one"), PUT_OK, 4);
    struct id other = make_job(world, "three");
    check_put(world, a_put(other, "one", 1), PUT_OK, 2); /* the name of a deleted job */
    check_put(world, a_put(one, "one", 4), PUT_EXISTS, 0);
    world_reopen(world);
    assert_string_equal(see_job(world, other)->name, "one");
    assert_true(see_job(world, one)->deleted);
}

/* A definition is stored only while the jobs that it waits for have their names. */
static void put_wants_names(struct world *world)
{
    struct id one = make_job(world, "one"), two = make_job(world, "two");
    struct id waiting = make_job(world, "waiting");
    struct store_want wants[] = {{.name = "one", .job_uid = one}, {.name = "two", .job_uid = two}};
    struct store_put_job put = a_put(waiting, "waiting", 1);
    put.wants = wants;
    put.want_count = 2;
    check_put(world, put, PUT_OK, 2);
    put.expected_revision = 2;
    check_put(world, a_put(two, "three", 1), PUT_OK, 2);
    check_put(world, put, PUT_CONFLICT, 2); /* nobody has the name */
    struct id other = make_job(world, "two");
    check_put(world, put, PUT_CONFLICT, 2); /* another job has it */
    check_put(world, a_delete(other, "two"), PUT_OK, 2);
    check_put(world, put, PUT_CONFLICT, 2);
    check_put(world, a_put(two, "two", 2), PUT_OK, 3);
    check_put(world, put, PUT_OK, 3);
    struct store_put_job made = a_put(world_id(world), "made", 0);
    struct store_want none[] = {{.name = "none", .job_uid = one}};
    made.wants = none;
    made.want_count = 1;
    check_put(world, made, PUT_CONFLICT, 0);
    made.want_count = 0;
    check_put(world, made, PUT_OK, 1);
}

static struct store_put_doc a_forget(const char *name)
{
    struct store_put_doc doc = {.kind = RECORDS_DOC, .expected_revision = -1};
    snprintf(doc.name, sizeof(doc.name), "%s", name);
    return doc;
}

/* The record of a change is written if the definition is, and only then. */
static void put_takes_its_record_along(struct world *world)
{
    struct id job = make_job(world, "backup"), ids[] = {world_id(world), world_id(world)};
    struct store_put_job put = a_put(job, "backup", 7);
    char one[ID_TEXT + 1], two[ID_TEXT + 1];
    id_format(&ids[0], one);
    id_format(&ids[1], two);
    put.record = "{\"by\":1}\n,null";
    put.record_id = ids[0];
    check_put(world, put, PUT_CONFLICT, 1);
    assert_null(look_for_doc(world, RECORDS_DOC, one));
    put.expected_revision = 1;
    world_mark(world);
    check_put(world, put, PUT_OK, 2);
    assert_string_equal(look_for_doc(world, RECORDS_DOC, one)->json, "[{\"by\":1}\n,null]");
    struct store_put_job made = a_put(world_id(world), "backup", 0);
    made.record = "{}";
    made.record_id = ids[1];
    world_do_one(world, STORE_PUT_JOB, &made);
    assert_int_equal(made.result, PUT_EXISTS);
    assert_null(look_for_doc(world, RECORDS_DOC, two));
    made.name = "made";
    check_put(world, made, PUT_OK, 1);
    world_reopen(world);
    assert_non_null(look_for_doc(world, RECORDS_DOC, one));
    assert_non_null(look_for_doc(world, RECORDS_DOC, two));
    struct store_put_doc gone[] = {a_forget(one), a_forget(two)};
    world_do(world, STORE_PUT_DOC, gone, 2);
    assert_null(look_for_doc(world, RECORDS_DOC, one));
    assert_null(look_for_doc(world, RECORDS_DOC, two));
    assert_int_equal(see_job(world, job)->revision, 2);
}

/* How often the record is in the documents that the store has now, be they one or several. */
static int count_record(const struct world *world, const struct id *ids, size_t count,
                        const char *record)
{
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        char name[ID_TEXT + 1];
        id_format(&ids[i], name);
        const struct seen_doc *doc = look_for_doc(world, RECORDS_DOC, name);
        for (const char *at = doc ? doc->json : NULL; at && (at = strstr(at, record)); at++)
            found++;
        if (doc)
            assert_true(strlen(doc->json) <= DOC_JSON_MAX);
    }
    return found;
}

/* Of one request those records are written whose changes are, each once; large ones are spread over
 * several documents. */
static void records_of_a_request_are_gathered(struct world *world)
{
    enum { JOBS = 5, TAKEN = 2, LARGE = RECORD_MAX / 2 };
    struct store_put_job puts[JOBS];
    struct id ids[JOBS];
    char names[JOBS][16], *records[JOBS], start[24];
    make_job(world, "job-2");
    for (int i = 0; i < JOBS; i++) {
        snprintf(names[i], sizeof(names[i]), "job-%d", i);
        ids[i] = world_id(world);
        puts[i] = a_put(world_id(world), names[i], 0);
        records[i] = malloc(LARGE + 1);
        assert_non_null(records[i]);
        memset(records[i], ' ', LARGE);
        memcpy(records[i], "\"record-0\"", 10);
        records[i][8] = (char)('0' + i);
        records[i][LARGE] = '\0';
        puts[i].record = records[i];
        puts[i].record_id = ids[i];
    }
    world_do(world, STORE_PUT_JOB, puts, JOBS);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < JOBS; i++) {
            assert_int_equal(puts[i].result, i == TAKEN ? PUT_EXISTS : PUT_OK);
            snprintf(start, sizeof(start), "\"record-%d\"", i);
            assert_int_equal(count_record(world, ids, JOBS, start), i != TAKEN);
        }
        world_reopen(world);
    }
    for (int i = 0; i < JOBS; i++)
        free(records[i]);
}

static void put_moves_the_cursor_forward_only(struct world *world)
{
    struct id job = make_job(world, "backup");
    static const struct {
        int line;
        int64_t cursor_ms, want_ms;
    } cases[] = {
        {__LINE__, -1, CURSOR_MS}, {__LINE__, 0, CURSOR_MS}, {__LINE__, CURSOR_MS - 1, CURSOR_MS},
        {__LINE__, 2000, 2000},    {__LINE__, -1, 2000},     {__LINE__, 1500, 2000},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_put_job put = a_put(job, "backup", -1);
        put.cursor_ms = cases[i].cursor_ms;
        world_do_one(world, STORE_PUT_JOB, &put);
        if (see_job(world, job)->cursor_ms != cases[i].want_ms)
            fail_msg("line %d: cursor %lld", cases[i].line,
                     (long long)see_job(world, job)->cursor_ms);
    }
}

static void put_keeps_cursor_and_last_run(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    end_run(world, &run, RUN_FAILED, 6000);
    check_put(world, a_put(job, "backup", 1), PUT_OK, 2);
    assert_int_equal(see_job(world, job)->cursor_ms, 5000);
    assert_int_equal(see_job(world, job)->last.state, RUN_FAILED);
    assert_int_equal(see_job(world, job)->last.ended_ms, 6000);
}

static void delete_frees_the_name_and_keeps_the_job(struct world *world)
{
    struct id job = make_job(world, "backup");
    world_mark(world);
    check_put(world, a_delete(job, "backup"), PUT_OK, 2);
    assert_int_equal(world->picture.changes[STORE_CHANGE_DELETE], 1);
    assert_true(see_job(world, job)->deleted);
    struct id second = make_job(world, "backup");
    check_put(world, a_put(job, "backup", -1), PUT_EXISTS, 0); /* can't come back as it was */
    check_put(world, a_put(job, "backup-1", 2), PUT_OK, 3);
    assert_false(see_job(world, job)->deleted);
    assert_int_equal(see_job(world, job)->cursor_ms, CURSOR_MS);
    check_put(world, a_delete(second, "backup"), PUT_OK, 2);
    check_put(world, a_delete(job, "backup"), PUT_OK, 4); /* two deleted ones of one name */
    assert_string_equal(see_job(world, job)->name, "backup");
    check_put(world, a_put(second, "backup", 2), PUT_OK, 3);
}

static void purge_removes_for_good(struct world *world)
{
    struct id job = make_job(world, "backup"), live = make_job(world, "live");
    struct store_put_job purge = {.uid = job, .purge = true, .expected_revision = 1};
    check_put(world, a_delete(job, "backup"), PUT_OK, 2);
    check_put(world, purge, PUT_CONFLICT, 2);
    purge.expected_revision = 2;
    size_t jobs = world->picture.job_count;
    check_put(world, purge, PUT_OK, 2);
    assert_int_equal(world->picture.job_count, jobs - 1);
    check_put(world, purge, PUT_MISSING, 0);
    purge.expected_revision = 0;
    check_put(world, purge, PUT_MISSING, 0);
    check_put(world, a_put(job, "backup", -1), PUT_MISSING, 0);
    purge = (struct store_put_job){.uid = live, .purge = true, .expected_revision = -1};
    check_put(world, purge, PUT_OK, 1);
    make_job(world, "live");
}

static void delete_ends_what_waits(struct world *world)
{
    for (int i = 0; i < 2; i++) {
        struct id job = make_job(world, i ? "purged" : "deleted");
        struct run begun = claim_run(world, job, 5000);
        struct store_add_run due = an_add(world, job, 100, OVERLAP_ALLOW);
        struct store_add_run queued = an_add(world, job, 200, OVERLAP_QUEUE);
        struct store_add_run late = an_add(world, job, 300, OVERLAP_ALLOW);
        begin_run(world, &begun);
        world_do_one(world, STORE_ADD_RUN, &due);
        world_do_one(world, STORE_ADD_RUN, &queued);
        struct store_put_job put = a_delete(job, "deleted");
        put.purge = i == 1;
        check_put(world, put, PUT_OK, i ? 1 : 2);
        struct run ended = see_run(world, due.run.id)->run;
        assert_int_equal(ended.state, RUN_SKIPPED);
        assert_int_equal(ended.reason, REASON_DELETED);
        ended = see_run(world, queued.run.id)->run;
        assert_int_equal(ended.state, RUN_SKIPPED);
        assert_int_equal(ended.reason, REASON_DELETED);
        assert_int_equal(see_run(world, begun.id)->run.state, RUN_BEGUN);
        assert_true(end_run(world, &begun, RUN_OK, 6000).accepted); /* it goes on to its end */
        world_do_one(world, STORE_ADD_RUN, &late);
        assert_false(late.added);
        assert_true(id_is_zero(&late.open_run));
    }
}

static void add_makes_a_run_once(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_add_run add = an_add(world, job, 5000, OVERLAP_ALLOW);
    struct store_add_run same = an_add(world, job, 5000, OVERLAP_ALLOW);
    struct store_add_run retry = an_add(world, job, 5000, OVERLAP_ALLOW);
    struct store_add_run repeat = add;
    snprintf(add.run.node, sizeof(add.run.node), "node-9"); /* it is nobody's, all the same */
    add.run.nonce = 99;
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);
    assert_string_equal(see_run(world, add.run.id)->run.node, "");
    assert_true(see_run(world, add.run.id)->run.nonce == 0);
    world_mark(world);
    world_do_one(world, STORE_ADD_RUN, &same);
    assert_false(same.added);
    assert_int_equal(id_compare(&same.open_run, &add.run.id), 0);
    world_do_one(world, STORE_ADD_RUN, &repeat);
    assert_true(repeat.added);
    assert_int_equal(world->picture.changes[STORE_CHANGE_RUN], 0);
    retry.run.attempt = 2;
    world_do_one(world, STORE_ADD_RUN, &retry);
    assert_true(retry.added);

    struct store_add_run none = an_add(world, job, 6000, OVERLAP_ALLOW);
    none.run.job_uid = world_id(world);
    world_do_one(world, STORE_ADD_RUN, &none);
    assert_false(none.added);
    assert_true(id_is_zero(&none.open_run));
}

static void add_for_now_takes_the_first_free_millisecond(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run ended = claim_run(world, job, 5999); /* it has its millisecond all the same */
    struct store_add_run second = an_add(world, job, 5999, OVERLAP_ALLOW);
    struct store_add_run third = an_add(world, job, 5999, OVERLAP_ALLOW);
    struct store_add_run skipped = an_add(world, job, 5999, OVERLAP_SKIP);
    second.is_for_now = third.is_for_now = skipped.is_for_now = true;
    struct store_add_run repeat = second;
    end_run(world, &ended, RUN_OK, 5999);
    world_do_one(world, STORE_ADD_RUN, &second);
    world_do_one(world, STORE_ADD_RUN, &third);
    assert_true(second.added && third.added);
    assert_true(second.run.tick_ms == run_tick_of_now(6000)); /* not that of a schedule */
    assert_true(third.run.tick_ms == second.run.tick_ms + 1);
    assert_true(see_run(world, third.run.id)->run.tick_ms == third.run.tick_ms);

    repeat.run.tick_ms = 9000; /* asked for again, later */
    world_do_one(world, STORE_ADD_RUN, &repeat);
    assert_true(repeat.added);
    assert_true(repeat.run.tick_ms == second.run.tick_ms);
    world_do_one(world, STORE_ADD_RUN, &skipped); /* the rule of overlap is as it was */
    assert_false(skipped.added);
    assert_int_equal(id_compare(&skipped.open_run, &second.run.id), 0);
}

static void order_tells_the_owner(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000), ended = claim_run(world, job, 6000);
    begin_run(world, &run);
    end_run(world, &ended, RUN_OK, 7000);
    struct store_order order = {.run_id = run.id, .reason = REASON_USER, .by = "otto"};
    world_mark(world);
    world_do_one(world, STORE_ORDER, &order);
    assert_true(order.known);
    assert_int_equal(world->picture.changes[STORE_CHANGE_KILL], 1);
    assert_int_equal(see_run(world, run.id)->kill_reason, REASON_USER);
    assert_string_equal(see_run(world, run.id)->kill_by, "otto");
    assert_int_equal(see_run(world, run.id)->run.state, RUN_BEGUN);
    world_reopen(world); /* and again, after a restart: whoever was told may not have heard */
    assert_int_equal(see_run(world, run.id)->kill_reason, REASON_USER);
    order.run_id = ended.id;
    world_do_one(world, STORE_ORDER, &order);
    assert_false(order.known);
    order.run_id = world_id(world);
    world_do_one(world, STORE_ORDER, &order);
    assert_false(order.known);
}

static void order_ends_what_nobody_owns(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    struct store_add_run due = an_add(world, job, 100, OVERLAP_ALLOW);
    struct store_add_run one = an_add(world, job, 200, OVERLAP_QUEUE);
    struct store_add_run two = an_add(world, job, 300, OVERLAP_QUEUE);
    world_do_one(world, STORE_ADD_RUN, &due);
    world_do_one(world, STORE_ADD_RUN, &one);
    world_do_one(world, STORE_ADD_RUN, &two);
    end_run(world, &run, RUN_OK, 5500);
    world_mark(world);
    struct store_order orders[2] = {
        {.run_id = one.run.id, .reason = REASON_USER, .by = "otto"},
        {.run_id = due.run.id, .reason = REASON_USER, .by = "otto"},
    };
    assert_int_equal(world_do(world, STORE_ORDER, orders, 2), OK);
    assert_true(orders[0].known && orders[1].known);
    assert_int_equal(world->picture.changes[STORE_CHANGE_KILL], 0);
    assert_int_equal(see_run(world, one.run.id)->run.state, RUN_SKIPPED);
    assert_int_equal(see_run(world, one.run.id)->run.reason, REASON_USER);
    assert_string_equal(see_run(world, one.run.id)->run.by, "otto");
    assert_int_equal(see_run(world, due.run.id)->run.state, RUN_SKIPPED);
    assert_int_equal(see_run(world, two.run.id)->run.state, RUN_DUE); /* its turn */
}

static void metas_come_back(struct world *world)
{
    struct store_set_meta metas[] = {
        {"boot_id", "one"}, {"node", "node-1"}, {"boot_id", "two"}, {"empty", ""}};
    assert_int_equal(world_do(world, STORE_SET_META, metas, 4), OK);
    world_reopen(world);
    assert_int_equal(world->picture.meta_count, 3);
    for (size_t i = 0; i < world->picture.meta_count; i++) {
        if (strcmp(world->picture.metas[i].key, "boot_id") == 0)
            assert_string_equal(world->picture.metas[i].value, "two");
    }
}

const struct contract_test job_tests[] = {
    CONTRACT_TEST(put_creates),
    CONTRACT_TEST(put_creates_many),
    CONTRACT_TEST(put_compares_the_revision),
    CONTRACT_TEST(put_renames),
    CONTRACT_TEST(a_rename_keeps_what_the_job_has),
    CONTRACT_TEST(put_wants_names),
    CONTRACT_TEST(put_takes_its_record_along),
    CONTRACT_TEST(records_of_a_request_are_gathered),
    CONTRACT_TEST(put_moves_the_cursor_forward_only),
    CONTRACT_TEST(put_keeps_cursor_and_last_run),
    CONTRACT_TEST(delete_frees_the_name_and_keeps_the_job),
    CONTRACT_TEST(purge_removes_for_good),
    CONTRACT_TEST(delete_ends_what_waits),
    CONTRACT_TEST(add_makes_a_run_once),
    CONTRACT_TEST(add_for_now_takes_the_first_free_millisecond),
    CONTRACT_TEST(order_tells_the_owner),
    CONTRACT_TEST(order_ends_what_nobody_owns),
    CONTRACT_TEST(metas_come_back),
    {NULL, NULL},
};
