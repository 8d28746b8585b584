/* Many items at a time through the store in etcd: which of them travel together, which wait, and
 * what stays behind after many of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd_admin.h"
#include "etcd_place.h"
#include "store_world.h"

static int start(void **state)
{
    (void)state;
    etcd_place.client.deadline_ms = ETCD_PATIENT_MS;
    etcd_place_start(1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    etcd_place_stop();
    return 0;
}

struct seen {
    bool is_done;
    int64_t revision, db_bytes, used_bytes;
};

static void on_seen(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(struct seen *)context =
        (struct seen){true, result->revision, etcd_member_of(result)->db_bytes,
                      etcd_member_of(result)->db_bytes_in_use};
}

static struct seen look(void)
{
    struct kv_client *client = etcd_place_client();
    struct seen seen = {0};
    assert_int_equal(etcd_status(client, &(struct kv_reply){on_seen, &seen, 0}, NULL), OK);
    etcd_place_wait(seen.is_done);
    kv_client_free(client);
    return seen;
}

/* ---- items of one job ---- */

enum { MANY = 100 };

static void runs_of_one_job_are_added_together(void **state)
{
    struct world *world = world_new(&etcd_backend);
    static struct store_add_run adds[MANY];
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    for (int i = 0; i < MANY; i++) {
        adds[i] = an_add(world, job, 5000 + i, OVERLAP_QUEUE);
        adds[i].queue_limit = MANY - 2; /* one is DUE, one too many */
    }
    int64_t before = look().revision;
    assert_int_equal(world_do(world, STORE_ADD_RUN, adds, MANY), OK);
    assert_int_equal(look().revision, before + 1);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(adds[i].added, i < MANY - 1);
        if (adds[i].added)
            assert_int_equal(adds[i].run.state, i ? RUN_QUEUED : RUN_DUE);
    }
    assert_int_equal(id_compare(&adds[MANY - 1].open_run, &adds[0].run.id), 0);
    for (int i = 0; i < MANY - 1; i++) { /* the queue has the order in which they were added */
        struct run run = see_run(world, adds[i].run.id)->run;
        assert_int_equal(run.state, RUN_DUE);
        end_run(world, &run, RUN_SKIPPED, 9000 + i);
    }
    world_reopen(world);
    world_free(world);
}

static void runs_of_one_job_end_together(void **state)
{
    struct world *world = world_new(&etcd_backend);
    static struct store_finish finishes[MANY];
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    for (int i = 0; i < MANY; i++) {
        finishes[i].run = claim_run(world, job, 5000 + i);
        begin_run(world, &finishes[i].run);
        finishes[i].run.state = RUN_OK;
        finishes[i].run.finished_ms = 9000 + i;
    }
    int64_t before = look().revision;
    assert_int_equal(world_do(world, STORE_FINISH, finishes, MANY), OK);
    assert_in_range(look().revision, before + 1, before + 3);
    for (int i = 0; i < MANY; i++)
        assert_true(finishes[i].accepted);
    assert_int_equal(see_job(world, job)->last.ended_ms, 9000 + MANY - 1);
    assert_int_equal(count_runs(world, job, RUN_OK), MANY);
    world_reopen(world);
    world_free(world);
}

/* ---- ends that make other jobs due ---- */

static struct store_next a_next(struct world *world, struct id job, enum overlap_policy overlap)
{
    struct store_add_run add = an_add(world, job, 0, overlap);
    struct store_next next = {.job_uid = job,
                              .states = 1 << RUN_LOST,
                              .run = add.run,
                              .overlap = overlap,
                              .queue_limit = MANY,
                              .skip_entry_id = world_id(world)};
    next.run.cause = CAUSE_AFTER;
    return next;
}

/* A node dies, and all that it ran is lost. The time that it takes to write so must not grow with
 * the number of the runs, whatever the job does that waits for them. */
