/* Several nodes on one store: who starts what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "function/run_limits.h"

#define MINUTELY(name) "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n"

static void add_minutely(struct cluster *cluster, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char yaml[100];
        snprintf(yaml, sizeof(yaml), "name: job-%zu\nschedule: '* * * * *'\ncommand: [/bin/true]\n",
                 i);
        world_add(cluster->nodes[0], yaml);
    }
}

static size_t starts_of_all(const struct cluster *cluster)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->count; i++)
        count += cluster->nodes[i]->process_count;
    return count;
}

static int64_t latest_ms(const struct world *node)
{
    int64_t latest = 0;
    for (size_t i = 0; i < node->process_count; i++) {
        int64_t late = node->processes[i].started_ms - node->processes[i].tick_ms;
        latest = late > latest ? late : latest;
    }
    return latest;
}

/* All do their part, on time, each tick once, and each node records its own. */
static void nodes_share_the_work(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    add_minutely(cluster, 60);
    cluster_pass(cluster, 10 * 60000);
    assert_int_equal(starts_of_all(cluster), 600);
    for (size_t i = 0; i < 3; i++) {
        const struct world *node = cluster->nodes[i];
        assert_in_range(node->process_count, 100, 300);
        assert_int_equal(latest_ms(node), 0);
        assert_int_equal(node->run_count, node->process_count);
        assert_true(engine_is_idle(node->engine));
    }
    cluster_free(cluster);
}

/* The first is dead, and nobody knows yet: the next one waits for a third of a second. */
static void the_next_one_steps_in(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = cluster_first_for(cluster, &uid), *node;
    cluster_freeze(first);
    cluster_pass_to(cluster, 2000);
    const struct world_process *process = cluster_process(cluster, "job", &node);
    assert_ptr_not_equal(node, first);
    assert_int_equal(process->started_ms - process->tick_ms, STEP_IN_MS);
    /* Once it is known to be gone, there is nothing to wait for. */
    cluster_expire(first);
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster_starts(cluster, "job"), 2);
    process = &node->processes[1];
    assert_int_equal(process->started_ms, process->tick_ms);
    /* And when it is back, the job is its own again. */
    cluster_thaw(cluster, first);
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster_starts(cluster, "job"), 3);
    assert_int_equal(first->process_count, 1);
    cluster_free(cluster);
}

static void two_are_dead(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    add_minutely(cluster, 20);
    cluster_freeze(cluster->nodes[1]);
    cluster_freeze(cluster->nodes[2]);
    cluster_pass_to(cluster, 2000);
    assert_int_equal(cluster->nodes[0]->process_count, 20);
    assert_int_equal(latest_ms(cluster->nodes[0]), 2 * STEP_IN_MS);
    cluster_free(cluster);
}

/* Ticks of an outage of all are not wanted by all at once either. */
static void late_ticks_are_shared_out(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    add_minutely(cluster, 60);
    cluster_pass_to(cluster, 55000);
    for (size_t i = 0; i < 3; i++)
        world_sleep(cluster->nodes[i], 15000);
    size_t answered[3];
    for (size_t i = 0; i < 3; i++)
        answered[i] = cluster->nodes[i]->process_count;
    cluster_pass(cluster, 1000);
    for (size_t i = 0; i < 3; i++)
        assert_in_range(cluster->nodes[i]->process_count - answered[i], 8, 40);
    assert_int_equal(starts_of_all(cluster), 60);
    cluster_free(cluster);
}

static void a_full_node_passes_on(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    add_minutely(cluster, 20);
    engine_set_max_running(cluster->nodes[0]->engine, 2);
    cluster->nodes[0]->duration_ms = 90000;
    cluster_pass_to(cluster, 2000);
    assert_int_equal(cluster->nodes[0]->process_count, 2);
    assert_int_equal(cluster->nodes[1]->process_count, 18);
    assert_true(latest_ms(cluster->nodes[1]) <= STEP_IN_MS);
    const struct known_peer *full = peers_find(engine_peers(cluster->nodes[1]->engine), "node-1");
    assert_int_equal(full->peer.refusal, PEER_FULL);
    assert_int_equal(full->peer.running, 2);
    assert_int_equal(full->peer.max_running, 2);
    /* It is known by now: nobody waits for it. Two jobs are still running, and are skipped. */
    size_t before = cluster->nodes[1]->process_count;
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster->nodes[1]->process_count - before, 18);
    for (size_t i = before; i < cluster->nodes[1]->process_count; i++)
        assert_int_equal(cluster->nodes[1]->processes[i].started_ms,
                         cluster->nodes[1]->processes[i].tick_ms);
    cluster->nodes[0]->duration_ms = 10;
    cluster_pass(cluster, 120000);
    full = peers_find(engine_peers(cluster->nodes[1]->engine), "node-1");
    assert_int_equal(full->peer.refusal, PEER_ACCEPTS);
    assert_true(cluster->nodes[0]->process_count > 2);
    cluster_free(cluster);
}

