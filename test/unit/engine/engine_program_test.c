/* Processes of programs as nodes beside agents: each runs its own kind of job, and what runs in a
 * process ends with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "stages/runner/runner.h"

#define MINUTELY(name) "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n"
#define FUNCTION(name) "name: " name "\nschedule: '* * * * *'\nfunction: billing\n"

static size_t starts_of(const struct world *node, const char *job_name)
{
    size_t count = 0;
    for (size_t i = 0; i < node->process_count; i++)
        count += strcmp(node->processes[i].job_name, job_name) == 0;
    return count;
}

/* Two agents, and behind them two processes of the program. */
static struct cluster *mixed_new(void)
{
    struct cluster *cluster = cluster_new(2);
    cluster_join_program(cluster, "billing", "zone=eu");
    cluster_join_program(cluster, "billing", "zone=us");
    cluster_pass(cluster, 5000);
    return cluster;
}

static void each_kind_has_its_nodes(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new();
    char yaml[200];
    for (int i = 0; i < 8; i++) {
        snprintf(yaml, sizeof(yaml), MINUTELY("command-%d"), i);
        world_add(cluster->nodes[0], yaml);
        snprintf(yaml, sizeof(yaml), FUNCTION("function-%d"), i);
        world_add(cluster->nodes[3], yaml); /* programs register their functions themselves */
    }
    struct id manual = world_add(
        cluster->nodes[0], "name: asked\nschedule: '@manual'\nfunction: billing\nwhere: zone=us\n");
    assert_true(world_trigger(cluster->nodes[0], &manual));
    cluster_pass(cluster, 5 * 60000);
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        assert_true(node->process_count > 0); /* the work is shared */
        for (size_t k = 0; k < node->process_count; k++)
            assert_string_equal(node->processes[k].command, i < 2 ? "/bin/true" : "billing");
    }
    assert_int_equal(starts_of(cluster->nodes[3], "asked"), 1);
    assert_int_equal(cluster_starts(cluster, "asked"), 1);
    for (int i = 0; i < 8; i++) {
        snprintf(yaml, sizeof(yaml), "function-%d", i);
        assert_int_equal(cluster_starts(cluster, yaml), 5);
    }
    cluster_free(cluster);
}

/* Nobody is there for a function, as nobody may be for a label. */
static void no_process_is_there(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *leader = cluster->nodes[0];
    cluster_join_program(cluster, "other", "");
    world_add(leader, FUNCTION("invoice"));
    struct id asked =
        world_add(leader, "name: asked\nschedule: '@manual'\nfunction: {program: billing}\n");
    assert_true(world_trigger(leader, &asked));
    cluster_pass(cluster, 3 * 60000);
    assert_int_equal(cluster_starts(cluster, "invoice") + cluster_starts(cluster, "asked"), 0);
    assert_true(world_passed(leader, "invoice", RUN_MISSED, REASON_NO_NODE) >= 2);
    assert_string_equal(leader->entries[0].detail, "no process of the program billing is there");
    assert_int_equal(world_count(leader, "asked", RUN_MISSED), 1);
    cluster_join_program(cluster, "billing", "");
    cluster_pass(cluster, 2 * 60000);
    assert_true(cluster_starts(cluster, "invoice") >= 2); /* one perhaps in time after all */
    cluster_free(cluster);
}

/* An older build has not registered the function: the next process steps in. */
static void the_next_process_has_it(void **state)
{
    (void)state;
    struct cluster *cluster = mixed_new();
    cluster->nodes[2]->lacks = "refund";
    world_add(cluster->nodes[0],
              "name: a\nschedule: '* * * * *'\nfunction: {program: billing, name: refund}\n");
    world_add(cluster->nodes[0],
              "name: b\nschedule: '* * * * *'\nfunction: {program: billing, name: refund}\n");
    world_add(cluster->nodes[0],
              "name: c\nschedule: '* * * * *'\nfunction: {program: billing, name: refund}\n");
    struct id asked =
        world_add(cluster->nodes[0],
                  "name: d\nschedule: '@manual'\nfunction: {program: billing, name: refund}\n");
    assert_true(world_trigger(cluster->nodes[0], &asked));
    cluster_pass(cluster, 3 * 60000);
    assert_int_equal(cluster->nodes[2]->process_count, 0);
    assert_int_equal(cluster->nodes[3]->process_count, 10);
    for (size_t i = 0; i < 10; i++) {
        const struct world_process *process = &cluster->nodes[3]->processes[i];
        assert_true(process->started_ms - process->tick_ms < 1000);
    }
    cluster_free(cluster);
}

static void a_process_dies_with_a_run(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *program = cluster_join_program(cluster, "billing", "");
    program->duration_ms = 20000;
    cluster_pass(cluster, 5000);
    world_add(cluster->nodes[0], FUNCTION("invoice"));
    cluster_pass_to(cluster, 1000);
    assert_int_equal(program->process_count, 1);
    cluster_freeze(program);
    cluster_expire(program);
    cluster_pass(cluster, 5000);
    const struct run *run =
        engine_find_run(cluster->nodes[0]->engine, &program->processes[0].run_id);
    assert_non_null(run);
    assert_int_equal(run->state, RUN_LOST);
    assert_int_equal(run->reason, REASON_NODE_DIED);
    cluster_free(cluster);
}

