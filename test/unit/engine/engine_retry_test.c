/* Further attempts at a tick: when they start, where, what people hear of them, and what ends them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

#define JOB(retries) "name: a\nschedule: '0 * * * * *'\ncommand: [x]\nretries: " retries "\n"

/* The runs of attempt `attempt`, and the last of them. */
static size_t attempts(const struct world *world, int attempt, const struct run **ret)
{
    size_t count = 0;
    for (size_t i = 0; i < world->run_count; i++) {
        if (world->runs[i].attempt != attempt)
            continue;
        if (ret)
            *ret = &world->runs[i];
        count++;
    }
    return count;
}

static void attempts_follow_each_other(void **state)
{
    struct world *world = *state;
    const struct run *first = NULL, *second = NULL, *third = NULL;
    world_add(world, JOB("{count: 2, wait: 5s, backoff: exponential}"));
    world->exit_code = 3;
    world->duration_ms = SECOND;
    world_pass(world, MINUTE + 50 * SECOND);
    assert_int_equal(attempts(world, 1, &first), 1);
    assert_int_equal(attempts(world, 2, &second), 1);
    assert_int_equal(attempts(world, 3, &third), 1);
    assert_int_equal(attempts(world, 4, NULL), 0);
    assert_true(first->retried && second->retried);
    assert_false(third->retried);
    assert_int_equal(third->tick_ms, first->tick_ms);
    assert_int_equal(third->attempts, 3);
    assert_in_range(second->started_ms - first->finished_ms, 5 * SECOND, 5 * SECOND + 500);
    assert_in_range(third->started_ms - second->finished_ms, 10 * SECOND, 10 * SECOND + 500);
    assert_true(third->fence > second->fence && second->fence > first->fence);
}

static void a_success_is_the_last_attempt(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{count: 5, wait: 10s}"));
    world->exit_code = 1;
    world_pass(world, MINUTE + 5 * SECOND);
    world->exit_code = 0;
    world_pass(world, 40 * SECOND);
    assert_int_equal(attempts(world, 1, NULL), 1);
    assert_int_equal(attempts(world, 2, NULL), 1);
    assert_int_equal(attempts(world, 3, NULL), 0);
    assert_int_equal(world_count(world, "a", RUN_OK), 1);
}

/* It has ended, the store has not answered: people are not told that it was the last attempt. */
static void whether_an_attempt_follows_is_open_until_the_store_says(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{count: 1, wait: 10s}"));
    world->exit_code = 1;
    world->duration_ms = SECOND;
    world_pass(world, MINUTE + 500);
    const struct id id = world->processes[0].run_id;
    assert_false(engine_may_retry(world->engine, &id));
    world->door = DOOR_HELD;
    world->door_op = STORE_FINISH;
    world_pass(world, 2 * SECOND);
    assert_int_equal(engine_find_run(world->engine, &id)->state, RUN_FAILED);
    assert_true(engine_may_retry(world->engine, &id));
    world->door = DOOR_OPEN;
    world_pass(world, SECOND);
    assert_false(engine_may_retry(world->engine, &id));
    world_pass(world, 30 * SECOND); /* the last one is known as such at once */
    const struct run *second = NULL;
    assert_int_equal(attempts(world, 2, &second), 1);
    assert_false(engine_may_retry(world->engine, &second->id));
}

/* A tick of the job that is due while another waits for its next attempt meets the overlap rule. */
static void a_tick_with_an_attempt_to_come_is_under_way(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{count: 1, wait: 90s}"));
    world->exit_code = 1;
    world_pass(world, 2 * MINUTE + 10 * SECOND);
    assert_int_equal(attempts(world, 1, NULL), 1);
    assert_int_equal(world_passed(world, "a", RUN_SKIPPED, REASON_OVERLAP), 1);
    world_pass(world, MINUTE);
    assert_int_equal(attempts(world, 2, NULL), 1);
    assert_int_equal(attempts(world, 1, NULL), 2); /* of minute 3 */
}

static void an_attempt_that_would_be_too_late_is_not_made(void **state)
{
    struct world *world = *state;
    const struct run *first = NULL;
    world_add(world, JOB("{count: 3, wait: 20s, within: 30s}"));
    world->exit_code = 1;
    world_pass(world, MINUTE + 55 * SECOND);
    assert_int_equal(attempts(world, 2, &first), 1);
    assert_int_equal(attempts(world, 3, NULL), 0);
    assert_false(first->retried);
    assert_non_null(strstr(first->detail, "not retried"));
}

/* The agent is killed when the end is on its way to the store. */
static void an_end_is_retried_once_over_a_restart(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{count: 1, wait: 5s}"));
    world->exit_code = 1;
    world->door = DOOR_ONE_WAY;
    world->door_op = STORE_FINISH;
    world_pass(world, MINUTE + SECOND);
    world_restart(world);
    world->door = DOOR_OPEN;
    world_pass(world, 20 * SECOND);
    assert_int_equal(attempts(world, 1, NULL), 1);
    assert_int_equal(attempts(world, 2, NULL), 1);
    assert_int_equal(world->process_count, 2);
}