static void a_drained_node_rests(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    add_minutely(cluster, 20);
    for (size_t i = 0; i < 2; i++) { /* the leader, too */
        size_t before = cluster->nodes[i]->process_count;
        cluster_drain(cluster, cluster->nodes[i], true);
        cluster_pass(cluster, 120000);
        assert_int_equal(cluster->nodes[i]->process_count, before);
        assert_int_equal(latest_ms(cluster->nodes[1 - i]), 0);
        cluster_drain(cluster, cluster->nodes[i], false);
        cluster_pass(cluster, 120000);
        assert_in_range(cluster->nodes[i]->process_count - before, 10, 30);
    }
    assert_int_equal(starts_of_all(cluster), 8 * 20);
    cluster_free(cluster);
}

static void a_stopping_node_says_so(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    add_minutely(cluster, 20);
    engine_drain(cluster->nodes[0]->engine);
    cluster_pass(cluster, 120000);
    assert_int_equal(cluster->nodes[0]->process_count, 0);
    assert_int_equal(cluster->nodes[1]->process_count, 40);
    assert_int_equal(latest_ms(cluster->nodes[1]), 0);
    cluster_free(cluster);
}

/* And whether it leaves something running, as far as it is known when it ends. */
static void a_stopping_node_says_what_runs_on(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *stopping = cluster->nodes[0];
    add_minutely(cluster, 20);
    assert_true(engine_leads(stopping->engine));
    stopping->duration_ms = 90000;
    cluster_pass_to(cluster, 2000);
    assert_true(stopping->process_count > 0);
    engine_drain(stopping->engine);
    assert_false(engine_is_idle(stopping->engine)); /* nobody knows yet */
    cluster_pass(cluster, 10);
    assert_true(engine_is_idle(stopping->engine));
    const struct peers *peers = engine_peers(cluster->nodes[1]->engine);
    assert_int_equal(peers_find(peers, "node-1")->peer.refusal, PEER_STOPPING);
    assert_int_equal(peers_find(peers, "node-1")->peer.running, stopping->process_count);
    assert_true(engine_leads(cluster->nodes[1]->engine));
    cluster_pass(cluster, 120000); /* it was in no hurry, and they have ended */
    assert_true(engine_is_idle(stopping->engine));
    assert_int_equal(peers_find(peers, "node-1")->peer.running, 0);
    cluster_free(cluster);
}

/* Two that don't know of each other want the same tick: the store gives it to one. */
static void one_wins_a_race(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct engine_config config = cluster->nodes[0]->config;
    snprintf(config.node, sizeof(config.node), "node-2");
    cluster->nodes[0]->alone = true;
    cluster->nodes[1] = world_join(cluster->nodes[0], &config);
    cluster->count = 2;
    cluster->nodes[1]->alone = true;
    cluster_pass(cluster, 10000);
    add_minutely(cluster, 10);
    cluster_pass(cluster, 5 * 60000);
    assert_int_equal(starts_of_all(cluster), 50);
    cluster_free(cluster);
}

static void a_manual_run_is_taken_once(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    size_t taken[3] = {0};
    struct id uid =
        world_add(cluster->nodes[0],
                  "name: job\nschedule: '@manual'\ncommand: [/bin/true]\noverlap: allow\n");
    for (int i = 0; i < 30; i++) {
        assert_true(world_trigger(cluster->nodes[0], &uid));
        cluster_pass(cluster, 1000);
    }
    for (size_t i = 0; i < 3; i++) {
        taken[i] = cluster->nodes[i]->process_count;
        assert_in_range(taken[i], 3, 20);
        assert_int_equal(latest_ms(cluster->nodes[i]), 0);
    }
    cluster_freeze(cluster->nodes[1]);
    for (int i = 0; i < 30; i++) {
        assert_true(world_trigger(cluster->nodes[0], &uid));
        cluster_pass(cluster, 1000);
    }
    assert_int_equal(cluster_starts(cluster, "job"), 60);
    assert_int_equal(cluster->nodes[1]->process_count, taken[1]);
    assert_true(latest_ms(cluster->nodes[0]) <= STEP_IN_MS);
    cluster_free(cluster);
}

