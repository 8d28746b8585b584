/* Ticks that go node by node: when each run starts, and what stops them; and what follows a tick
 * whose last run is called off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, NODES = 3 };

#define JOB(more)                                                                                  \
    "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\nspread: all\n"                                \
    "rolling: {at_once: 1" more

/* Up to the first tick of the job, whose processes take 20 s. */
static struct cluster *until_the_tick(const char *yaml, struct id *ret_uid)
{
    struct cluster *cluster = cluster_new(NODES);
    for (size_t i = 0; i < NODES; i++)
        cluster->nodes[i]->duration_ms = 20 * SECOND;
    struct id uid = world_add(cluster->nodes[0], yaml);
    if (ret_uid)
        *ret_uid = uid;
    int64_t hour_ms = 60 * MINUTE;
    cluster_pass(cluster, hour_ms - cluster->nodes[0]->now.wall.ms % hour_ms);
    return cluster;
}

/* When its process started, in seconds from the tick on; -1: there is none. */
static int started_s(const struct cluster *cluster, size_t node)
{
    const struct world *world = cluster->nodes[node];
    if (!world->process_count)
        return -1;
    assert_int_equal(world->process_count, 1);
    return (int)((world->processes[0].started_ms - world->processes[0].tick_ms) / SECOND);
}

/* The record of the part, on any node; NULL: there is none. */
static const struct run *record(const struct cluster *cluster, int part)
{
    const struct run *found = NULL;
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->run_count; i++)
            if (cluster->nodes[n]->runs[i].part == part)
                found = &cluster->nodes[n]->runs[i];
    return found;
}

/* One after the other, in the order of their names. A deadline counts from the turn. */
static void nodes_go_one_after_the_other(void **state)
{
    (void)state;
    struct cluster *cluster = until_the_tick(JOB("}\ndeadline: 10s\n"), NULL);
    cluster_pass(cluster, 5 * SECOND);
    assert_int_equal(started_s(cluster, 0), 0);
    assert_int_equal(started_s(cluster, 1), -1);
    cluster_pass(cluster, 65 * SECOND);
    for (int i = 0; i < NODES; i++)
        assert_in_range(started_s(cluster, (size_t)i), 20 * i, 20 * i + 1);
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), NODES);
    cluster_free(cluster);
}

static void two_at_once(void **state)
{
    (void)state;
    struct cluster *cluster = until_the_tick("name: a\nschedule: '0 0 * * * *'\ncommand: [x]\n"
                                             "spread: shards 5\nrolling: 2\n",
                                             NULL);
    size_t most = 0;
    for (int s = 0; s < 70; s++) {
        size_t under_way = 0;
        for (size_t n = 0; n < NODES; n++)
            for (size_t i = 0; i < cluster->nodes[n]->process_count; i++)
                under_way += !cluster->nodes[n]->processes[i].ended;
        most = under_way > most ? under_way : most;
        cluster_pass(cluster, SECOND);
    }
    assert_int_equal(most, 2);
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), 5);
    cluster_free(cluster);
}

static void a_failure_stops_the_rest(void **state)
{
    (void)state;
    struct cluster *cluster = until_the_tick(JOB(", stop_on_failure: true}\n"), NULL);
    cluster_pass(cluster, 25 * SECOND);
    cluster->nodes[1]->processes[0].exit_code = 3;
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(started_s(cluster, 2), -1);
    assert_int_equal(record(cluster, 0)->state, RUN_OK);
    assert_int_equal(record(cluster, 1)->state, RUN_FAILED);
    assert_int_equal(record(cluster, 2)->state, RUN_SKIPPED);
    assert_int_equal(record(cluster, 2)->reason, REASON_PART_FAILED);
    cluster_free(cluster);
}

/* A node that is gone when its turn comes is not waited for longer than 30 s. */
static void a_node_that_is_gone_does_not_hold_up_the_others(void **state)
{
    (void)state;
    for (int stops = 0; stops < 2; stops++) {
        struct cluster *cluster =
            until_the_tick(stops ? JOB(", stop_on_failure: true}\n") : JOB("}\n"), NULL);
        cluster_pass(cluster, 5 * SECOND);
        cluster_freeze(cluster->nodes[1]);
        cluster_expire(cluster->nodes[1]);
        cluster_pass(cluster, 2 * MINUTE);
        assert_int_equal(record(cluster, 1)->state, RUN_MISSED);
        assert_int_equal(record(cluster, 1)->reason, REASON_NO_NODE);
        assert_int_equal(record(cluster, 2)->state, stops ? RUN_SKIPPED : RUN_OK);
        if (!stops)
            assert_in_range(started_s(cluster, 2), 50, 55);
        cluster_free(cluster);
    }
}

/* It dies with its run: that is lost, and the next one's turn comes with the loss. */
static void the_node_whose_turn_it_is_dies(void **state)
{
    (void)state;
    struct cluster *cluster = until_the_tick(JOB("}\n"), NULL);
    cluster_pass(cluster, 25 * SECOND);
    assert_int_equal(started_s(cluster, 1), 20);
    cluster_freeze(cluster->nodes[1]);
    cluster_expire(cluster->nodes[1]);
    cluster_pass(cluster, 10 * SECOND);
    assert_in_range(started_s(cluster, 2), 25, 30);
    cluster_pass(cluster, MINUTE);
    cluster_thaw(cluster, cluster->nodes[1]); /* and comes back with its end */
    cluster_pass(cluster, MINUTE);
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), NODES);
    cluster_free(cluster);
}

