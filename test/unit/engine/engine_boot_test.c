/* @reboot: each boot of each node that may run the job has one end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define JOB(schedule, more) "name: j\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

/* The machine is booted, and its agent starts. */
static void boot(struct world *world, const char *boot_id)
{
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "%s", boot_id);
    world_restart(world);
}

/* Requests of this kind do not get through. */
static void shut(struct world *world, enum store_op op)
{
    world->door = DOOR_BROKEN;
    world->door_op = op;
    world->door_status = E_UNREACHABLE;
}

/* ---- one node ---- */

static void test_once_per_boot(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 0); /* it was made after the boot */
    boot(world, "boot-2");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world->runs[0].cause, CAUSE_REBOOT);
    assert_string_equal(world->runs[0].by, "node-1");
    for (int i = 0; i < 3; i++) { /* the agent only */
        world_restart(world);
        world_pass(world, MINUTE);
    }
    assert_int_equal(world->process_count, 1);
    boot(world, "boot-3");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 2);
    world_check(world);
}

static void set_done(struct store_request *request, enum status st)
{
    *(bool *)request->context = st == OK;
}

/* An older peal has seen this boot, and has stored its tick with it: it is over. */
static void test_boot_of_an_older_peal(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    struct store_set_meta meta = {"boot", "boot-2 1767225660000"};
    bool is_done = false;
    struct store_request request = {.op = STORE_SET_META,
                                    .count = 1,
                                    .items.metas = &meta,
                                    .done = set_done,
                                    .context = &is_done};
    store_submit(world->store, &request);
    world_pass(world, SECOND);
    assert_true(is_done);
    boot(world, "boot-2");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 0);
    boot(world, "boot-3");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
}

/* A mark that nobody can read does not keep the node from noticing its next boot. */
static void test_mark_that_cannot_be_read(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@reboot", ""));
    bool is_put = false;
    struct store_put_doc put = {.kind = BOOT_DOC, .json = "\"what\""};
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = set_done, .context = &is_put};
    boot_mark_name("node-1", &uid, put.name);
    world_pass(world, MINUTE);
    store_submit(world->store, &request);
    world_pass(world, SECOND);
    assert_true(is_put && put.result == PUT_OK);
    boot(world, "boot-2");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
    world_check(world);
}

/* Jobs that are purged take their marks along; those that are made after a boot are not due for it,
 * whenever the agent is restarted. */
static void test_jobs_come_and_go(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    boot(world, "boot-2");
    world_pass(world, MINUTE);
    struct store_put_job put = {.uid = uid, .purge = true, .expected_revision = -1};
    bool is_done = false;
    struct store_request request = {
        .op = STORE_PUT_JOB, .count = 1, .items.puts = &put, .done = set_done, .context = &is_done};
    store_submit(world->store, &request);
    world_pass(world, MINUTE);
    assert_true(is_done);
    world_add(world, "name: k\nschedule: '@reboot'\ncommand: [/bin/true]\n");
    world_pass(world, MINUTE);
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 1);
    boot(world, "boot-3");
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, 2);
    assert_int_equal(world_count(world, "k", RUN_OK), 1);
}

/* Ticks and boots of one job have nothing to do with each other. */
static void test_beside_ticks(void **state)
{
    struct world *world = *state;
    world_add(world, "name: j\nschedules: ['@reboot', '* * * * *']\ncommand: [/bin/true]\n");
    world_pass(world, 10 * MINUTE + SECOND);
    assert_int_equal(world->process_count, 10);
    boot(world, "boot-2");
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world->process_count, 21);
    world_check(world);
}

/* The agent is killed at any moment after the boot. */
static void test_restart_at_every_step(void **state)
{
    (void)state;
    for (int steps = 0; steps < 60; steps++) {
        struct world *world = world_new();
        world_add(world, JOB("@reboot", ""));
        world_pass(world, MINUTE);
        boot(world, "boot-2");
        for (int i = 0; i < steps; i++) {
            world->now.wall.ms++;
            world->now.boot.ms++;
            engine_step(world->engine, world->now);
        }
        world_restart(world);
        world_pass(world, MINUTE);
        size_t ends = world_count(world, "j", RUN_OK) + world_count(world, "j", RUN_MISSED);
        if (ends != 1 || world->entry_count)
            fail_msg("after %d steps: %zu ends, %zu entries", steps, ends, world->entry_count);
        world_check(world);
        world_free(world);
    }
}

