/* Runs under way: found by id, listed by phase, counted for their job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shelf.h"
#include "state/open_run.h"

static struct run run_of(const struct catalog_job *job, uint8_t number)
{
    struct run run = {.job_uid = job->uid, .tick_ms = 1000 * number, .attempt = 1};
    run.id.bytes[0] = number;
    return run;
}

/* The way of a run, and what its job counts on it. */
static void a_job_counts_its_open_runs(void **state)
{
    static const struct {
        int line;
        enum open_phase next;
        uint32_t open;
    } way[] = {
        {__LINE__, OPEN_TAKING, 1},     {__LINE__, OPEN_WAITING, 1},
        {__LINE__, OPEN_TAKING, 1},     {__LINE__, OPEN_CLAIMED, 1},
        {__LINE__, OPEN_BEGINNING, 1},  {__LINE__, OPEN_CLAIMED, 1},
        {__LINE__, OPEN_BEGINNING, 1},  {__LINE__, OPEN_BEGUN, 1},
        {__LINE__, OPEN_STARTING, 1},   {__LINE__, OPEN_HELD, 1},
        {__LINE__, OPEN_STARTING, 1},   {__LINE__, OPEN_HELD, 1},
        {__LINE__, OPEN_STARTED, 1},    {__LINE__, OPEN_ENDED, 1},
        {__LINE__, OPEN_FINISHING, 1},  {__LINE__, OPEN_ENDED, 1},
        {__LINE__, OPEN_FINISHING, 1},  {__LINE__, OPEN_FINISHED, 0},
        {__LINE__, OPEN_RECORDING, 0},  {__LINE__, OPEN_FINISHED, 0},
        {__LINE__, OPEN_RECORDING, 0},  {__LINE__, OPEN_RECORDED, 0},
        {__LINE__, OPEN_FORGETTING, 0},
    };
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'@manual'", "");
    struct open_runs runs;
    open_runs_init(&runs, &shelf->catalog);
    struct run run = run_of(job, 1);
    struct open_run *open = open_runs_add(&runs, &run, OPEN_WAITING);
    assert_int_equal(job->open_runs, 1);
    for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
        open_runs_move(&runs, open, way[i].next);
        if (job->open_runs != way[i].open || open_runs_first(&runs, way[i].next) != open ||
            runs.counts[way[i].next] != 1)
            fail_msg("line %d: %u open", way[i].line, job->open_runs);
    }
    open_runs_remove(&runs, open);
    assert_null(open_runs_find(&runs, &run.id));
    assert_int_equal(job->open_runs, 0);
    open_runs_release(&runs);
}

static void phases_keep_the_order(void **state)
{
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'@manual'", "");
    struct open_runs runs;
    struct open_run *open[3];
    open_runs_init(&runs, &shelf->catalog);
    for (uint8_t i = 0; i < 3; i++) {
        struct run run = run_of(job, (uint8_t)(i + 1));
        open[i] = open_runs_add(&runs, &run, OPEN_CLAIMED);
        assert_ptr_equal(open_runs_find(&runs, &run.id), open[i]);
    }
    open_runs_move(&runs, open[1], OPEN_BEGINNING);
    open_runs_move(&runs, open[0], OPEN_BEGINNING);
    assert_ptr_equal(open_runs_first(&runs, OPEN_BEGINNING), open[1]);
    assert_ptr_equal(open_runs_first(&runs, OPEN_CLAIMED), open[2]);
    assert_int_equal(job->open_runs, 3);
    open_runs_remove(&runs, open[1]);
    assert_ptr_equal(open_runs_first(&runs, OPEN_BEGINNING), open[0]);
    open_runs_release(&runs); /* with two of them inside */
    assert_int_equal(job->open_runs, 0);
}

