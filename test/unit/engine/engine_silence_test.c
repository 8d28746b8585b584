/* A node that may be dead: runs are begun so late that it seldom has begun ones, others look at it
 * where a tick waits for one, and that tick is put off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

#define JOB(schedule, more) "name: job\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

/* ---- the begin ---- */

static void note_state(void *context, const struct run *run)
{
    *(enum run_state *)context = run->state;
}

static enum run_state state_on(const struct world *node)
{
    enum run_state state = RUN_STATES;
    engine_each_open_run(node->engine, note_state, &state);
    return state;
}

static void a_run_is_begun_just_before_its_start(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], JOB("* * * * *", ""));
    struct world *first = cluster_first_for(cluster, &uid), *node;
    cluster_pass_to(cluster, 60000 - 30);
    assert_int_equal(state_on(first), RUN_CLAIMED);
    assert_false(first->beats_often);
    cluster_pass_to(cluster, 60000 - 10);
    assert_int_equal(state_on(first), RUN_BEGUN);
    assert_true(first->beats_often);
    cluster_pass(cluster, 1000);
    const struct world_process *process = cluster_process(cluster, "job", &node);
    assert_ptr_equal(node, first);
    assert_in_range(process->started_ms - process->tick_ms, 0, 1);
    assert_false(first->beats_often);
    cluster_free(cluster);
}

/* Nobody else could take it over. */
static void a_single_node_begins_at_once(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, 60000 - 50);
    assert_int_equal(state_on(world), RUN_BEGUN);
    assert_false(world->beats_often);
}

/* A slow store is begun at earlier: the run starts on time. */
static void a_slow_store_has_more_time(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], JOB("* * * * *", ""));
    struct world *first = cluster_first_for(cluster, &uid);
    first->door = DOOR_SLOW;
    first->door_op = STORE_BEGIN;
    cluster_pass_to(cluster, 30000);
    for (int i = 0; i < 12; i++)
        cluster_pass(cluster, 60000);
    const struct world_process *last = &first->processes[first->process_count - 1];
    assert_int_equal(first->process_count, 12);
    assert_in_range(last->started_ms - last->tick_ms, 0, 1);
    cluster_free(cluster);
}

/* ---- a node that dies ---- */

/* A job that is due twice a minute, ten seconds apart, and first of all on that node: its name. */
static const char *job_for(struct cluster *cluster, const struct world *node, const char *more)
{
    static char name[32];
    struct strbuf yaml;
    struct id uid;
    strbuf_init(&yaml);
    int i = 0;
    do {
        assert_in_range(i, 0, 30);
        snprintf(name, sizeof(name), "job-%d", i++);
        strbuf_reset(&yaml);
        strbuf_addf(&yaml, "name: %s\nschedule: '30,40 * * * * *'\ncommand: [/bin/true]\n%s", name,
                    more);
        uid = world_add(cluster->nodes[0], yaml.text);
    } while (cluster_first_for(cluster, &uid) != node);
    strbuf_release(&yaml);
    return name;
}

/* The node runs the job from 30 s of a minute on, for longer than the next tick, and stops right
 * before that. */
static const char *run_and_freeze(struct cluster *cluster, struct world *node, const char *more)
{
    const char *name = job_for(cluster, node, more);
    cluster_pass_to(cluster, 29000);
    node->duration_ms = 3600 * 1000;
    cluster_pass(cluster, 10800);
    assert_int_equal(cluster_starts(cluster, name), 1);
    cluster_freeze(node);
    return name;
}

static size_t suspicions(const struct cluster *cluster)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->count; i++)
        count += cluster->nodes[i]->suspicions;
    return count;
}

/* The leader looks, and at the leader the one that joined next. */
static void others_look_at_it(void **state)
{
    (void)state;
    for (size_t at = 0; at < 3; at++) {
        struct cluster *cluster = cluster_new(3);
        struct world *node = cluster->nodes[at], *lookout = cluster->nodes[at == 0];
        run_and_freeze(cluster, node, "");
        size_t before = suspicions(cluster);
        cluster_pass(cluster, 2000);
        assert_in_range(lookout->suspicions, 7, 20);
        assert_in_range(suspicions(cluster) - before, 7, 9); /* every quarter of a second, once */
        assert_string_equal(lookout->suspected, node->config.node);
        cluster_free(cluster);
    }
}