/* Each kind of request is lost on its way, or its answer is: what was noticed is decided once. */
static void test_requests_are_lost(void **state)
{
    (void)state;
    static const enum store_op ops[] = {STORE_PUT_DOC, STORE_SET_META, STORE_CLAIM};
    static const enum door doors[] = {DOOR_BROKEN, DOOR_ONE_WAY};
    for (size_t i = 0; i < 6; i++) {
        struct world *world = world_new();
        world_add(world, JOB("@reboot", "catch_up: last\n"));
        world_pass(world, MINUTE);
        shut(world, ops[i / 2]);
        world->door = doors[i % 2];
        boot(world, "boot-2");
        world_pass(world, MINUTE);
        world_restart(world);
        world_pass(world, MINUTE);
        world->door = DOOR_OPEN;
        world_pass(world, MINUTE);
        world_restart(world);
        world_pass(world, MINUTE);
        size_t ends = world_count(world, "j", RUN_OK) + world_count(world, "j", RUN_MISSED);
        if (ends != 1 || world->entry_count || world->process_count > 1)
            fail_msg("case %zu: %zu ends, %zu entries", i, ends, world->entry_count);
        world_check(world);
        world_free(world);
    }
}

/* The boot of a machine whose clock is wrong: @reboot runs, once, when it is believed. */
static void test_boot_with_a_wrong_clock(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    size_t before = world->process_count;
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-2");
    world->now.wall.ms -= 20 * 365 * 24 * (int64_t)HOUR;
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, before);
    world->now.wall.ms += 20 * 365 * 24 * (int64_t)HOUR;
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, before + 1);
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->process_count, before + 1);
    world_check(world);
}

static void delete (struct job *job)
{
    job->deleted_ms = 1;
}

/* Somebody deletes the job before this node could decide, and moves the cursor past the boot. */
static void test_boot_of_a_deleted_job(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-2");
    world->door = DOOR_BROKEN;
    world->door_op = STORE_CLAIM;
    world->door_status = E_UNREACHABLE;
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->entry_count, 0);
    world->cursor_with_change = true;
    world_change(world, &uid, delete);
    world->door = DOOR_OPEN;
    world_pass(world, MINUTE);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_DELETED), 1);
    assert_int_equal(world->process_count, 0);
    world_check(world);
}

/* The machine is booted again before @reboot could be claimed, and the agent dies before the
 * history has that. */
static void test_boot_that_was_left(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@reboot", ""));
    world_pass(world, MINUTE);
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-2");
    world->door = DOOR_BROKEN;
    world->door_op = STORE_CLAIM;
    world->door_status = E_UNREACHABLE;
    world_restart(world);
    world_pass(world, MINUTE);
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-3");
    world->history_away = true;
    world_restart(world);
    world_pass(world, MINUTE);
    assert_int_equal(world->entry_count, 0);
    world_restart(world);
    world->history_away = false;
    world->door = DOOR_OPEN;
    world_pass(world, MINUTE);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 1);
    assert_int_equal(world->process_count, 1);
    world_check(world);
}

/* The job is given other times, for other nodes, or is paused, before this node could decide; or it
 * is on a calendar. What becomes of the boot is what holds when it is decided. */
static void to_ticks(struct job *job)
{
    snprintf(job->schedules[0], strlen(job->schedules[0]) + 1, "@hourly");
}

static void to_paused(struct job *job)
{
    job->paused = true;
}

