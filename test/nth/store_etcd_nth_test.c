/* A store in etcd whose connection breaks at the n-th thing that is sent, for n = 1, 2, 3 ...,
 * before it arrives or before it is answered: every request ends, what was acknowledged is there,
 * nothing is begun twice, and it goes on by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cutter.h"
#include "etcd_place.h"
#include "store_world.h"

enum { MORE_THAN_EVER = 200, TICK_MS = CURSOR_MS + 1000 };

static struct cutter *cutter;

static int start(void **state)
{
    static char endpoint[64];
    (void)state;
    etcd_place_start(1);
    cutter = cutter_new(etcd_place.cluster.members[0].client_port);
    snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", cutter_port(cutter));
    etcd_place.cluster.endpoints[0] = endpoint;
    return 0;
}

static int stop(void **state)
{
    (void)state;
    cutter = cutter_free(cutter);
    etcd_place_stop();
    return 0;
}

/* What came back when the connection was cut; OK, or a word about not knowing. */
static void check_status(enum status st, const char *when)
{
    if (st != OK && st != E_UNKNOWN && st != E_UNREACHABLE)
        fail_msg("%s: %s", when, status_text(st));
}

static void wait_until_well(struct world *world)
{
    struct strbuf why;
    strbuf_init(&why);
    for (int64_t until_ms = clock_now().boot.ms + 20000; store_health(world->store, &why) != OK;)
        world_pass(world, until_ms);
    strbuf_release(&why);
}

/* A run's end that makes a run of another job due. */
static struct store_finish an_end(struct world *world, const struct run *run, struct id after,
                                  struct store_next *next)
{
    struct store_finish finish = {.run = *run, .nexts = next, .next_count = 1};
    finish.run.state = RUN_OK;
    finish.run.finished_ms = TICK_MS + 5;
    *next = (struct store_next){.job_uid = after, .states = 1 << RUN_OK};
    next->run = an_add(world, after, 0, OVERLAP_ALLOW).run;
    return finish;
}

/* The life of a run. False: the plan found nothing to cut. */
static bool cut_once(enum cut cut, int n)
{
    char when[64];
    struct store_next next;
    struct world *world = world_new(&etcd_backend);
    snprintf(when, sizeof(when), "%s %d", cut == CUT_REQUEST ? "request" : "answer", n);
    world_open(world);
    struct id job = make_job(world, "job"), after = make_job(world, "after");
    struct store_claim claim = a_claim(world, job, TICK_MS, OVERLAP_ALLOW);
    struct store_begin begin = {.run_id = claim.run.id, .nonce = claim.run.nonce}, again = begin;
    cutter_plan(cutter, cut, n);
    enum status claimed = world_do(world, STORE_CLAIM, &claim, 1);
    enum status begun = world_do(world, STORE_BEGIN, &begin, 1);
    struct store_finish finish = an_end(world, &claim.run, after, &next);
    enum status finished = world_do(world, STORE_FINISH, &finish, 1);
    bool has_cut = cutter_has_cut(cutter);
    cutter_plan(cutter, cut, 0);
    check_status(claimed, when);
    check_status(begun, when);
    check_status(finished, when);

    wait_until_well(world);
    if (claimed == OK && claim.result == CLAIM_WON && !look_for_run(world, claim.run.id))
        fail_msg("%s: the run was claimed and is gone", when);
    if (begun == OK && begin.begun) {
        world_do_one(world, STORE_BEGIN, &again);
        if (again.begun)
            fail_msg("%s: the run began twice", when);
    }
    finish = an_end(world, &claim.run, after, &next);
    world_do_one(world, STORE_FINISH, &finish);
    if (count_runs(world, after, RUN_DUE) != finish.accepted)
        fail_msg("%s: %zu runs come after it", when, count_runs(world, after, RUN_DUE));
    struct id other = make_job(world, "afterwards");
    struct run run = claim_run(world, other, TICK_MS);
    assert_true(begin_run(world, &run).begun);
    assert_true(end_run(world, &run, RUN_OK, TICK_MS + 5).accepted);
    forget_run(world, run.id);
    world_free(world);
    return has_cut;
}

static void cut_all(enum cut cut)
{
    int n = 1;
    while (cut_once(cut, n))
        assert_true(++n < MORE_THAN_EVER);
    print_message("%d times\n", n - 1);
}

static void test_requests(void **state)
{
    (void)state;
    cut_all(CUT_REQUEST);
}

static void test_answers(void **state)
{
    (void)state;
    cut_all(CUT_ANSWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests_name("store in etcd, n-th failure", tests, start, stop);
}
