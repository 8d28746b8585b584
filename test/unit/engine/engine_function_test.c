/* Functions that the processes of their program have not registered, or not all of them: a tick
 * that none can run ends, as one does that no node may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "function/lacks.h"
#include "stages/runner/runner.h"

#define REFUND(name)                                                                               \
    "name: " name "\nschedule: '* * * * *'\nfunction: {program: billing, name: refund}\n"
#define NOBODY_HAS "no process of the program billing that is running has the function refund"

/* Agents, and behind them two processes of the program. */
static struct cluster *mixed_new(size_t agents)
{
    struct cluster *cluster = cluster_new(agents);
    cluster_join_program(cluster, "billing", "zone=eu");
    cluster_join_program(cluster, "billing", "zone=us");
    cluster_pass(cluster, 5000);
    return cluster;
}

static const struct ledger_entry *entry_of(const struct world *node, const char *job_name)
{
    for (size_t i = 0; i < node->entry_count; i++)
        if (strcmp(node->entries[i].job_name, job_name) == 0)
            return &node->entries[i];
    fail_msg("no entry of %s", job_name);
    return NULL;
}

/* Ticks, and runs that people, a failure or another job's end have made. */
static void nobody_has_it(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(2);
    struct world *leader = cluster->nodes[0];
    cluster->nodes[2]->lacks = cluster->nodes[3]->lacks = "refund";
    world_add(leader, REFUND("ticks"));
    world_add(leader, "name: first\nschedule: '* * * * *'\ncommand: [/bin/true]\n");
    world_add(leader, "name: then\nafter: first\nfunction: {program: billing, name: refund}\n");
    struct id asked = world_add(
        leader, "name: asked\nschedule: '@manual'\nfunction: {program: billing, name: refund}\n");
    assert_true(world_trigger(leader, &asked));
    cluster_pass(cluster, 4 * 60000);
    assert_int_equal(cluster_starts(cluster, "ticks") + cluster_starts(cluster, "then") +
                         cluster_starts(cluster, "asked"),
                     0);
    assert_true(world_passed(leader, "ticks", RUN_MISSED, REASON_NO_NODE) >= 3);
    assert_string_equal(entry_of(leader, "ticks")->detail, NOBODY_HAS);
    assert_int_equal(world_count(leader, "asked", RUN_MISSED), 1);
    assert_true(world_count(leader, "then", RUN_MISSED) >= 2);
    for (size_t i = 0; i < leader->run_count; i++)
        if (leader->runs[i].state == RUN_MISSED)
            assert_string_equal(leader->runs[i].detail, NOBODY_HAS);
    cluster_check(cluster);
    cluster_free(cluster);
}

/* A process registers it, and removes it again. */
static void it_comes_and_goes(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(1);
    struct world *leader = cluster->nodes[0], *program = cluster->nodes[2];
    cluster->nodes[1]->lacks = program->lacks = "refund";
    struct id job = world_add(leader, REFUND("job"));
    cluster_pass(cluster, 3 * 60000);
    int64_t missed = world_passed(leader, "job", RUN_MISSED, REASON_NO_NODE);
    assert_true(missed >= 2);
    assert_false(
        engine_has_node(leader->engine, catalog_by_uid(engine_catalog(leader->engine), &job)));
    cluster_pass_to(cluster, 40000);
    program->lacks = NULL;
    cluster_pass(cluster, 3 * 60000);
    assert_true(
        engine_has_node(leader->engine, catalog_by_uid(engine_catalog(leader->engine), &job)));
    assert_int_equal(program->process_count, 3);
    for (size_t i = 0; i < 3; i++) /* of the other it is known that it does not come first */
        assert_true(program->processes[i].started_ms - program->processes[i].tick_ms < 100);
    program->lacks = "refund";
    cluster_pass(cluster, 3 * 60000);
    assert_int_equal(program->process_count, 3);
    assert_true(world_passed(leader, "job", RUN_MISSED, REASON_NO_NODE) >= missed + 2);
    cluster_check(cluster);
    cluster_free(cluster);
}