static void test_boot_of_a_changed_job(void **state)
{
    (void)state;
    static const struct {
        int line;
        void (*change)(struct job *job);
        enum run_reason reason;
    } rows[] = {
        {__LINE__, to_ticks, REASON_EDITED},
        {__LINE__, to_paused, REASON_PAUSED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        struct id uid = world_add(world, JOB("@reboot", ""));
        world_pass(world, MINUTE);
        shut(world, STORE_CLAIM);
        boot(world, "boot-2");
        world_pass(world, 10 * SECOND);
        world_change(world, &uid, rows[i].change);
        world->door = DOOR_OPEN;
        world_pass(world, MINUTE);
        if (world_passed(world, "j", RUN_SKIPPED, rows[i].reason) != 1 || world->process_count)
            fail_msg("line %d", rows[i].line);
        world_free(world);
    }
}

/* Claimed, and the machine is booted again before its begin: that run is not started any more. */
static void test_boot_again_before_the_begin(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@reboot", "overlap: queue\n"));
    world_pass(world, MINUTE);
    shut(world, STORE_BEGIN);
    boot(world, "boot-2");
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    world->door = DOOR_OPEN;
    boot(world, "boot-3");
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "j", RUN_MISSED), 1);
    assert_int_equal(world->runs[0].reason, REASON_CATCH_UP);
    assert_int_equal(world_count(world, "j", RUN_OK), 1);
    world_check(world);
}

static void test_jitter(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@reboot", "jitter: 10m\n"));
    world_pass(world, MINUTE);
    boot(world, "boot-2");
    int64_t boot_ms = world->now.wall.ms;
    world_pass(world, 11 * MINUTE);
    const struct catalog_job *job = catalog_by_uid(engine_catalog(world->engine), &uid);
    assert_int_equal(world->process_count, 1);
    assert_in_range(world->processes[0].started_ms - boot_ms - catalog_job_jitter_ms(job), 0, 200);
}

/* What is late is made good as the job says. */
static void test_late(void **state)
{
    (void)state;
    for (int skip = 0; skip < 2; skip++) {
        struct world *world = world_new();
        world_add(world,
                  skip ? JOB("@reboot", "catch_up: skip\n") : JOB("@reboot", "catch_up: last\n"));
        world_pass(world, MINUTE);
        shut(world, STORE_CLAIM);
        boot(world, "boot-2");
        world_pass(world, 5 * MINUTE);
        world->door = DOOR_OPEN;
        world_pass(world, MINUTE);
        assert_int_equal(world->process_count, !skip);
        assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_STORE_AWAY), skip);
        world_free(world);
    }
}

/* ---- several nodes ---- */

/* After a power cut all boot within a second or two, in any order. */
static void test_all_nodes_boot(void **state)
{
    (void)state;
    for (int apart_ms = 0; apart_ms < 3000; apart_ms += 999) {
        struct cluster *cluster = cluster_new(3);
        world_add(cluster->nodes[0], JOB("@reboot", ""));
        cluster_pass(cluster, MINUTE);
        for (size_t i = 0; i < cluster->count; i++) {
            cluster->nodes[i]->duration_ms = MINUTE;
            boot(cluster->nodes[i], "again");
            cluster_pass(cluster, apart_ms);
        }
        cluster_pass(cluster, 3 * MINUTE);
        for (size_t i = 0; i < cluster->count; i++)
            if (cluster->nodes[i]->process_count != 1)
                fail_msg("%d ms apart: node %zu runs %zu", apart_ms, i + 1,
                         cluster->nodes[i]->process_count);
        assert_int_equal(cluster_count(cluster, "j", RUN_OK), 3);
        cluster_free(cluster);
    }
}

static void test_only_where_it_may_run(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *ssd = cluster_join(cluster, "disk=ssd", 0);
    cluster_pass(cluster, 5 * SECOND);
    world_add(ssd, JOB("@reboot", "where: disk=ssd\n"));
    cluster_pass(cluster, MINUTE);
    for (size_t i = 0; i < cluster->count; i++)
        boot(cluster->nodes[i], "again");
    cluster_pass(cluster, MINUTE);
    assert_int_equal(cluster_starts(cluster, "j"), 1);
    assert_int_equal(ssd->process_count, 1);
    for (size_t i = 0; i < cluster->count; i++)
        assert_int_equal(cluster->nodes[i]->entry_count, 0);
    cluster_free(cluster);
}

