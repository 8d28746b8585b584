/* Which node goes first, as a job's `place` says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

#define MINUTELY(name, more) "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n" more

enum { MINUTE = 60000 };

/* The only node that has started runs of the job since it had `before` of them; and how many. */
static struct world *ran_on(const struct cluster *cluster, size_t *before, size_t *ret_runs)
{
    struct world *only = NULL;
    *ret_runs = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        struct world *node = cluster->nodes[i];
        size_t runs = node->process_count - before[i];
        before[i] = node->process_count;
        *ret_runs += runs;
        if (!runs)
            continue;
        assert_null(only);
        only = node;
    }
    return only;
}

static struct world *pass(struct cluster *cluster, size_t minutes, size_t *before)
{
    size_t runs;
    cluster_pass(cluster, (int64_t)minutes * MINUTE);
    struct world *node = ran_on(cluster, before, &runs);
    assert_int_equal(runs, minutes);
    return node;
}

static void a_sticky_job_stays_where_it_went(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    size_t before[CLUSTER_NODES] = {0};
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job", "place: sticky\n"));
    struct world *first = cluster_first_for(cluster, &uid);
    cluster_pass_to(cluster, 30000);
    assert_ptr_equal(pass(cluster, 5, before), first);

    cluster_freeze(first);
    cluster_expire(first);
    struct world *second = pass(cluster, 3, before);
    assert_ptr_not_equal(second, first);
    cluster_thaw(cluster, first);
    assert_ptr_equal(pass(cluster, 10, before), second); /* it does not move back */

    for (size_t i = 0; i < cluster->count; i++) { /* the store knows, not a memory */
        world_restart(cluster->nodes[i]);
        cluster_pass(cluster, 5000);
    }
    cluster_pass_to(cluster, 30000);
    size_t runs;
    ran_on(cluster, before, &runs);
    assert_ptr_equal(pass(cluster, 5, before), second);

    cluster_drain(cluster, second, true);
    struct world *third = pass(cluster, 3, before);
    assert_ptr_not_equal(third, second);
    cluster_drain(cluster, second, false);
    assert_ptr_equal(pass(cluster, 5, before), third);
    cluster_free(cluster);
}

/* It begins to run on a node that dies: its end as lost, which comes later than the claim of the
 * next tick, does not bring it back. */
static void a_lost_run_does_not_bring_it_back(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    size_t before[CLUSTER_NODES] = {0};
    struct id uid =
        world_add(cluster->nodes[0], MINUTELY("job", "place: sticky\noverlap: allow\n"));
    struct world *first = cluster_first_for(cluster, &uid);
    first->duration_ms = 100 * MINUTE;
    cluster_pass_to(cluster, 30000);
    assert_ptr_equal(pass(cluster, 1, before), first);
    cluster_freeze(first);
    cluster_pass(cluster, MINUTE / 2 + 1000); /* the next tick: another node has claimed it */
    cluster_expire(first);
    cluster_pass_to(cluster, 30000);
    size_t runs;
    struct world *second = ran_on(cluster, before, &runs);
    assert_ptr_not_equal(second, first);
    assert_int_equal(runs, 1);
    const struct catalog_job *job = catalog_by_uid(engine_catalog(second->engine), &uid);
    assert_int_equal(job->last.state, RUN_LOST);
    cluster_thaw(cluster, first);
    assert_ptr_equal(pass(cluster, 5, before), second);
    cluster_free(cluster);
}

/* A run that somebody asks for goes to the same node. */
static void a_manual_run_is_sticky_too(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    size_t before[CLUSTER_NODES] = {0}, runs;
    struct id uid = world_add(
        cluster->nodes[0], "name: job\nschedule: '@manual'\ncommand: [/bin/true]\nplace: sticky\n");
    struct world *kept = NULL;
    for (int i = 0; i < 12; i++) {
        assert_true(world_trigger(cluster->nodes[0], &uid));
        cluster_pass(cluster, 5000);
        struct world *node = ran_on(cluster, before, &runs);
        assert_int_equal(runs, 1);
        if (kept)
            assert_ptr_equal(node, kept);
        kept = node;
    }
    cluster_free(cluster);
}

