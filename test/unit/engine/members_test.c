/* Runs of workflows among the open runs: found by instance and part, and kept until their instance
 * has no use for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shelf.h"
#include "state/open_run.h"

/* Of the instance with the id 1: itself (part 0), or the step. */
static struct run run_of(const struct catalog_job *job, uint8_t id, int part, int attempt)
{
    struct run run = {.job_uid = job->uid, .tick_ms = 1000, .attempt = attempt, .part = part};
    run.id.bytes[0] = id;
    run.instance.bytes[0] = 1;
    if (part)
        memcpy(run.step, "s", 2);
    return run;
}

struct fixture {
    struct open_runs runs;
    struct open_run *instance, *first, *second; /* first: attempts 1 and 2 at part 1 */
    struct catalog_job *job;
};

static void set_up(struct fixture *fixture, struct shelf *shelf)
{
    fixture->job = shelf_put(shelf, 1, "a", "'@manual'", "");
    open_runs_init(&fixture->runs, &shelf->catalog);
    struct run instance = run_of(fixture->job, 1, 0, 1), first = run_of(fixture->job, 2, 1, 1),
               second = run_of(fixture->job, 3, 1, 2);
    instance.state = RUN_RUNNING;
    first.state = second.state = RUN_OK;
    fixture->instance = open_runs_add(&fixture->runs, &instance, OPEN_GROUP);
    fixture->second = open_runs_add(&fixture->runs, &second, OPEN_FINISHED);
    fixture->first = open_runs_add(&fixture->runs, &first, OPEN_FINISHED);
}

static void the_last_attempt_is_found(void **state)
{
    struct fixture it;
    struct id id = {{1}}, other = {{7}};
    set_up(&it, *state);
    assert_ptr_equal(members_find(&it.runs.members, &id, 1), it.second);
    assert_ptr_equal(members_find(&it.runs.members, &id, 0), it.instance);
    assert_null(members_find(&it.runs.members, &id, 2));
    assert_null(members_first(&it.runs.members, &other));
    size_t count = 0;
    for (const struct open_run *open = members_first(&it.runs.members, &id); open;
         open = members_next(open))
        count++;
    assert_int_equal(count, 3);
    assert_ptr_equal(open_runs_instance(&it.runs, &it.first->run), it.instance);
    assert_null(open_runs_instance(&it.runs, &it.instance->run));
    open_runs_release(&it.runs);
}

/* Its job has one open run: the instance. */
static void steps_are_not_runs_of_the_job(void **state)
{
    struct fixture it;
    set_up(&it, *state);
    struct run run = run_of(it.job, 9, 4, 1);
    open_runs_add(&it.runs, &run, OPEN_WAITING);
    assert_int_equal(it.job->open_runs, 1);
    open_runs_release(&it.runs);
}

/* A run that was asked for is no member before it is opened. */
static void a_run_becomes_an_instance(void **state)
{
    struct fixture it;
    set_up(&it, *state);
    struct run run = {.id = {{5}}, .job_uid = it.job->uid, .attempt = 1};
    struct open_run *open = open_runs_add(&it.runs, &run, OPEN_WAITING);
    open->run.instance = run.id;
    open_runs_move(&it.runs, open, OPEN_GROUP);
    assert_ptr_equal(members_find(&it.runs.members, &run.id, 0), open);
    open_runs_release(&it.runs);
}

static void record(struct fixture *it, struct open_run *open)
{
    open_runs_move(&it->runs, open, OPEN_RECORDING);
    open_runs_move(&it->runs, open, open_runs_recorded(&it->runs, open));
}

/* Steps stay until the instance has ended, and that until they are gone; but for one that is
 * lost. */
static void the_instance_goes_last(void **state)
{
    struct fixture it;
    set_up(&it, *state);
    record(&it, it.first);
    record(&it, it.second);
    assert_int_equal(it.first->phase, OPEN_KEPT);
    assert_int_equal(it.second->phase, OPEN_KEPT);
    struct run lost = run_of(it.job, 4, 2, 1);
    lost.state = RUN_LOST;
    open_runs_add(&it.runs, &lost, OPEN_ENDED_ELSEWHERE);
    it.instance->run.state = RUN_OK;
    open_runs_move(&it.runs, it.instance, OPEN_UNFOLLOWED);
    assert_int_equal(it.first->phase, OPEN_RECORDED);
    assert_int_equal(it.second->phase, OPEN_RECORDED);
    open_runs_move(&it.runs, it.instance, OPEN_FOLLOWING);
    open_runs_move(&it.runs, it.instance, OPEN_FINISHED);
    record(&it, it.instance);
    assert_int_equal(it.instance->phase, OPEN_KEPT);
    open_runs_remove(&it.runs, it.first);
    assert_int_equal(it.instance->phase, OPEN_KEPT);
    open_runs_remove(&it.runs, it.second);
    assert_int_equal(it.instance->phase, OPEN_RECORDED);
    open_runs_release(&it.runs);
}

static void an_instance_that_is_gone_keeps_nothing(void **state)
{
    struct fixture it;
    set_up(&it, *state);
    record(&it, it.first);
    open_runs_remove(&it.runs, it.instance);
    assert_int_equal(it.first->phase, OPEN_RECORDED);
    open_runs_release(&it.runs);
}

/* All steps but those of `finally`. */
static void an_order_is_for_all_steps(void **state)
{
    struct fixture it;
    set_up(&it, *state);
    assert_int_equal(open_runs_order(&it.runs, &it.first->run), REASON_NONE);
    it.instance->kill = REASON_USER;
    assert_int_equal(open_runs_order(&it.runs, &it.first->run), REASON_USER);
    it.first->run.joins.is_final = true;
    assert_int_equal(open_runs_order(&it.runs, &it.first->run), REASON_NONE);
    open_runs_release(&it.runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHELF(the_last_attempt_is_found),
        WITH_SHELF(steps_are_not_runs_of_the_job),
        WITH_SHELF(a_run_becomes_an_instance),
        WITH_SHELF(the_instance_goes_last),
        WITH_SHELF(an_instance_that_is_gone_keeps_nothing),
        WITH_SHELF(an_order_is_for_all_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