/* A run that waits in its job's queue is still for the node that booted. */
static void test_queued_for_its_node(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct id uid = world_add(cluster->nodes[0], JOB("@reboot", "overlap: queue\n"));
    for (size_t i = 0; i < cluster->count; i++)
        cluster->nodes[i]->duration_ms = MINUTE;
    cluster_pass(cluster, MINUTE);
    assert_true(world_trigger(cluster->nodes[0], &uid));
    cluster_pass(cluster, SECOND);
    size_t before[3];
    for (size_t i = 0; i < cluster->count; i++)
        before[i] = cluster->nodes[i]->process_count;
    for (size_t i = 0; i < cluster->count; i++)
        boot(cluster->nodes[i], "again");
    cluster_pass(cluster, 30 * SECOND);
    assert_int_equal(cluster_starts(cluster, "j"), 1);
    cluster_pass(cluster, 6 * MINUTE);
    for (size_t i = 0; i < cluster->count; i++)
        assert_int_equal(cluster->nodes[i]->process_count, before[i] + 1);
    cluster_free(cluster);
}

/* Its node is gone with the claim: nobody else runs it, and it is not in the way for ever. */
static void test_claimed_by_a_node_that_goes(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct world *node = cluster->nodes[2];
    world_add(node, JOB("@reboot", ""));
    cluster_pass(cluster, MINUTE);
    shut(node, STORE_BEGIN);
    boot(node, "again");
    cluster_pass(cluster, 10 * SECOND);
    cluster_freeze(node);
    cluster_expire(node);
    cluster_pass(cluster, 20 * SECOND);
    assert_int_equal(cluster_count(cluster, "j", RUN_MISSED), 0);
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(cluster_starts(cluster, "j"), 0);
    assert_int_equal(cluster_count(cluster, "j", RUN_MISSED), 1);
    node->door = DOOR_OPEN;
    cluster_thaw(cluster, node);
    cluster_pass(cluster, 2 * MINUTE);
    world_restart(node);
    cluster_pass(cluster, 2 * MINUTE);
    assert_int_equal(cluster_starts(cluster, "j"), 0);
    cluster_free(cluster);
}

/* It boots while it is drained: what may not run is said at once, the rest waits for it. */
static void test_boot_of_a_drained_node(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *node = cluster->nodes[1];
    world_add(node, JOB("@reboot", "catch_up: last\n"));
    world_add(node, "name: k\nschedule: '@reboot'\ncommand: [/bin/true]\npaused: true\n");
    cluster_pass(cluster, MINUTE);
    cluster_drain(cluster, node, true);
    boot(node, "again");
    cluster_pass(cluster, 5 * MINUTE);
    assert_int_equal(cluster_starts(cluster, "j"), 0);
    assert_int_equal(cluster_passed(cluster, "k", RUN_SKIPPED, REASON_PAUSED), 1);
    world_restart(node);
    cluster_pass(cluster, MINUTE);
    cluster_drain(cluster, node, false);
    cluster_pass(cluster, MINUTE);
    assert_int_equal(node->process_count, 1);
    assert_int_equal(cluster_starts(cluster, "j"), 1);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_once_per_boot),
        WITH_WORLD(test_boot_of_an_older_peal),
        WITH_WORLD(test_mark_that_cannot_be_read),
        WITH_WORLD(test_jobs_come_and_go),
        WITH_WORLD(test_beside_ticks),
        cmocka_unit_test(test_restart_at_every_step),
        cmocka_unit_test(test_requests_are_lost),
        WITH_WORLD(test_boot_with_a_wrong_clock),
        WITH_WORLD(test_boot_of_a_deleted_job),
        WITH_WORLD(test_boot_that_was_left),
        cmocka_unit_test(test_boot_of_a_changed_job),
        WITH_WORLD(test_boot_again_before_the_begin),
        WITH_WORLD(test_jitter),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_all_nodes_boot),
        cmocka_unit_test(test_only_where_it_may_run),
        cmocka_unit_test(test_queued_for_its_node),
        cmocka_unit_test(test_claimed_by_a_node_that_goes),
        cmocka_unit_test(test_boot_of_a_drained_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