/* ---- where ---- */

static void labels_choose_the_node(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *gpu = cluster_join(cluster, "gpu,zone=eu", 0);
    cluster_pass(cluster, 5000);
    world_add(cluster->nodes[0], MINUTELY("render") "where: gpu\n");
    world_add(cluster->nodes[0], MINUTELY("plain") "where: '!gpu'\n");
    struct id uid = world_add(cluster->nodes[0], "name: ask\nschedule: '@manual'\n"
                                                 "command: [/bin/true]\nwhere: zone=eu\n");
    assert_true(world_trigger(cluster->nodes[0], &uid));
    cluster_pass(cluster, 5 * 60000);
    assert_int_equal(gpu->process_count, 6);
    assert_int_equal(cluster_starts(cluster, "render"), 5);
    assert_int_equal(cluster_starts(cluster, "plain"), 5);
    assert_int_equal(cluster_starts(cluster, "ask"), 1);
    cluster_free(cluster);
}

/* Nobody may run it: on record, once, by the leader; and the next tick runs when one is there. */
static void no_node_may_run_it(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    world_add(cluster->nodes[0], MINUTELY("render") "where: gpu\n");
    cluster_drain(cluster, cluster->nodes[0], true); /* it leads all the same */
    cluster_pass(cluster, 80000);                    /* 00:01:25 */
    assert_int_equal(cluster_passed(cluster, "render", RUN_MISSED, REASON_NO_NODE), 0);
    cluster_pass(cluster, 5 * 60000 + 10000); /* 00:06:35 */
    assert_int_equal(world_passed(cluster->nodes[0], "render", RUN_MISSED, REASON_NO_NODE), 6);
    assert_int_equal(cluster_passed(cluster, "render", RUN_MISSED, REASON_NO_NODE), 6);
    cluster_join(cluster, "gpu", 0);
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster_starts(cluster, "render"), 1);
    assert_int_equal(cluster_passed(cluster, "render", RUN_MISSED, REASON_NO_NODE), 6);
    cluster_free(cluster);
}

#define ASKED(name, more)                                                                          \
    "name: " name "\nschedule: '@manual'\ncommand: [/bin/true]\nwhere: gpu\n" more

/* What somebody asked for waits for a node as long as a tick does, or as its deadline says. */
static void a_run_that_no_node_may_run_is_missed(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *leader = cluster->nodes[0];
    struct id soon = world_add(leader, ASKED("soon", "")),
              later = world_add(leader, ASKED("later", "deadline: 5m\n")),
              last = world_add(leader, ASKED("last", "deadline: 2m\n"));
    assert_true(world_trigger(leader, &soon));
    assert_true(world_trigger(leader, &later));
    assert_true(world_trigger(leader, &last));
    cluster_pass(cluster, 29000);
    assert_int_equal(cluster_count(cluster, "soon", RUN_MISSED), 0);
    cluster_pass(cluster, 2000);
    assert_int_equal(world_count(leader, "soon", RUN_MISSED), 1);
    assert_int_equal(leader->runs[0].reason, REASON_NO_NODE);
    assert_string_equal(leader->runs[0].detail, "no node has the labels of its where: gpu");
    cluster_pass(cluster, 90000);
    assert_int_equal(cluster_count(cluster, "last", RUN_MISSED),
                     1); /* the other one has its turn */
    cluster_join(cluster, "gpu", 0);
    cluster_pass(cluster, 10000);
    assert_int_equal(cluster_count(cluster, "later", RUN_OK), 1);
    for (size_t i = 0; i < cluster->count; i++)
        assert_true(engine_is_idle(cluster->nodes[i]->engine));
    cluster_free(cluster);
}

/* A node says what it can enforce once its spawner has told it, and no longer when another one has
 * not. Nothing runs without its limits. */