static void losses_with_a_dependent_travel_together(void **state)
{
    static const struct {
        int line;
        enum overlap_policy overlap;
        bool is_busy; /* a run of the dependent is under way */
        bool of_one_job;
        size_t due, queued, skipped;
    } rows[] = {
        {__LINE__, OVERLAP_REPLACE, false, true, 1, 0, MANY - 1},
        {__LINE__, OVERLAP_REPLACE, true, true, 0, 1, MANY - 1},
        {__LINE__, OVERLAP_ALLOW, false, true, MANY, 0, 0},
        {__LINE__, OVERLAP_QUEUE, true, true, 0, MANY, 0},
        {__LINE__, OVERLAP_SKIP, false, true, 1, 0, 0},
        {__LINE__, OVERLAP_REPLACE, false, false, 1, 0, MANY - 1},
        {__LINE__, OVERLAP_REPLACE, true, false, 0, 1, MANY - 1},
        {__LINE__, OVERLAP_ALLOW, false, false, MANY, 0, 0},
    };
    static struct store_finish finishes[MANY];
    static struct store_next nexts[MANY];
    (void)state;
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct world *world = world_new(&etcd_backend);
        world_open(world);
        struct id job = make_job(world, "extract"), after = make_job(world, "report");
        struct run busy = {0};
        if (rows[row].is_busy) {
            busy = claim_run(world, after, 2000);
            begin_run(world, &busy);
        }
        for (int i = 0; i < MANY; i++) {
            char name[32];
            snprintf(name, sizeof(name), "extract-%d", i);
            if (!rows[row].of_one_job)
                job = make_job(world, name);
            finishes[i] = (struct store_finish){
                .run = claim_run(world, job, 5000 + i), .nexts = &nexts[i], .next_count = 1};
            begin_run(world, &finishes[i].run);
            finishes[i].run.state = RUN_LOST;
            finishes[i].run.finished_ms = 9000 + i;
            nexts[i] = a_next(world, after, rows[row].overlap);
        }
        int64_t before = look().revision;
        assert_int_equal(world_do(world, STORE_FINISH, finishes, MANY), OK);
        int64_t took = look().revision - before;
        if (took > 5)
            fail_msg("line %d: %lld transactions", rows[row].line, (long long)took);
        assert_int_equal(count_runs(world, after, RUN_DUE), rows[row].due);
        assert_int_equal(count_runs(world, after, RUN_QUEUED), rows[row].queued);
        assert_int_equal(count_runs(world, after, RUN_SKIPPED), rows[row].skipped);
        for (int i = 0; i < MANY; i++)
            assert_true(finishes[i].accepted && nexts[i].made);
        bool is_replaced = rows[row].overlap == OVERLAP_REPLACE;
        if (is_replaced) { /* the last one is left, and the others say why they did not run */
            struct run first = see_run(world, nexts[0].run.id)->run;
            assert_int_equal(first.reason, REASON_REPLACED);
            assert_int_equal(see_run(world, nexts[MANY - 1].run.id)->run.state,
                             rows[row].is_busy ? RUN_QUEUED : RUN_DUE);
        }
        if (is_replaced && rows[row].is_busy) {
            assert_int_equal(see_run(world, busy.id)->kill_reason, REASON_REPLACED);
            end_run(world, &busy, RUN_KILLED, 9999);
            assert_int_equal(count_runs(world, after, RUN_DUE), 1);
        }
        world_reopen(world);
        world_free(world);
    }
}

/* ---- what does not fit into one transaction ---- */

enum { QUEUED = 2500, RUNNING = 300 };

static void fill_queue(struct world *world, struct id job, size_t count)
{
    struct store_add_run *adds = calloc(count, sizeof(*adds));
    assert_non_null(adds);
    for (size_t i = 0; i < count; i++) {
        adds[i] = an_add(world, job, 100000 + (int64_t)i, OVERLAP_QUEUE);
        adds[i].queue_limit = (int)count;
    }
    assert_int_equal(world_do(world, STORE_ADD_RUN, adds, count), OK);
    free(adds);
}