/* Its run is in nobody's way: the time of a lease is soon enough. */
static void nobody_looks_without_need(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    run_and_freeze(cluster, cluster->nodes[1], "overlap: allow\n");
    cluster_pass(cluster, 5000);
    assert_int_equal(suspicions(cluster), 0);
    cluster_free(cluster);

    cluster = cluster_new(3);
    struct world *node = cluster->nodes[1];
    job_for(cluster, node, "");
    cluster_pass_to(cluster, 29000);
    node->duration_ms = 5000;
    cluster_pass(cluster, 7000); /* the run has ended before the next tick is near */
    assert_int_equal(suspicions(cluster), 0);
    cluster_free(cluster);
}

/* ---- the tick that its run blocks ---- */

static const struct world_process *last_of(const struct cluster *cluster, const char *name)
{
    const struct world_process *last = NULL;
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        for (size_t k = 0; k < node->process_count; k++)
            if (strcmp(node->processes[k].job_name, name) == 0 &&
                (!last || node->processes[k].tick_ms > last->tick_ms))
                last = &node->processes[k];
    }
    return last;
}

/* It starts as soon as the run is lost, once, on the node that is next. */
static void the_tick_starts_when_the_run_is_lost(void **state)
{
    (void)state;
    for (size_t at = 0; at < 3; at++) {
        struct cluster *cluster = cluster_new(3);
        struct world *node = cluster->nodes[at];
        const char *name = run_and_freeze(cluster, node, "");
        cluster_pass(cluster, 1500); /* the tick is due since 1.3 s */
        assert_int_equal(cluster_starts(cluster, name), 1);
        cluster_expire(node);
        cluster_pass(cluster, 50);
        assert_int_equal(cluster_starts(cluster, name), 2);
        const struct world_process *process = last_of(cluster, name);
        assert_in_range(process->started_ms - process->tick_ms, 1300, 1350);
        assert_int_equal(cluster_passed(cluster, name, RUN_SKIPPED, REASON_OVERLAP), 0);
        cluster_free(cluster);
    }
}

/* Its node was only slow to claim, or nobody finds out in time: it is skipped, as ever. */
static void the_tick_is_skipped_after_two_seconds(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    const char *name = run_and_freeze(cluster, cluster->nodes[1], "");
    cluster_pass(cluster, 1900);
    assert_int_equal(cluster_passed(cluster, name, RUN_SKIPPED, REASON_OVERLAP), 0);
    cluster_pass(cluster, 1000);
    assert_int_equal(cluster_passed(cluster, name, RUN_SKIPPED, REASON_OVERLAP), 1);
    assert_int_equal(cluster_starts(cluster, name), 1);
    cluster_free(cluster);
}

/* A node that lives skips its tick on time. */
static void a_living_node_skips_on_time(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct world *node = cluster->nodes[1];
    const char *name = job_for(cluster, node, "");
    cluster_pass_to(cluster, 29000);
    node->duration_ms = 15000;
    cluster_pass(cluster, 11500);
    assert_int_equal(cluster_passed(cluster, name, RUN_SKIPPED, REASON_OVERLAP), 1);
    assert_int_equal(cluster_starts(cluster, name), 1);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_begun_just_before_its_start),
        WITH_WORLD(a_single_node_begins_at_once),
        cmocka_unit_test(a_slow_store_has_more_time),
        cmocka_unit_test(others_look_at_it),
        cmocka_unit_test(nobody_looks_without_need),
        cmocka_unit_test(the_tick_starts_when_the_run_is_lost),
        cmocka_unit_test(the_tick_is_skipped_after_two_seconds),
        cmocka_unit_test(a_living_node_skips_on_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