static void limits_choose_the_node(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct world *able = cluster->nodes[1];
    world_add(cluster->nodes[0], "name: a\nschedule: '* * * * *'\ncommand: [x]\n"
                                 "limits: {total_memory: 64MiB, io_weight: 50}\n");
    able->enforces = 1u << CONTROLLER_MEMORY; /* a part is not enough */
    cluster_pass_to(cluster, 30 * 1000);
    cluster_pass(cluster, 2 * 60 * 1000);
    assert_int_equal(cluster_starts(cluster, "a"), 0);
    able->enforces |= 1u << CONTROLLER_IO;
    cluster_pass(cluster, 5000);
    const struct peer *peer = &peers_find(engine_peers(cluster->nodes[0]->engine), "node-2")->peer;
    assert_string_equal(peer->labels, "cgroup/io,cgroup/memory");
    cluster_pass(cluster, 5 * 60 * 1000);
    size_t runs = cluster_count(cluster, "a", RUN_OK);
    assert_in_range(runs, 5, 6); /* perhaps one of before, a little late */
    assert_int_equal(world_count(able, "a", RUN_OK), runs);

    able->enforces = 0;
    int64_t before = cluster_passed(cluster, "a", RUN_MISSED, REASON_NO_NODE);
    cluster_pass(cluster, 3 * 60 * 1000);
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), runs);
    assert_true(cluster_passed(cluster, "a", RUN_MISSED, REASON_NO_NODE) >= before + 2);
    cluster_free(cluster);
}

/* A node that is drained may run it: later. */
static void a_run_waits_for_a_drained_node(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *gpu = cluster_join(cluster, "gpu", 0);
    cluster_pass(cluster, 5000);
    cluster_drain(cluster, gpu, true);
    struct id uid = world_add(cluster->nodes[0], ASKED("job", ""));
    assert_true(world_trigger(cluster->nodes[0], &uid));
    cluster_pass(cluster, 10 * 60000);
    assert_int_equal(cluster_count(cluster, "job", RUN_MISSED), 0);
    cluster_drain(cluster, gpu, false);
    cluster_pass(cluster, 5000);
    assert_int_equal(world_count(gpu, "job", RUN_OK), 1);
    cluster_free(cluster);
}

/* ---- how late news are ---- */

/* By its own words: they take as long to come back as those of the others take to come. */
static void a_node_knows_how_late_it_hears(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *node = cluster->nodes[1];
    cluster_pass(cluster, 5000);
    assert_int_equal(engine_watch_lag_ms(node->engine, node->now), 0);
    node->unheard = true;
    cluster_pass(cluster, 30000);
    assert_in_range(engine_watch_lag_ms(node->engine, node->now), 28000, 30000);
    const struct peers *others = engine_peers(cluster->nodes[0]->engine);
    assert_in_range(peers_find(others, "node-2")->peer.lag_ms, 25000, 30000);
    node->unheard = false;
    cluster_pass(cluster, 5000);
    assert_int_equal(engine_watch_lag_ms(node->engine, node->now), 0);
    cluster_free(cluster);
}

/* ---- clocks ---- */

static void a_wrong_clock_is_in_quarantine(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *wrong = cluster_join(cluster, "", 2000);
    cluster_pass(cluster, 5000);
    assert_true(engine_peers(wrong->engine)->is_skewed);
    assert_int_equal(engine_peers(wrong->engine)->skew_ms, 2000);
    assert_false(engine_peers(cluster->nodes[0]->engine)->is_skewed);
    add_minutely(cluster, 20);
    cluster_pass(cluster, 2 * 60000);
    assert_int_equal(wrong->process_count, 0);
    assert_int_equal(cluster->nodes[0]->process_count, 40);
    assert_int_equal(latest_ms(cluster->nodes[0]), 0);
    assert_int_equal(peers_find(engine_peers(cluster->nodes[0]->engine), "node-2")->peer.refusal,
                     PEER_CLOCK);
    world_set_clock(wrong, -2000);
    cluster_pass(cluster, 60000);
    assert_false(engine_peers(wrong->engine)->is_skewed);
    assert_in_range(wrong->process_count, 3, 17);
    cluster_free(cluster);
}