static size_t starts_on(const struct cluster *cluster, size_t node)
{
    return cluster->nodes[node]->process_count;
}

static void add_least_loaded(struct cluster *cluster, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char yaml[120];
        snprintf(yaml, sizeof(yaml),
                 "name: job-%zu\nschedule: '* * * * *'\ncommand: [/bin/true]\nplace: "
                 "least_loaded\n",
                 i);
        world_add(cluster->nodes[0], yaml);
    }
}

/* 300 jobs of one instant: in proportion to what is free, each on time. */
static void a_busy_machine_gets_less(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    cluster->nodes[1]->cpu_pressure = 75;
    cluster_pass(cluster, 5000); /* its heartbeat */
    add_least_loaded(cluster, 300);
    cluster_pass_to(cluster, 59000);
    cluster_pass(cluster, 2000);
    assert_int_equal(starts_on(cluster, 0) + starts_on(cluster, 1) + starts_on(cluster, 2), 300);
    assert_in_range(starts_on(cluster, 0), 105, 165); /* 4 of 9 are 133 */
    assert_in_range(starts_on(cluster, 1), 15, 55);   /* 1 of 9 is 33 */
    assert_in_range(starts_on(cluster, 2), 105, 165);
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        for (size_t k = 0; k < node->process_count; k++)
            assert_int_equal(node->processes[k].started_ms, node->processes[k].tick_ms);
    }
    /* When its load has gone, it has its third again. */
    cluster->nodes[1]->cpu_pressure = 0;
    size_t before = starts_on(cluster, 1);
    cluster_pass(cluster, MINUTE);
    assert_in_range(starts_on(cluster, 1) - before, 70, 130);
    cluster_free(cluster);
}

/* One node's heartbeats do not reach the others for a while: it believes to be busy, they do not.
 * Ticks start a step later, and once. */
static void views_that_differ_cost_a_step(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    add_least_loaded(cluster, 100);
    cluster->nodes[0]->alone = true; /* it learns nothing new of the others */
    cluster->nodes[1]->cpu_pressure = cluster->nodes[2]->cpu_pressure = 90;
    cluster_pass(cluster, 5000);
    cluster_pass_to(cluster, 59000);
    size_t before = starts_on(cluster, 0) + starts_on(cluster, 1) + starts_on(cluster, 2);
    cluster_pass(cluster, 2000);
    assert_int_equal(starts_on(cluster, 0) + starts_on(cluster, 1) + starts_on(cluster, 2) - before,
                     100);
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        for (size_t k = 0; k < node->process_count; k++)
            assert_in_range(node->processes[k].started_ms - node->processes[k].tick_ms, 0,
                            2 * STEP_IN_MS);
    }
    cluster_free(cluster);
}

/* A definition of a newer peal is left to its nodes: here there is none, and the run ends with the
 * reason when none has come in time. */
static void a_run_of_an_unknown_definition_waits(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *node = cluster->nodes[0];
    struct id uid =
        world_add(node, "name: job\nschedule: '@manual'\ncommand: [/bin/true]\nplace: sticky\n");
    struct catalog_job *jobs[2];
    cluster_pass(cluster, 0);
    for (size_t i = 0; i < 2; i++) {
        jobs[i] = catalog_by_uid(engine_catalog(cluster->nodes[i]->engine), &uid);
        memcpy(strstr(jobs[i]->json, "\"place\""), "\"palce\"", 7); /* as it were */
        jobs[i]->broken = true;
    }
    assert_true(world_trigger(node, &uid));
    cluster_pass(cluster, node->config.on_time_ms - 1000);
    assert_int_equal(jobs[0]->open_runs, 1);
    assert_int_equal(cluster_count(cluster, "job", RUN_FAILED), 0);
    cluster_pass(cluster, 5000);
    assert_int_equal(cluster_count(cluster, "job", RUN_FAILED), 1);
    assert_int_equal(cluster_starts(cluster, "job"), 0);
    cluster_free(cluster);
}

/* ---- for one node alone, which is there and does not take it ---- */