/* A process that has it, and takes no runs for the moment, is waited for. */
static void one_that_has_it_is_full(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(1);
    struct world *leader = cluster->nodes[0], *full = cluster->nodes[2];
    cluster->nodes[1]->lacks = "refund";
    full->duration_ms = 150000;
    engine_set_max_running(full->engine, 1);
    world_add(leader, "name: long\nschedule: '@at 2026-01-01T00:01:00Z'\nwhere: zone=us\nfunction: "
                      "billing\n");
    cluster_pass_to(cluster, 1000);
    struct id asked = world_add(
        leader, "name: asked\nschedule: '@manual'\nfunction: {program: billing, name: refund}\n");
    world_add(leader, REFUND("job"));
    assert_true(world_trigger(leader, &asked));
    cluster_pass(cluster, 120000);
    assert_int_equal(full->process_count, 1);
    assert_int_equal(cluster_passed(cluster, "job", RUN_MISSED, REASON_NO_NODE), 0);
    assert_int_equal(cluster_count(cluster, "asked", RUN_MISSED), 0);
    full->duration_ms = 1000;
    cluster_pass(cluster, 120000);
    assert_int_equal(cluster_starts(cluster, "asked"), 1);
    assert_true(cluster_starts(cluster, "job") >= 2);
    assert_int_equal(cluster_passed(cluster, "job", RUN_MISSED, REASON_NO_NODE), 0);
    cluster_check(cluster);
    cluster_free(cluster);
}

/* More functions than a heartbeat can name. */
static void nobody_has_many(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(1);
    char text[100];
    cluster->nodes[1]->lacks = cluster->nodes[2]->lacks = "*";
    for (int i = 0; i < LACKS_MAX + 9; i++) {
        snprintf(text, sizeof(text), "name: job-%d\nschedule: '@hourly'\nfunction: billing\n", i);
        world_add(cluster->nodes[0], text);
    }
    cluster_pass(cluster, 3600000 + 120000);
    for (int i = 0; i < LACKS_MAX + 9; i++) {
        snprintf(text, sizeof(text), "job-%d", i);
        assert_int_equal(cluster_passed(cluster, text, RUN_MISSED, REASON_NO_NODE), 1);
    }
    const struct known_peer *told =
        peers_find(engine_peers(cluster->nodes[0]->engine), cluster->nodes[1]->config.node);
    assert_int_equal(strlen(told->peer.lacks), 8 * LACKS_MAX + 1);
    cluster->nodes[1]->lacks = cluster->nodes[2]->lacks = NULL;
    cluster_pass(cluster, 3600000);
    for (int i = 0; i < LACKS_MAX + 9; i++) {
        snprintf(text, sizeof(text), "job-%d", i);
        assert_int_equal(cluster_starts(cluster, text), 1);
    }
    assert_string_equal(told->peer.lacks, "");
    cluster_free(cluster);
}

/* Without agents, a process that has not the function leads. */
static void a_program_says_it_of_itself(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(1);
    struct world *agent = cluster->nodes[0];
    cluster->nodes[1]->lacks = cluster->nodes[2]->lacks = "refund";
    world_add(agent, REFUND("job"));
    cluster_pass(cluster, 10000);
    cluster_freeze(agent);
    cluster_expire(agent);
    cluster_pass(cluster, 3 * 60000);
    assert_true(cluster_passed(cluster, "job", RUN_MISSED, REASON_NO_NODE) >= 2);
    assert_int_equal(agent->entry_count, 0);
    cluster_free(cluster);
}

/* Of a broadcast it is left out; where it is not known yet, its part is missed. */
static void a_broadcast_leaves_it_out(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new(1);
    cluster->nodes[1]->lacks = "refund";
    world_add(cluster->nodes[0], REFUND("job") "spread: all\n");
    cluster_pass(cluster, 5 * 60000);
    assert_int_equal(cluster->nodes[1]->process_count, 0);
    assert_int_equal(cluster->nodes[2]->process_count, 5);
    assert_in_range(cluster_count(cluster, "job", RUN_MISSED), 0, 1);
    cluster_free(cluster);
}

/* It is removed between the claim and the start. */
static void it_goes_after_the_claim(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *program = cluster_join_program(cluster, "billing", "");
    cluster_pass(cluster, 5000);
    world_add(cluster->nodes[0], REFUND("job"));
    program->door_op = STORE_BEGIN;
    program->door = DOOR_HELD;
    cluster_pass_to(cluster, 100);
    program->lacks = "refund";
    program->door = DOOR_OPEN;
    cluster_pass(cluster, 3000);
    assert_int_equal(program->process_count, 0);
    assert_int_equal(world_count(program, "job", RUN_MISSED), 1);
    assert_int_equal(program->runs[0].reason, REASON_NO_NODE);
    assert_string_equal(program->runs[0].detail, RUNNER_FORGOTTEN);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_has_it),
        cmocka_unit_test(it_comes_and_goes),
        cmocka_unit_test(one_that_has_it_is_full),
        cmocka_unit_test(nobody_has_many),
        cmocka_unit_test(a_program_says_it_of_itself),
        cmocka_unit_test(a_broadcast_leaves_it_out),
        cmocka_unit_test(it_goes_after_the_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