static void an_end_without_a_process(void **state)
{
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'@manual'", "");
    struct open_runs runs;
    open_runs_init(&runs, &shelf->catalog);
    struct run run = run_of(job, 1);
    struct open_run *open = open_runs_add(&runs, &run, OPEN_CLAIMED);
    open_runs_end(&runs, open, RUN_MISSED, REASON_DEADLINE, "too late", (struct wall_ms){77});
    assert_int_equal(open->phase, OPEN_ENDED);
    assert_int_equal(open->run.state, RUN_MISSED);
    assert_int_equal(open->run.reason, REASON_DEADLINE);
    assert_int_equal(open->run.exit_code, -1);
    assert_int_equal(open->run.finished_ms, 77);
    assert_string_equal(open->run.detail, "too late");
    open_runs_release(&runs);
}

/* The feed tells that another node has it before the answer to the first take comes, and it is
 * taken from that one: the first answer says nothing of the second take. */
static void an_answer_is_of_one_take(void **state)
{
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'@manual'", "");
    struct open_runs runs;
    struct run run = run_of(job, 1);
    open_runs_init(&runs, &shelf->catalog);
    struct open_run *open = open_runs_add(&runs, &run, OPEN_WAITING);
    open_runs_take(&runs, open, 1);
    assert_ptr_equal(open_runs_find_taking(&runs, &run.id, 1), open);
    open_runs_move(&runs, open, OPEN_CLAIMED_ELSEWHERE);
    assert_null(open_runs_find_taking(&runs, &run.id, 1));
    open_runs_take(&runs, open, 2);
    assert_null(open_runs_find_taking(&runs, &run.id, 1));
    assert_ptr_equal(open_runs_find_taking(&runs, &run.id, 2), open);
    open_runs_release(&runs);
}

/* Its job was purged, or is another node's. */
static void a_run_without_a_job(void **state)
{
    struct shelf *shelf = *state;
    struct open_runs runs;
    struct run run = {.id = {{1}}, .job_uid = {{9}}};
    open_runs_init(&runs, &shelf->catalog);
    struct open_run *open = open_runs_add(&runs, &run, OPEN_ORPHAN);
    open_runs_move(&runs, open, OPEN_STARTED);
    open_runs_move(&runs, open, OPEN_ENDED);
    open_runs_release(&runs);
}

/* An instance that has ended before its steps is kept for them, but not for one that is lost: its
 * record may stay for a week. */
static void an_instance_is_kept_for_its_steps(void **state)
{
    static const struct {
        int line;
        enum run_state end;
        enum open_phase then;
    } cases[] = {
        {__LINE__, RUN_OK, OPEN_KEPT},
        {__LINE__, RUN_KILLED, OPEN_KEPT},
        {__LINE__, RUN_LOST, OPEN_RECORDED},
    };
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'@manual'", "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct open_runs runs;
        struct run run = run_of(job, 1), step = run_of(job, 2);
        run.instance = step.instance = run.id;
        strcpy(step.step, "s");
        open_runs_init(&runs, &shelf->catalog);
        struct open_run *instance = open_runs_add(&runs, &run, OPEN_GROUP);
        struct open_run *open = open_runs_add(&runs, &step, OPEN_BEGUN_ELSEWHERE);
        open_runs_move(&runs, instance, OPEN_FINISHED);
        open_runs_move(&runs, instance, OPEN_RECORDING);
        assert_int_equal(open_runs_recorded(&runs, instance), OPEN_KEPT);
        open_runs_move(&runs, instance, OPEN_KEPT);
        open->run.state = cases[i].end;
        open_runs_move(&runs, open, OPEN_ENDED_ELSEWHERE);
        if (instance->phase != cases[i].then)
            fail_msg("line %d: the instance is in phase %d", cases[i].line, (int)instance->phase);
        open_runs_remove(&runs, open);
        assert_int_equal(instance->phase, OPEN_RECORDED);
        open_runs_release(&runs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHELF(a_job_counts_its_open_runs), WITH_SHELF(phases_keep_the_order),
        WITH_SHELF(an_end_without_a_process),   WITH_SHELF(an_answer_is_of_one_take),
        WITH_SHELF(a_run_without_a_job),        WITH_SHELF(an_instance_is_kept_for_its_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