/* The record of the run for node-2, on any node; NULL: there is none. */
static const struct run *record_for(const struct cluster *cluster, const char *node)
{
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->run_count; i++)
            if (strcmp(cluster->nodes[n]->runs[i].pinned, node) == 0)
                return &cluster->nodes[n]->runs[i];
    return NULL;
}

static void a_run_waits_for_its_node_and_not_for_ever(void **state)
{
    static const struct {
        int line;
        const char *yaml;
        bool is_asked_for;
        int64_t waits_ms;
    } cases[] = {
        {__LINE__, "name: a\nschedule: '@manual'\ncommand: [x]\nspread: all\n", true, 60 * MINUTE},
        {__LINE__, "name: a\nschedule: '@manual'\ncommand: [x]\nspread: all\ndeadline: 5m\n", true,
         5 * MINUTE},
        {__LINE__, "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\nspread: all\n", false, 30000},
    };
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct cluster *cluster = cluster_new(3);
        struct world *leader = cluster->nodes[0], *held = cluster->nodes[1];
        struct id uid = world_add(leader, cases[c].yaml);
        held->executor_away = held->tell_gone = true;
        cluster_pass(cluster, 5000);
        if (cases[c].is_asked_for)
            assert_true(world_trigger(leader, &uid));
        else
            cluster_pass(cluster, 60 * MINUTE - leader->now.wall.ms % (60 * MINUTE));
        cluster_pass(cluster, cases[c].waits_ms - 2000);
        if (record_for(cluster, held->config.node))
            fail_msg("line %d: it does not wait", cases[c].line);
        cluster_pass(cluster, 5000);
        const struct run *run = record_for(cluster, held->config.node);
        if (!run || run->state != RUN_MISSED || run->reason != REASON_DEADLINE)
            fail_msg("line %d: it waits on", cases[c].line);
        assert_non_null(strstr(run->detail, "did not take it in time: its spawner"));
        assert_int_equal(cluster_count(cluster, "a", RUN_OK), 2);
        world_attach(held);
        cluster_pass(cluster, MINUTE);
        assert_int_equal(cluster_starts(cluster, "a"), 2);
        cluster_free(cluster);
    }
}

/* It is there again within that time. */
static void a_run_is_taken_when_its_node_can(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct world *held = cluster->nodes[1];
    struct id uid =
        world_add(cluster->nodes[0], "name: a\nschedule: '@manual'\ncommand: [x]\nspread: all\n");
    held->executor_away = held->tell_gone = true;
    cluster_pass(cluster, 5000);
    assert_true(world_trigger(cluster->nodes[0], &uid));
    cluster_pass(cluster, 50 * MINUTE);
    world_attach(held);
    cluster_pass(cluster, 20 * MINUTE);
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), 3);
    cluster_free(cluster);
}

/* So does a further attempt, from the time on at which it is due. */
static void an_attempt_waits_for_its_node_and_not_for_ever(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *held = cluster->nodes[1];
    world_add(cluster->nodes[0], "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\nspread: all\n"
                                 "retries: {count: 1, wait: 10m}\ndeadline: 2m\n");
    held->exit_code = 1;
    cluster_pass(cluster, 60 * MINUTE - held->now.wall.ms % (60 * MINUTE) + 5000);
    held->executor_away = held->tell_gone = true;
    cluster_pass(cluster, 11 * MINUTE);
    assert_int_equal(cluster_count(cluster, "a", RUN_MISSED), 0);
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(cluster_count(cluster, "a", RUN_MISSED), 1);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sticky_job_stays_where_it_went),
        cmocka_unit_test(a_lost_run_does_not_bring_it_back),
        cmocka_unit_test(a_manual_run_is_sticky_too),
        cmocka_unit_test(a_busy_machine_gets_less),
        cmocka_unit_test(views_that_differ_cost_a_step),
        cmocka_unit_test(a_run_of_an_unknown_definition_waits),
        cmocka_unit_test(a_run_waits_for_its_node_and_not_for_ever),
        cmocka_unit_test(a_run_is_taken_when_its_node_can),
        cmocka_unit_test(an_attempt_waits_for_its_node_and_not_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
