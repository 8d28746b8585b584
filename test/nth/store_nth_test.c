/* A store whose n-th allocation fails, for n = 1, 2, 3 ...: every request ends with a status that
 * says so, what was acknowledged is there, nothing is begun twice, and afterwards everything works.
 * (Its writes fail one by one in ../contract/store_sqlite_fault_test.c.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nth_alloc.h"
#include "sqlite_place.h"
#include "store_world.h"

enum { MORE_THAN_EVER = 5000, TICK_MS = CURSOR_MS + 1000 };

struct outcome {
    enum status opened, put, claimed, begun, finished, forgotten;
    bool has_begun;
};

static bool is_clean(enum status st)
{
    return st == OK || st == E_NOMEM || st == E_UNKNOWN;
}

/* The life of a run, as far as it comes. Nothing of the test's own allocates meanwhile. */
static void use(struct world *world, struct outcome *outcome, struct store_put_job *put,
                struct store_claim *claim)
{
    struct strbuf why;
    strbuf_init(&why);
    *outcome = (struct outcome){.put = E_NOMEM};
    outcome->opened = store_sqlite_open(world->place, world_wake(world), &world->store, &why);
    strbuf_release(&why);
    if (outcome->opened != OK)
        return;
    world_read_feed(world);
    outcome->put = world_do(world, STORE_PUT_JOB, put, 1);
    claim->job_revision = put->revision;
    outcome->claimed = world_do(world, STORE_CLAIM, claim, 1);
    struct store_begin begin = {.run_id = claim->run.id, .nonce = claim->run.nonce};
    outcome->begun = world_do(world, STORE_BEGIN, &begin, 1);
    outcome->has_begun = outcome->begun == OK && begin.begun;
    struct store_finish finish = {.run = claim->run};
    finish.run.state = RUN_OK;
    finish.run.finished_ms = TICK_MS + 5;
    outcome->finished = world_do(world, STORE_FINISH, &finish, 1);
    struct store_forget forget = {.id = claim->run.id};
    outcome->forgotten = world_do(world, STORE_FORGET, &forget, 1);
}

static void check(const struct outcome *outcome, const char *when)
{
    const enum status each[] = {outcome->opened, outcome->put,      outcome->claimed,
                                outcome->begun,  outcome->finished, outcome->forgotten};
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        if (!is_clean(each[i]))
            fail_msg("%s: step %zu: %s", when, i, status_text(each[i]));
    }
}

/* As an agent that is started anew finds it; and another job goes its whole way. */
static void check_afterwards(struct world *world, const struct outcome *before,
                             const struct store_claim *claim, const char *when)
{
    if (world->store)
        world->store = store_free(world->store);
    world->without_picture = world->picture.loaded = false;
    world_open(world);
    bool is_there = world->picture.job_count > 0;
    if (before->opened == OK && before->put == OK && !is_there)
        fail_msg("%s: the job was acknowledged and is gone", when);
    if (before->has_begun) {
        struct store_begin again = {.run_id = claim->run.id, .nonce = claim->run.nonce};
        world_do_one(world, STORE_BEGIN, &again);
        if (again.begun)
            fail_msg("%s: the run began twice", when);
    }
    struct id job = make_job(world, "afterwards");
    struct run run = claim_run(world, job, TICK_MS);
    assert_true(begin_run(world, &run).begun);
    assert_true(end_run(world, &run, RUN_OK, TICK_MS + 5).accepted);
    forget_run(world, run.id);
}

static void test_allocations(void **state)
{
    bool failed = true;
    (void)state;
    for (int n = 1; failed; n++) {
        struct world *world = world_new(&sqlite_backend);
        struct outcome outcome;
        char when[64];
        assert_true(n < MORE_THAN_EVER);
        snprintf(when, sizeof(when), "allocation %d", n);
        struct store_put_job put = a_put(world_id(world), "job", 0);
        put.cursor_ms = CURSOR_MS;
        struct store_claim claim = {.job_uid = put.uid,
                                    .cursor_ms = CURSOR_MS,
                                    .tick_ms = TICK_MS,
                                    .overlap = OVERLAP_SKIP,
                                    .skip_entry_id = world_id(world)};
        claim.run = (struct run){.id = world_id(world),
                                 .job_uid = put.uid,
                                 .tick_ms = TICK_MS,
                                 .attempt = 1,
                                 .nonce = 7,
                                 .claimed_ms = TICK_MS};
        snprintf(claim.run.job_name, sizeof(claim.run.job_name), "job");
        snprintf(claim.run.node, sizeof(claim.run.node), "node-1");
        world->without_picture = true;
        nth_alloc_plan(n);
        use(world, &outcome, &put, &claim);
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        check(&outcome, when);
        check_afterwards(world, &outcome, &claim, when);
        world_free(world);
        if (!failed)
            print_message("%d allocations\n", n - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests_name("store, n-th failure", tests, NULL, NULL);
}