/* A live node that does not take its run in its turn. */
static void a_node_that_does_not_take_it(void **state)
{
    (void)state;
    struct cluster *cluster = until_the_tick(JOB("}\n"), NULL);
    cluster_pass(cluster, 5 * SECOND);
    cluster->nodes[1]->door = DOOR_BROKEN;
    cluster->nodes[1]->door_op = STORE_TAKE;
    cluster->nodes[1]->door_status = E_UNREACHABLE;
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(record(cluster, 1)->state, RUN_MISSED);
    assert_int_equal(record(cluster, 1)->reason, REASON_DEADLINE);
    assert_in_range(started_s(cluster, 2), 50, 55);
    cluster_free(cluster);
}

static void pause_job(struct job *job)
{
    job->paused = true;
}

static void a_pause_ends_those_that_wait(void **state)
{
    (void)state;
    struct id uid;
    struct cluster *cluster = until_the_tick(JOB("}\n"), &uid);
    cluster_pass(cluster, 5 * SECOND);
    world_change(cluster->nodes[0], &uid, pause_job);
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(record(cluster, 0)->state, RUN_OK);
    assert_int_equal(record(cluster, 1)->reason, REASON_PAUSED);
    assert_int_equal(record(cluster, 2)->reason, REASON_PAUSED);
    cluster_free(cluster);
}

/* ---- the last run is called off ---- */

enum trouble { NO_TROUBLE, NO_LEADER, ANSWER_LOST, STORE_AWAY, TROUBLES };

/* The run of one node has failed; that of another waits for its next attempt, which a pause ends:
 * the tick has failed. */
static void until_called_off(struct cluster *cluster, const struct id *uid, enum trouble trouble)
{
    for (size_t i = 0; i < NODES; i++)
        cluster->nodes[i]->duration_ms = SECOND;
    cluster->nodes[1]->exit_code = 75;
    cluster->nodes[2]->exit_code = 1;
    int64_t hour_ms = 60 * MINUTE;
    cluster_pass(cluster, hour_ms - cluster->nodes[0]->now.wall.ms % hour_ms + 10 * SECOND);
    cluster->nodes[1]->exit_code = cluster->nodes[2]->exit_code = 0;
    assert_int_equal(cluster_count(cluster, "a", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "a", RUN_FAILED), 2);
    assert_int_equal(cluster_starts(cluster, "b"), 0);
    if (trouble == NO_LEADER) {
        cluster_freeze(cluster->nodes[0]);
        cluster_expire(cluster->nodes[0]);
    }
    for (size_t i = 0; i < NODES && trouble >= ANSWER_LOST; i++) {
        cluster->nodes[i]->door = trouble == ANSWER_LOST ? DOOR_ONE_WAY : DOOR_BROKEN;
        cluster->nodes[i]->door_op = STORE_FINISH;
        cluster->nodes[i]->door_status = E_UNREACHABLE;
    }
    world_change(cluster->nodes[2], uid, pause_job);
    cluster_pass(cluster, 5 * SECOND);
    for (size_t i = 0; i < NODES && trouble >= ANSWER_LOST; i++)
        cluster->nodes[i]->door = DOOR_OPEN;
}

static void a_tick_that_is_called_off_is_followed(void **state)
{
    (void)state;
    for (int trouble = NO_TROUBLE; trouble < TROUBLES; trouble++) {
        struct cluster *cluster = cluster_new(NODES);
        struct id uid = world_add(cluster->nodes[0],
                                  "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\n"
                                  "spread: all\nretries: {count: 1, wait: 10m, on: [exit 75]}\n");
        world_add(cluster->nodes[0], "name: b\nafter: {job: a, on: failure}\ncommand: [x]\n");
        world_add(cluster->nodes[0], "name: c\nafter: a\ncommand: [x]\n");
        until_called_off(cluster, &uid, (enum trouble)trouble);
        cluster_pass(cluster, MINUTE);
        if (trouble == NO_LEADER)
            cluster_thaw(cluster, cluster->nodes[0]);
        cluster_pass(cluster, 30 * MINUTE);
        if (cluster_starts(cluster, "b") != 1 || cluster_starts(cluster, "c") != 0)
            fail_msg("trouble %d: followed %zu times", trouble, cluster_starts(cluster, "b"));
        assert_int_equal(cluster_count(cluster, "a", RUN_SKIPPED), 1);
        const struct catalog_job *job =
            catalog_by_uid(engine_catalog(cluster->nodes[2]->engine), &uid);
        assert_int_equal(job->last.state, RUN_FAILED);
        cluster_check(cluster);
        cluster_free(cluster);
    }
}

/* The notice is of the tick, by whoever records its end. */
static void a_tick_that_is_called_off_is_told(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(NODES);
    struct id uid = world_add(cluster->nodes[0],
                              "name: a\nschedule: '0 0 * * * *'\ncommand: [x]\n"
                              "spread: all\nretries: {count: 1, wait: 10m, on: [exit 75]}\n");
    until_called_off(cluster, &uid, NO_TROUBLE);
    cluster_pass(cluster, MINUTE);
    size_t told = 0;
    for (size_t n = 0; n < NODES; n++)
        told += cluster->nodes[n]->told_count;
    assert_int_equal(told, 1);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_go_one_after_the_other),
        cmocka_unit_test(two_at_once),
        cmocka_unit_test(a_failure_stops_the_rest),
        cmocka_unit_test(a_node_that_is_gone_does_not_hold_up_the_others),
        cmocka_unit_test(the_node_whose_turn_it_is_dies),
        cmocka_unit_test(a_node_that_does_not_take_it),
        cmocka_unit_test(a_pause_ends_those_that_wait),
        cmocka_unit_test(a_tick_that_is_called_off_is_followed),
        cmocka_unit_test(a_tick_that_is_called_off_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