static void a_long_queue_is_deleted_with_its_job(void **state)
{
    struct world *world = world_new(&etcd_backend);
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    fill_queue(world, job, QUEUED);
    assert_int_equal(count_runs(world, job, RUN_QUEUED), QUEUED - 1);
    struct store_put_job put = a_put(job, "backup", -1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
    assert_true(see_job(world, job)->deleted);
    assert_int_equal(count_runs(world, job, RUN_SKIPPED), QUEUED);
    world_free(world);
}

static void many_runs_are_replaced(void **state)
{
    struct world *world = world_new(&etcd_backend);
    static struct store_claim claims[RUNNING];
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    for (int i = 0; i < RUNNING; i++) /* as if each had been allowed beside the others */
        claim_run(world, job, 2000 + i);
    fill_queue(world, job, 300);
    claims[0] = a_claim(world, job, 9000, OVERLAP_REPLACE);
    world_mark(world);
    world_do_one(world, STORE_CLAIM, &claims[0]);
    assert_int_equal(claims[0].result, CLAIM_QUEUED);
    assert_int_equal(count_runs(world, job, RUN_SKIPPED), 300);
    assert_int_equal(count_runs(world, job, RUN_CLAIMED), RUNNING);
    assert_int_equal(count_runs(world, job, RUN_QUEUED), 1);
    assert_int_equal(world->picture.changes[STORE_CHANGE_KILL], RUNNING);
    assert_int_equal(see_job(world, job)->cursor_ms, 9000);
    world_free(world);
}

/* ---- order ---- */

enum { WRITERS = 200 };

struct writer {
    struct store_request request; /* first */
    struct store_set_meta meta;
    int *answers, place;
};

static void on_written(struct store_request *request, enum status st)
{
    struct writer *writer = (struct writer *)request;
    assert_int_equal(st, OK);
    writer->place = (*writer->answers)++;
}

/* Each request alone, all at once: they are done and answered as they were submitted. */
static void what_touches_the_same_is_done_in_order(void **state)
{
    struct world *world = world_new(&etcd_backend);
    static struct writer writers[WRITERS];
    int answers = 0;
    (void)state;
    world_open(world);
    for (int i = 0; i < WRITERS; i++) {
        struct writer *writer = &writers[i];
        *writer = (struct writer){.answers = &answers};
        snprintf(writer->meta.key, sizeof(writer->meta.key), "key-%d", i % 4);
        snprintf(writer->meta.value, sizeof(writer->meta.value), "%d", i);
        writer->request = (struct store_request){
            .op = STORE_SET_META, .count = 1, .items.metas = &writer->meta, .done = on_written};
        store_submit(world->store, &writer->request);
    }
    etcd_place_wait((store_dispatch(world->store), answers == WRITERS));
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(writers[i].place, i);
    world->store = store_free(world->store);
    memset(&world->picture, 0, sizeof(world->picture));
    world_open(world);
    assert_int_equal(world->picture.meta_count, 4);
    for (int i = 0; i < 4; i++) {
        const struct store_set_meta *meta = &world->picture.metas[i];
        assert_int_equal(atoi(meta->value), WRITERS - 4 + atoi(meta->key + strlen("key-")));
    }
    world_free(world);
}

/* ---- growth ---- */

enum { GROWTH_JOBS = 1000, GROWTH_RUNS = 20000 };

static void on_tidied(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    *(bool *)context = true;
}

/* The size of the database when what is only history is gone. */
static int64_t settled_size(int64_t most)
{
    struct kv_client *client = etcd_place_client();
    bool is_done = false;
    struct kv_reply reply = {on_tidied, &is_done, 60000};
    assert_int_equal(etcd_compact(client, look().revision, true, &reply, NULL), OK);
    etcd_place_wait(is_done && look().used_bytes <= most); /* etcd takes its time */
    is_done = false;
    assert_int_equal(etcd_defragment(client, &reply, NULL), OK);
    etcd_place_wait(is_done);
    kv_client_free(client);
    return look().db_bytes;
}

static void one_round(struct world *world, const struct id *jobs, int64_t tick_ms)
{
    static struct store_claim claims[GROWTH_JOBS];
    static struct store_begin begins[GROWTH_JOBS];
    static struct store_finish finishes[GROWTH_JOBS];
    static struct store_forget forgets[GROWTH_JOBS];
    for (int i = 0; i < GROWTH_JOBS; i++) {
        struct run run = {.id = world_id(world),
                          .job_uid = jobs[i],
                          .tick_ms = tick_ms,
                          .attempt = 1,
                          .nonce = (uint64_t)tick_ms};
        claims[i] = (struct store_claim){.job_uid = jobs[i],
                                         .job_revision = 1,
                                         .cursor_ms = tick_ms - 1,
                                         .tick_ms = tick_ms,
                                         .run = run};
        begins[i] = (struct store_begin){.run_id = run.id, .nonce = run.nonce};
        run.state = RUN_OK;
        run.finished_ms = tick_ms;
        finishes[i] = (struct store_finish){.run = run};
        forgets[i] = (struct store_forget){.id = run.id};
    }
    assert_int_equal(world_do(world, STORE_CLAIM, claims, GROWTH_JOBS), OK);
    assert_int_equal(world_do(world, STORE_BEGIN, begins, GROWTH_JOBS), OK);
    assert_int_equal(world_do(world, STORE_FINISH, finishes, GROWTH_JOBS), OK);
    assert_int_equal(world_do(world, STORE_FORGET, forgets, GROWTH_JOBS), OK);
    assert_true(finishes[0].accepted && finishes[GROWTH_JOBS - 1].accepted);
}

/* ---- forgotten twice ---- */

enum { RACES = 30, NOISE = 30 };

static void on_done(void *context, const struct kv_result *result)
{
    assert_int_equal(result->status, OK);
    ++*(int *)context;
}

/* Another node forgets it at the same moment, and something that nobody here hears of is written
 * next: to have removed nothing is not to have written, for which the feed would be waited for. */
static void an_entry_is_forgotten_by_two(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct kv_client *other;
    char text[ID_TEXT + 1], key[256];
    (void)state;
    world_open(world);
    other = etcd_place_client();
    struct id job = make_job(world, "backup");
    claim_run(world, job, 5000);
    for (int i = 0; i < RACES; i++) {
        struct store_claim skipped = a_claim(world, job, 5001 + i, OVERLAP_SKIP);
        skipped.cursor_ms = 5000 + i;
        world_do_one(world, STORE_CLAIM, &skipped);
        assert_int_equal(skipped.result, CLAIM_SKIPPED);
        id_format(&skipped.skip_entry_id, text);
        snprintf(key, sizeof(key), "%s/entries/%s", world->place, text);
        struct kv_delete gone = {.key = kv_text(key)};
        struct kv_put elsewhere = {.key = kv_text("/test/elsewhere"), .value = kv_text("")};
        struct store_forget forget = {.id = skipped.skip_entry_id, .is_entry = true};
        int done = 0;
        struct kv_reply reply = {on_done, &done, 0};
        assert_int_equal(kv_delete(other, &gone, &reply, NULL), OK);
        for (int k = 0; k < NOISE; k++)
            assert_int_equal(kv_put(other, &elsewhere, &reply, NULL), OK);
        assert_int_equal(world_do(world, STORE_FORGET, &forget, 1), OK);
        etcd_place_wait(done == 1 + NOISE);
        assert_int_equal(store_health(world->store, NULL), OK);
    }
    kv_client_free(other);
    world_free(world);
}

/* PEAL_GROWTH_RUNS: how many instead. */
static void the_database_does_not_grow_with_time(void **state)
{
    struct world *world = world_new(&etcd_backend);
    struct id *jobs = calloc(GROWTH_JOBS, sizeof(*jobs));
    const char *asked = getenv("PEAL_GROWTH_RUNS");
    int64_t runs = asked ? atoll(asked) : GROWTH_RUNS;
    (void)state;
    assert_non_null(jobs);
    world_open(world);
    for (int i = 0; i < GROWTH_JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", i);
        jobs[i] = make_job(world, name);
    }
    world->without_picture = true;
    one_round(world, jobs, CURSOR_MS + 1);
    int64_t before = settled_size(INT64_MAX), since_ms = clock_now().boot.ms;
    for (int64_t round = 0; round < runs / GROWTH_JOBS; round++)
        one_round(world, jobs, CURSOR_MS + 2 + round);
    int64_t took_ms = clock_now().boot.ms - since_ms, full = look().db_bytes;
    int64_t after = settled_size(2 * before);
    print_message("%lld runs in %lld ms: %lld bytes before, %lld with history, %lld after\n",
                  (long long)runs, (long long)took_ms, (long long)before, (long long)full,
                  (long long)after);
    assert_true(after <= 2 * before);
    free(jobs);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_one_job_are_added_together),
        cmocka_unit_test(runs_of_one_job_end_together),
        cmocka_unit_test(losses_with_a_dependent_travel_together),
        cmocka_unit_test(a_long_queue_is_deleted_with_its_job),
        cmocka_unit_test(many_runs_are_replaced),
        cmocka_unit_test(what_touches_the_same_is_done_in_order),
        cmocka_unit_test(an_entry_is_forgotten_by_two),
        cmocka_unit_test(the_database_does_not_grow_with_time),
    };
    return cmocka_run_group_tests_name("etcd with many items", tests, start, stop);
}