/* A step in the middle of things: what runs goes on, what is claimed does not begin. */
static void a_clock_is_set(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    cluster->nodes[1]->duration_ms = 100000;
    add_minutely(cluster, 30);
    cluster_pass_to(cluster, 1000);
    size_t running = engine_open_runs(cluster->nodes[1]->engine);
    assert_true(running > 0);
    world_set_clock(cluster->nodes[1], 5000);
    assert_true(engine_peers(cluster->nodes[1]->engine)->is_skewed);
    cluster_pass(cluster, 250); /* the others are told at once, not with the next heartbeat */
    assert_int_equal(peers_find(engine_peers(cluster->nodes[0]->engine), "node-2")->offset_ms,
                     5000);
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster->nodes[1]->process_count, running);
    cluster_pass(cluster, 60000);
    assert_int_equal(cluster->nodes[1]->run_count, running); /* on record by itself */
    cluster_free(cluster);
}

/* ---- alone ---- */

/* But for the mark that it is there. */
static void alone_there_is_nobody_to_tell(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    const struct world *node = cluster->nodes[0];
    assert_true(engine_leads(node->engine));
    int64_t wake_ms = engine_wake_at(node->engine).ms - node->now.wall.ms;
    assert_in_range(wake_ms, 1, 10000);
    cluster_pass(cluster, wake_ms);
    assert_int_equal(engine_wake_at(node->engine).ms, node->now.wall.ms + 10000);
    cluster_free(cluster);
}

/* It waits to be told that it may take something again. */
static void a_drained_node_sleeps(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    const struct world *node = cluster->nodes[0];
    cluster_drain(cluster, node, true);
    cluster_pass(cluster, 5000);
    assert_int_equal(engine_wake_at(node->engine).ms, NEVER_MS);
    cluster_free(cluster);
}

/* An API server follows what happens, and does nothing. */
static void an_api_server_only_looks_on(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct engine_config config = cluster->nodes[0]->config;
    snprintf(config.node, sizeof(config.node), "api-1");
    config.self.roles = PEER_API;
    struct world *api = world_join(cluster->nodes[0], &config);
    cluster->nodes[cluster->count++] = api;
    cluster->nodes[0]->duration_ms = 5000;
    world_add(cluster->nodes[0], MINUTELY("job"));
    cluster_pass_to(cluster, 1000);
    assert_int_equal(cluster->nodes[0]->process_count, 1);
    const struct run *run = engine_find_run(api->engine, &cluster->nodes[0]->processes[0].run_id);
    assert_non_null(run);
    assert_int_equal(run->state, RUN_BEGUN);
    assert_int_equal(engine_open_runs(api->engine), 0);
    assert_int_equal(catalog_by_name(engine_catalog(api->engine), "job")->open_runs, 1);
    cluster_pass(cluster, 10000);
    assert_null(engine_find_run(api->engine, &cluster->nodes[0]->processes[0].run_id));
    assert_int_equal(catalog_by_name(engine_catalog(api->engine), "job")->open_runs, 0);
    assert_false(engine_leads(api->engine));
    cluster_expire(cluster->nodes[0]);
    cluster_freeze(cluster->nodes[0]);
    cluster_pass(cluster, 120000);
    assert_int_equal(api->process_count + api->run_count + api->entry_count, 0);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_share_the_work),
        cmocka_unit_test(the_next_one_steps_in),
        cmocka_unit_test(two_are_dead),
        cmocka_unit_test(late_ticks_are_shared_out),
        cmocka_unit_test(a_full_node_passes_on),
        cmocka_unit_test(a_drained_node_rests),
        cmocka_unit_test(a_stopping_node_says_so),
        cmocka_unit_test(a_stopping_node_says_what_runs_on),
        cmocka_unit_test(one_wins_a_race),
        cmocka_unit_test(a_manual_run_is_taken_once),
        cmocka_unit_test(labels_choose_the_node),
        cmocka_unit_test(limits_choose_the_node),
        cmocka_unit_test(no_node_may_run_it),
        cmocka_unit_test(a_run_that_no_node_may_run_is_missed),
        cmocka_unit_test(a_run_waits_for_a_drained_node),
        cmocka_unit_test(a_node_knows_how_late_it_hears),
        cmocka_unit_test(a_wrong_clock_is_in_quarantine),
        cmocka_unit_test(a_clock_is_set),
        cmocka_unit_test(alone_there_is_nobody_to_tell),
        cmocka_unit_test(a_drained_node_sleeps),
        cmocka_unit_test(an_api_server_only_looks_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