static void pause_it(struct job *job)
{
    job->paused = true;
}

static void a_pause_ends_the_attempt_that_waits(void **state)
{
    struct world *world = *state;
    const struct run *second = NULL;
    struct id uid = world_add(world, JOB("{count: 1, wait: 30s}"));
    world->exit_code = 1;
    world_pass(world, MINUTE + 5 * SECOND);
    world_change(world, &uid, pause_it);
    world_pass(world, SECOND);
    assert_int_equal(attempts(world, 2, &second), 1);
    assert_int_equal(second->state, RUN_SKIPPED);
    assert_int_equal(second->reason, REASON_PAUSED);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
}

/* Of three nodes each has one of three attempts. */
static void an_attempt_goes_where_none_has_failed(void **state)
{
    struct cluster *cluster = cluster_new(3);
    (void)state;
    for (size_t i = 0; i < 3; i++)
        cluster->nodes[i]->exit_code = 1;
    world_add(cluster->nodes[0], JOB("{count: 2, wait: 5s}"));
    cluster_pass(cluster, MINUTE + 50 * SECOND);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cluster->nodes[i]->process_count, 1);
    assert_int_equal(cluster_starts(cluster, "a"), 3);
    cluster_free(cluster);
}

static const struct {
    int line;
    const char *retries;
    size_t starts;
} losses[] = {
    {__LINE__, "{count: 1, wait: 0s}", 1},
    {__LINE__, "{count: 1, wait: 0s, on: lost}", 2},
};

/* The machine of a run is gone: only `lost` has another node try it again. */
static void a_lost_run_is_retried_if_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        struct cluster *cluster = cluster_new(3);
        struct world *node;
        char yaml[200];
        for (size_t k = 0; k < 3; k++)
            cluster->nodes[k]->duration_ms = 10 * MINUTE;
        snprintf(yaml, sizeof(yaml),
                 "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\nretries: %s\n",
                 losses[i].retries);
        struct id uid = world_add(cluster->nodes[0], yaml);
        assert_true(world_trigger(cluster->nodes[0], &uid));
        cluster_pass(cluster, 5 * SECOND);
        cluster_process(cluster, "a", &node);
        cluster_freeze(node);
        cluster_expire(node);
        cluster_pass(cluster, 30 * SECOND);
        if (cluster_starts(cluster, "a") != losses[i].starts)
            fail_msg("line %d: %zu starts", losses[i].line, cluster_starts(cluster, "a"));
        cluster_free(cluster);
    }
}

/* The lost run may start until its window is over, whatever the clocks say meanwhile. */
static void no_clock_shortens_the_wait_after_a_loss(void **state)
{
    static const int64_t steps_ms[] = {60 * MINUTE, -60 * MINUTE};
    (void)state;
    for (size_t i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
        struct cluster *cluster = cluster_new(3);
        struct world *node;
        for (size_t k = 0; k < 3; k++)
            cluster->nodes[k]->duration_ms = 10 * MINUTE;
        struct id uid = world_add(cluster->nodes[0], "name: a\nschedule: '@manual'\ncommand: [x]\n"
                                                     "retries: {count: 1, wait: 0s, on: lost}\n");
        assert_true(world_trigger(cluster->nodes[0], &uid));
        cluster_pass(cluster, 5 * SECOND);
        cluster_process(cluster, "a", &node);
        cluster_freeze(node);
        cluster_expire(node);
        cluster_pass(cluster, SECOND);
        for (size_t k = 0; k < 3; k++)
            world_set_clock(cluster->nodes[k], steps_ms[i]);
        cluster_pass(cluster, 4 * SECOND);
        assert_int_equal(cluster_starts(cluster, "a"), 1);
        cluster_pass(cluster, 60 * SECOND);
        assert_int_equal(cluster_starts(cluster, "a"), 2);
        cluster_free(cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(attempts_follow_each_other),
        WITH_WORLD(a_success_is_the_last_attempt),
        WITH_WORLD(whether_an_attempt_follows_is_open_until_the_store_says),
        WITH_WORLD(a_tick_with_an_attempt_to_come_is_under_way),
        WITH_WORLD(an_attempt_that_would_be_too_late_is_not_made),
        WITH_WORLD(an_end_is_retried_once_over_a_restart),
        WITH_WORLD(a_pause_ends_the_attempt_that_waits),
        cmocka_unit_test(an_attempt_goes_where_none_has_failed),
        cmocka_unit_test(a_lost_run_is_retried_if_asked_for),
        cmocka_unit_test(no_clock_shortens_the_wait_after_a_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