/* The next process in the slot of one that died knows nothing of its runs: they have run, perhaps
 * in part, and are not missed. */
static void the_next_process_says_that_it_is_lost(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *program = cluster_join_program(cluster, "billing", "");
    program->duration_ms = 20000;
    cluster_pass(cluster, 5000);
    world_add(cluster->nodes[0], FUNCTION("invoice"));
    cluster_pass_to(cluster, 1000);
    assert_int_equal(program->process_count, 1);
    struct world_process *gone = &program->processes[0]; /* the next one has never heard of it */
    gone->ended = gone->acknowledged = gone->was_dropped = true;
    world_restart(program);
    cluster_pass(cluster, 10000);
    assert_int_equal(cluster_count(cluster, "invoice", RUN_LOST), 1);
    assert_int_equal(cluster_count(cluster, "invoice", RUN_MISSED), 0);
    assert_string_equal(program->runs[0].detail,
                        "the process of its program ended before it returned");
    cluster_free(cluster);
}

/* Without an agent that can, a program leads; it does not judge for agents that are away. */
static void a_program_leads_where_no_agent_is(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *agent = cluster->nodes[0];
    struct world *program = cluster_join_program(cluster, "billing", "");
    cluster_pass(cluster, 5000);
    world_add(agent, MINUTELY("backup"));
    world_add(agent, FUNCTION("invoice"));
    world_add(agent, "name: other\nschedule: '* * * * *'\nfunction: refunds\n");
    assert_true(engine_leads(agent->engine));
    assert_false(engine_leads(program->engine));
    cluster_freeze(agent);
    cluster_expire(agent);
    cluster_pass(cluster, 5 * 60000);
    assert_true(engine_leads(program->engine));
    assert_true(starts_of(program, "invoice") >= 4);
    assert_int_equal(starts_of(program, "backup"), 0);
    assert_int_equal(world_passed(program, "backup", RUN_MISSED, REASON_NO_NODE), 0);
    assert_true(world_passed(program, "other", RUN_MISSED, REASON_NO_NODE) >= 3);
    cluster_thaw(cluster, agent);
    cluster_pass(cluster, 60000);
    assert_true(engine_leads(agent->engine));
    assert_false(engine_leads(program->engine));
    assert_true(starts_of(agent, "backup") >= 2); /* the last that it missed, and the next */
    assert_int_equal(cluster_passed(cluster, "backup", RUN_MISSED, REASON_NO_NODE), 0);
    cluster_free(cluster);
}

static void make_function(struct job *job)
{
    job_names_free(job->command);
    job->command = NULL;
    job->kind = JOB_FUNCTION;
    assert_int_equal(job_set_text(&job->function.program, "billing"), OK);
}

/* A command that has become a function since its claim is started by nobody. */
static void the_kind_changes_after_the_claim(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *agent = cluster->nodes[0];
    cluster_join_program(cluster, "billing", "");
    cluster_pass(cluster, 5000);
    struct id job = world_add(agent, MINUTELY("job"));
    agent->door_op = STORE_BEGIN;
    agent->door = DOOR_HELD;
    cluster_pass_to(cluster, 100);
    world_change(agent, &job, make_function);
    agent->door = DOOR_OPEN;
    cluster_pass(cluster, 3000);
    assert_int_equal(cluster_starts(cluster, "job"), 0);
    assert_int_equal(world_count(agent, "job", RUN_MISSED), 1);
    assert_int_equal(agent->runs[0].reason, REASON_NO_NODE);
    assert_string_equal(agent->runs[0].detail, RUNNER_OF_ANOTHER_KIND);
    cluster_pass(cluster, 60000);
    assert_int_equal(starts_of(cluster->nodes[1], "job"), 1);
    cluster_free(cluster);
}

/* Many processes of one machine are not the cluster's time: its agents are. */
static void agents_have_the_time(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    for (int i = 0; i < 3; i++)
        world_set_clock(cluster_join_program(cluster, "billing", ""), 3000);
    cluster_pass(cluster, 10000);
    assert_int_equal(engine_refusal(cluster->nodes[0]->engine), PEER_ACCEPTS);
    for (size_t i = 1; i < cluster->count; i++)
        assert_int_equal(engine_refusal(cluster->nodes[i]->engine), PEER_CLOCK);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_nodes),
        cmocka_unit_test(no_process_is_there),
        cmocka_unit_test(the_next_process_has_it),
        cmocka_unit_test(a_process_dies_with_a_run),
        cmocka_unit_test(the_next_process_says_that_it_is_lost),
        cmocka_unit_test(a_program_leads_where_no_agent_is),
        cmocka_unit_test(the_kind_changes_after_the_claim),
        cmocka_unit_test(agents_have_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
